"""A database or evidence store that fails, goes away and comes back: typed failures, no restart of ours."""

from __future__ import annotations

import asyncio
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from functools import partial
from pathlib import Path

import pytest
from sqlalchemy import Connection, TextClause, text
from tests.support.rows import Kept, a_request, a_success
from tests.support.servers import Databases, Valkey

from diagnosis_harness.adapters.evidence_stores.redis import RedisEvidenceStore
from diagnosis_harness.adapters.persistence.database import Database
from diagnosis_harness.kernel.errors import FailureKind, StoreFailure
from diagnosis_harness.testing.evidence import change_item, projecting_record, ready_record
from diagnosis_harness.testing.runs import Rig
from diagnosis_harness.trace.event import TraceName

KeptAt = Callable[..., AbstractAsyncContextManager[Kept]]
SECRET = "hunter2-hunter2"  # noqa: S105 - what must not be shown

FILLS = """
import asyncio, resource, sys
from diagnosis_harness.adapters.persistence.database import Database
from diagnosis_harness.adapters.persistence.archive import SqlRunArchive
from diagnosis_harness.kernel.errors import StoreFailure
from tests.support.rows import a_request
from dataclasses import replace
async def main():
    database = await Database.open(sys.argv[1])
    archive = SqlRunArchive(database)
    await archive.submit(a_request("before"))
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (300_000, hard))
    big = "x" * 1_000_000
    try:
        await archive.submit(replace(a_request("full"), question=big))
    except StoreFailure as failure:
        print(failure.kind, failure)
    resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    await archive.submit(replace(a_request("after"), question=big))
    print([(await archive.run(run_id)) is not None for run_id in ("before", "full", "after")])
    await database.close()
asyncio.run(main())
"""


def test_postgresql_that_disappears_is_a_failure_and_works_again_when_it_is_back(
    databases: Databases, postgres_url: str, kept_at: KeptAt
) -> None:
    """Rows fail typed; the log keeps its events, tries again by the clock, and loses and repeats none."""
    server = databases.server
    if server is None:
        pytest.skip("server: the given database is not ours to stop")

    async def story() -> None:
        async with kept_at(postgres_url) as kept:
            ctx = await kept.one.begin_run("r1")
            server.stop()
            kept.one.tell(ctx)
            with pytest.raises(StoreFailure) as failure:
                await kept.archive.run("r1")
            assert failure.value.kind in {FailureKind.TRANSPORT, FailureKind.UNAVAILABLE}
            flushed = asyncio.ensure_future(kept.one.log.flush(ctx))
            await _let_log_retry(kept, flushed, times=3)
            assert not flushed.done()
            server.start()
            await _until_done(kept, flushed)
            await flushed
            assert await kept.one.store.finish(ctx, a_success())
            kept.one.tell(ctx, TraceName.RUN_FINISHED)
            await kept.one.log.flush(ctx)
            assert [event.seq for event in await kept.archive.events("r1")] == [1, 2, 3]
            server.stop()  # and nobody notices
            server.start()
            assert await kept.archive.run("r1") is not None

    asyncio.run(story())


async def _let_log_retry(kept: Kept, flushed: asyncio.Future[None], *, times: int) -> None:
    """Let the log try again so many times while the database is away."""
    for _ in range(times):
        kept.clock.advance(1.0)
        await asyncio.wait([flushed], timeout=0.05)


async def _until_done(kept: Kept, flushed: asyncio.Future[None]) -> None:
    """Move the clock on until the flush is over."""
    for _ in range(200):
        kept.clock.advance(1.0)
        done, _waiting = await asyncio.wait([flushed], timeout=0.05)
        if done:
            return
    raise AssertionError("the log never wrote again")


def test_valkey_that_disappears_is_a_failure_and_works_again_when_it_is_back(
    valkey_server: Valkey | None, valkey_url: str
) -> None:
    """A record that began before is there, and finishes after."""
    if valkey_server is None:
        pytest.skip("server: the given Redis is not ours to stop")
    server = valkey_server

    async def story() -> None:
        store, ctx = RedisEvidenceStore.at(valkey_url), Rig().run()
        try:
            await store.begin(ctx, projecting_record("t1"))
            server.stop()
            with pytest.raises(StoreFailure) as failure:
                await store.get(ctx, "evidence:r1:t1")
            assert failure.value.kind is FailureKind.TRANSPORT
            server.start()
            ready = ready_record(change_item(), tool_call_id="t1")
            assert await store.finish(ctx, ready)
            assert await store.get(ctx, ready.key) == ready
        finally:
            await store.close()

    asyncio.run(story())


@pytest.mark.skipif(sys.platform == "win32", reason="platform: no limit of file sizes there")
def test_a_full_disk_is_said_and_nothing_is_half_written(sqlite_url: str) -> None:
    """The failure names the disk, the row of it is not there, and with room again it goes on."""
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", FILLS, sqlite_url],
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    output, rows = done.stdout.splitlines()
    assert output.startswith("UNAVAILABLE the database cannot be written to; is its disk full?")
    assert rows == "[True, False, True]"


def test_a_database_at_its_size_limit_says_that_it_is_full(sqlite_url: str) -> None:
    """SQLite's own word for it, in ours."""

    async def story() -> None:
        database = await Database.open(sqlite_url, pool_size=1)
        try:
            await database.write(
                lambda connection: connection.execute(text("PRAGMA max_page_count = 1")).all()
            )
            big = text("INSERT INTO worker (owner, beat_at_s) VALUES (hex(zeroblob(400000)), 0)")
            with pytest.raises(StoreFailure, match="the disk of the database is full") as failure:
                await database.write(lambda connection: connection.execute(big))
            assert failure.value.kind is FailureKind.UNAVAILABLE
            await database.write(
                lambda connection: connection.execute(text("PRAGMA max_page_count = 100000")).all()
            )
            await database.write(lambda connection: connection.execute(big))
        finally:
            await database.close()

    asyncio.run(story())


def test_a_file_that_another_process_holds_is_a_timeout_and_then_free(
    sqlite_url: str, kept_at: KeptAt
) -> None:
    """Within the busy timeout, and typed."""

    async def story() -> None:
        async with kept_at(sqlite_url, busy_timeout_s=0.05) as kept:
            other = sqlite3.connect(sqlite_url.removeprefix("sqlite:///"), isolation_level=None)
            other.execute("BEGIN IMMEDIATE")
            with pytest.raises(StoreFailure, match="another process has locked the database") as failure:
                await kept.archive.submit(a_request("r1"))
            assert failure.value.kind is FailureKind.TIMEOUT
            other.execute("ROLLBACK")
            other.close()
            assert (await kept.archive.submit(a_request("r1"))).is_new

    asyncio.run(story())


def test_a_file_that_is_not_a_database_is_refused(tmp_path: Path) -> None:
    """Nothing of it is overwritten."""
    file = tmp_path / "letter.db"
    file.write_text("Dear database, " * 100)
    with pytest.raises(StoreFailure, match="not an SQLite database"):
        asyncio.run(Database.open(str(file)))
    assert file.read_text().startswith("Dear database")


def test_a_server_that_is_not_there_is_said_without_its_secrets() -> None:
    """Ours are the words: no host, no user, no password."""
    with pytest.raises(StoreFailure) as failure:
        asyncio.run(Database.open(f"postgresql://me:{SECRET}@127.0.0.1:1/runs"))
    assert str(failure.value) == "the database cannot be reached"
    assert failure.value.kind is FailureKind.TRANSPORT


def test_a_row_that_no_program_of_this_version_wrote_is_a_failure(sqlite_url: str, kept_at: KeptAt) -> None:
    """It is not read as something near."""

    async def story() -> None:
        async with kept_at(sqlite_url) as kept:
            await kept.archive.submit(a_request("r1"))
            with sqlite3.connect(sqlite_url.removeprefix("sqlite:///")) as other:
                other.execute("UPDATE diagnosis_run SET kind = 'DREAM'")
            other.close()
            with pytest.raises(StoreFailure, match="cannot be read") as failure:
                await kept.archive.run("r1")
            assert failure.value.kind is FailureKind.INVALID_OUTPUT

    asyncio.run(story())


def test_a_cancelled_wait_leaves_the_transaction_whole(sqlite_url: str) -> None:
    """Whoever waits may go; what had begun is done, and the next one finds a clean connection."""

    async def story() -> None:
        database = await Database.open(sqlite_url, pool_size=1)
        try:
            for number in range(20):
                row = text(f"INSERT INTO worker (owner, beat_at_s) VALUES ('w{number}', 0)")
                waiting = asyncio.ensure_future(database.write(partial(_execute, statement=row)))
                await asyncio.wait([waiting], timeout=0.0)
                waiting.cancel()
                await asyncio.wait([waiting])
            count = text("SELECT count(*) FROM worker")
            assert await database.write(lambda connection: connection.execute(count).scalar()) == 20
        finally:
            await database.close()

    asyncio.run(story())


def _execute(connection: Connection, *, statement: TextClause) -> None:
    connection.execute(statement)
