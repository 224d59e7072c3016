"""`diagnose serve` and `diagnose worker` as processes: who has which source works on which runs."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import httpx2
import pytest
from sqlalchemy import create_engine, text
from tests.support.cluster import cluster

from diagnosis_harness.adapters.persistence.address import engine_url
from diagnosis_harness.simulator.faults import FaultKind
from diagnosis_harness.simulator.folder import simulate_folder

WAIT_S = 120.0
pytestmark = pytest.mark.timeout(300)  # each test starts several processes of the whole program
ENVIRONMENT = {
    "PATH": "/usr/bin:/bin",
    "LANG": "C.UTF-8",
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "DIAGNOSE_SUPERVISION__HEARTBEAT_S": "0.5",
    "DIAGNOSE_SERVER__UNFINISHED_RUNS": "100",
    "PYTHONPATH": os.pathsep.join(sys.path),  # the code that is tested, wherever it was copied to
}


class Command:
    """`diagnose ...` as a process, and what it says."""

    def __init__(self, *arguments: str | Path, **environment: str) -> None:
        self.lines: list[str] = []
        self._changed = threading.Condition()
        self.process = subprocess.Popen(
            [sys.executable, "-m", "diagnosis_harness", *map(str, arguments)],
            env=ENVIRONMENT | environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            encoding="utf-8",
        )
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            with self._changed:
                self.lines.append(line)
                self._changed.notify_all()

    @property
    def said(self) -> str:
        """All of it so far."""
        with self._changed:
            return "".join(self.lines)

    def until(self, pattern: str) -> re.Match[str]:
        """What it says, when it has said it."""
        with self._changed:
            self._changed.wait_for(lambda: re.search(pattern, "".join(self.lines)), WAIT_S)
            found = re.search(pattern, "".join(self.lines))
        assert found is not None, self.said
        return found

    def wait_for_exit(self) -> int:
        """Its exit code, when it has ended."""
        code = self.process.wait(WAIT_S)
        self._reader.join(WAIT_S)
        return code

    def kill(self) -> None:
        """End it, -9."""
        with suppress(ProcessLookupError):
            self.process.kill()
        self.process.wait(WAIT_S)
        self._reader.join(WAIT_S)
        assert self.process.stdout is not None
        self.process.stdout.close()


class Team:
    """Processes over one database; none is left at the end."""

    def __init__(self, database: str) -> None:
        self._database = database
        self._members: list[Command] = []

    def serve(self, *options: str | Path, **environment: str) -> tuple[Command, str]:
        """A server, and its address."""
        command = self.start("serve", "--port", "0", *options, **environment)
        return command, command.until(r"Listening on (http://[\d.]+:\d+)")[1]

    def workers(self, *several: Sequence[str | Path], **environment: str) -> list[tuple[Command, str]]:
        """A worker for each list of options, and the names that they have in the rows; started at once."""
        commands = [self.start("worker", *options, **environment) for options in several]
        return [(command, command.until(r"Working as (\S+),")[1]) for command in commands]

    def start(self, *arguments: str | Path, **environment: str) -> Command:
        """A command."""
        command = Command(*arguments, DIAGNOSE_DATABASE__URL=self._database, **environment)
        self._members.append(command)
        return command

    def close(self) -> None:
        """End them all."""
        for member in self._members:
            member.kill()


@contextmanager
def team(database: str) -> Iterator[Team]:
    """Processes over this database."""
    members = Team(database)
    try:
        yield members
    finally:
        members.close()


def ask(url: str, count: int, **body: str) -> list[str]:
    """Queue questions; the ids of their runs."""
    asked = [
        httpx2.post(
            f"{url}/v1/runs", json={"question": f"Why is it slow ({number})?", **body}, trust_env=False
        )
        for number in range(count)
    ]
    return [str(response.raise_for_status().json()["run_id"]) for response in asked]


def wait_until_closed(url: str, run_ids: Sequence[str]) -> list[dict[str, Any]]:
    """The rows, when all are closed: their streams end then."""
    rows = []
    for run_id in run_ids:
        httpx2.get(f"{url}/v1/runs/{run_id}/events", timeout=WAIT_S, trust_env=False).raise_for_status()
        rows.append(httpx2.get(f"{url}/v1/runs/{run_id}", trust_env=False).json())
    return rows


def code_of(row: dict[str, Any]) -> str | None:
    """The code of its failure."""
    return row["failure"]["code"] if row["failure"] else None


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An incident folder called `shop`."""
    parent = tmp_path_factory.mktemp("incident")
    folder = simulate_folder(FaultKind.CPU, seed=1, parent=parent).folder
    return folder.rename(parent / "shop")


@pytest.fixture(scope="module")
def other_shop(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Another incident, in a folder of the same name."""
    parent = tmp_path_factory.mktemp("other")
    folder = simulate_folder(FaultKind.MEMORY_LEAK, seed=2, parent=parent).folder
    return folder.rename(parent / "shop")


@pytest.mark.parametrize("place", ["sqlite_url", "postgres_url"])
def test_workers_that_lack_the_source_leave_its_runs_to_those_that_have_it(
    place: str, request: pytest.FixtureRequest, shop: Path, tmp_path: Path
) -> None:
    """As the README adds machines: none of 16 runs fails, and a copy at another path is the same source."""
    copy = Path(shutil.copytree(shop, tmp_path / "elsewhere" / "copy-of-it"))
    with team(request.getfixturevalue(place)) as members:
        _, url = members.serve("--from", shop)
        (without, owner_without), (_, owner_with) = members.workers((), ("--from", copy))
        rows = wait_until_closed(url, ask(url, 16))
        assert {(row["status"], code_of(row)) for row in rows} == {("SUCCESS", None)}
        owners = owners_of(request.getfixturevalue(place))
        assert owner_with in owners
        assert owner_without not in owners
        without.until(r"need source 'shop', which this process does not have")
        assert without.said.count("does not have") == 1


def owners_of(database: str) -> set[str]:
    """Who owns a run in it."""
    engine = create_engine(engine_url(database))
    with engine.connect() as connection:
        owners = set(connection.execute(text("SELECT owner FROM diagnosis_run")).scalars())
    engine.dispose()
    return owners


def test_a_worker_whose_source_of_that_name_is_another_one_claims_nothing(
    sqlite_url: str, shop: Path, other_shop: Path, tmp_path: Path
) -> None:
    """It says so; a worker with the right one, started later, works on what waits."""
    copy = Path(shutil.copytree(shop, tmp_path / "copy"))
    with team(sqlite_url) as members:
        _, url = members.serve("--no-work", "--from", shop)
        ((wrong, _),) = members.workers(("--from", other_shop))
        (run_id,) = ask(url, 1)
        wrong.until(r"need source 'shop', which is a different one in this process")
        assert httpx2.get(f"{url}/v1/runs/{run_id}", trust_env=False).json()["status"] == "QUEUED"
        members.workers(("--from", copy))
        (row,) = wait_until_closed(url, [run_id])
        assert (row["status"], row["outcome"]) == ("SUCCESS", "SUCCESS")


def test_a_run_that_no_process_has_the_source_of_ends_with_that_reason(sqlite_url: str, shop: Path) -> None:
    """Readiness and metrics of a process without it say so while it waits, `runs why` afterwards."""
    patience = {"DIAGNOSE_SERVER__START_WITHIN_S": "12"}
    with team(sqlite_url) as members:
        _, asked = members.serve("--no-work", "--from", shop, **patience)
        members.start("worker")
        other, url = members.serve(**patience)
        (run_id,) = ask(asked, 1)
        other.until("which this process does not have")
        ready = httpx2.get(f"{url}/readyz", trust_env=False).json()
        metrics = httpx2.get(f"{url}/metrics", trust_env=False).text
        (row,) = wait_until_closed(url, [run_id])
        why = members.start("runs", "why", run_id)
        in_chinese = members.start("runs", "why", run_id, "--lang", "zh")
        assert (why.wait_for_exit(), in_chinese.wait_for_exit()) == (0, 0)
    assert ready["status"] == "ready"
    assert ready["checks"]["sources"].endswith("a source that this process does not have: 1")
    assert "diagnosis_runs_queued_without_source 1.0" in metrics
    assert (row["status"], row["state"], code_of(row)) == ("FAILED", "FAILED", "SOURCE_NOT_SERVED")
    assert "No process that takes queued runs has this source" in row["failure"]["message"]
    assert "diagnose worker --from FOLDER" in " ".join(why.said.split())
    assert "处理排队运行的进程都没有该数据源" in "".join(in_chinese.said.split())


def test_what_a_killed_worker_had_in_hand_is_worked_on_by_another_with_the_source(
    postgres_url: str, shop: Path
) -> None:
    """Nothing is lost: what it had begun ends FAILED, all the rest is done."""
    supervision = {"DIAGNOSE_SUPERVISION__DEAD_AFTER_S": "4", "DIAGNOSE_SUPERVISION__REQUEUE_AFTER_S": "2"}
    with team(postgres_url) as members:
        _, url = members.serve("--no-work", "--from", shop, **supervision)
        ((doomed, _),) = members.workers(("--from", shop, "--parallel", "1"), **supervision)
        run_ids = ask(url, 6)
        wait_until_closed(url, run_ids[:1])
        doomed.process.kill()
        members.workers((), ("--from", shop), **supervision)
        rows = wait_until_closed(url, run_ids)
    failed = [code_of(row) for row in rows if row["status"] != "SUCCESS"]
    assert failed in ([], ["INTERNAL_FAILURE"])


def test_a_worker_makes_no_database_and_says_which_one_is_missing(tmp_path: Path) -> None:
    """In the wrong folder it would wait beside an empty one for ever."""
    file = tmp_path / "runs.db"
    with team(str(file)) as members:
        worker, in_chinese = members.start("worker"), members.start("worker", "--lang", "zh")
        assert (worker.wait_for_exit(), in_chinese.wait_for_exit()) == (2, 2)
    assert f"there is no database at {file}" in " ".join(worker.said.split())
    assert "diagnose serve" in worker.said
    assert "没有数据库" in in_chinese.said
    assert list(tmp_path.iterdir()) == []


def test_servers_and_workers_say_which_database_they_use(sqlite_url: str) -> None:
    """By its whole path."""
    with team(sqlite_url) as members:
        server, _ = members.serve()
        ((worker, _),) = members.workers(())
    file = sqlite_url.removeprefix("sqlite:///")
    assert [member.lines[0] for member in (server, worker)] == [f"Database: {file}\n"] * 2


def test_a_worker_waits_for_a_postgresql_that_starts(shop: Path) -> None:
    """Machines start in any order; the worker says what it waits for, without the password."""
    with cluster() as server:
        url = server.url("postgres")
        server.stop()
        with team(url) as members:
            worker = members.start("worker", "--from", shop)
            worker.until(r"does not answer yet \(.*\): waiting up to 60 s\.")
            server.start()
            worker.until("Working as ")
            assert worker.said.startswith("Database: PostgreSQL, postgres at ")
            assert worker.said.count("waiting up to") == 1


def test_a_worker_waits_for_a_postgresql_no_longer_than_it_says(shop: Path) -> None:
    """Then it ends with the reason."""
    with team("postgresql://ann:hunter2@127.0.0.1:1/shop") as members:
        worker = members.start("worker", "--from", shop, DIAGNOSE_DATABASE__START_WAIT_S="1")
        assert worker.wait_for_exit() == 1
    assert "Database: PostgreSQL, shop at 127.0.0.1:1\n" in worker.said
    assert "waiting up to 1 s" in worker.said
    assert "Cannot start: the database cannot be reached" in worker.said
    assert "hunter2" not in worker.said


@pytest.mark.parametrize("place", ["sqlite_url", "postgres_url"])
def test_workers_without_any_source_work_on_what_a_caller_has_sent(
    place: str, request: pytest.FixtureRequest, shop: Path, tmp_path: Path
) -> None:
    """Each fetches it for itself; the server that took it in works on nothing; no file is left behind."""
    archive = Path(shutil.make_archive(str(tmp_path / "sent"), "gztar", shop.parent, shop.name))
    unpacked = tmp_path / "unpacked"
    where = {"DIAGNOSE_UPLOADS__FOLDER": str(unpacked)}
    with team(request.getfixturevalue(place)) as members:
        _, url = members.serve("--no-work", **where)
        workers = members.workers(("--parallel", "1"), ("--parallel", "1"), **where)
        response = httpx2.post(
            f"{url}/v1/sources",
            content=archive.read_bytes(),
            headers={"content-type": "application/gzip"},
            timeout=WAIT_S,
            trust_env=False,
        )
        source = str(response.raise_for_status().json()["source_id"])
        run_ids = ask(url, 12, source=source)
        rows = wait_until_closed(url, run_ids)
        assert {(row["status"], code_of(row)) for row in rows} == {("SUCCESS", None)}
        assert owners_of(request.getfixturevalue(place)) == {owner for _, owner in workers}
        assert len(list(unpacked.iterdir())) == 3
        for command, _ in workers:
            command.process.terminate()
            command.wait_for_exit()
        assert len(list(unpacked.iterdir())) == 1
