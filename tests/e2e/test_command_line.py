"""The command line as a process: exit codes, streams, signals. What it diagnoses is a fake."""

from __future__ import annotations

import hashlib
import json
import os
import pty
import signal
import subprocess
import sys
from pathlib import Path

import jsonschema
import pytest

ROOT = Path(__file__).parents[2]
FAKE = Path(__file__).with_name("fake_diagnose.py")
SCHEMA = json.loads((ROOT / "docs" / "reference" / "run-document.schema.json").read_text(encoding="utf-8"))
PLAIN = {"PATH": "/usr/bin:/bin", "LANG": "C.UTF-8", "COLUMNS": "100", "PYTHONPATH": str(ROOT)}


def diagnose(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """One command line, run to its end."""
    return subprocess.run(
        [sys.executable, str(FAKE), *arguments],
        env={**PLAIN, **environment},
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=60,
        check=False,
    )


def start(*arguments: str) -> subprocess.Popen[str]:
    """One command line that is still at work."""
    return subprocess.Popen(
        [sys.executable, str(FAKE), *arguments],
        env=PLAIN,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        encoding="utf-8",
    )


def wait_for(process: subprocess.Popen[str], line: str) -> None:
    """Read standard error up to a line."""
    assert process.stderr is not None
    for read in process.stderr:
        if line in read:
            return
    pytest.fail(f"{line!r} never came")


@pytest.mark.parametrize(
    ("question", "code"),
    [
        ("SUCCESS", 0),
        ("FALLBACK", 3),
        ("FAILED FAILED", 1),
        ("FAILED TIMED_OUT", 124),
        ("FAILED BUDGET_EXHAUSTED", 4),
        ("raise", 1),
        ("refuse", 2),
    ],
)
def test_the_exit_code_says_how_it_ended(question: str, code: int) -> None:
    """Scripts can tell an answer from a fallback, a failure, a time-out and a mistake of their own."""
    assert diagnose("ask", question, "--from", "x").returncode == code


@pytest.mark.parametrize(
    "arguments",
    [
        ["ask", "why"],
        ["ask", "why", "--from"],
        ["ask", "why", "--from", "x", "--lang", "fr"],
        ["ask", "why", "--from", "x", "--deadline", "soon"],
        ["ask", "why", "--from", "x", "--deadline", "0"],
        ["ask", "why", "--from", "x", "--deadline", "nan"],
        ["ask", "why", "--from", "x", "--onset", "2024"],
        ["ask", " ", "--from", "x"],
        ["ask", "refuse", "--from", "x"],
        ["aks"],
        ["demo", "--fault", "gremlins"],
        ["demo", "--seed", "-1"],
        ["ask", "SUCCESS", "--from", "x", "--save", "/nowhere/document.json"],
    ],
)
def test_a_mistake_is_one_sentence_on_standard_error(arguments: list[str]) -> None:
    """No usage screen and no traceback: what is wrong and what to do, exit code 2."""
    ended = diagnose(*arguments)

    output = [line for line in ended.stderr.splitlines() if not line.startswith("[")]
    assert ended.returncode == 2
    assert len(output) == 1
    assert output[0].endswith(".")


def test_a_mistake_is_reported_in_chinese_where_that_was_asked_for() -> None:
    """The frame of the sentence follows --lang."""
    ended = diagnose("ask", "refuse", "--from", "x", "--lang", "zh")

    assert "无法使用 metrics.csv" in ended.stderr


def test_an_unexpected_error_shows_no_traceback() -> None:
    """A bug of ours is one sentence and a hint."""
    ended = diagnose("ask", "raise", "--from", "x")

    assert "Traceback" not in ended.stderr
    assert "ZeroDivisionError: a bug" in ended.stderr
    assert "--debug" in ended.stderr


def test_debug_shows_where_an_unexpected_error_comes_from() -> None:
    """With --debug the traceback is there."""
    ended = diagnose("--debug", "ask", "raise", "--from", "x")

    assert ended.returncode == 1
    assert "Traceback" in ended.stderr


def test_the_report_alone_is_on_standard_output() -> None:
    """Stages and tool calls are on standard error, so that a pipe gets the report."""
    ended = diagnose("ask", "SUCCESS", "--from", "x")

    assert ended.stdout.startswith("? SUCCESS\n") or ended.stdout.startswith("? Why")
    assert "diagnosing" in ended.stderr
    assert "changed_signals: 2 findings" in ended.stderr
    assert "diagnosing" not in ended.stdout


@pytest.mark.parametrize("question", ["SUCCESS", "FALLBACK", "FAILED TIMED_OUT"])
def test_the_json_document_obeys_its_schema(question: str) -> None:
    """What --json prints is one document of the published schema, and nothing else."""
    ended = diagnose("ask", question, "--from", "x", "--json")

    jsonschema.validate(json.loads(ended.stdout), SCHEMA)


def test_the_digest_of_a_record_is_that_of_its_embedded_bytes() -> None:
    """Anybody can check the evidence of a document without us."""
    document = json.loads(diagnose("ask", "SUCCESS", "--from", "x", "--json").stdout)

    stored = [(r["digest"], r["stored"]) for r in document["records"] if r["digest"]]
    assert len(stored) == 3
    for digest, text in stored:
        assert digest == "sha256:" + hashlib.sha256(text.encode()).hexdigest()


def test_save_writes_the_document_beside_the_report(tmp_path: Path) -> None:
    """The report is read, the document is kept."""
    file = tmp_path / "document.json"

    ended = diagnose("ask", "SUCCESS", "--from", "x", "--save", str(file))

    assert "checkout is the cause" in ended.stdout
    jsonschema.validate(json.loads(file.read_text(encoding="utf-8")), SCHEMA)
    assert os.listdir(tmp_path) == ["document.json"]  # noqa: PTH208 - the names alone


def test_a_chinese_question_is_answered_in_chinese() -> None:
    """The script of the question chooses, where --lang does not."""
    assert "checkout 是原因" in diagnose("ask", "为什么变慢", "--from", "x").stdout


def test_lang_wins_over_the_script_of_the_question() -> None:
    """--lang is an order."""
    assert "checkout is the cause" in diagnose("ask", "为什么变慢", "--from", "x", "--lang", "en").stdout


def test_ctrl_c_cancels_and_keeps_the_evidence() -> None:
    """The first Ctrl+C says what was in flight; the document is still there, and the exit code is 130."""
    process = start("ask", "wait", "--from", "x", "--json")
    wait_for(process, "waiting")
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)

    assert process.returncode == 130
    assert "In flight: changed_signals" in err
    document = json.loads(out)
    assert document["release"]["outcome"] == "CANCELLED"
    assert document["run"]["in_flight"]
    assert [r for r in document["records"] if r["digest"]]


def test_a_second_ctrl_c_leaves_at_once() -> None:
    """A run that does not end is left behind."""
    process = start("ask", "stuck", "--from", "x")
    wait_for(process, "waiting")
    process.send_signal(signal.SIGINT)
    wait_for(process, "Cancelling")
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)

    assert process.returncode == 130
    assert "Exited at once" in err
    assert "Traceback" not in err
    assert out == ""


def test_ctrl_c_while_reading_ends_without_a_traceback() -> None:
    """Before there is a run there is nothing to keep."""
    process = start("ask", "SUCCESS", "--from", "slow")
    wait_for(process, "reading")
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=60)

    assert process.returncode == 130
    assert err.splitlines()[-1].endswith("Stopped.")
    assert "Traceback" not in err


@pytest.mark.parametrize("arguments", [[], ["--json"]])
def test_a_reader_that_closes_the_pipe_is_not_an_error(arguments: list[str]) -> None:
    """`diagnose … | head` ends with the run's own exit code and without a complaint."""
    read_end, write_end = os.pipe()
    os.close(read_end)
    process = subprocess.run(
        [sys.executable, str(FAKE), "ask", "FALLBACK", "--from", "x", *arguments],
        env=PLAIN,
        stdout=write_end,
        stderr=subprocess.PIPE,
        text=True,
        timeout=60,
        check=False,
    )
    os.close(write_end)

    assert process.returncode == 3
    assert "Broken" not in process.stderr
    assert "Traceback" not in process.stderr


@pytest.mark.parametrize(
    ("question", "message"),
    [
        ("why SUCCESS", "Cannot write: No space left on device. The output is not complete."),
        ("为什么", "无法写入：No space left on device。输出不完整。"),
    ],
)
@pytest.mark.parametrize("arguments", [[], ["--json"]])
def test_a_full_disk_is_one_sentence_and_the_document_is_saved_anyway(
    tmp_path: Path, question: str, message: str, arguments: list[str]
) -> None:
    """It is no bug of ours: exit code 1, and nothing asks for a report of it."""
    file = tmp_path / "document.json"
    with Path("/dev/full").open("wb") as full:
        ended = subprocess.run(
            [sys.executable, str(FAKE), "ask", question, "--from", "x", "--save", str(file), *arguments],
            env=PLAIN,
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            encoding="utf-8",
            timeout=60,
            check=False,
        )

    assert ended.returncode == 1
    assert [line for line in ended.stderr.splitlines() if not line.startswith("[")] == [message]
    jsonschema.validate(json.loads(file.read_text(encoding="utf-8")), SCHEMA)


@pytest.mark.parametrize("closed", [">&-", "2>&-", ">&- 2>&-"])
def test_a_closed_stream_is_not_an_error(tmp_path: Path, closed: str) -> None:
    """Who closes it wants to see nothing there; the rest goes its way."""
    file = tmp_path / "document.json"
    command = f'"$0" "$1" ask FALLBACK --from x --save "$2" {closed}'
    ended = subprocess.run(
        ["sh", "-c", command, sys.executable, str(FAKE), str(file)],
        env=PLAIN,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )

    assert ended.returncode == 3
    assert "Traceback" not in ended.stderr
    jsonschema.validate(json.loads(file.read_text(encoding="utf-8")), SCHEMA)


def on_a_terminal(*arguments: str, **environment: str) -> str:
    """Standard output of a command line whose standard output is a terminal."""
    controller, terminal = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, str(FAKE), *arguments],
        env={**PLAIN, "TERM": "xterm-256color", **environment},
        stdout=terminal,
        stderr=subprocess.DEVNULL,
    )
    os.close(terminal)
    read = b""
    while True:
        try:
            chunk = os.read(controller, 4096)
        except OSError:  # Linux says so at the end of a terminal
            break
        if not chunk:
            break
        read += chunk
    process.wait(timeout=60)
    os.close(controller)
    return read.decode()


def test_a_terminal_gets_colours() -> None:
    """Where somebody looks, the headline stands out."""
    assert "\x1b[" in on_a_terminal("ask", "SUCCESS", "--from", "x")


@pytest.mark.parametrize(("arguments", "environment"), [([], {"NO_COLOR": "1"}), (["--no-color"], {})])
def test_colours_can_be_refused(arguments: list[str], environment: dict[str, str]) -> None:
    """NO_COLOR and --no-color both leave no colour on a terminal."""
    shown = on_a_terminal("ask", "SUCCESS", "--from", "x", *arguments, **environment)

    assert "checkout is the cause" in shown
    assert not any(f"\x1b[{code}" in shown for code in ("3", "1;3", "38"))


def test_a_pipe_gets_plain_text() -> None:
    """No escape sequence ever reaches a file."""
    assert "\x1b" not in diagnose("ask", "SUCCESS", "--from", "x").stdout


def test_a_narrow_terminal_breaks_no_line_too_late() -> None:
    """At 60 columns every line fits."""
    ended = diagnose("ask", "SUCCESS", "--from", "x", COLUMNS="60")

    assert max(len(line) for line in ended.stdout.splitlines()) <= 60


def test_the_package_itself_can_be_run() -> None:
    """`python -m diagnosis_harness` is `diagnose`."""
    ended = subprocess.run(
        [sys.executable, "-m", "diagnosis_harness", "--version"], capture_output=True, text=True, check=True
    )

    assert ended.stdout.startswith("diagnose ")
