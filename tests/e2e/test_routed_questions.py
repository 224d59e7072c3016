"""`diagnose ask --from` answers on the paths of the service: a diagnosis, or a text."""

from __future__ import annotations

import json
from io import StringIO
from pathlib import Path

import pytest

from diagnosis_harness.audit.verification.verify import verify
from diagnosis_harness.cli.main import run_command

FOLDER = str(Path(__file__).parents[1] / "cases" / "question" / "B22b" / "incident")


@pytest.mark.parametrize(
    ("question", "message"),
    [
        ("hello", "Hello, I am"),
        ("which services do you see?", "It holds booking, export, news, seats, vault, web."),
        ("list the services", "It holds booking, export, news, seats, vault, web."),
        ("有哪些服务？", "其中有：booking、export、news、seats、vault、web。"),
        ("what is the meaning of life?", "That is not something I can answer."),
        ("zzz", "“why has booking been slow since 14:05?”"),
        ("why is the sky blue?", "“is booking healthy?”"),
        ("天空为什么是蓝色的？", "“booking 正常吗？”"),
        ("how do I roll back booking?", "No runbooks are configured"),
    ],
)
def test_what_is_not_a_diagnosis_is_answered_in_words(
    question: str, message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """With exit code 0, and a document that holds no diagnosis and verifies."""
    file = tmp_path / "run.json"

    code = run_command(["ask", question, "--from", FOLDER, "--save", str(file)])

    assert code == 0
    assert message in capsys.readouterr().out
    document = json.loads(file.read_bytes())
    assert document["records"] == []
    assert document["release"]["outcome"] == "SUCCESS"
    assert verify(file.read_bytes(), file=file.name).verified


def test_a_question_with_a_subject_is_diagnosed_and_the_trace_has_its_path(tmp_path: Path) -> None:
    """The same events as in the service, and the document verifies."""
    file = tmp_path / "run.json"

    code = run_command(["ask", "Why is booking slow since 13:50?", "--from", FOLDER, "--save", str(file)])

    assert code == 0
    document = json.loads(file.read_bytes())
    decision = next(line for line in document["trace"] if line["name"] == "ROUTING_DECISION")
    assert decision["data"]["intent"] == "DIAGNOSIS"
    assert [line["name"] for line in document["trace"]].count("RUN_STARTED") == 1
    assert document["trace"][-1]["name"] == "RUN_FINISHED"
    assert verify(file.read_bytes(), file=file.name).verified


def test_a_time_outside_the_recording_is_still_refused(capsys: pytest.CaptureFixture[str]) -> None:
    """One sentence and exit code 2, as before the question was routed."""
    code = run_command(["ask", "Why is booking slow since 2031-01-01 10:00?", "--from", FOLDER])

    assert code == 2
    assert "lies outside the data" in capsys.readouterr().err


def test_a_long_alert_is_kept_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """From standard input: the beginning is read for the question, and the document holds all of it."""
    file, alert = tmp_path / "run.json", "FIRING: booking is slow since 13:50\n" + "label=x " * 10_000
    monkeypatch.setattr("sys.stdin", StringIO(alert))

    code = run_command(["ask", "-", "--from", FOLDER, "--save", str(file)])

    document = json.loads(file.read_bytes())
    assert code == 0
    assert document["run"]["question"] == alert.strip()
    assert document["inquiry"]["affected"] == ["booking"]
    assert verify(file.read_bytes(), file=file.name).verified


def test_the_words_of_a_question_need_no_quotes(capsys: pytest.CaptureFixture[str]) -> None:
    """Options may stand before and behind them."""
    code = run_command(["ask", "--from", FOLDER, "is", "booking", "healthy", "since", "13:50?", "--no-color"])

    assert code == 0
    assert "booking is not behaving as usual" in capsys.readouterr().out
