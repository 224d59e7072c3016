"""The four locks name the same versions, all by hash, and everything that the project asks for."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PIN = re.compile(
    r"^(?P<name>[a-z0-9-]+)==(?P<version>\S+)(?: ;[^\\]+)? \\\n(?P<hashes>(?:\s+--hash=.*\n)+)", re.MULTILINE
)


def _pins(lock: str) -> dict[tuple[str, str], set[str]]:
    """Return hashes by name and version; a name may have a version for each Python."""
    text = (ROOT / "requirements" / f"{lock}.txt").read_text(encoding="utf-8")
    return {
        (pin["name"], pin["version"]): set(re.findall(r"sha256:([0-9a-f]{64})", pin["hashes"]))
        for pin in PIN.finditer(text)
    }


@pytest.mark.parametrize(("smaller", "larger"), [("base", "serve"), ("serve", "dev"), ("dev", "bench")])
def test_the_larger_lock_holds_the_smaller_one(smaller: str, larger: str) -> None:
    """What was tested is what the demo installs."""
    assert _pins(smaller).items() <= _pins(larger).items()


@pytest.mark.parametrize("lock", ["base", "serve", "dev", "bench", "site"])
def test_every_pin_has_a_hash(lock: str) -> None:
    """Installing takes the very files that were tested, or fails."""
    text = (ROOT / "requirements" / f"{lock}.txt").read_text(encoding="utf-8")
    names = re.findall(r"^[a-z0-9-]+==", text, re.MULTILINE)
    hashed = [hashes for hashes in _pins(lock).values() if hashes]

    assert len(hashed) == len(names)


def test_serve_holds_every_extra() -> None:
    """Whoever runs the service installs one file, with every store and queue that it can have."""
    with (ROOT / "pyproject.toml").open("rb") as file:
        extras = tomllib.load(file)["project"]["optional-dependencies"]
    names = {re.split(r"[^A-Za-z0-9-]", wish, maxsplit=1)[0] for wishes in extras.values() for wish in wishes}

    assert names <= {name for name, _ in _pins("serve")}


def test_base_holds_what_the_project_asks_for() -> None:
    """The demo's lock is enough to run and to build the project."""
    with (ROOT / "pyproject.toml").open("rb") as file:
        project = tomllib.load(file)
    asked = [*project["project"]["dependencies"], *project["build-system"]["requires"], "editables"]
    names = {re.split(r"[^A-Za-z0-9-]", wish, maxsplit=1)[0] for wish in asked}

    assert names <= {name for name, _ in _pins("base")}
