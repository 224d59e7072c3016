"""The tool that checks the tests is itself checked, on a small project with a row for each way it can go."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

MUTANTS = Path(__file__).parents[2] / "dev" / "mutants.py"

CODE = '''
def halve(number: int) -> float:
    """Return half of it."""
    return number / 2


def name() -> str:
    """Return a name."""
    return "halver"
'''
TESTS = """
from product_under_test import halve


def test_half_of_four_is_two() -> None:
    assert halve(4) == 2
"""
BREAKS = {
    "caught": ("number / 2", "number / 3"),
    "survived": ('"halver"', '"doubler"'),
    "absent": ("number / 7", "number / 3"),
    "unloadable": ("def halve(number: int)", "def halve(number int)"),
}


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """Return a project of one module, one test and a table with one row for each break."""
    for folder in ("src", "tests", "docs"):
        (tmp_path / folder).mkdir()
    (tmp_path / "src" / "product_under_test.py").write_text(CODE, encoding="utf-8")
    (tmp_path / "tests" / "test_halve.py").write_text(TESTS, encoding="utf-8")
    (tmp_path / "docs" / "conformance.toml").write_text(
        "\n".join(
            f"[{row}]\ntests = ['tests/test_halve.py::test_half_of_four_is_two']\n"
            f"break.file = 'src/product_under_test.py'\n"
            f"break.find = '''{find}'''\nbreak.replace = '''{replace}'''\n"
            for row, (find, replace) in BREAKS.items()
        ),
        encoding="utf-8",
    )
    return tmp_path


@pytest.mark.parametrize(
    ("row", "code", "message"),
    [
        ("caught", 0, "1 of 1 caught"),
        ("survived", 1, "stayed green"),
        ("absent", 1, "stands 0 times"),
        ("unloadable", 1, "did not run"),
    ],
)
def test_a_break_counts_only_when_a_test_that_ran_fails(
    project: Path, row: str, code: int, message: str
) -> None:
    """Neither a break that does not apply nor one that cannot be loaded may pass for caught."""
    ended = subprocess.run(
        [sys.executable, MUTANTS, "--root", project, row], capture_output=True, text=True, check=False
    )

    assert (ended.returncode, message in ended.stdout) == (code, True), ended.stdout + ended.stderr
