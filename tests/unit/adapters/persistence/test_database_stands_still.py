"""A database that hangs: every wait for it is bounded, and it is used again when it answers."""

from __future__ import annotations

import asyncio
import sqlite3
import sys
import threading
from collections.abc import Callable

import pytest
from sqlalchemy import Connection, text
from tests.support.servers import Databases

from diagnosis_harness.adapters.persistence.database import ANSWER_MARGIN_S, Database
from diagnosis_harness.kernel.clock import SystemClock
from diagnosis_harness.kernel.errors import FailureKind, StoreFailure

CLOCK = SystemClock()
BUSY_S = 0.5
WAITED_S = BUSY_S + ANSWER_MARGIN_S + 1.5
"""With what a busy machine adds."""

BEAT = text("INSERT INTO worker (owner, beat_at_s) VALUES (:owner, 0)")
BEATS = text("SELECT owner FROM worker ORDER BY owner")


def owners(connection: Connection) -> list[str]:
    """What is in the table."""
    return list(connection.execute(BEATS).scalars())


def write_heartbeat(owner: str) -> Callable[[Connection], None]:
    """One row more."""

    def write_now(connection: Connection) -> None:
        connection.execute(BEAT, {"owner": owner})

    return write_now


@pytest.mark.skipif(sys.platform != "linux", reason="platform: processes are found in /proc")
def test_a_server_that_hangs_is_a_timeout_for_all_and_works_again(
    databases: Databases, postgres_url: str
) -> None:
    """More ask than there are threads; all get their answer in time, and no thread is lost by it."""
    server = databases.server
    if server is None:
        pytest.skip("server: the given database is not ours to stop")

    async def story() -> None:
        database = await Database.open(postgres_url, pool_size=2, busy_timeout_s=BUSY_S)
        try:
            await asyncio.gather(database.read(owners), database.read(owners))
            with server.standing_still():
                begun = CLOCK.now_s()
                asked = [database.read(owners) for _ in range(6)]
                late = database.write(write_heartbeat("late"))
                answers = await asyncio.gather(*asked, late, return_exceptions=True)
                assert CLOCK.now_s() - begun < WAITED_S
                assert {getattr(each, "kind", None) for each in answers} == {FailureKind.TIMEOUT}
            for _ in range(20):  # threads that still wait for the old connections end within their limit
                try:
                    assert await database.read(owners) == []
                    break
                except StoreFailure:
                    continue
            await database.write(write_heartbeat("after"))
            assert await database.read(owners) == ["after"]
        finally:
            await database.close()

    asyncio.run(story())


@pytest.mark.skipif(sys.platform != "linux", reason="platform: processes are found in /proc")
def test_a_database_is_closed_while_its_server_hangs(databases: Databases, postgres_url: str) -> None:
    """Nor does a process that stops wait for it without bound, nor one of its threads."""
    server = databases.server
    if server is None:
        pytest.skip("server: the given database is not ours to stop")

    async def story() -> None:
        database = await Database.open(postgres_url, pool_size=1, busy_timeout_s=BUSY_S)
        with server.standing_still():
            with pytest.raises(StoreFailure):
                await database.read(owners)
            begun = CLOCK.now_s()
            await database.close()
            assert CLOCK.now_s() - begun < 10
            for thread in threading.enumerate():
                if thread.name.startswith("diagnosis-database"):
                    thread.join(15)
                    assert not thread.is_alive()

    asyncio.run(story())


def test_what_waits_for_a_held_file_is_answered_in_time_and_never_begun_afterwards(sqlite_url: str) -> None:
    """Writers take turns; the last in the line does not wait for the patience of all before it."""

    async def story() -> None:
        database = await Database.open(sqlite_url, busy_timeout_s=BUSY_S)
        other = sqlite3.connect(sqlite_url.removeprefix("sqlite:///"), isolation_level=None)
        try:
            other.execute("BEGIN IMMEDIATE")
            begun = CLOCK.now_s()
            asked = [database.write(write_heartbeat(f"w{number}")) for number in range(10)]
            answers = await asyncio.gather(*asked, return_exceptions=True)
            assert CLOCK.now_s() - begun < WAITED_S
            assert {getattr(each, "kind", None) for each in answers} == {FailureKind.TIMEOUT}
            other.execute("ROLLBACK")
            await database.write(write_heartbeat("after"))
            assert await database.read(owners) == ["after"]
        finally:
            other.close()
            await database.close()

    asyncio.run(story())
