"""Sentences that a released version wrote in other words: what the table of rewordings must hold."""

from __future__ import annotations

import ast
from pathlib import Path

import diagnosis_harness
from diagnosis_harness.report.earlier_sentences import REWORDED, in_current_words

TABLE_FILE = "earlier_sentences.py"


def _texts_of_the_package() -> set[str]:
    """Every string constant of the package outside the table."""
    files = [
        file for file in Path(diagnosis_harness.__file__).parent.rglob("*.py") if file.name != TABLE_FILE
    ]
    nodes = (node for file in files for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))))
    return {node.value for node in nodes if isinstance(node, ast.Constant) and isinstance(node.value, str)}


def test_every_rewording_leads_to_a_sentence_that_is_written_today() -> None:
    """Otherwise documents that hold the oldest words of a sentence reworded twice stop verifying."""
    assert set(REWORDED.values()) <= _texts_of_the_package()


def test_no_reworded_sentence_is_still_written() -> None:
    """One that were would be compared as another."""
    assert not set(REWORDED) & _texts_of_the_package()


def test_only_whole_sentences_of_the_table_are_replaced() -> None:
    """A sentence that somebody altered stays as it is, and so differs from the one composed again."""
    known = "The time it was given ran out."

    assert in_current_words([known, f"{known} Twice.", "payments is the cause."]) == (
        "Time ran out.",
        f"{known} Twice.",
        "payments is the cause.",
    )


def test_a_time_reads_as_it_does_today() -> None:
    """Sentences up to 0.1.0 had some times as the JSON writes them; another time stays another."""
    earlier, today, other = in_current_words(
        [
            "The alert fired at 2026-05-06T09:30:00Z.",
            "The alert fired at 2026-05-06 09:30 UTC.",
            "The alert fired at 2026-05-06T09:31:00Z.",
        ]
    )

    assert earlier == today != other
