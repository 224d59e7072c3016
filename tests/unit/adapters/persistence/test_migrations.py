"""The tables come from migrations, whoever opens the database first."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from collections.abc import Iterator
from importlib.resources import files

import pytest
from sqlalchemy import Connection, create_engine, text
from tests.support.servers import Databases

from diagnosis_harness.adapters.persistence.address import engine_url
from diagnosis_harness.adapters.persistence.archive import SqlRunArchive
from diagnosis_harness.adapters.persistence.database import Database
from diagnosis_harness.adapters.persistence.migrate import HEAD
from diagnosis_harness.adapters.persistence.recovery import SqlRunRecovery
from diagnosis_harness.adapters.persistence.schema import SCHEMA
from diagnosis_harness.application.runs.row import RunStatus
from diagnosis_harness.application.runs.sources import SourceBacklog, lane_of
from diagnosis_harness.application.runs.store import Heartbeat
from diagnosis_harness.kernel.errors import InvalidSetting
from diagnosis_harness.trace.event import TraceName

OPENS = """
import asyncio, sys
from diagnosis_harness.adapters.persistence.database import Database
async def main():
    sys.stdout.write("ready\\n"); sys.stdout.flush(); sys.stdin.readline()
    await (await Database.open(sys.argv[1], busy_timeout_s=50.0)).close()
asyncio.run(main())
"""


def _differences(connection: Connection) -> list[object]:
    from alembic.autogenerate import compare_metadata
    from alembic.migration import MigrationContext

    context = MigrationContext.configure(connection, opts={"compare_type": True})
    return list(compare_metadata(context, SCHEMA))


@pytest.mark.parametrize("place", ["sqlite_url", "postgres_url"])
def test_migrations_make_the_tables_that_the_program_knows(
    place: str, request: pytest.FixtureRequest
) -> None:
    """Not a column, index or type more or less."""

    async def differences(url: str) -> list[object]:
        database = await Database.open(url)
        try:
            return await database.read(_differences)
        finally:
            await database.close()

    assert asyncio.run(differences(request.getfixturevalue(place))) == []


WAITS = """
INSERT INTO diagnosis_run (
  run_id, session_id, query, language, kind, asked_by, asked_role, source, limit_s, submitted_s, start_by_s,
  status, is_closed
) VALUES ('waits', 's', 'why?', 'en', 'BACKGROUND', 'ann', 'operator', 'shop', 60, 1, 601, 'QUEUED', false)
"""
RUNS = """
INSERT INTO diagnosis_run (
  run_id, session_id, query, language, kind, asked_by, asked_role, limit_s, submitted_s, started_s, owner,
  status, is_closed
) VALUES ('runs', 's', 'why?', 'zh', 'CHAT', 'ann', 'operator', 60, 1, 2, 'old', 'RUNNING', false)
"""
STARTED = """
INSERT INTO trace_event (run_id, seq, at_s, name, phase, status, payload)
VALUES ('runs', 1, 2, 'RUN_STARTED', 'RUN', 'STARTED', '{}')
"""
BEAT = "INSERT INTO worker (owner, beat_at_s) VALUES ('old', 7)"


def _as_an_earlier_program_left_it(connection: Connection, version: str) -> None:
    """The tables of an earlier revision, with rows in them."""
    from alembic.config import Config
    from alembic.runtime.environment import EnvironmentContext
    from alembic.script import ScriptDirectory

    folder = files("diagnosis_harness.adapters.persistence").joinpath("migrations")
    script = ScriptDirectory(str(folder))
    with EnvironmentContext(
        Config(), script, fn=lambda revision, _: script._upgrade_revs(version, revision)
    ) as environment:
        environment.configure(connection=connection)
        environment.run_migrations()
    for statement in (WAITS, RUNS, STARTED, BEAT):
        connection.execute(text(statement))


@pytest.mark.parametrize("version", ["0001", "0003"])
@pytest.mark.parametrize("place", ["sqlite_url", "fresh_postgres_url"])
def test_a_database_of_an_earlier_version_is_migrated_with_all_its_rows(
    place: str, version: str, request: pytest.FixtureRequest
) -> None:
    """A run that waited in it is queued for a source by its name; a process says nothing of what it takes."""
    url = request.getfixturevalue(place)
    engine = create_engine(engine_url(url))
    with engine.begin() as connection:
        _as_an_earlier_program_left_it(connection, version)
    engine.dispose()

    async def story() -> None:
        database = await Database.open(url)
        try:
            assert await database.read(_differences) == []
            archive, care = SqlRunArchive(database), SqlRunRecovery(database)
            waits, runs = await archive.run("waits"), await archive.run("runs")
            assert waits is not None
            assert runs is not None
            asked = waits.request
            assert (waits.status, asked.source, asked.stamp) == (RunStatus.QUEUED, "shop", None)
            assert asked.lane == lane_of("shop", None)
            assert (runs.status, runs.owner, runs.request.stamp) == (RunStatus.RUNNING, "old", None)
            assert [event.name for event in await archive.events("runs")] == [TraceName.RUN_STARTED]
            assert await care.heartbeats() == {"old": Heartbeat(7.0, has_work=True, lanes=None)}
            assert await care.backlog() == (SourceBacklog("shop", None, 1),)
            assert await care.abandon("runs", owner="old", at_s=9.0)
        finally:
            await database.close()

    asyncio.run(story())


@pytest.fixture
def fresh_postgres_url(databases: Databases) -> Iterator[str]:
    """An empty database."""
    name, url = databases.fresh()
    yield url
    databases.drop(name)


def test_the_program_knows_the_last_migration() -> None:
    """HEAD is the newest file of the folder."""
    folder = files("diagnosis_harness.adapters.persistence").joinpath("migrations/versions")
    newest = max(file.name for file in folder.iterdir() if file.name[0].isdigit())
    assert newest.startswith(f"{HEAD}_")


def _open_at_once(url: str, processes: int) -> None:
    """Have processes open one database at the same moment; each must succeed."""
    started = [
        subprocess.Popen(
            [sys.executable, "-W", "error", "-c", OPENS, url],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for _ in range(processes)
    ]
    for process in started:
        assert process.stdout is not None
        process.stdout.readline()
    for process in started:
        assert process.stdin is not None
        process.stdin.write("\n")
        process.stdin.flush()
    errors = [process.communicate(timeout=60)[1] for process in started]
    assert [process.returncode for process in started] == [0] * processes, errors


def test_processes_that_open_a_new_file_at_once_all_can(sqlite_url: str) -> None:
    """One makes the tables, the others find them."""
    _open_at_once(sqlite_url, 4)


def test_processes_that_open_a_new_database_at_once_all_can(databases: Databases) -> None:
    """The same on PostgreSQL."""
    name, url = databases.fresh()
    _open_at_once(url, 4)
    databases.drop(name)


@pytest.mark.parametrize("place", ["sqlite_url", "postgres_url"])
def test_a_database_of_a_newer_program_is_refused_and_left_alone(
    place: str, request: pytest.FixtureRequest
) -> None:
    """In one sentence that says so."""
    url = request.getfixturevalue(place)

    async def make_newer() -> None:
        database = await Database.open(url)
        await database.write(
            lambda connection: connection.execute(text("UPDATE alembic_version SET version_num='9'"))
        )
        await database.close()

    asyncio.run(make_newer())
    with pytest.raises(InvalidSetting, match="made by a newer version of this program"):
        asyncio.run(Database.open(url))


def _first_version(connection: Connection) -> None:
    """Make the tables as the first version of the program had them, with a queued run about an alert."""
    from alembic.config import Config
    from alembic.runtime.environment import EnvironmentContext
    from alembic.script import ScriptDirectory

    script = ScriptDirectory(str(files("diagnosis_harness.adapters.persistence").joinpath("migrations")))
    with EnvironmentContext(
        Config(), script, fn=lambda revision, _: script._upgrade_revs("0001", revision)
    ) as environment:
        environment.configure(connection=connection)
        environment.run_migrations()
    connection.execute(
        text(
            "INSERT INTO diagnosis_run (run_id, session_id, query, language, kind, asked_by, asked_role,"
            " limit_s, submitted_s, status, is_closed, fingerprint) VALUES ('r1', 's', 'why?', 'en',"
            " 'BACKGROUND', 'local', 'admin', 60, 1, 'QUEUED', :no, 'alert-1.set-2')"
        ),
        {"no": False},
    )


@pytest.mark.parametrize("place", ["sqlite", "postgres"])
def test_a_database_of_the_first_version_is_migrated(
    place: str, sqlite_url: str, databases: Databases
) -> None:
    """With what is in it: a run that was queued then is queued still."""
    name, url = ("", sqlite_url) if place == "sqlite" else databases.fresh()
    engine = create_engine(engine_url(url))
    with engine.begin() as connection:
        _first_version(connection)
    engine.dispose()

    async def open_database() -> tuple[list[object], str | None]:
        database = await Database.open(url)
        try:
            row = await SqlRunArchive(database).run("r1")
            return await database.read(_differences), None if row is None else row.status.value
        finally:
            await database.close()

    assert asyncio.run(open_database()) == ([], "QUEUED")
    if name:
        databases.drop(name)
