"""What is written about a run claims no more than the code keeps."""

from __future__ import annotations

import re
from pathlib import Path

from diagnosis_harness.harness.core import CancelAnswer, DiagnosisHarnessCore
from diagnosis_harness.harness.lifecycle import RunState

PAGE = Path(__file__).parents[3] / "docs" / "explain" / "run.md"
OVERCLAIM = re.compile(
    r"\b(kills?|terminates|interrupts|forcibly|stops (?:the|all|every|running) (?:thread|call|work))\b",
    re.IGNORECASE,
)


def test_the_documentation_promises_no_more_than_a_cancel_does() -> None:
    """Neither the page nor the docstrings say that running work is stopped; all say that it may go on."""
    page = PAGE.read_text(encoding="utf-8")
    texts = [page, DiagnosisHarnessCore.cancel.__doc__ or "", CancelAnswer.__doc__ or ""]
    assert [OVERCLAIM.findall(text) for text in texts] == [[], [], []]
    assert "physically stops depends" in " ".join(page.split())
    assert "does not claim" in texts[1]
    assert "depends on" in texts[2]


def test_the_drawing_shows_every_state() -> None:
    """The page cannot fall behind the enum."""
    drawing = PAGE.read_text(encoding="utf-8").split("```")[1]
    assert all(state.value in drawing for state in RunState)
