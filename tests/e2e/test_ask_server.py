"""`diagnose ask --server` as a person types it: the same view and answer as of a folder, from a service."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.support.command_line import Diagnose, command_runner
from tests.support.live_service import QUESTION, RunningServer, run_server

from diagnosis_harness.simulator.faults import FaultKind
from diagnosis_harness.simulator.folder import simulate_folder

PLAIN = {"PATH": "/usr/bin:/bin", "LANG": "C.UTF-8", "COLUMNS": "100", "OMP_NUM_THREADS": "1"}


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    """The service."""
    with run_server(tmp_path_factory.mktemp("service")) as server:
        yield server


@pytest.fixture
def diagnose(capfdbinary: pytest.CaptureFixture[bytes]) -> Diagnose:
    """One command line in this process."""
    return command_runner(capfdbinary)


def test_a_service_answers_as_a_folder_does(
    server: RunningServer, diagnose: Diagnose, tmp_path: Path
) -> None:
    """The report on standard output, progress on standard error; the saved document verifies."""
    file = tmp_path / "run.json"
    output = diagnose("ask", QUESTION, "--server", server.url, "--save", str(file))

    assert output.code == 0
    assert output.out.startswith(f"? {QUESTION}\n")
    assert "Evidence" in output.out
    assert "diagnosing" in output.err
    assert "rank_causes" in output.err
    assert diagnose("verify", str(file)).code == 0


def test_the_document_is_the_one_that_is_kept(server: RunningServer, diagnose: Diagnose) -> None:
    """Byte for byte."""
    output = diagnose("ask", QUESTION, "--server", server.url, "--json")
    run_id = json.loads(output.out)["run"]["run_id"]

    assert output.code == 0
    assert output.out == diagnose("runs", "export", run_id, "--server", server.url).out


def test_another_path_answers_in_text_and_in_the_language_of_the_question(
    server: RunningServer, diagnose: Diagnose
) -> None:
    """What the service says of itself."""
    output = diagnose("ask", "你能做什么？", "--server", server.url)

    assert output.code == 0
    assert "我" in output.out
    assert "正在回答" in output.err
    assert re.search("继续此会话：--session ses-", output.err)


def test_a_question_is_left_to_the_service(server: RunningServer, diagnose: Diagnose) -> None:
    """The id alone on standard output, so that it can be handed on."""
    output = diagnose("ask", QUESTION, "--server", server.url, "--background")
    run = server.wait_for_end(server.client(), output.out.strip())

    assert output.code == 0
    assert (run["status"], run["kind"]) == ("SUCCESS", "BACKGROUND")


def test_a_folder_is_sent_to_the_service_and_asked_about_there(
    server: RunningServer, diagnose: Diagnose, tmp_path: Path
) -> None:
    """Once, however often it is asked about; the answer is that of the folder on this machine."""
    folder = simulate_folder(FaultKind.CPU, seed=3, parent=tmp_path).folder
    (folder / ".secret").write_text("x", encoding="utf-8")
    first = diagnose("ask", QUESTION, "--server", server.url, "--from", str(folder), "--json")
    again = diagnose("ask", QUESTION, "--server", server.url, "--from", str(folder), "--background")
    here = diagnose("ask", QUESTION, "--from", str(folder), "--json", "--no-keep")
    (source,) = server.client().get("/v1/sources").json()["sources"]
    run = server.wait_for_end(server.client(), again.out.strip())

    assert (first.code, again.code, here.code) == (0, 0, 0)
    assert f"Sent 6 files; the service keeps them until {source['expires_at']}" in first.err
    assert f"--source {source['source_id']}" in again.err
    assert (run["source"], run["outcome"]) == (source["source_id"], "SUCCESS")
    assert {each["name"] for each in source["files"]} == {each.name for each in folder.glob("[a-z]*.csv")}
    report, local = json.loads(first.out)["report"], json.loads(here.out)["report"]
    assert report["claims"]
    assert [each["sentence"] for each in report["claims"]] == [each["sentence"] for each in local["claims"]]


def test_a_folder_that_the_service_does_not_take_is_one_sentence(
    server: RunningServer, diagnose: Diagnose, tmp_path: Path
) -> None:
    """That of the service, as for every other refusal."""
    (tmp_path / "metrics.csv").write_text("a,b\n", encoding="utf-8")
    output = diagnose("ask", QUESTION, "--server", server.url, "--from", str(tmp_path))

    assert output.code == 2
    assert "its files hold no rows of metrics, traces or logs" in output.err
    assert "Traceback" not in output.err


def test_ctrl_c_closes_the_connection_and_the_run_is_cancelled(server: RunningServer) -> None:
    """Exit code 130, and what is kept of it is printed."""
    client = server.client()
    server.hold()
    process = subprocess.Popen(
        [sys.executable, "-m", "diagnosis_harness", "ask", QUESTION, "--server", server.url],
        env=PLAIN,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stderr is not None
        while "diagnosing" not in process.stderr.readline():
            assert process.poll() is None
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
    finally:
        server.let_go()
        process.kill()
    latest = client.get("/v1/runs?limit=1").json()["runs"][0]

    assert process.returncode == 130
    assert (latest["status"], latest["termination"]["reason"]) == ("CANCELLED", "CLIENT_DISCONNECTED")
    assert "Cancelling." in err
    assert latest["run_id"] in out


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--from", "x", "--source", "y"], "ask about a folder or a source, not both"),
        (["--from", "x", "--background"], "name with --server where to send the folder"),
        (["--from", "x", "--key", "k"], "name with --server where to send the folder"),
        (["--from", "x", "--server", "http://h", "--baseline", "y"], "under [baseline] in incident.toml"),
        (["--from", "x", "--server", "http://h", "--zone", "CET"], "write the zone into the question"),
        (["--from", "/nowhere", "--server", "http://127.0.0.1:1"], "there is no such folder"),
        (["--baseline", "x", "--server", "http://h"], "it is given without --from"),
        ([], "Missing option '--from' / '--server'."),
        (["--server", "h:1"], "it is not an http or https URL"),
    ],
)
def test_what_excludes_each_other_is_said(diagnose: Diagnose, words: list[str], message: str) -> None:
    """In one sentence, before anything is asked."""
    answer = diagnose("ask", QUESTION, *words)

    assert answer.code == 2
    assert message in answer.err
    assert len(answer.err.splitlines()) == 1


def test_what_the_service_refuses_is_said(server: RunningServer, diagnose: Diagnose) -> None:
    """A field at fault, by its name."""
    answer = diagnose("ask", QUESTION, "--server", server.url, "--source", "nowhere")

    assert answer.code == 2
    assert "source: it is not configured" in answer.err
