"""What the DBOS queue writes, shares and refuses, and how it fails when its database does."""

from __future__ import annotations

import asyncio
import logging
import sqlite3
import threading
from collections.abc import Callable, Coroutine
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from dbos import DBOS
from tests.support.cluster import Cluster, cluster
from tests.support.queue_contract import Bench

from diagnosis_harness.adapters.queue.database import queue_url
from diagnosis_harness.adapters.queue.dbos_queue import DbosRunQueue
from diagnosis_harness.application.runs.sources import ANY_LANE
from diagnosis_harness.kernel.errors import ContractViolation, FailureKind, InvalidSetting, StoreFailure

Use = Callable[[DbosRunQueue], Coroutine[Any, Any, None]]


def use(url: str, steps: Use, *, executor: str = "p1") -> None:
    """Do something with a queue and close it."""

    async def all_of_it() -> None:
        queue = DbosRunQueue(url, executor_id=executor, poll_interval_s=0.05)
        try:
            await steps(queue)
        finally:
            await queue.close()

    asyncio.run(all_of_it())


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """Where a queue is kept."""
    return tmp_path / "queue.db"


def test_nothing_is_pickled(file: Path) -> None:
    """Every value of every table is plain text or a number, also of a run whose work raised."""
    bench = Bench()

    async def work(run_id: str) -> None:
        await bench.work(run_id)
        raise RuntimeError(run_id)

    async def steps(queue: DbosRunQueue) -> None:
        asyncio.get_running_loop().set_exception_handler(lambda *_: None)
        await queue.put("run-1", ANY_LANE)
        await queue.listen(work, parallel_max=1)
        await bench.until(lambda: bench.ended == ["run-1"])
        await queue.put("run-2", ANY_LANE)
        await bench.until(lambda: bench.ended == ["run-1", "run-2"])

    use(f"sqlite:///{file}", steps)
    with closing(sqlite3.connect(file)) as connection:
        tables = [name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type='table'")]
        values = [v for t in tables for row in connection.execute(f'SELECT * FROM "{t}"') for v in row]
        formats = set(connection.execute("SELECT serialization FROM workflow_status"))
    assert formats == {("portable_json",)}
    assert any("run-1" in str(value) for value in values)
    assert [v for v in values if isinstance(v, bytes) or "pickle" in str(v) or str(v).startswith("gAS")] == []


def test_a_process_that_only_puts_runs_nothing(file: Path) -> None:
    """No thread of DBOS is there, and the run waits."""
    names: list[str] = []
    others = set(threading.enumerate())  # of tests before this one

    async def steps(queue: DbosRunQueue) -> None:
        await queue.put("run-1", ANY_LANE)
        names.extend(thread.name for thread in set(threading.enumerate()) - others)

    use(f"sqlite:///{file}", steps)
    with closing(sqlite3.connect(file)) as connection:
        rows = list(connection.execute("SELECT workflow_uuid, status, executor_id FROM workflow_status"))
    assert rows == [("run-1", "ENQUEUED", None)]
    assert [name for name in names if not name.startswith(("MainThread", "asyncio_", "pytest_timeout"))] == []


def test_a_file_is_used_with_a_write_ahead_log(file: Path) -> None:
    """The mode is in the file, so every process has it."""

    async def steps(queue: DbosRunQueue) -> None:
        await queue.put("run-1", ANY_LANE)

    use(f"sqlite+aiosqlite:///{file}", steps)
    with closing(sqlite3.connect(file)) as connection:
        assert connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)


def test_a_warning_of_dbos_is_said_once_and_in_one_line(file: Path, caplog: pytest.LogCaptureFixture) -> None:
    """It looks for work four times a second, and says each time that its database is away."""

    async def steps(queue: DbosRunQueue) -> None:
        await queue.put("run-1", ANY_LANE)

    use(f"sqlite:///{file}", steps)
    logger = logging.getLogger("dbos")
    for _ in range(3):
        logger.warning("the database is away\nSELECT 1", exc_info=OSError("away"))
    logger.warning("it is back")

    output = [(record.getMessage(), record.exc_info) for record in caplog.records if record.name == "dbos"]
    assert output[-2:] == [("the database is away", None), ("it is back", None)]


def test_nothing_of_dbos_travels_into_the_work(file: Path) -> None:
    """Work runs in the loop that listens, outside of any workflow."""
    seen: list[object] = []
    bench = Bench()

    async def work(run_id: str) -> None:
        seen.extend((DBOS.workflow_id, threading.current_thread() is threading.main_thread()))
        await bench.work(run_id)

    async def steps(queue: DbosRunQueue) -> None:
        await queue.listen(work, parallel_max=1)
        await queue.put("run-1", ANY_LANE)
        await bench.until(lambda: bench.ended == ["run-1"])

    use(f"sqlite:///{file}", steps)
    assert seen == [None, True]


def test_a_process_listens_once(file: Path) -> None:
    """DBOS is one for the process: the second one is refused, and the first goes on."""
    bench = Bench()

    async def steps(queue: DbosRunQueue) -> None:
        await queue.listen(bench.work, parallel_max=1)
        second = DbosRunQueue(f"sqlite:///{file}", executor_id="p2")
        with pytest.raises(ContractViolation):
            await second.listen(bench.work, parallel_max=1)
        await second.close()
        await queue.put("run-1", ANY_LANE)
        await bench.until(lambda: bench.ended == ["run-1"])

    use(f"sqlite:///{file}", steps)


def test_a_locked_file_fails_puts_and_stops_nothing_for_good(file: Path) -> None:
    """While somebody holds the lock a put is a timeout; afterwards puts and deliveries go on."""
    bench = Bench()

    async def steps(queue: DbosRunQueue) -> None:
        await queue.listen(bench.work, parallel_max=1)
        with closing(sqlite3.connect(file, isolation_level=None)) as connection:
            connection.execute("BEGIN IMMEDIATE")
            with pytest.raises(StoreFailure) as failure:
                await queue.put("run-1", ANY_LANE)
            connection.execute("ROLLBACK")
        assert failure.value.kind is FailureKind.TIMEOUT
        assert "lock" in str(failure.value)  # the file's own limit, not that of the call
        await queue.put("run-2", ANY_LANE)
        await bench.until(lambda: bench.ended == ["run-2"])

    use(f"sqlite:///{file}", steps)


@pytest.fixture
def server() -> Any:
    """A server that can be stopped."""
    with cluster() as started:
        yield started


def test_a_server_that_disappears_fails_puts_and_stops_nothing_for_good(server: Cluster) -> None:
    """A put without a server is UNAVAILABLE; when it is back, puts and deliveries go on."""
    bench = Bench(is_held=True)

    async def steps(queue: DbosRunQueue) -> None:
        await queue.listen(bench.work, parallel_max=2)
        await queue.put("run-1", ANY_LANE)
        await bench.until(lambda: bench.begun == ["run-1"])
        await asyncio.to_thread(server.stop)
        bench.let_go()
        with pytest.raises(StoreFailure) as failure:
            await queue.put("run-2", ANY_LANE)
        assert failure.value.kind is FailureKind.UNAVAILABLE
        assert "postgres" not in str(failure.value)
        await asyncio.to_thread(server.start)
        await queue.put("run-3", ANY_LANE)
        await queue.put("run-4", ANY_LANE)
        await bench.until(lambda: sorted(bench.ended) == ["run-1", "run-3", "run-4"])

    use(server.url("postgres"), steps)


def test_a_connection_that_died_with_its_server_fails_no_put_when_the_server_is_back(server: Cluster) -> None:
    """Nothing noticed the outage, so nothing is logged."""
    bench = Bench()

    async def steps(queue: DbosRunQueue) -> None:
        await queue.put("run-1", ANY_LANE)
        await asyncio.to_thread(server.stop)
        await asyncio.to_thread(server.start)
        await queue.put("run-2", ANY_LANE)
        await queue.listen(bench.work, parallel_max=1)
        await bench.until(lambda: sorted(bench.ended) == ["run-1", "run-2"])

    use(server.url("postgres"), steps)


def test_a_process_can_close_and_end_while_its_queue_is_locked(file: Path, worker: Any) -> None:
    """Nothing that DBOS tries again for ever keeps the process."""
    url = f"sqlite:///{file}"
    process = worker(url, "p1", "hold")

    async def steps(queue: DbosRunQueue) -> None:
        await queue.put("run-1", ANY_LANE)

    use(url, steps)
    assert process.took() == "run-1"
    with closing(sqlite3.connect(file, isolation_level=None)) as connection:
        connection.execute("BEGIN IMMEDIATE")
        assert process.close() == ["closed"]


def test_what_a_closed_process_had_taken_and_not_begun_is_there_for_others(file: Path) -> None:
    """Where another process allowed for more room, runs wait here; they go back when this one closes."""
    url = f"sqlite:///{file}"
    benches, after = Bench(is_held=True), Bench()

    def count_taken() -> int:
        with closing(sqlite3.connect(file)) as connection:
            rows = connection.execute("SELECT count(*) FROM workflow_status WHERE status = 'PENDING'")
            return int(rows.fetchone()[0])

    async def first(queue: DbosRunQueue) -> None:
        await queue.listen(benches.work, parallel_max=1)
        with closing(sqlite3.connect(file)) as connection, connection:
            connection.execute("UPDATE queues SET worker_concurrency = 3")
        for name in ("run-1", "run-2", "run-3"):
            await queue.put(name, ANY_LANE)
        async with asyncio.timeout(30):
            while await asyncio.to_thread(count_taken) < 3:
                pass
        await benches.until(
            lambda: benches.begun == ["run-1"]
        )  # DBOS notes a delivery before it hands it over

    async def second(queue: DbosRunQueue) -> None:
        await queue.listen(after.work, parallel_max=1)
        await after.until(lambda: len(after.ended) >= 2)

    use(url, first)
    use(url, second, executor="p2")
    assert benches.begun == ["run-1"]
    assert sorted(after.begun) == ["run-2", "run-3"]


def test_a_queue_that_cannot_be_reached_fails_typed_and_can_be_used_later(tmp_path: Path) -> None:
    """Neither put nor listen waits for ever, and the same object works once the folder is there."""
    folder = tmp_path / "later"
    bench = Bench()

    async def steps(queue: DbosRunQueue) -> None:
        for attempt in (queue.put("run-1", ANY_LANE), queue.listen(bench.work, parallel_max=1)):
            with pytest.raises(StoreFailure) as failure:
                await attempt
            assert failure.value.kind is FailureKind.UNAVAILABLE
        folder.mkdir()
        await queue.listen(bench.work, parallel_max=1)
        await queue.put("run-1", ANY_LANE)
        await bench.until(lambda: bench.ended == ["run-1"])

    use(f"sqlite:///{folder / 'queue.db'}", steps)


@pytest.mark.parametrize(
    ("database", "queue"),
    [
        ("sqlite+aiosqlite:////var/lib/d/runs.db", "sqlite:////var/lib/d/runs-queue.db"),
        ("runs.db", "sqlite:///runs-queue.db"),
        ("sqlite:///runs.db", "sqlite:///runs-queue.db"),
        ("postgresql://u:p%40@h:5433/d", "postgresql+psycopg://u:p%40@h:5433/d"),
        ("postgresql+psycopg://u@/d?host=/run/pg", "postgresql+psycopg://u@/d?host=%2Frun%2Fpg"),
    ],
)
def test_the_queue_of_a_database(database: str, queue: str) -> None:
    """A file beside a file; within PostgreSQL itself."""
    assert queue_url(database) == queue


@pytest.mark.parametrize(
    "url", ["", "no://url", "sqlite://", "sqlite:///:memory:", "mysql://u:secret@h/d", "postgresql://h"]
)
def test_a_url_that_is_not_a_database_is_refused(url: str) -> None:
    """One sentence, and no password in it."""
    with pytest.raises(InvalidSetting) as refusal:
        DbosRunQueue(url, executor_id="p1")
    assert "secret" not in str(refusal.value)
