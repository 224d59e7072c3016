"""The Python in the pages for embedders is what it says: it runs."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

from diagnosis_harness.simulator.faults import FaultKind
from diagnosis_harness.simulator.folder import simulate_folder

DOCS = Path(__file__).parents[2] / "docs"
WATCH_IT = """
async def go():
    async with dh.Harness(sources="incident") as harness:
        await watch(harness)

asyncio.run(go())
"""


def python_of(page: str) -> list[str]:
    """The blocks of Python in a page, in order."""
    text = (DOCS / page).read_text(encoding="utf-8")
    return re.findall(r"```python\n(.*?)```", text, re.DOTALL)


def run_python(code: str, folder: Path) -> str:
    """What the code prints, in that folder."""
    return subprocess.run(
        [sys.executable, "-c", code], cwd=folder, capture_output=True, text=True, check=True, timeout=100
    ).stdout


def test_the_first_program_of_the_embedding_page_prints_what_the_page_shows(tmp_path: Path) -> None:
    """With a second block that watches the run."""
    page = (DOCS / "embedding.md").read_text(encoding="utf-8")
    shown = re.search(r"```text\n(.*?)```", page, re.DOTALL)
    simulated = simulate_folder(FaultKind.ERRORS_AFTER_DEPLOY, seed=1, parent=tmp_path).folder
    simulated.rename(tmp_path / "incident")
    first, watch = python_of("embedding.md")

    printed = run_python(f"{first}\n{watch}\n{WATCH_IT}", tmp_path)

    assert shown is not None
    assert printed.startswith(shown[1])
    assert "TOOL_FINISHED rank_causes\n" in printed


def test_the_tests_of_the_testing_page_pass(tmp_path: Path) -> None:
    """As pytest would run them."""
    (code,) = python_of("testing.md")
    calls = re.findall(r"^def (test_\w+\(\))", code, re.MULTILINE)

    run_python("\n".join([code, *calls]), tmp_path)

    assert len(calls) == 2
