"""The lines of log files by shape: masked, grouped and counted where they lie."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, TypeVar

import numpy as np
from numpy.typing import NDArray

from diagnosis_harness.adapters.sources.incident_folder.database import Database, text_sql
from diagnosis_harness.adapters.sources.incident_folder.names import printable
from diagnosis_harness.analysis.log_text import (
    ANY,
    EXCEPTION_TYPE,
    HEAD_MAX,
    HTTP_FAILURE,
    HTTP_FAILURE_HINTS,
    VARYING,
    level_of,
)
from diagnosis_harness.kernel.window import TimeWindow
from diagnosis_harness.toolbox.ports import EXAMPLE_MAX, LogShape, LogTable

_Kind = TypeVar("_Kind", bound=np.generic)
LINES_MAX: Final = 4_000_000
"""Lines of one recording; more take over 100 MB as columns, and minutes to compare."""
_NO_CONTEXT: Final = -1
_HASH_BITS: Final = np.uint64(2**62 - 1)
"""What is kept of a hash, so that none is -1."""


def mask_sql(head: str, message: str) -> str:
    """`analysis.log_text.mask_text` in SQL, of the first line cut short and the whole message."""
    hints = " OR ".join(f"contains({head}, {text_sql(hint)})" for hint in HTTP_FAILURE_HINTS)
    status = f"regexp_extract({head}, {text_sql(HTTP_FAILURE)}, 1)"
    thrown = f"regexp_extract({message}[position(chr(10) IN {message}) + 1:], {text_sql(EXCEPTION_TYPE)})"
    return (
        f"regexp_replace({head}, {text_sql(VARYING)}, {text_sql(ANY)}, 'g') "
        f"|| CASE WHEN {hints} THEN {_after_blank(status, 'xx')} ELSE '' END "
        f"|| CASE WHEN contains({message}, chr(10)) THEN {_after_blank(thrown, '')} ELSE '' END"
    )


def build_log_table(database: Database, sources: Sequence[str], window: TimeWindow | None) -> LogTable:
    """The lines that the sources (SQL to select from) hold inside a window.

    Raises:
        ToolFailure: there are too many, they do not fit into memory, or a file can no longer be read.
    """
    if not sources:
        return _table_of((), {})
    union = " UNION ALL ".join(f"SELECT time, entity, level, message, context FROM {one}" for one in sources)
    inside, bounds = "true", list[object]()
    if window is not None:
        inside, bounds = "time >= ? AND time < ?", [window.start_s, window.end_s]
    first = "CASE WHEN contains(message, chr(10)) THEN split_part(message, chr(10), 1) ELSE message END"
    first_line = f"left({first}, {HEAD_MAX})"
    lines = f"SELECT *, row_number() OVER () AS place, {first_line} AS head FROM ({union}) WHERE {inside}"
    try:
        count = database.rows(f"SELECT count(*) FROM ({union}) WHERE {inside}", bounds)[0][0]
        if int(count) > LINES_MAX:
            raise database.too_much(f"{int(count):,} log lines do")
        kept = database.keep_once(
            f"SELECT {mask_sql('head', 'message')} AS text, entity, level, "
            "first(message) AS example, list(time) AS times, list(place) AS places, "
            "list(CASE WHEN context IS NULL THEN 0 ELSE hash(entity, context) END) AS contexts "
            f"FROM ({lines}) GROUP BY ALL",
            bounds,
        )
        try:
            shapes = database.rows(
                f"SELECT text, entity, level, left(example, {EXAMPLE_MAX}) FROM {kept} ORDER BY rowid"
            )
            columns = database.arrays(
                f"SELECT rowid AS shape, unnest(times) AS time, unnest(places) AS place, "
                f"unnest(contexts) AS context FROM {kept}"
            )
        finally:
            database.drop(kept)
    except database.errors as error:
        raise database.failure(error) from error
    return _table_of(tuple(_shape(*row) for row in shapes), columns)


def _table_of(shapes: tuple[LogShape, ...], columns: dict[str, NDArray[np.generic]]) -> LogTable:
    if not shapes:
        none = np.zeros(0, np.int64)
        return LogTable((), none.astype(np.int32), none.astype(np.float64), none)
    recorded = np.ma.getdata(columns["place"]).astype(np.int64) - 1
    hashed = np.ma.getdata(columns["context"]).astype(np.uint64)
    found = LogTable(
        shapes,
        _as_recorded(np.ma.getdata(columns["shape"]).astype(np.int32), recorded),
        _as_recorded(np.ma.getdata(columns["time"]).astype(np.float64), recorded),
        _as_recorded(np.where(hashed == 0, _NO_CONTEXT, (hashed & _HASH_BITS).view(np.int64)), recorded),
    )
    if np.any(np.diff(found.time_s) < 0):
        order = np.argsort(found.time_s, kind="stable")
        found = LogTable(shapes, found.shape[order], found.time_s[order], found.context[order])
    for column in (found.shape, found.time_s, found.context):
        column.setflags(write=False)
    return found


def _as_recorded(column: NDArray[_Kind], recorded: NDArray[np.int64]) -> NDArray[_Kind]:
    ordered = np.empty_like(column)
    ordered[recorded] = column
    return ordered


def _shape(text: str, entity: str | None, level: str | None, example: str) -> LogShape:
    shown = "\n".join(printable(line) for line in example.split("\n"))
    return LogShape(
        None if entity is None else printable(entity),
        level_of(level, example),
        printable(text),
        shown,
    )


def _after_blank(found: str, after: str) -> str:
    return f"CASE WHEN {found} <> '' THEN ' ' || {found} || {text_sql(after)} ELSE '' END"
