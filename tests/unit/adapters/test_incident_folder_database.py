"""The duckdb of a source: what it may read, and what it may not do."""

from __future__ import annotations

from pathlib import Path

import duckdb
import pytest

from diagnosis_harness.adapters.sources.incident_folder.database import Database, name_sql, text_sql
from diagnosis_harness.kernel.errors import ContractViolation


@pytest.fixture
def database(tmp_path: Path) -> Database:
    """One that may read `listed.csv` alone."""
    for name in ("listed.csv", "secret.csv"):
        (tmp_path / name).write_text("a\n1\n")
    return Database([tmp_path / "listed.csv"], memory_limit_mb=64)


def test_only_the_listed_files_can_be_read(database: Database, tmp_path: Path) -> None:
    """Whatever a query might be talked into."""
    assert database.rows(f"SELECT count(*) FROM read_csv({text_sql(str(tmp_path / 'listed.csv'))})") == [(1,)]
    with pytest.raises(duckdb.PermissionException):
        database.rows(f"SELECT * FROM read_csv({text_sql(str(tmp_path / 'secret.csv'))})")


@pytest.mark.parametrize(
    "statement",
    [
        "SET threads = 8",
        "SET enable_external_access = true",
        "INSTALL httpfs",
        "LOAD httpfs",
        "ATTACH 'other.db'",
    ],
)
def test_nothing_of_the_connection_can_be_changed(database: Database, statement: str) -> None:
    """Limits are set once, before the first file is read."""
    with pytest.raises(duckdb.Error):
        database.rows(statement)


def test_nothing_can_be_written(database: Database, tmp_path: Path) -> None:
    """Not even beside the listed file."""
    with pytest.raises(duckdb.PermissionException):
        database.rows(f"COPY (SELECT 1) TO {text_sql(str(tmp_path / 'out.csv'))}")
    assert not (tmp_path / "out.csv").exists()


def test_a_wrong_query_of_ours_is_not_a_fault_of_the_file(database: Database) -> None:
    """It must not be explained to the user as bad input."""
    with pytest.raises(ContractViolation):
        database.rows("SELECT nothing")


@pytest.mark.parametrize("name", ['a"b', "a'b", "a; DROP TABLE t", "\u202e"])
def test_names_and_texts_are_quoted(database: Database, name: str) -> None:
    """Quotes inside are doubled."""
    assert database.rows(f"SELECT {name_sql(name)} FROM (SELECT {text_sql(name)} AS {name_sql(name)})") == [
        (name,)
    ]
