"""Finds columns that distinguish series, such as a status code or a queue, and become part of their names."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from diagnosis_harness.adapters.sources.incident_folder.database import Database
from diagnosis_harness.adapters.sources.incident_folder.table import Column, Kind, Table

_ROWS: Final = 200_000
"""Rows that are examined: enough to include several rows of one timestamp, and quick to read."""
_POINTS_PER_SERIES: Final = 3
"""With fewer points in each series, the column numbers rows and does not distinguish series."""


def label_columns(
    table: Table, database: Database, keys: Sequence[str], candidates: Sequence[Column]
) -> tuple[Column, ...]:
    """The candidates that differ between rows of one timestamp that otherwise belong to one series.

    Args:
        keys: SQL of what identifies a row so far, including its time.
    """
    varied = [column for column in candidates if column.kind is not Kind.OTHER and _varies(column)]
    if not varied:
        return ()
    distinct = ", ".join(f"count(DISTINCT {column.ref}) AS d{at}" for at, column in enumerate(varied))
    grouped = (
        f"SELECT {distinct}, count(*) AS rows FROM (SELECT * FROM {table.scan} LIMIT {_ROWS}) "
        f"GROUP BY {', '.join(keys)}"
    )
    most = ", ".join(f"max(d{at})" for at in range(len(varied)))
    row = table.ask(database, f"SELECT {most} FROM ({grouped})")[0]
    distinguishing = [
        column for column, found in zip(varied, row, strict=True) if found is not None and int(str(found)) > 1
    ]
    return tuple(column for column in distinguishing if _has_series(table, database, keys, column))


def _varies(column: Column) -> bool:
    return len({cell for cell in column.sample if cell}) > 1


def _has_series(table: Table, database: Database, keys: Sequence[str], column: Column) -> bool:
    """Whether its values repeat often enough to be series."""
    untimed = ", ".join([*keys[1:], column.ref])
    rows, series = table.ask(
        database,
        f"SELECT sum(rows), count(*) FROM (SELECT count(*) AS rows FROM "
        f"(SELECT * FROM {table.scan} LIMIT {_ROWS}) GROUP BY {untimed})",
    )[0]
    return int(str(rows)) >= _POINTS_PER_SERIES * int(str(series))
