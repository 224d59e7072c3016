"""Finds the columns of a traces file, and reads a span's kind and callee from them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import tzinfo
from typing import Final

from diagnosis_harness.adapters.sources.incident_folder.binding import (
    ENTITY,
    TimeReading,
    find,
    read_time,
    reading_of,
)
from diagnosis_harness.adapters.sources.incident_folder.database import Database, text_sql
from diagnosis_harness.adapters.sources.incident_folder.settings_file import SETTINGS_NAME
from diagnosis_harness.adapters.sources.incident_folder.table import (
    Column,
    Table,
    show_columns,
    text_cell_sql,
)
from diagnosis_harness.kernel.errors import InvalidInput

TRACE: Final = ("trace_id", "trace", "traceid")
SPAN: Final = ("span_id", "span", "spanid", "id")
PARENT: Final = (
    "parent_id",
    "parent",
    "parent_span_id",
    "parent_span",
    "parentid",
    "parentspanid",
    "parentspan",
)
OPERATION: Final = ("operation", "operation_name", "name", "span_name", "method", "endpoint")
START: Final = ("start", "start_time", "start_time_unix", "time", "timestamp", "ts", "begin")
DURATION: Final = ("duration", "dur", "elapsed", "latency", "response_time")
END: Final = ("end", "end_time", "end_time_unix", "finish")
STATUS: Final = ("status", "status_code", "error", "is_error", "has_error", "http_status_code", "code")
SPAN_KIND: Final = ("kind", "span_kind", "spankind", "attributes_span_kind", "tags_span_kind")

_HOLDERS: Final = ("", "attributes_", "span_attributes_", "attr_", "tags_", "tag_")
"""Prefixes that exporters put before the name of an attribute."""
_PEER: Final = ("peer_service", "service_peer_name")
_HOST: Final = ("server_address", "net_peer_name", "network_peer_name")
_STORE: Final = ("db_system", "db_system_name")
_QUEUE: Final = ("messaging_destination_name", "messaging_destination")

_SENDS: Final = frozenset({"client", "producer", "span_kind_client", "span_kind_producer", "3", "4"})
_OTHER_KINDS: Final = frozenset(
    {
        "server", "consumer", "internal", "unspecified", "local", "0", "1", "2", "5",
        "span_kind_server", "span_kind_consumer", "span_kind_internal", "span_kind_unspecified",
    }
)  # fmt: skip
_KINDS_LIMIT: Final = 20


@dataclass(frozen=True, slots=True)
class PeerColumns:
    """Columns of client spans that name the callee; None if the file has no such column."""

    service: Column | None
    host: Column | None
    store: Column | None
    queue: Column | None

    @property
    def present(self) -> tuple[Column, ...]:
        """The columns that the file has."""
        found = (self.service, self.host, self.store, self.queue)
        return tuple(column for column in found if column is not None)


@dataclass(frozen=True, slots=True)
class SpanFileColumns:
    """The columns of a traces file that are used."""

    trace: Column
    span: Column
    parent: Column | None
    entity: Column
    operation: Column | None
    status: Column | None
    kind: Column | None
    peer: PeerColumns
    start: TimeReading
    duration: Column | None
    end: TimeReading | None

    @property
    def used(self) -> tuple[Column | None, ...]:
        """All of these columns."""
        return (
            self.trace, self.span, self.parent, self.entity, self.operation, self.status, self.kind,
            *self.peer.present, self.start.column, self.duration, self.end.column if self.end else None,
        )  # fmt: skip


def find_span_columns(table: Table, database: Database, zone: tzinfo) -> SpanFileColumns:
    """The columns of a traces file.

    Raises:
        InvalidInput: a column that spans need is missing.
    """
    settings = table.file.settings

    def require(usual: Sequence[str], what: str, *, wanted: str | None = None) -> Column:
        column = find(table, usual, wanted=wanted, key=what)
        if column is None:
            raise InvalidInput(
                table.place,
                f"it has no column for the {what} of a span (its columns: {show_columns(table.columns)})",
                f"name it {usual[0]!r}, or leave the file out by `ignore = true` in {SETTINGS_NAME}",
            )
        return column

    trace, span = require(TRACE, "trace_id"), require(SPAN, "span_id")
    entity = require(ENTITY, "entity", wanted=settings.entity)
    start = read_time(table, zone, usual=START, by_content=False)
    duration, end = find(table, DURATION), find(table, END)
    if duration is None and end is None:
        duration = require(DURATION, "duration")
    return SpanFileColumns(
        trace=trace,
        span=span,
        parent=find(table, PARENT),
        entity=entity,
        operation=find(table, OPERATION),
        status=find(table, STATUS),
        kind=_kind_column(table, database),
        peer=PeerColumns(*(_attribute(table, names) for names in (_PEER, _HOST, _STORE, _QUEUE))),
        start=start,
        duration=duration,
        end=None if duration is not None or end is None else reading_of(table, end, zone),
    )


def sends_sql(columns: SpanFileColumns) -> str:
    """SQL for whether a span sends a request or message; NULL if its kind is not recorded."""
    if columns.kind is None:
        return "CAST(NULL AS BOOLEAN)"
    return f"{_kind_text(columns.kind)} IN ({', '.join(map(text_sql, sorted(_SENDS)))})"


def peer_sql(columns: SpanFileColumns) -> str:
    """SQL for the name of the callee of a span; NULL if the span does not name it.

    A server span has no callee. Without kinds, an address may be the span's own, unless it is that of a
    database, since databases write no spans. A database known only by its product belongs to the caller.
    """
    peer = columns.peer
    store = _cell(peer.store)
    host = f"nullif(regexp_replace({_cell(peer.host)}, ':[0-9]+$', ''), '')"
    host = f"CASE WHEN regexp_matches({host}, '^[0-9.]+$|:|^localhost$') THEN NULL ELSE {host} END"
    queue = _cell(peer.queue)
    if columns.kind is None:
        host, queue = f"CASE WHEN {store} IS NULL THEN NULL ELSE {host} END", "CAST(NULL AS VARCHAR)"
    of_caller = f"{text_cell_sql(columns.entity)} || '-' || {store}"
    named = f"coalesce({_cell(peer.service)}, {host}, {queue}, {of_caller})"
    return f"CASE WHEN coalesce({sends_sql(columns)}, true) THEN {named} END"


def _cell(column: Column | None) -> str:
    return "CAST(NULL AS VARCHAR)" if column is None else f"nullif({text_cell_sql(column)}, '')"


def _kind_text(column: Column) -> str:
    text = f"lower(trim(CAST({column.ref} AS VARCHAR)))"
    return f"nullif(CASE WHEN suffix({text}, '.0') THEN {text}[:-3] ELSE {text} END, '')"


def _kind_column(table: Table, database: Database) -> Column | None:
    """The column of a span's kind; None if its values are not those of OpenTelemetry or Zipkin."""
    column = find(table, SPAN_KIND)
    if column is None:
        return None
    rows = table.ask(
        database,
        f"SELECT DISTINCT {_kind_text(column)} AS value FROM {table.scan} "
        f"WHERE value IS NOT NULL LIMIT {_KINDS_LIMIT + 1}",
    )
    return column if rows and {str(row[0]) for row in rows} <= _SENDS | _OTHER_KINDS else None


def _attribute(table: Table, names: Sequence[str]) -> Column | None:
    return find(table, [f"{holder}{name}" for name in names for holder in _HOLDERS])
