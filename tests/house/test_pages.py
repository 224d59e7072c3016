"""What the pages say can be followed, and nothing in the project depends on one machine."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

import diagnosis_harness

ROOT = Path(__file__).parents[2]
LONGEST_README = 100

# [text](target) outside of code; targets with a scheme and pure anchors are somebody else's.
LINK = re.compile(r"!?\[[^\]]*\]\((?P<target>[^)\s]+)(?:\s+\"[^\"]*\")?\)")
ELSEWHERE = re.compile(r"^(?:[a-z][a-z0-9+.-]*:|#)")
CODE = re.compile(r"```.*?```|`[^`\n]*`", re.DOTALL)

# Written in pieces, so that this file does not hold what it forbids.
MACHINE = re.compile(
    "|".join(
        [r"/(?:root|home/\w+|Users/\w+)" + "/", r"/work" + "/", r"(?:pypi|pythonhosted|npmjs)" + r"\.\w+"]
    )
)


def _pages() -> list[Path]:
    return [file for file in _pages_in_git() if file.suffix == ".md"]


def _pages_in_git() -> list[Path]:
    """Return the files that are under version control, or all of them where there is no git checkout."""
    if (ROOT / ".git").exists():
        listed = subprocess.run(
            ["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True
        )
        files = [ROOT / name for name in listed.stdout.split("\0") if name]
    else:
        files = [
            file
            for top in ("src", "tests", "dev", "docs", "requirements")
            for file in (ROOT / top).rglob("*")
        ]
    return [file for file in files if file.is_file()]


def _anchors(page: Path) -> set[str]:
    """Return the anchors of a page's headings, made as GitHub makes them."""
    headings = re.findall(r"^#+\s+(.*)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", _pages(), ids=lambda page: str(page.relative_to(ROOT)))
def test_links_between_pages_lead_somewhere(page: Path) -> None:
    """A reader who follows a link arrives, at the heading too."""
    text = CODE.sub("", page.read_text(encoding="utf-8"))
    dead = []
    for target in (found["target"] for found in LINK.finditer(text)):
        if ELSEWHERE.match(target):
            continue
        name, _, anchor = target.partition("#")
        to = (page.parent / name).resolve()
        if not to.exists() or (anchor and to.suffix == ".md" and anchor not in _anchors(to)):
            dead.append(target)

    assert not dead


@pytest.mark.parametrize("name", sorted(page.name for page in ROOT.glob("README*.md")))
def test_the_first_page_is_short(name: str) -> None:
    """The first page is read in two minutes or not at all."""
    lines = (ROOT / name).read_text(encoding="utf-8").splitlines()

    assert len(lines) <= LONGEST_README


def test_nothing_names_one_machine_or_registry() -> None:
    """A clone works anywhere: no path of a machine and no registry's address is committed."""
    named = []
    for file in _pages_in_git():
        try:
            text = file.read_text(encoding="utf-8")
        except UnicodeDecodeError:
            continue
        named += [f"{file.relative_to(ROOT)}: {found}" for found in MACHINE.findall(text)]

    assert not named


def test_the_changelog_names_the_version() -> None:
    """What is released is written down."""
    assert f"## [{diagnosis_harness.__version__}]" in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
