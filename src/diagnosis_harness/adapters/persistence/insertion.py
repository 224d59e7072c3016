"""Inserts rows unless they conflict, in the SQL dialect of either database."""

from __future__ import annotations

from typing import Any

from sqlalchemy import Connection, Select, Table, func, select, text
from sqlalchemy.dialects import postgresql, sqlite

from diagnosis_harness.adapters.persistence.schema import IS_UNFINISHED, diagnosis_run
from diagnosis_harness.application.runs.request import RunRequest
from diagnosis_harness.kernel.errors import TooManyRuns


def insert_if_absent(connection: Connection, table: Table, columns: dict[str, Any]) -> bool:
    """Insert a row; False, and no change, if it conflicts with a key or a unique index."""
    statement = dialect_of(connection).insert(table).values(columns).on_conflict_do_nothing()
    # RETURNING the key, because not every driver counts inserted rows.
    return connection.execute(statement.returning(*table.primary_key.columns)).first() is not None


def dialect_of(connection: Connection) -> Any:  # noqa: ANN401 - one of two modules of the same shape
    """The SQLAlchemy dialect whose `insert` knows ON CONFLICT."""
    return postgresql if connection.dialect.name == "postgresql" else sqlite


def insert_run(connection: Connection, columns: dict[str, Any], request: RunRequest) -> bool:
    """Insert the row of a run if its caller may have one more; False if it conflicts with another row.

    On PostgreSQL, a lock serialises the inserts of one caller; SQLite has one writer anyway.

    Raises:
        TooManyRuns: the caller would have too many. Nothing is inserted.
    """
    limit, name = request.unfinished_max, request.asked_by.name
    if limit is not None:
        lock(connection, name)
    if not insert_if_absent(connection, diagnosis_run, columns):
        return False
    if limit is not None and connection.execute(count_unfinished_query(name)).scalar_one() > limit:
        raise TooManyRuns(limit)
    return True


def lock(connection: Connection, name: str, *, kind: int = 0) -> None:
    """Lock a name until the transaction ends; SQLite has one writer anyway.

    Args:
        kind: of the name: 0 for a caller whose runs are counted, 1 for an alert group, 2 for the inbox. A
            transaction that needs several locks takes them in descending order of kind.
    """
    if connection.dialect.name == "postgresql":
        connection.execute(select(func.pg_advisory_xact_lock(func.hashtextextended(name, kind))))


def count_unfinished_query(asked_by: str) -> Select[Any]:
    """How many runs of a caller are QUEUED or RUNNING."""
    return (
        select(func.count())
        .select_from(diagnosis_run)
        .where(diagnosis_run.c.asked_by == asked_by, text(IS_UNFINISHED))
    )
