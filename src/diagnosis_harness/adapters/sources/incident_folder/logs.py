"""Log lines: read, counted and searchable."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import tzinfo
from threading import Lock
from typing import Final

from diagnosis_harness.adapters.sources.incident_folder.binding import (
    ENTITY,
    check_times,
    find,
    find_every,
    find_unused_columns,
    read_time,
)
from diagnosis_harness.adapters.sources.incident_folder.database import Database
from diagnosis_harness.adapters.sources.incident_folder.listing import Role
from diagnosis_harness.adapters.sources.incident_folder.log_table import build_log_table
from diagnosis_harness.adapters.sources.incident_folder.names import printable, quote
from diagnosis_harness.adapters.sources.incident_folder.recording_parts import RecordingParts
from diagnosis_harness.adapters.sources.incident_folder.settings_file import SETTINGS_NAME, files_table
from diagnosis_harness.adapters.sources.incident_folder.table import (
    Column,
    Table,
    show_columns,
    text_cell_sql,
)
from diagnosis_harness.harness.context import RunContext
from diagnosis_harness.kernel.errors import InvalidInput
from diagnosis_harness.kernel.window import TimeWindow
from diagnosis_harness.toolbox.ports import FileNote, LogLine, LogPage, LogTable, Recording

MESSAGE: Final = (
    "message", "msg", "log", "text", "body", "content", "line", "event", "text_payload", "log_message",
    "@message", "_raw", "short_message", "full_message",
)  # fmt: skip
STATE: Final = ("status", "state", "phase", "health", "condition")
"""How an object was, in a table of states without a message."""
LEVEL: Final = (
    "level", "severity", "severity_text", "log_level", "loglevel", "lvl", "levelname", "level_name",
    "detected_level",
)  # fmt: skip
_TRACE: Final = ("trace_id", "trace", "traceid", "trace_identifier", "dd_trace_id", "otel_trace_id")
_SPAN: Final = ("span_id", "span", "spanid", "dd_span_id", "otel_span_id")
_THREAD: Final = ("thread", "thread_name", "threadname", "thread_id", "tid", "goroutine")
_ENTITIES_LIMIT: Final = 100_000
_MESSAGE_CHARACTERS: Final = 20_000


@dataclass(frozen=True, slots=True)
class LogFile:
    """Content of one logs file."""

    source: str
    """SQL to select from: time, entity, level, message, context."""
    lines: int
    entities: Mapping[str, tuple[str, ...]]
    """Printable name → the names as written in the file."""
    first_s: float
    last_s: float
    note: FileNote


class FolderLogs:
    """`LogSource` over files."""

    def __init__(self, database: Database, recordings: Mapping[Recording, RecordingParts[LogFile]]) -> None:
        self._database = database
        self._recordings = dict(recordings)
        self._tables: dict[Recording, LogTable] = {}
        self._lock = Lock()

    def search(
        self,
        ctx: RunContext,
        recording: Recording,
        *,
        text: str | None,
        entities: Sequence[str] | None,
        window: TimeWindow | None,
        limit: int,
    ) -> LogPage:
        """Lines that contain `text` (plain, case-insensitive; None matches all), the first `limit` by time.

        `searched` counts the lines of those entities and that window. Lines come printable, cut at 20,000
        characters.

        Raises:
            ToolFailure: the search does not fit into memory, or a file can no longer be read.
        """
        del ctx
        recording_parts = self._recordings.get(recording, RecordingParts())
        files = [
            file
            for file in recording_parts.parts
            if file.lines and (entities is None or not file.entities.keys().isdisjoint(entities))
        ]
        if not files:
            return LogPage(lines=(), matching=0, searched=0)
        union = " UNION ALL ".join(
            f"SELECT time, entity, level, message FROM {file.source}" for file in files
        )
        conditions, parameters = ["true"], list[object]()
        for bound in (window, recording_parts.window):
            if bound is not None:
                conditions.append("time >= ? AND time < ?")
                parameters += [bound.start_s, bound.end_s]
        if entities is not None:
            conditions.append("list_contains(?::VARCHAR[], entity)")
            named = {raw for file in files for each in entities for raw in file.entities.get(each, ())}
            parameters.append(sorted(named))
        hit = "true" if text is None else "contains(lower(message), lower(?))"
        needle: list[object] = [] if text is None else [text]
        within = f"SELECT * FROM ({union}) WHERE {' AND '.join(conditions)}"
        try:
            searched, matching = self._database.rows(
                f"SELECT count(*), count(*) FILTER (WHERE {hit}) FROM ({within})", [*needle, *parameters]
            )[0]
            rows = self._database.rows(
                f"SELECT time, entity, level, left(message, {_MESSAGE_CHARACTERS}) FROM ({within}) "
                f"WHERE {hit} ORDER BY time, entity, message LIMIT ?",
                [*parameters, *needle, max(0, limit)],
            )
        except self._database.errors as error:
            raise self._database.failure(error) from error
        return LogPage(
            lines=tuple(_line(*row) for row in rows), matching=int(matching), searched=int(searched)
        )

    def table(self, ctx: RunContext, recording: Recording) -> LogTable:
        """All lines by shape, masked inside duckdb; built once.

        Raises:
            ToolFailure: they do not fit into memory, or a file can no longer be read.
        """
        del ctx
        with self._lock:  # building twice at once would need the memory twice
            table = self._tables.get(recording)
            if table is None:
                recording_parts = self._recordings.get(recording, RecordingParts())
                sources = [file.source for file in recording_parts.parts if file.lines]
                window = recording_parts.window
                table = self._tables[recording] = build_log_table(self._database, sources, window)
        return table


def find_message(table: Table) -> Column | None:
    """The column of the text: the message, or in a table of states how each object was."""
    usual = (*MESSAGE, *STATE) if table.file.role is Role.STATES else MESSAGE
    return find(table, usual, wanted=table.file.settings.message, key="message")


def read_logs(
    table: Table, database: Database, zone: tzinfo, *, also_read: Sequence[Column | None] = ()
) -> LogFile:
    """Read and check one logs file; `also_read` are the columns that other code reads.

    Raises:
        InvalidInput: no time or message column, or impossible times.
    """
    time = read_time(table, zone)
    message, entity, level = (
        find_message(table),
        find(table, ENTITY, wanted=table.file.settings.entity, key="entity"),
        find(table, LEVEL),
    )
    span, trace, thread = find(table, _SPAN), find(table, _TRACE), find(table, _THREAD)
    if message is None:
        raise InvalidInput(
            table.place,
            f"it has no message column (its columns: {show_columns(table.columns)})",
            f'set `message = "…"` to its column under {files_table(table.place)} in {SETTINGS_NAME}',
        )
    texts = [message, *(column for column in find_every(table, MESSAGE) if column is not message)]
    text = ", ".join(text_cell_sql(column) for column in texts)
    source = table.read(
        database,
        f"{time.sql} AS time, {text_cell_sql(entity)} AS entity, {text_cell_sql(level)} AS level, "
        f"coalesce({text}, '') AS message, {context_sql(span, trace, thread)} AS context",
    )
    rows, lines, low, high = table.ask(
        database, f"SELECT count(*), count(time), min(time), max(time) FROM {source}"
    )[0]
    total, timed = int(str(rows)), int(str(lines))
    first_s, last_s = (float(str(low)), float(str(high))) if timed else (math.nan, math.nan)
    check_times(table, database, time, (rows, lines, low, high))
    names = table.ask(
        database, f"SELECT DISTINCT entity FROM {source} WHERE entity IS NOT NULL LIMIT {_ENTITIES_LIMIT}"
    )
    entities: dict[str, tuple[str, ...]] = {}
    for (name,) in names:
        shown = printable(str(name))
        entities[shown] = (*entities.get(shown, ()), str(name))
    remarks = [
        f"{timed} {'line' if timed == 1 else 'lines'}, time column {quote(time.column.name)} ({time.shown})",
    ]
    if timed < total:
        remarks.append(f"{total - timed} rows left out: no time")
    unused = find_unused_columns(table, (time.column, entity, level, span, trace, thread, *texts, *also_read))
    if unused:
        remarks.append(f"columns not used: {show_columns(unused)}")
    note = FileNote(table.place, table.file.role or "logs", total, "; ".join(remarks) + ".")
    return LogFile(f"(SELECT * FROM {source} WHERE time IS NOT NULL)", timed, entities, first_s, last_s, note)


def context_sql(span: Column | None, trace: Column | None, thread: Column | None) -> str:
    """The origin of a line: its span inside its trace, else its trace, else its thread; NULL if unknown."""
    of_trace, of_thread = text_cell_sql(trace), text_cell_sql(thread)
    if span is None:
        return f"coalesce({of_trace}, {of_thread})"
    of_span = text_cell_sql(span)
    return (
        f"CASE WHEN {of_span} IS NOT NULL THEN concat_ws(' ', {of_trace}, {of_span}) "
        f"ELSE coalesce({of_trace}, {of_thread}) END"
    )


def _line(time_s: float, entity: str | None, level: str | None, message: str) -> LogLine:
    return LogLine(
        time_s=float(time_s),
        entity=None if entity is None else printable(entity),
        level=None if level is None else printable(level),
        message=printable(message),
    )
