"""Reads events and states of a platform; their texts are also searchable log lines."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import tzinfo
from typing import Final

from diagnosis_harness.adapters.sources.incident_folder.binding import ENTITY, find, read_time, reading_of
from diagnosis_harness.adapters.sources.incident_folder.database import Database
from diagnosis_harness.adapters.sources.incident_folder.listing import Role
from diagnosis_harness.adapters.sources.incident_folder.logs import find_message
from diagnosis_harness.adapters.sources.incident_folder.names import printable
from diagnosis_harness.adapters.sources.incident_folder.table import Column, Table, text_cell_sql
from diagnosis_harness.harness.context import RunContext
from diagnosis_harness.kernel.errors import InvalidInput
from diagnosis_harness.toolbox.ports import PlatformState, ReportedEvent

REASON: Final = ("reason", "event_reason", "event_type", "category")
COUNT: Final = ("count", "times", "occurrences")
FIRST_SEEN: Final = ("first", "first_time", "first_seen", "first_timestamp")
LAST_SEEN: Final = ("last", "last_time", "last_seen", "last_timestamp")
_REPORTED: Final = (REASON, COUNT)
_SEEN: Final = (FIRST_SEEN, LAST_SEEN)
_ROWS_LIMIT: Final = 100_000
_TEXT_CHARACTERS: Final = 4_000
_LEADING_REASON: Final = re.compile(r"(?P<reason>[A-Z][A-Za-z]{2,40}): ")
"""A reason of Kubernetes is one CamelCase word, which the readers of its files put before the message."""
_TRAILING_COUNT: Final = re.compile(r" \((?P<count>\d{1,9}) times\)$")


@dataclass(frozen=True, slots=True)
class PlatformFile:
    """Content of one file of events or states."""

    events: tuple[ReportedEvent, ...] = ()
    states: tuple[PlatformState, ...] = ()


class FolderPlatform:
    """`PlatformSource` over the content of the files."""

    def __init__(self, files: Sequence[PlatformFile]) -> None:
        self._events = tuple(
            sorted(
                (event for file in files for event in file.events),
                key=lambda each: (each.last_s, each.entity),
            )
        )
        self._states = tuple(
            sorted(
                (state for file in files for state in file.states),
                key=lambda each: (each.time_s, each.entity),
            )
        )

    def events(self, ctx: RunContext) -> tuple[ReportedEvent, ...]:
        """All events, by the time of the last occurrence."""
        del ctx
        return self._events

    def states(self, ctx: RunContext) -> tuple[PlatformState, ...]:
        """All snapshots, by time."""
        del ctx
        return self._states


def read_platform(table: Table, database: Database, zone: tzinfo) -> PlatformFile:
    """Read one file of events or states; rows without a time or an object are left out.

    Raises:
        InvalidInput: it has too many rows, or impossible times.
    """
    columns = [find(table, ENTITY, wanted=table.file.settings.entity, key="entity"),
               find_message(table),
               *(find(table, usual) for usual in _REPORTED)]  # fmt: skip
    times = [f"({read_time(table, zone).sql})"]
    times += [_time_sql(table, find(table, usual), zone) for usual in _SEEN]
    texts = ", ".join(f"left({text_cell_sql(column)}, {_TEXT_CHARACTERS})" for column in columns)
    rows = table.ask(
        database, f"SELECT {', '.join(times)}, {texts} FROM {table.scan} LIMIT {_ROWS_LIMIT + 1}"
    )
    if len(rows) > _ROWS_LIMIT:
        raise InvalidInput(
            table.place, f"it has more than {_ROWS_LIMIT} rows", "keep those around the incident only"
        )
    known = [row for row in rows if row[0] is not None and row[3]]
    if table.file.role is Role.STATES:
        return PlatformFile(states=tuple(_state(row) for row in known))
    return PlatformFile(events=tuple(_event(row) for row in known))


def platform_columns(table: Table) -> list[Column | None]:
    """The columns that only events and states have and that are read."""
    return [find(table, usual) for usual in (*_REPORTED, *_SEEN)]


def _time_sql(table: Table, column: Column | None, zone: tzinfo) -> str:
    return "NULL" if column is None or not column.present else f"({reading_of(table, column, zone).sql})"


def _state(row: tuple[object, ...]) -> PlatformState:
    return PlatformState(printable(str(row[3])), float(str(row[0])), printable(str(row[4] or "")))


def _event(row: tuple[object, ...]) -> ReportedEvent:
    """The event; a reason and a count that have no column are taken from the text."""
    at_s, first, last, entity, message, reason, count = row
    text = printable(str(message or ""))
    leading, trailing = _LEADING_REASON.match(text), _TRAILING_COUNT.search(text)
    stated = _count(count) or (int(trailing["count"]) if trailing else 1)
    last_s = float(str(at_s if last is None else last))
    first_s = last_s if first is None else min(float(str(first)), last_s)
    named = printable(str(reason)) if reason else leading["reason"] if leading else None
    return ReportedEvent(printable(str(entity)), named, text, first_s, last_s, stated)


def _count(cell: object) -> int:
    try:
        return max(0, int(float(str(cell))))
    except (ValueError, OverflowError):
        return 0
