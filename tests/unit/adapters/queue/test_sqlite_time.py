"""The function that DBOS asks of SQLite, for those that do not have it."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from diagnosis_harness.adapters.queue.database import QueueDatabase
from diagnosis_harness.adapters.queue.sqlite_time import define_subsec

OLD = (3, 40, 1)


@pytest.fixture
def connection() -> Iterator[sqlite3.Connection]:
    """A connection that pretends to have an old SQLite."""
    with closing(sqlite3.connect(":memory:")) as connection:
        define_subsec(connection, OLD)
        yield connection


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ("'2023-11-14 22:13:20'", 1_700_000_000),
        ("'2023-11-14 22:13:20.125', 'subsec'", 1_700_000_000.125),
        ("'2023-11-14 22:13:20.125', '+1 minute', 'SUBSECOND'", 1_700_000_060.125),
        ("'1969-12-31 23:59:58.5', 'subsec'", -1.5),
        ("1700000000.5, 'unixepoch', 'subsec'", 1_700_000_000.5),
        ("1700000000, 'unixepoch', 'start of day'", 1_699_920_000),
        ("'no time', 'subsec'", None),
        ("NULL, 'subsec'", None),
        ("'2023-11-14', 'no modifier'", None),
    ],
)
def test_each_form_of_arguments_is_read_as_sqlite_reads_it(
    connection: sqlite3.Connection, arguments: str, expected: float | None
) -> None:
    """The function replaces SQLite's own of that name, so it must answer every other caller as before."""
    assert connection.execute(f"SELECT unixepoch({arguments})").fetchone() == (expected,)


def test_now_has_milliseconds(connection: sqlite3.Connection) -> None:
    """The form of DBOS's times; the fraction distinguishes two writes in one second."""
    whole, fine, julian = connection.execute(
        "SELECT unixepoch(), unixepoch('subsec'), (julianday('now') - 2440587.5) * 86400"
    ).fetchone()

    assert isinstance(whole, int)
    assert isinstance(fine, float)
    assert whole <= fine <= julian + 0.002
    assert julian - whole < 60


def test_a_default_of_a_table_is_never_null(connection: sqlite3.Connection) -> None:
    """`NOT NULL constraint failed: workflow_status.created_at` is what every put ended with."""
    connection.execute("CREATE TABLE t (n, created_at INTEGER NOT NULL DEFAULT (unixepoch('subsec') * 1000))")

    connection.execute("INSERT INTO t (n) VALUES (1)")

    assert connection.execute("SELECT created_at > 1600000000000 FROM t").fetchone() == (1,)


def test_a_sqlite_that_has_the_function_keeps_its_own() -> None:
    """Nothing is overridden where nothing is missing."""
    with closing(sqlite3.connect(":memory:")) as connection:
        own = connection.execute("SELECT unixepoch('subsec')").fetchone()
        define_subsec(connection, (3, 42, 0))
        again = connection.execute("SELECT unixepoch('subsec')").fetchone()

    assert (own == (None,)) == (again == (None,))


def test_each_connection_of_the_queue_is_given_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A pool opens a connection whenever it needs one; the one without the function is the one that fails."""
    given: list[object] = []
    monkeypatch.setattr("diagnosis_harness.adapters.queue.database.define_subsec", given.append)
    engine = QueueDatabase(str(tmp_path / "queue.db")).engine(lambda: True)

    with engine.connect() as first, engine.connect() as second:
        opened: list[object] = [first.connection.dbapi_connection, second.connection.dbapi_connection]
    engine.dispose()

    assert given == opened
