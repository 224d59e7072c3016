"""The recorded cases about questions: what is asked decides what is answered (`tests/cases/question`)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from diagnosis_harness.audit.verification.verify import verify
from diagnosis_harness.cli.main import run_command

CASES = Path(__file__).parents[1] / "cases" / "question"


def ask_about(case: str, question: str, tmp_path: Path, *options: str) -> dict[str, Any]:
    """The document of a question about a case, which verifies."""
    file = tmp_path / "run.json"
    run_command(["ask", question, "--from", str(CASES / case / "incident"), "--save", str(file), *options])
    assert verify(file.read_bytes(), file=file.name).verified
    held: dict[str, Any] = json.loads(file.read_bytes())
    return held


@pytest.mark.parametrize(
    ("question", "first"),
    [
        ("Why is loyalty failing since 09:30?", "There is no `loyalty` in the data"),
        ("loyalty 服务为什么变慢 since 09:30?", "数据中没有 `loyalty`"),
    ],
)
def test_b10_nothing_is_concluded_of_a_service_that_nobody_knows(
    tmp_path: Path, question: str, first: str
) -> None:
    """It is said first of all, and what did change may follow."""
    document = ask_about("B10", question, tmp_path)

    assert document["report"]["summary"][0].startswith(first)
    assert document["release"]["outcome"] == "FALLBACK"
    assert document["report"]["causes"] == []
    assert document["report"]["missing_names"] == ["loyalty"]
    assert document["report"]["claims"]


def test_b10_a_slip_of_the_finger_is_read_and_said(tmp_path: Path) -> None:
    """`bookng` is booking, and the reader is told so."""
    document = ask_about("B10", "Why is bookng failing since 09:30?", tmp_path)

    assert document["inquiry"]["affected"] == ["booking"]
    assert "Read `bookng` as booking." in document["report"]["summary"]
