"""Runs are kept on this machine: shown, explained, verified and continued later, or not kept at all."""

from __future__ import annotations

import json
import os
import pty
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.support import documents
from tests.support.command_line import Diagnose, command_runner

from diagnosis_harness.application.kept_run import KeptRun
from diagnosis_harness.application.previous_turn import Turn
from diagnosis_harness.bootstrap.local_runs import open_local_runs
from diagnosis_harness.cli.kept_runs import turn_after
from diagnosis_harness.kernel.clock import SystemClock
from diagnosis_harness.kernel.language import Language
from diagnosis_harness.release.outcome import ReleaseOutcome
from diagnosis_harness.settings import load_settings

FAKE = Path(__file__).with_name("fake_diagnose.py")
FIRST = 1_700_000_000
QUESTION = "why is checkout slow?"


@pytest.fixture
def diagnose(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfdbinary: pytest.CaptureFixture[bytes]
) -> Diagnose:
    """The command line of somebody who has kept nothing yet."""
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    return command_runner(capfdbinary)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """An incident folder: checkout is slow and busy in the last twenty minutes, cart is as usual."""
    usual = {"latency_ms": 100, "cpu_percent": 10}
    rows = [
        f"{FIRST + 60 * i},{name},{signal},{(level + i % 3) * (9 if name == slow and i >= 100 else 1)}\n"
        for i in range(120)
        for name, slow in (("checkout", "checkout"), ("cart", ""))
        for signal, level in usual.items()
    ]
    incident = tmp_path / "incident"
    incident.mkdir()
    (incident / "metrics.csv").write_text("time,entity,signal,value\n" + "".join(rows), encoding="utf-8")
    return incident


def ask(diagnose: Diagnose, folder: Path, *options: str) -> dict[str, Any]:
    """The document of a question."""
    shown = diagnose("ask", QUESTION, "--from", str(folder), "--json", *options)
    document: dict[str, Any] = json.loads(shown.out)
    return document


def test_a_run_can_be_looked_at_later(diagnose: Diagnose, folder: Path) -> None:
    """By `last`, by its id, by the start of one: the report, its reasons, its trace, its proof, its bytes."""
    shown = diagnose("ask", QUESTION, "--from", str(folder))
    kept = json.loads(diagnose("show", "--json").out)
    run_id = kept["run"]["run_id"]

    assert diagnose("show").out == diagnose("show", run_id[:12]).out == shown.out
    for command in ("why", "trace"):
        assert diagnose(command, "last").out == diagnose(command, run_id).out != ""
    assert diagnose("verify", "last").code == 0
    listed = diagnose("show", "--list").out
    assert run_id in listed
    assert QUESTION in listed


def test_a_file_is_read_as_before(diagnose: Diagnose, folder: Path, tmp_path: Path) -> None:
    """A path is a path, also where a run is kept."""
    file = tmp_path / "run.json"
    ask(diagnose, folder, "--save", str(file))

    assert diagnose("show", str(file), "--json").out == file.read_text(encoding="utf-8")
    missing = diagnose("why", str(tmp_path / "none.json"))
    assert missing.code == 2
    assert "cannot be read" in missing.err


def test_a_run_that_is_not_stored_is_named(diagnose: Diagnose) -> None:
    """One sentence with a remedy, in both languages."""
    assert "no run is kept yet" in diagnose("show").err
    assert "还没有保存任何运行" in diagnose("why", "last", "--lang", "zh").err
    unknown = diagnose("verify", "run-77")
    assert unknown.code == 2
    assert "diagnose show --list" in unknown.err


@pytest.mark.parametrize("by", ["option", "setting"])
def test_keeping_can_be_turned_off(
    diagnose: Diagnose, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, by: str
) -> None:
    """Then no file is made."""
    if by == "setting":
        monkeypatch.setenv("DIAGNOSE_RETENTION__LOCAL", "false")
    ask(diagnose, folder, *(["--no-keep"] if by == "option" else []))

    assert not (tmp_path / "data").exists()


def test_kept_runs_can_be_deleted(diagnose: Diagnose, folder: Path) -> None:
    """The last one, then all."""
    for _ in range(3):
        ask(diagnose, folder)

    assert diagnose("show", "--delete", "last").out == "Kept runs deleted: 1\n"
    assert diagnose("show", "--delete", "all", "--lang", "zh").out == "已删除保存的运行：2\n"
    assert "no run is kept yet" in diagnose("show", "--delete", "last").err


def test_an_unwritable_data_folder_refuses_no_diagnosis(
    diagnose: Diagnose, folder: Path, tmp_path: Path
) -> None:
    """The answer and its exit code stay, and one note says why the run was not kept."""
    (tmp_path / "data").write_text("a file is in the way", encoding="utf-8")

    shown = diagnose("ask", QUESTION, "--from", str(folder))

    assert shown.code in (0, 3)
    assert "checkout" in shown.out
    assert shown.err.count("was not kept") == 1
    assert "--no-keep" in shown.err


def test_a_session_goes_on(diagnose: Diagnose, folder: Path) -> None:
    """`--session last` asks about the same folder, in the same session, from the onset that was found."""
    first = ask(diagnose, folder)
    assert first["release"]["outcome"] == "SUCCESS"

    second = json.loads(diagnose("ask", "and what changed?", "--session", "last", "--json").out)

    assert second["run"]["session_id"] == first["run"]["session_id"]
    assert second["run"]["run_id"] != first["run"]["run_id"]
    assert second["inquiry"]["onset_origin"] == "CARRIED"


def test_a_follow_up_about_another_entity_keeps_the_entity_of_the_session(
    diagnose: Diagnose, folder: Path, tmp_path: Path
) -> None:
    """As the service does: `and cart?` asks about a suspect, and checkout stays the affected one."""
    ask(diagnose, folder)
    file = tmp_path / "second.json"

    second = json.loads(diagnose("ask", "and cart?", "--session", "last", "--json", "--save", str(file)).out)

    assert second["inquiry"]["question"]["form"] == "FOLLOW_UP"
    assert second["inquiry"]["question"]["subject"] == "cart"
    assert second["inquiry"]["affected"] == ["checkout"]
    assert diagnose("verify", str(file)).code == 0


def test_a_session_whose_folder_is_gone_is_refused(diagnose: Diagnose, folder: Path) -> None:
    """With the option that helps; and so is a session that does not exist."""
    ask(diagnose, folder)
    folder.rename(folder.with_name("elsewhere"))

    gone = diagnose("ask", "and now?", "--session", "last")
    assert gone.code == 2
    assert "--from" in gone.err
    unknown = diagnose("ask", "and now?", "--session", "ses-0", "--from", str(folder.with_name("elsewhere")))
    assert unknown.code == 2
    assert "no run of this session is kept" in unknown.err


def test_a_follow_up_inherits_no_fact_of_a_fallback() -> None:
    """Only the latest diagnosis counts: a fallback hands on nothing, nor does an older success behind it."""
    at = Path("/incident")
    success = KeptRun.of(documents.success(Language.EN), folder=str(at), baseline=None, zone=None)
    assert isinstance(success.published_result, dict)
    published = {**success.published_result, "onset_at": "2024-01-01T14:05:00Z"}
    success = replace(success, published_result=published)
    fallback = KeptRun.of(documents.fallback(Language.EN), folder=str(at), baseline=None, zone=None)
    fallback = replace(fallback, session_id=success.session_id)

    assert turn_after((success,), at).carried.onset_s == 1_704_117_900.0
    assert turn_after((success,), Path("/other")) == Turn(success.session_id)
    assert turn_after((fallback, success), at) == Turn(success.session_id)
    assert fallback.published_result is None


def on_a_terminal(typed: bytes, *arguments: str) -> tuple[int, str]:
    """What a command shows on a terminal where somebody has typed that, and its exit code."""
    controller, terminal = pty.openpty()
    root = Path(__file__).parents[2]
    environment = {"PATH": "/usr/bin:/bin", "LANG": "C.UTF-8", "TERM": "dumb", "PYTHONPATH": str(root)}
    os.write(controller, typed)
    process = subprocess.Popen(
        [sys.executable, str(FAKE), *arguments],
        env=environment,
        stdin=terminal,
        stdout=terminal,
        stderr=subprocess.DEVNULL,
    )
    os.close(terminal)
    read = b""
    try:
        while chunk := os.read(controller, 4096):
            read += chunk
    except OSError:  # Linux says so at the end of a terminal
        pass
    os.close(controller)
    return process.wait(timeout=60), read.decode()


def test_a_terminal_asks_for_further_questions() -> None:
    """Until the line is empty; the exit code is that of the last answer."""
    code, shown = on_a_terminal(b"FALLBACK\n\n", "ask", "SUCCESS", "--from", "x", "--interactive")

    assert shown.count("Next question") == 2
    assert code == 3


def test_no_question_is_asked_without_the_option() -> None:
    """A terminal alone is no wish to go on."""
    code, shown = on_a_terminal(b"FALLBACK\n\n", "ask", "SUCCESS", "--from", "x")

    assert "Next question" not in shown
    assert code == 0


def test_a_pipe_is_never_asked(diagnose: Diagnose, folder: Path) -> None:
    """With the option, too: the command ends after the answer. `--json` holds one run and leaves no room."""
    assert "Next question" not in diagnose("ask", QUESTION, "--from", str(folder), "-i").out
    refused = diagnose("ask", QUESTION, "--from", str(folder), "-i", "--json")
    assert refused.code == 2
    assert "--interactive" in refused.err


def test_a_kept_run_is_marked_and_shows_it(diagnose: Diagnose, folder: Path) -> None:
    """Without a server and a database; a later verdict replaces the first, and goes with the run."""
    diagnose("ask", QUESTION, "--from", str(folder))
    first = diagnose("runs", "mark", "last", "wrong", "--cause", "cart", "--note", "seen in the logs")
    run_id = json.loads(diagnose("show", "--json").out)["run"]["run_id"]

    assert first.out == f"Marked as wrong: {run_id}.\nThe cause was cart.\nNote: seen in the logs\n"
    assert diagnose("show").out.endswith(first.out)
    stored = json.loads(diagnose("runs", "mark", run_id[:12], "RIGHT", "--json").out)
    assert (stored["verdict"], stored["cause"], stored["given_by"]) == ("RIGHT", None, "local")
    assert diagnose("show", "--lang", "zh").out.endswith(f"已标记为正确：{run_id}。\n")


def test_an_unknown_verdict_is_refused(diagnose: Diagnose, folder: Path) -> None:
    """One sentence names it; so does a run that is not there."""
    diagnose("ask", QUESTION, "--from", str(folder))
    for arguments in (("last", "perhaps"), ("run-nowhere", "right"), ("last", "right", "--cause", " ")):
        refused = diagnose("runs", "mark", *arguments)
        assert refused.code == 2, refused
        assert len(refused.err.strip().splitlines()) == 1


def test_a_mark_is_printed_in_the_language_of_its_run(diagnose: Diagnose, folder: Path) -> None:
    """Nobody has to say it again."""
    diagnose("ask", "checkout 为什么慢？", "--from", str(folder))

    assert diagnose("runs", "mark", "last", "right").out.startswith("已标记为正确：")
    assert "已标记为正确：" in diagnose("show").out


def test_what_was_no_diagnosis_cannot_be_marked(diagnose: Diagnose) -> None:
    """As in the service: a run that failed was neither right nor wrong."""
    failed = replace(
        KeptRun.of(documents.success(Language.EN), folder=None, baseline=None, zone=None),
        outcome=ReleaseOutcome.FAILED,
    )
    runs = open_local_runs(load_settings(None))
    assert runs is not None
    runs.keep(failed, now_s=SystemClock().now_s())
    refused = diagnose("runs", "mark", "last", "right")

    assert (refused.code, refused.out) == (2, "")
    assert "it gave no diagnosis" in refused.err


def test_a_long_note_of_addresses_is_taken_and_a_cause_that_is_one_is_refused(
    diagnose: Diagnose, folder: Path
) -> None:
    """What the person wrote is measured, and not what masking makes of it."""
    diagnose("ask", QUESTION, "--from", str(folder))
    note = " ".join(f"a{number}@x.example" for number in range(70))

    assert diagnose("runs", "mark", "last", "wrong", "--note", note).code == 0
    assert "[masked:email]" in diagnose("show").out
    refused = diagnose("runs", "mark", "last", "wrong", "--cause", "ann@shop.example")
    assert "it looks like an address or a secret" in refused.err


def test_the_last_run_is_not_guessed_where_two_places_have_one(
    diagnose: Diagnose, folder: Path, tmp_path: Path
) -> None:
    """The id of a kept run finds it all the same."""
    settings = tmp_path / "settings.toml"
    database = tmp_path / "service.db"
    database.touch()
    settings.write_text(f'[database]\nurl = "sqlite:///{database}"\n', encoding="utf-8")
    diagnose("ask", QUESTION, "--from", str(folder))
    run_id = json.loads(diagnose("show", "--json").out)["run"]["run_id"]

    refused = diagnose("--settings", str(settings), "runs", "mark", "last", "right")
    assert refused.code == 2
    assert f"both this machine ({run_id}) and the database of the service" in refused.err
    assert diagnose("--settings", str(settings), "runs", "mark", run_id, "right").code == 0
