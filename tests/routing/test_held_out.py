"""The questions of the published scores: they are used for nothing else."""

from __future__ import annotations

from hashlib import sha256
from pathlib import Path

import pytest

FOLDER = Path(__file__).parent
HELD_OUT = FOLDER / "held_out.tsv"  # came before the rules
AFTER = FOLDER / "after.tsv"  # came after them


@pytest.mark.parametrize(
    ("file", "digest"),
    [
        (HELD_OUT, "0f251a8792b7beaee6ea3d050092664cb46274f1ebaa1a3aa1c9a19d35f53088"),
        (AFTER, "fa3aacac7876c489588372177df9954f3422d5c19eb1fb02bb7d90f0d14d0a3b"),
    ],
)
def test_the_questions_of_the_published_scores_stay_as_they_are(file: Path, digest: str) -> None:
    """Neither a question nor a label was changed since they were first scored."""
    assert sha256(file.read_bytes()).hexdigest() == digest


def test_half_of_the_held_out_questions_are_chinese() -> None:
    """A hundred different questions, fifty in each language."""
    rows = [line.split("\t") for line in HELD_OUT.read_text(encoding="utf-8").splitlines()[1:]]

    assert [row[0] for row in rows].count("zh") == [row[0] for row in rows].count("en") == 50
    assert len({row[-1] for row in rows}) == 100
