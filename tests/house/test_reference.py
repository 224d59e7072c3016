"""The reference pages are those of the code."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from dev.parameters import ROOMS, ReasonMissing, parameter_rows

ROOT = Path(__file__).parents[2]


def test_no_generated_page_is_stale() -> None:
    """Commands, exit codes, errors, tools and the document's schema: `make docs` writes them."""
    checked = subprocess.run(
        [sys.executable, "dev/docs.py", "--check"], cwd=ROOT, capture_output=True, text=True, check=False
    )

    assert checked.returncode == 0, checked.stdout


def test_every_number_of_the_analysis_states_its_reason() -> None:
    """And every room that decides an answer has some."""
    assert all(parameter_rows(room) for room in ROOMS)


@pytest.mark.parametrize(
    ("written", "value", "reason"),
    [
        ("REACH_S = 1_800.0  # half an hour\n", "1,800", "half an hour"),
        ('LOW, HIGH = 0.5, 2\n"""Both\nends."""\n', "0.5, 2", "Both ends."),
        ("# Twice as far.\nFAR = 2 * 3\n", "2 * 3", "Twice as far."),
        ("WORTH = {Severity.FAULT: 2.0}  # by itself\n", "Severity.FAULT: 2", "by itself"),
    ],
)
def test_a_number_is_listed_with_the_comment_beside_it(
    tmp_path: Path, written: str, value: str, reason: str
) -> None:
    """In a docstring below it, or a comment beside or above it."""
    (tmp_path / "room").mkdir()
    (tmp_path / "room" / "one.py").write_text(f'NAME = "no number"\nTENS = {{"ten": 10}}\n{written}')

    (row,) = parameter_rows("room", tmp_path)

    assert (row.value, row.reason) == (value, reason)


def test_a_number_without_a_reason_is_refused_by_name(tmp_path: Path) -> None:
    """So that the page cannot be made before somebody has said why."""
    (tmp_path / "room").mkdir()
    (tmp_path / "room" / "one.py").write_text("REACH_S = 60.0\n\nFAR = 2.0  # as far as anybody looks\n")

    with pytest.raises(ReasonMissing, match=r"one\.py REACH_S$"):
        parameter_rows("room", tmp_path)
