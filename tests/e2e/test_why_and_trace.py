"""`diagnose why` and `diagnose trace` as processes, over saved runs that ended in each way."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

FAKE = Path(__file__).with_name("fake_diagnose.py")
PLAIN = {
    "PATH": "/usr/bin:/bin",
    "LANG": "C.UTF-8",
    "COLUMNS": "100",
    "OMP_NUM_THREADS": "1",
    "PYTHONPATH": str(Path(__file__).parents[2]),
}
QUESTIONS = [
    "FALLBACK",
    "STOPPED_CALLING",
    "NO_EVIDENCE",
    "TIME_OR_BUDGET",
    "STATUS_SUCCESS",
    "NO_DONE",
    "NO_PREVIOUS_TURN",
]


def diagnose(*arguments: object, **environment: str) -> subprocess.CompletedProcess[str]:
    """One command line, run to its end."""
    return subprocess.run(
        [sys.executable, "-m", "diagnosis_harness", *map(str, arguments)],
        env={**PLAIN, **environment},
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=110,
        check=False,
    )


def _save_cancelled_run(file: Path) -> int:
    """A run that its user stops by Ctrl+C."""
    process = subprocess.Popen(
        [sys.executable, str(FAKE), "ask", "wait", "--from", "x", "--save", str(file)],
        env=PLAIN,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stderr is not None
    while "waiting" not in process.stderr.readline():
        assert process.poll() is None
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=60)
    return process.returncode


def _save_failed_run(file: Path) -> int:
    """A run whose work failed inside."""
    command = [sys.executable, str(FAKE), "ask", "FAILED FAILED", "--from", "x", "--save", str(file)]
    return subprocess.run(command, env=PLAIN, capture_output=True, timeout=60, check=False).returncode


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """One saved run of each kind; the first four are real ones of one simulated incident."""
    place = tmp_path_factory.mktemp("runs")
    kept = place / "kept"
    kept.mkdir()
    file = {
        name: place / f"{name}.json"
        for name in ("success", "fallback", "budget", "time", "cancelled", "failed")
    }
    assert diagnose("demo", "--keep", kept, "--save", file["success"]).returncode == 0
    assert diagnose("demo", "--fault", "none", "--save", file["fallback"]).returncode == 0
    ask = ("ask", "why is it slow", "--from", next(kept.iterdir()))
    assert diagnose(*ask, "--save", file["budget"], DIAGNOSE_LIMITS__TOOL_CALLS="2").returncode == 4
    assert diagnose(*ask, "--save", file["time"], "--deadline", "0.01").returncode == 124
    assert _save_cancelled_run(file["cancelled"]) == 130
    assert _save_failed_run(file["failed"]) == 1
    return file


def answers(file: Path, *options: str) -> dict[str, Any]:
    """The answers as JSON, by question."""
    ended = diagnose("why", file, "--json", *options)
    assert (ended.returncode, ended.stderr) == (0, "")
    return {each["question"]: each for each in json.loads(ended.stdout)["answers"]}


@pytest.mark.parametrize(
    ("kind", "arising"),
    [
        ("success", ["STOPPED_CALLING"]),
        ("fallback", ["FALLBACK", "STATUS_SUCCESS", "NO_PREVIOUS_TURN"]),
        ("budget", ["STOPPED_CALLING", "NO_EVIDENCE", "TIME_OR_BUDGET", "NO_PREVIOUS_TURN"]),
        ("time", ["TIME_OR_BUDGET", "NO_PREVIOUS_TURN"]),
        ("cancelled", ["NO_PREVIOUS_TURN"]),
        ("failed", ["NO_PREVIOUS_TURN"]),
    ],
)
def test_all_seven_are_answered(runs: dict[str, Path], kind: str, arising: list[str]) -> None:
    """In words; questions that fit this run are listed separately from the others."""
    found = answers(runs[kind])

    assert list(found) == QUESTIONS
    assert all(each["says"] and each["asks"] for each in found.values())
    assert {name for name, each in found.items() if each["arises"]} >= set(arising)


@pytest.mark.parametrize(
    ("kind", "question", "words"),
    [
        ("success", "FALLBACK", "the conclusion was released because"),
        ("success", "NO_DONE", "asked on the command line"),
        ("fallback", "FALLBACK", "The agent's draft names no cause"),
        ("budget", "STOPPED_CALLING", "A budget limit was reached (tool_calls: 3 of 2)"),
        ("budget", "TIME_OR_BUDGET", "Budget: tool_calls: 3 of 2."),
        ("time", "TIME_OR_BUDGET", "Time: it used all of its 10 ms."),
        ("cancelled", "FALLBACK", "the run was cancelled"),
        ("failed", "STATUS_SUCCESS", "The status is FAILED, not SUCCESS."),
    ],
)
def test_why_is_said_in_words(runs: dict[str, Path], kind: str, question: str, words: str) -> None:
    """What a person reads who has only the file."""
    assert words in " ".join(answers(runs[kind], "--lang", "en")[question]["says"])


def test_the_page_is_plain_and_aligned(runs: dict[str, Path]) -> None:
    """Off a terminal: no colours, questions numbered, places in one column."""
    ended = diagnose("why", runs["fallback"], "--lang", "en")

    assert ended.returncode == 0
    assert "\x1b" not in ended.stdout
    assert re.findall(r"^(\d)\. ", ended.stdout, re.MULTILINE) == list("1234567")
    facts = re.findall(r"^( {5}[a-z_.]+(?:\[\d+\])?[a-z_.]* +)\S", ended.stdout, re.MULTILINE)
    assert len(facts) > 7
    assert len({len(fact) for fact in facts}) == 1
    assert max(len(line) for line in ended.stdout.splitlines()) <= 100


def test_why_answers_in_chinese(runs: dict[str, Path]) -> None:
    """Questions and answers; codes stay as they are recorded."""
    ended = diagnose("why", runs["budget"], "--lang", "zh")

    assert "是超时还是预算耗尽？" in ended.stdout
    assert "预算耗尽：tool_calls: 3 of 2。" in ended.stdout
    assert "Why" not in ended.stdout


@pytest.mark.parametrize("kind", ["success", "fallback", "budget", "time"])
def test_the_timeline_holds_every_line_of_the_trace(runs: dict[str, Path], kind: str) -> None:
    """One line an event in a pipe, names in one column, and a row for each phase below."""
    trace = json.loads(runs[kind].read_bytes())["trace"]
    ended = diagnose("trace", runs[kind])
    table, _, phases = ended.stdout.partition("\n\n")
    rows = table.splitlines()[1:]

    assert (ended.returncode, ended.stderr) == (0, "")
    assert "\x1b" not in ended.stdout
    assert len(rows) == len(trace)
    for row, line in zip(rows, trace, strict=True):
        assert line["name"] in row
        assert row.endswith(line["text"].rstrip())
    assert len({row.index(line["name"]) for row, line in zip(rows, trace, strict=True)}) == 1
    assert {row.split()[2] for row in phases.splitlines()[1:]} == {line["phase"] for line in trace}


def test_the_timeline_of_a_typical_success(runs: dict[str, Path]) -> None:
    """Begins, works, is checked, is released, ends; routing is not there before there is a router."""
    rows = diagnose("trace", runs["success"]).stdout.partition("\n\n")[0]

    order = [
        "RUN_STARTED",
        "AGENT_MODEL_STEP",
        "TOOL_INVOCATION",
        "TOOL_PROGRESS",
        "EVIDENCE_GUARD_INITIAL",
        "SEMANTIC_GUARD_ATTEMPT",
        "SEMANTIC_GUARD_DECISION",
        "RELEASE_DECISION",
        "RUN_FINISHED",
    ]
    places = [rows.index(name) for name in order]
    assert places == sorted(places)


def test_a_run_without_a_trace_has_none_to_show(runs: dict[str, Path]) -> None:
    """Said, not an empty table."""
    content = json.loads(runs["failed"].read_bytes())
    assert content["trace"] == []

    assert diagnose("trace", runs["failed"], "--lang", "en").stdout == "This document has no trace.\n"


@pytest.mark.parametrize("command", ["why", "trace"])
def test_a_changed_file_is_read_and_said_to_be_changed(
    runs: dict[str, Path], tmp_path: Path, command: str
) -> None:
    """Whoever reads the answer should know what it was read from."""
    changed = tmp_path / "run.json"
    changed.write_bytes(runs["success"].read_bytes().replace(b'"SUCCEEDED"', b'"FAILED"', 1))

    ended = diagnose(command, changed, "--lang", "en")

    assert ended.returncode == 0
    assert "differs from what was saved" in ended.stderr
    assert ended.stdout


@pytest.mark.parametrize("command", ["why", "trace"])
@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "is not JSON in UTF-8"),
        ("{}", "is not a run document"),
        ('{"schema_version": "2", "run": 1, "report": 1, "records": 1}', "root_digest"),
    ],
)
def test_what_is_not_a_run_is_one_sentence(tmp_path: Path, command: str, text: str, words: str) -> None:
    """Exit code 2, and nothing on standard output."""
    file = tmp_path / "run.json"
    file.write_text(text, encoding="utf-8")

    ended = diagnose(command, file)

    assert (ended.returncode, ended.stdout) == (2, "")
    assert words in ended.stderr
    assert len(ended.stderr.splitlines()) == 1


def test_an_invalid_time_is_one_sentence(runs: dict[str, Path], tmp_path: Path) -> None:
    """The schema holds a text there; that it is an instant shows only when the table is made."""
    content = json.loads(runs["success"].read_bytes())
    content["trace"][3]["at"] = "yesterday"
    file = tmp_path / "run.json"
    file.write_text(json.dumps(content), encoding="utf-8")

    ended = diagnose("trace", file)

    assert (ended.returncode, ended.stdout) == (2, "")
    assert "trace[3].at" in ended.stderr
