"""Insert a row unless one stands in its way, in the words of either database."""

from __future__ import annotations

from typing import Any

from sqlalchemy import Connection, Select, Table, func, select, text
from sqlalchemy.dialects import postgresql, sqlite

from diagnosis_harness.adapters.persistence.schema import UNFINISHED, diagnosis_run
from diagnosis_harness.application.runs.request import RunRequest
from diagnosis_harness.kernel.errors import TooManyRuns


def inserted(connection: Connection, table: Table, columns: dict[str, Any]) -> bool:
    """Insert a row; False, and nothing is changed, when a key or a unique index of the table refuses it."""
    statement = dialect_of(connection).insert(table).values(columns).on_conflict_do_nothing()
    # Its key is asked back: a count of inserted rows is not kept by every driver.
    return connection.execute(statement.returning(*table.primary_key.columns)).first() is not None


def dialect_of(connection: Connection) -> Any:  # noqa: ANN401 - one of two modules of the same shape
    """Where the inserts of this database come from that know about conflicts."""
    return postgresql if connection.dialect.name == "postgresql" else sqlite


def insert_run(connection: Connection, columns: dict[str, Any], request: RunRequest) -> bool:
    """Put in the row of a run, if its caller may have one more; False when a row stands in its way.

    On PostgreSQL, runs of one caller are put in one after the other; SQLite has one writer anyway.

    Raises:
        TooManyRuns: with this one, the caller would have too many. Nothing is put in.
    """
    limit, name = request.unfinished_max, request.asked_by.name
    if limit is not None:
        lock(connection, name)
    if not inserted(connection, diagnosis_run, columns):
        return False
    if limit is not None and connection.execute(unfinished_of(name)).scalar_one() > limit:
        raise TooManyRuns(limit)
    return True


def lock(connection: Connection, name: str, *, kind: int = 0) -> None:
    """Let one transaction at a time go on with what is named, until it ends; SQLite has one writer anyway.

    Args:
        kind: of what is named: 0 is a caller whose runs are counted, 1 a group of alerts, 2 the inbox.
            Whoever takes several takes them from 2 down to 0.
    """
    if connection.dialect.name == "postgresql":
        connection.execute(select(func.pg_advisory_xact_lock(func.hashtextextended(name, kind))))


def unfinished_of(asked_by: str) -> Select[Any]:
    """How many runs of a caller are QUEUED or RUNNING."""
    return (
        select(func.count())
        .select_from(diagnosis_run)
        .where(diagnosis_run.c.asked_by == asked_by, text(UNFINISHED))
    )
