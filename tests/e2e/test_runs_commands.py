"""`diagnose runs` as a person types it, over a service that runs: here and from remote."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from tests.support.command_line import CommandResult, Diagnose, command_runner
from tests.support.counting_server import Answer, CountingServer
from tests.support.live_service import RunningServer, run_server, submit

from diagnosis_harness.audit.why.answer import WhyQuestion
from diagnosis_harness.trace.event import TraceName
from diagnosis_harness.trace.json_lines import events_of

WAIT_S = 30.0
PLAIN = {"PATH": "/usr/bin:/bin", "LANG": "C.UTF-8", "COLUMNS": "100", "OMP_NUM_THREADS": "1"}


@dataclass(frozen=True, slots=True)
class Kept:
    """A service with a diagnosis in English, one in Chinese, and a chat about the system; all ended."""

    folder: Path
    server: RunningServer
    english: str
    chinese: str
    about: str

    @property
    def here(self) -> list[str]:
        """Options for the database itself."""
        return ["--server", ""]

    @property
    def remote(self) -> list[str]:
        """Options for the server."""
        return ["--server", self.server.url]


@pytest.fixture(scope="module", name="kept")
def service_with_runs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Kept]:
    """The service, and what was asked of it."""
    folder = tmp_path_factory.mktemp("service")
    with run_server(folder) as server:
        client = server.client()
        ids = []
        for question in ("Why did the service become slow?", "服务为什么变慢？", "What can you do?"):
            ids.append(submit(client, question)["run_id"])
            server.wait_for_end(client, ids[-1])
        yield Kept(folder, server, *ids)


@pytest.fixture(autouse=True)
def settings(kept: Kept, monkeypatch: pytest.MonkeyPatch) -> None:
    """Which database the commands look into."""
    monkeypatch.setenv("DIAGNOSE_DATABASE__URL", str(kept.folder / "runs.db"))


@pytest.fixture
def diagnose(capfdbinary: pytest.CaptureFixture[bytes]) -> Diagnose:
    """One command line in this process."""
    return command_runner(capfdbinary)


def both(kept: Kept, diagnose: Diagnose, *words: str) -> CommandResult:
    """The same command here and from remote, which must say the same; how old a run is differs by moments."""
    here, remote = diagnose(*words, *kept.here), diagnose(*words, *kept.remote)
    assert here == remote
    return here


def test_a_list_is_the_same_from_a_server(kept: Kept, diagnose: Diagnose) -> None:
    """As JSON, the latest first; filtered the same way."""
    rows = [json.loads(line) for line in both(kept, diagnose, "runs", "list", "--json").out.splitlines()]
    chats = both(kept, diagnose, "runs", "list", "--json", "--intent", "system_chat").out.splitlines()
    one = both(kept, diagnose, "runs", "list", "--json", "--limit", "1")

    assert [row["run_id"] for row in rows] == [kept.about, kept.chinese, kept.english]
    assert [json.loads(line)["run_id"] for line in chats] == [kept.about]
    assert len(one.out.splitlines()) == 1
    assert "more" in one.err


def test_a_list_is_a_table_in_a_pipe_too(kept: Kept, diagnose: Diagnose) -> None:
    """Whole ids and questions, status and outcome side by side, no colours."""
    lines = diagnose("runs", "list", *kept.here).out.splitlines()

    assert len(lines) == 4
    assert lines[3].split()[:4] == [kept.english, "SUCCESS", "SUCCESS", "DIAGNOSIS"]
    assert lines[3].endswith("Why did the service become slow?")
    assert "\x1b" not in "".join(lines)


def test_a_run_is_shown_with_its_facts_and_its_report(kept: Kept, diagnose: Diagnose) -> None:
    """In the language of the run; the report is that of `diagnose ask`."""
    english = both(kept, diagnose, "runs", "show", kept.english).out
    chinese = both(kept, diagnose, "runs", "show", kept.chinese[:14]).out
    about = both(kept, diagnose, "runs", "show", "last").out

    assert "status       SUCCESS" in english
    assert "Evidence" in english
    assert "发布结果  SUCCESS" in chinese
    assert "是原因" in chinese
    assert "I can:" in about


def test_a_trace_is_a_timeline_or_json_lines(kept: Kept, diagnose: Diagnose) -> None:
    """Every event that is kept, the last of them RUN_FINISHED."""
    shown = both(kept, diagnose, "runs", "trace", kept.english).out
    events = events_of(both(kept, diagnose, "runs", "trace", kept.english, "--json").out.encode())

    assert "RUN_FINISHED" in shown
    assert "result" in shown
    assert [event.seq for event in events] == list(range(1, len(events) + 1))
    assert events[-1].name is TraceName.RUN_FINISHED


def test_why_answers_all_seven_questions(kept: Kept, diagnose: Diagnose) -> None:
    """Of any run that is kept, in words, in either language; a background run had no stream."""
    for run_id in (kept.english, kept.chinese, kept.about):
        content = json.loads(both(kept, diagnose, "runs", "why", run_id, "--json").out)
        assert [answer["question"] for answer in content["answers"]] == list(WhyQuestion)
        assert all(answer["says"] for answer in content["answers"])
    in_chinese = both(kept, diagnose, "runs", "why", kept.english, "--lang", "zh").out
    assert "7. " in in_chinese
    assert "为什么" in in_chinese
    of_chat = both(kept, diagnose, "runs", "why", kept.about).out
    assert "no client" in of_chat.lower() or "background" in of_chat.lower()


def test_a_kept_run_verifies_and_its_file_does_as_well(
    kept: Kept, diagnose: Diagnose, tmp_path: Path
) -> None:
    """What is exported is what `diagnose verify` reads, byte for byte the same from remote."""
    for number, place in enumerate((kept.here, kept.remote)):
        assert diagnose("runs", "verify", kept.english, *place).code == 0
        file = tmp_path / f"{number}.json"
        assert diagnose("runs", "export", kept.english, "--out", str(file), *place).code == 0
        assert diagnose("verify", str(file)).code == 0
        assert diagnose("runs", "verify", kept.about, *place).code == 0
    assert (tmp_path / "0.json").read_bytes() == (tmp_path / "1.json").read_bytes()


def test_a_trace_is_exported_for_other_programs(kept: Kept, diagnose: Diagnose) -> None:
    """As JSON Lines, and as OTLP/JSON whose spans are those of the events."""
    lines = both(kept, diagnose, "runs", "export", kept.english, "--format", "jsonl").out
    (resource,) = json.loads(both(kept, diagnose, "runs", "export", "last", "--format", "otlp").out)[
        "resourceSpans"
    ]

    assert lines == diagnose("runs", "trace", kept.english, "--json", *kept.here).out
    (scope,) = resource["scopeSpans"]
    attributes = {each["key"]: each["value"] for each in scope["spans"][0]["attributes"]}
    assert attributes["diagnosis.run_id"] == {"stringValue": kept.about}
    assert attributes["gen_ai.operation.name"] == {"stringValue": "invoke_agent"}


def test_a_run_that_goes_on_is_shown_so_far_and_cancelled(kept: Kept, diagnose: Diagnose) -> None:
    """It says that it goes on; a cancel reaches the process that runs it, and says what it stopped."""
    client = kept.server.client()
    kept.server.hold()
    for place in (kept.here, kept.remote):
        run_id = submit(client)["run_id"]
        assert kept.server.analyst.has_reached(run_id)
        shown = diagnose("runs", "show", run_id, *place)
        early = diagnose("runs", "verify", run_id, *place)
        cancelled = diagnose("runs", "cancel", run_id, *place)
        again = diagnose("runs", "cancel", run_id, *place)
        run = kept.server.wait_for_end(client, run_id)

        assert "The run is still in progress. So far:" in shown.out
        assert "AGENT_MODEL_STEP" in shown.out
        assert (early.code, early.err) == (
            2,
            f"Run {run_id} is still in progress; this is available once it ends.\n",
        )
        assert cancelled.code == 0
        assert cancelled.out.splitlines()[0] == "Cancelled: the run was stopped."
        assert again.out.splitlines()[0].startswith("The run had already ended (CANCELLED)")
        assert (run["status"], run["termination"]["reason"]) == ("CANCELLED", "USER_REQUESTED")
    kept.server.let_go()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["runs", "show", "run-nobody"], "There is no run run-nobody"),
        (["runs", "show", "run-"], "several run ids start with that"),
        (["runs", "show", "../health"], "it is not a valid run id"),
        (["runs", "list", "--status", "LOST"], "choose one of QUEUED, RUNNING, SUCCESS, FAILED, CANCELLED"),
        (["runs", "list", "--session", "a b"], "it is not a valid session id"),
        (["runs", "export", "last", "--format", "xml"], "choose one of document, jsonl, otlp"),
        (["runs", "export", "last", "--out", "/no/such/folder/x"], "there is no such folder"),
    ],
)
def test_what_cannot_be_used_is_one_sentence(
    kept: Kept, diagnose: Diagnose, words: list[str], message: str
) -> None:
    """In one sentence on standard error, with exit code 2, here and from remote."""
    answer = both(kept, diagnose, *words)

    assert answer.code == 2
    assert message in answer.err
    assert len(answer.err.splitlines()) == 1
    assert answer.out == ""


def test_there_may_be_no_database(
    diagnose: Diagnose, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Looking makes none; it is said how to name another."""
    file = tmp_path / "none.db"
    monkeypatch.setenv("DIAGNOSE_DATABASE__URL", str(file))
    output = diagnose("runs", "list")

    assert (output.code, file.exists()) == (2, False)
    assert "there is no database yet; name one with DIAGNOSE_DATABASE__URL" in output.err


def test_a_server_that_is_unavailable_is_exit_code_1(diagnose: Diagnose) -> None:
    """It is nothing that the person typed wrong."""
    with CountingServer(lambda _: Answer(503)) as server:
        url = server.url
    output = diagnose("runs", "list", "--server", url)

    assert output.code == 1
    host = url.removeprefix("http://")
    assert output.err == f"{host} cannot be reached: Connection refused; is `diagnose serve` running there?\n"


def without(module: str, *words: str) -> subprocess.CompletedProcess[str]:
    """A command line where a library is not installed."""
    program = (
        f"import sys; sys.modules[{module!r}] = None\n"
        "from diagnosis_harness.cli.main import main\n"
        f"sys.argv = ['diagnose', *{list(words)!r}]\n"
        "main()"
    )
    return program_of(program)


def program_of(text: str) -> subprocess.CompletedProcess[str]:
    """A program in a process of its own."""
    command = [sys.executable, "-c", text]
    return subprocess.run(command, env=PLAIN, capture_output=True, text=True, timeout=60, check=False)


@pytest.mark.parametrize(
    ("module", "words"),
    [
        ("sqlalchemy", ["runs", "list"]),
        ("sqlalchemy", ["keys", "list"]),
        ("httpx2", ["runs", "list", "--server", "http://127.0.0.1:9"]),
    ],
)
def test_what_is_not_installed_is_named_with_its_remedy(module: str, words: list[str]) -> None:
    """The base install knows the commands and says what they need."""
    done = without(module, *words)

    assert done.returncode == 2
    assert done.stderr == (
        f"Cannot use diagnose: a required package is not installed ({module}); "
        "run pip install 'diagnosis-harness[server]'.\n"
    )


HELP = [["--help"], ["runs", "--help"], ["runs", "list", "--help"], ["keys", "-h"]]


@pytest.mark.parametrize("words", HELP)
def test_help_loads_nothing_heavy(words: list[str]) -> None:
    """No library of the service, and no settings: what a command needs is imported when it is given."""
    done = program_of(
        "import sys\n"
        "from diagnosis_harness.cli.main import run_command\n"
        f"code = run_command({words!r})\n"
        "heavy = {'sqlalchemy', 'httpx2', 'fastapi', 'numpy', 'rich', 'diagnosis_harness.settings'}\n"
        "sys.exit(code or sorted(heavy & set(sys.modules)) or 0)"
    )

    assert (done.returncode, done.stderr) == (0, "")
