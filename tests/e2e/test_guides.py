"""What the guides show as printed is what the commands print today."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

ERRORS = ("demo", "--fault", "errors-after-deploy")
NOTHING_BROKEN = ("demo", "--fault", "none")
CHINESE = ("--lang", "zh")

PAGES = {
    "first-incident.md": ERRORS,
    "first-incident.zh.md": (*ERRORS, *CHINESE),
    "reading-an-answer.md": ERRORS,
    "no-conclusion.md": NOTHING_BROKEN,
    "no-conclusion.zh.md": (*NOTHING_BROKEN, *CHINESE),
}
"""Pages with blocks of printed text, and the command that prints them."""

# These differ in every run: its id, and how long it took.
_OF_ONE_RUN = re.compile(r"run-[0-9a-f]{32}|[\d.]+ (?:ms|s)\b(?= of)")


def _run(*arguments: str, code: int = 0) -> str:
    """What a command prints."""
    ran = subprocess.run(
        [sys.executable, "-m", "diagnosis_harness", *arguments],
        capture_output=True,
        check=False,
        encoding="utf-8",
        timeout=100,
    )
    assert ran.returncode == code, ran.stderr
    return ran.stdout


def _blocks(page: str) -> list[str]:
    """The printed blocks of a page, except those that begin with a command of their own."""
    text = (ROOT / "docs" / page).read_text(encoding="utf-8")
    return [
        block for block in re.findall(r"```text\n(.*?)```", text, re.DOTALL) if not block.startswith("$ ")
    ]


def _plain(text: str) -> str:
    """A text on one line, without what differs in every run."""
    return _OF_ONE_RUN.sub("…", " ".join(text.split()))


@pytest.mark.parametrize("page", PAGES)
def test_a_guide_shows_what_its_command_prints(page: str) -> None:
    """Each block is a part of what is printed."""
    printed = _plain(_run(*PAGES[page]))
    blocks = [block for block in _blocks(page) if "verified: " not in block.lower()]
    assert blocks

    assert [block for block in blocks if _plain(block) not in printed] == []


def test_the_guides_show_what_verifying_a_saved_and_a_changed_file_prints(tmp_path: Path) -> None:
    """The conclusion names another service, as the page says."""
    saved = tmp_path / "run.json"
    _run(*ERRORS, "--keep", str(tmp_path / "demo"))
    (folder,) = (tmp_path / "demo").iterdir()
    _run("ask", "Why did the alert fire?", "--from", str(folder), "--save", str(saved))
    (shown,) = (block for block in _blocks("first-incident.md") if "Verified: " in block)
    assert shown.strip() in _run("verify", str(saved)).splitlines()

    changed = saved.read_text(encoding="utf-8").replace("search is the cause", "promotions is the cause")
    saved.write_text(changed, encoding="utf-8")

    (shown,) = (block for block in _blocks("reading-an-answer.md") if "NOT VERIFIED" in block)
    assert shown.strip() in _run("verify", str(saved), code=1).splitlines()


def test_the_guide_shows_the_first_lines_of_the_files(tmp_path: Path) -> None:
    """The folder of the demo has the files and the metrics that the page lists."""
    _run(*ERRORS, "--keep", str(tmp_path))
    (folder,) = tmp_path.iterdir()
    page = (ROOT / "docs" / "first-incident.md").read_text(encoding="utf-8")

    assert f"$ ls demo/{folder.name}\n{'  '.join(sorted(each.name for each in folder.iterdir()))}\n" in page
    head = "\n".join((folder / "metrics.csv").read_text(encoding="utf-8").splitlines()[:3])
    assert f"$ head -3 demo/{folder.name}/metrics.csv\n{head}\n" in page
