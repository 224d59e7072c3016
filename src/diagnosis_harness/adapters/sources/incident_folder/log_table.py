"""Groups the lines of log files by shape: masked, grouped and counted inside duckdb."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

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

_LINES_PER_MEGABYTE: Final = 24_000
"""A line takes about 40 bytes while its context is determined, and 16 afterwards."""
_NO_CONTEXT: Final = 0
"""Stands for the hash of a missing context."""
_AT_ONCE: Final = 1_000_000
"""Lines whose shapes are looked up in one step."""


def mask_sql(head: str, message: str) -> str:
    """`analysis.log_text.mask_text` in SQL, for the shortened first line and the whole message."""
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
        return _empty()
    union = " UNION ALL ".join(f"SELECT time, entity, level, message, context FROM {one}" for one in sources)
    inside, bounds = "true", list[object]()
    if window is not None:
        inside, bounds = "time >= ? AND time < ?", [window.start_s, window.end_s]
    first = "CASE WHEN contains(message, chr(10)) THEN split_part(message, chr(10), 1) ELSE message END"
    lines = f"SELECT *, left({first}, {HEAD_MAX}) AS head FROM ({union}) WHERE {inside}"
    masked = mask_sql("head", "message")
    # 64 bits distinguish shapes: two of a million collide by chance in one of 37 million recordings.
    shape_sql = f"hash({masked}, entity, level)"
    try:
        count = database.rows(f"SELECT count(*) FROM ({union}) WHERE {inside}", bounds)[0][0]
        if int(count) > database.memory_limit_mb * _LINES_PER_MEGABYTE:
            raise database.too_much(f"{int(count):,} log lines do")
        if int(count) == 0:
            return _empty()
        columns = database.arrays(
            f"SELECT {shape_sql} AS shape, time, "
            f"CASE WHEN context IS NULL THEN {_NO_CONTEXT} ELSE hash(entity, context) END AS context "
            f"FROM ({lines})",
            bounds,
        )
        hashes = np.ma.getdata(columns.pop("shape"))
        firsts, shape = _number(hashes)
        # Only the first line of each shape is read and masked again: masking is most of the work.
        shapes = database.rows(
            f"SELECT {masked}, entity, level, left(message, {EXAMPLE_MAX}), {shape_sql} FROM "
            f"(SELECT *, row_number() OVER () - 1 AS place FROM ({lines})) "
            "WHERE place IN (SELECT unnest(?::BIGINT[])) ORDER BY place",
            [*bounds, firsts.tolist()],
        )
    except database.errors as error:
        raise database.failure(error) from error
    if [int(row[-1]) for row in shapes] != hashes[firsts].tolist():  # lines or their order changed
        raise database.failure(OSError("a file has changed"))
    context = _number_contexts(np.ma.getdata(columns.pop("context")))
    time_s = np.ma.getdata(columns.pop("time")).astype(np.float64, copy=False)
    return _table_of(tuple(_shape(*row[:-1]) for row in shapes), shape, time_s, context)


def _number(key: NDArray[np.uint64]) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """The first position of each key, in order, and for each line the number of its key."""
    blocks = [key[low : low + _AT_ONCE] for low in range(0, len(key), _AT_ONCE)]
    found = [np.unique(block, return_index=True) for block in blocks]
    every = np.concatenate([names for names, _ in found])
    places = np.concatenate([first + at * _AT_ONCE for at, (_, first) in enumerate(found)])
    names, first = np.unique(every, return_index=True)  # of equal keys the first, which is in the first block
    order = np.argsort(places[first])
    number = np.empty(len(names), dtype=np.int32)
    number[order] = np.arange(len(names), dtype=np.int32)
    return places[first][order], np.concatenate([number[np.searchsorted(names, block)] for block in blocks])


def _number_contexts(hashed: NDArray[np.uint64]) -> NDArray[np.int32]:
    """Equal hashes as equal numbers from 0 on, and -1 for none."""
    order = np.argsort(hashed)
    ordered = hashed[order]
    number = np.zeros(len(hashed), dtype=np.int32)
    np.cumsum(ordered[1:] != ordered[:-1], out=number[1:])
    if len(ordered) and ordered[0] == _NO_CONTEXT:
        number -= 1
    found = np.empty_like(number)
    found[order] = number
    return found


def _table_of(
    shapes: tuple[LogShape, ...],
    shape: NDArray[np.int32],
    time_s: NDArray[np.float64],
    context: NDArray[np.int32],
) -> LogTable:
    if np.any(time_s[1:] < time_s[:-1]):
        order = np.argsort(time_s, kind="stable")
        shape, time_s, context = shape[order], time_s[order], context[order]
    for column in (shape, time_s, context):
        column.setflags(write=False)
    return LogTable(shapes, shape, time_s, context)


def _shape(text: str, entity: str | None, level: str | None, example: str) -> LogShape:
    shown = "\n".join(printable(line) for line in example.split("\n"))
    return LogShape(
        None if entity is None else printable(entity),
        level_of(level, example),
        printable(text),
        shown,
    )


def _empty() -> LogTable:
    none = np.zeros(0, np.int32)
    return LogTable((), none, np.zeros(0), none)


def _after_blank(found: str, after: str) -> str:
    return f"CASE WHEN {found} <> '' THEN ' ' || {found} || {text_sql(after)} ELSE '' END"
