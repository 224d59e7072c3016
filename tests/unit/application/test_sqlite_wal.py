"""Switching a file to its write-ahead log while another process holds a lock that SQLite does not wait on."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from diagnosis_harness.application.sqlite_wal import switch_to_wal


def _mode(connection: sqlite3.Connection) -> object:
    return connection.execute("PRAGMA journal_mode").fetchone()[0]


def test_who_is_refused_the_switch_waits_for_its_turn_to_write(tmp_path: Path) -> None:
    """The other holds its read lock at the first attempt only, as a process does that opens the file too."""
    file = tmp_path / "runs.db"
    with (
        closing(sqlite3.connect(file, isolation_level=None)) as other,
        closing(sqlite3.connect(file, isolation_level=None, timeout=0.0)) as connection,
    ):
        other.execute("CREATE TABLE run (id)")
        other.execute("BEGIN")
        other.execute("SELECT * FROM run").fetchall()
        statements: list[str] = []

        def execute(statement: str) -> None:
            statements.append(statement)
            if statement == "ROLLBACK":
                other.execute("COMMIT")
            connection.execute(statement)

        switch_to_wal(execute)
        assert _mode(connection) == "wal"
    assert statements == [
        "PRAGMA journal_mode = WAL",
        "BEGIN IMMEDIATE",
        "ROLLBACK",
        "PRAGMA journal_mode = WAL",
    ]


def test_a_lock_that_stays_is_reported(tmp_path: Path) -> None:
    """As SQLite reports it, once the turn to write did not come within the busy timeout."""
    file = tmp_path / "runs.db"
    with (
        closing(sqlite3.connect(file, isolation_level=None)) as other,
        closing(sqlite3.connect(file, isolation_level=None, timeout=0.0)) as connection,
    ):
        other.execute("CREATE TABLE run (id)")
        other.execute("BEGIN IMMEDIATE")
        other.execute("INSERT INTO run VALUES (1)")
        with pytest.raises(sqlite3.OperationalError, match="locked"):
            switch_to_wal(connection.execute)


def test_a_reader_that_never_leaves_is_reported(tmp_path: Path) -> None:
    """The attempts are bounded where each turn to write comes at once, and the switch still has to wait."""
    file = tmp_path / "runs.db"
    with (
        closing(sqlite3.connect(file, isolation_level=None)) as other,
        closing(sqlite3.connect(file, isolation_level=None, timeout=0.0)) as connection,
    ):
        other.execute("CREATE TABLE run (id)")
        other.execute("BEGIN")
        other.execute("SELECT * FROM run").fetchall()
        with pytest.raises(sqlite3.OperationalError, match="locked"):
            switch_to_wal(connection.execute)


def test_a_file_that_has_its_log_is_left_alone(tmp_path: Path) -> None:
    """The second call finds the mode that the first one set."""
    with closing(sqlite3.connect(tmp_path / "runs.db", isolation_level=None)) as connection:
        switch_to_wal(connection.execute)
        switch_to_wal(connection.execute)
        assert _mode(connection) == "wal"


def test_an_error_that_is_not_a_lock_is_raised_at_once(tmp_path: Path) -> None:
    """A file that is no database stays what it is."""
    (tmp_path / "runs.db").write_bytes(b"no database" * 100)
    with (
        closing(sqlite3.connect(tmp_path / "runs.db", isolation_level=None)) as connection,
        pytest.raises(sqlite3.DatabaseError, match="not a database"),
    ):
        switch_to_wal(connection.execute)
