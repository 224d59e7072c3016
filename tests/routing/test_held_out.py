"""The questions of the published score: they came before the rules and are used for nothing else."""

from __future__ import annotations

from hashlib import sha256
from pathlib import Path

HELD_OUT = Path(__file__).parent / "held_out.tsv"
DIGEST = "0f251a8792b7beaee6ea3d050092664cb46274f1ebaa1a3aa1c9a19d35f53088"


def test_the_held_out_questions_are_those_that_came_before_the_rules() -> None:
    """Neither a question nor a label was changed since."""
    assert sha256(HELD_OUT.read_bytes()).hexdigest() == DIGEST


def test_half_of_the_held_out_questions_are_chinese() -> None:
    """A hundred different questions, fifty in each language."""
    rows = [line.split("\t") for line in HELD_OUT.read_text(encoding="utf-8").splitlines()[1:]]

    assert [row[0] for row in rows].count("zh") == [row[0] for row in rows].count("en") == 50
    assert len({row[-1] for row in rows}) == 100
