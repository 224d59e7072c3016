"""Saved runs of simulated incidents, made by the command line itself, once for all tests that bend them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from diagnosis_harness.cli.main import run_command


@dataclass(frozen=True, slots=True)
class SavedRun:
    """The file that `--save` wrote, its bytes, and the incident folder that was asked about."""

    file: Path
    data: bytes
    folder: Path


@pytest.fixture(scope="session", name="saved")
def make_saved(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., SavedRun]:
    """Make the saved run of a fault; each is made once."""
    made: dict[tuple[str, ...], SavedRun] = {}

    def make(fault: str = "cpu", *options: str) -> SavedRun:
        wanted = (fault, *options)
        if wanted not in made:
            place = tmp_path_factory.mktemp("saved")
            file, kept = place / "run.json", place / "kept"
            kept.mkdir()
            run_command(
                ["demo", "--fault", fault, "--seed", "3", "--keep", str(kept), "--save", str(file), *options]
            )
            made[wanted] = SavedRun(file, file.read_bytes(), next(kept.iterdir()))
        return made[wanted]

    return make
