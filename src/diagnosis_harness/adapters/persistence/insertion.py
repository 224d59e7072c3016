"""Insert a row unless one stands in its way, in the words of either database."""

from __future__ import annotations

from typing import Any

from sqlalchemy import Connection, Select, Table, func, select
from sqlalchemy.dialects import postgresql, sqlite

from diagnosis_harness.adapters.persistence.schema import diagnosis_run
from diagnosis_harness.application.runs.request import RunRequest
from diagnosis_harness.application.runs.row import RunStatus
from diagnosis_harness.kernel.errors import TooManyRuns

UNFINISHED = (RunStatus.QUEUED.value, RunStatus.RUNNING.value)


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
    if limit is not None and connection.dialect.name == "postgresql":
        connection.execute(select(func.pg_advisory_xact_lock(func.hashtextextended(name, 0))))
    if not inserted(connection, diagnosis_run, columns):
        return False
    if limit is not None and connection.execute(unfinished_of(name)).scalar_one() > limit:
        raise TooManyRuns(limit)
    return True


def unfinished_of(asked_by: str) -> Select[Any]:
    """How many runs of a caller are QUEUED or RUNNING."""
    row = diagnosis_run.c
    return (
        select(func.count())
        .select_from(diagnosis_run)
        .where(row.asked_by == asked_by, row.status.in_(UNFINISHED))
    )
