"""Reads deploys, flags and configuration changes, and the alert, which is read the same way."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from datetime import tzinfo
from typing import Final

from diagnosis_harness.adapters.sources.incident_folder.binding import (
    ENTITY,
    SIGNAL,
    TIME,
    check_times,
    find,
    find_unused_columns,
    read_time,
)
from diagnosis_harness.adapters.sources.incident_folder.database import Database
from diagnosis_harness.adapters.sources.incident_folder.formats.reader import ALERT_COLUMNS
from diagnosis_harness.adapters.sources.incident_folder.names import printable, quote
from diagnosis_harness.adapters.sources.incident_folder.table import (
    Column,
    Kind,
    Table,
    show_columns,
    text_cell_sql,
)
from diagnosis_harness.harness.context import RunContext
from diagnosis_harness.kernel.errors import InvalidInput
from diagnosis_harness.kernel.name_match import fold_name
from diagnosis_harness.kernel.window import TimeWindow
from diagnosis_harness.toolbox.ports import AlertInfo, ChangeEvent, FileNote

KIND: Final = ("kind", "type", "change_type", "event_type", "category")
SUMMARY: Final = ("summary", "description", "message", "title", "text", "detail", "details", "name")
SHA: Final = ("sha", "commit", "commit_sha", "commit_id", "revision", "hash")
FILES: Final = ("files", "files_changed", "changed_files", "paths")
DIFF: Final = ("diff", "patch")
AUTHOR: Final = ("author", "author_name", "actor", "user")
_VERSION: Final = ("version", "new_version", "to_version", "image", "image_tag", "tag", "release")
_FLAG: Final = ("flag", "flag_name", "flag_key", "feature_flag", "toggle")
_TO: Final = ("change", "to", "new_value", "state", "enabled", "action")
"""Columns with the new value of a flag."""
_DIFF_CHARACTERS: Final = 20_000
_FILES_LIMIT: Final = 200
_FILE_NAME: Final = re.compile(r"[^\s\[\]\"',;]+")
"""A list of files is JSON, or names separated by spaces, commas or line ends."""
STATISTIC: Final = ("statistic", "stat", "aggregation", "percentile")
DIRECTION: Final = ("direction",)
_ROWS_LIMIT: Final = 100_000
LABEL_MOST: Final = 128
"""Characters of a label that may be a name; longer ones are descriptions."""
LEAST_WITHIN: Final = 4
"""Least characters of a known name that is recognised inside a longer one, as `cart` in `cartservice`."""


@dataclass(frozen=True, slots=True)
class ChangeFile:
    """Content of one changes file."""

    changes: tuple[ChangeEvent, ...]
    note: FileNote


@dataclass(frozen=True, slots=True)
class AlertFile:
    """Content of one alert file."""

    alert: AlertInfo
    note: FileNote


class FolderChanges:
    """`ChangeSource` over the content of the files."""

    def __init__(self, changes: Sequence[ChangeEvent]) -> None:
        self._changes = tuple(
            sorted(changes, key=lambda change: (change.time_s, change.kind, change.summary))
        )

    def changes(self, ctx: RunContext, *, window: TimeWindow | None) -> tuple[ChangeEvent, ...]:
        """Changes inside the window, by time; None means all."""
        del ctx
        return tuple(change for change in self._changes if window is None or window.contains(change.time_s))


def usual_kind(table: Table) -> str | None:
    """The kind of a file's rows by its columns, if no column states it: flag, commit or deploy."""
    if find(table, _FLAG) is not None:
        return "flag"
    sha = find(table, SHA)
    if sha is not None and any(find(table, usual) is not None for usual in (AUTHOR, FILES, DIFF)):
        return "commit"
    return "deploy" if find(table, _VERSION) is not None else None


def read_changes(table: Table, database: Database, zone: tzinfo) -> ChangeFile:
    """Read and check one changes file.

    Raises:
        InvalidInput: no time column, neither kind nor summary, or impossible times.
    """
    kind, summary, entity = find(table, KIND), find(table, SUMMARY), find(table, ENTITY)
    flag, version = find(table, _FLAG), find(table, _VERSION)
    usual, states = usual_kind(table), (flag, find(table, _TO) if flag is not None else None, version)
    if kind is None and summary is None and usual is None:
        raise InvalidInput(
            table.place,
            f"it has neither a kind nor a summary column (its columns: {show_columns(table.columns)})",
            'name the columns "kind" and "summary"',
        )
    more = [find(table, usual) for usual in (SHA, FILES, DIFF, AUTHOR)]
    rows = _read_timed_rows(table, database, zone, (entity, kind, summary, *more, *states))
    changes = tuple(
        ChangeEvent(
            time_s=time_s,
            entity=printable(cells[0]) if cells[0] else None,
            kind=printable(cells[1] or usual or "change"),
            summary=printable(cells[2] or " ".join(cell for cell in cells[7:] if cell)),
            sha=_printable(cells[3]),
            files=tuple(_FILE_NAME.findall(printable(cells[4] or ""))[:_FILES_LIMIT]),
            # Line ends separate the lines of a diff, so each line is made printable by itself.
            diff="\n".join(map(printable, (cells[5] or "")[:_DIFF_CHARACTERS].splitlines())),
            author=_printable(cells[6]),
        )
        for time_s, cells in rows
        if time_s is not None
    )
    remarks = [f"{len(changes)} changes, weighed as candidates, never as causes"]
    if len(changes) < len(rows):
        remarks.append(f"{len(rows) - len(changes)} rows left out: no time")
    unused = find_unused_columns(
        table, (read_time(table, zone).column, kind, summary, entity, *more, *states)
    )
    if unused:
        remarks.append(f"columns not used: {show_columns(unused)}")
    return ChangeFile(changes, FileNote(table.place, "changes", len(rows), "; ".join(remarks) + "."))


def read_alert(table: Table, database: Database, zone: tzinfo) -> AlertFile:
    """Read one alert file; the first row by time is the alert, a time is not required.

    Raises:
        InvalidInput: it does not describe an alert, or its time is impossible.
    """
    columns: tuple[Column | None, ...] = (
        find(table, ENTITY), find(table, SIGNAL), find(table, STATISTIC), find(table, DIRECTION),
        find(table, tuple(name for name in SUMMARY if name != "name")),
    )  # fmt: skip
    time = find(table, TIME, wanted=table.file.settings.time, key="time")
    if time is None and not any(columns):
        raise InvalidInput(
            table.place,
            f"it does not describe an alert (its columns: {show_columns(table.columns)})",
            "name the columns time, entity, signal, statistic, direction and summary",
        )
    others = [each for each in table.columns if each not in (*columns, time) and each.kind is Kind.TEXT]
    asked = (*columns, *others)
    if time is not None and time.present:
        rows = _read_timed_rows(table, database, zone, asked)
    else:
        rows = [(None, row) for row in _texts(table, database, asked)]
    if not rows:
        return AlertFile(AlertInfo(), FileNote(table.place, "alert", 0, "it has no rows."))
    time_s, (entity, signal, statistic, direction, summary, *texts) = min(
        rows, key=lambda row: float("inf") if row[0] is None else row[0]
    )
    alert = AlertInfo(
        entity=_printable(entity),
        signal=_printable(signal),
        statistic=_printable(statistic),
        time_s=time_s,
        direction=_direction(table, direction),
        summary=_printable(summary),
        others=tuple(name for each in texts if (name := _printable(each)) and len(name) <= LABEL_MOST),
    )
    note = "the alert was read" + (f"; {len(rows) - 1} later rows left out" if len(rows) > 1 else "")
    unused = find_unused_columns(table, (*columns, time, *(o for o in others if o.name in ALERT_COLUMNS)))
    note += f"; columns not used: {show_columns(unused)}." if unused else "."
    return AlertFile(alert, FileNote(table.place, "alert", len(rows), note))


def complete_alert(alert: AlertInfo, other: AlertInfo) -> AlertInfo:
    """The first alert, with its missing fields taken from the other."""
    return replace(
        alert,
        entity=alert.entity or other.entity,
        signal=alert.signal or other.signal,
        statistic=alert.statistic or other.statistic,
        time_s=other.time_s if alert.time_s is None else alert.time_s,
        direction=alert.direction or other.direction,
        summary=alert.summary or other.summary,
        others=(*alert.others, *other.others),
    )


def resolve_alert(alert: AlertInfo, known: Collection[str]) -> AlertInfo:
    """The alert; if it names nothing known, it is about the first of its labels that the telemetry knows.

    The label that usually names a service may hold a product (`rds`), and another label the instance. A name
    that resembles a known one is left unchanged, since the reader of the question explains how it was read.
    """
    names = {fold_name(name): name for name in known}
    named = "" if alert.entity is None else fold_name(alert.entity)
    if named and any(named in name or (len(name) >= LEAST_WITHIN and name in named) for name in names):
        return alert
    found = next((names[name] for each in alert.others if (name := fold_name(each)) in names), None)
    return alert if found is None else replace(alert, entity=found)


def _read_timed_rows(
    table: Table, database: Database, zone: tzinfo, columns: Sequence[Column | None]
) -> list[tuple[float | None, tuple[str | None, ...]]]:
    time = read_time(table, zone)
    times = [row[0] for row in _rows(table, database, time.sql)]
    known = [float(str(time_s)) for time_s in times if time_s is not None]
    check_times(
        table, database, time, (len(times), len(known), min(known, default=0.0), max(known, default=0.0))
    )
    texts = _texts(table, database, columns)
    return [
        (None if time_s is None else float(str(time_s)), cells)
        for time_s, cells in zip(times, texts, strict=True)
    ]


def _texts(
    table: Table, database: Database, columns: Sequence[Column | None]
) -> list[tuple[str | None, ...]]:
    rows = _rows(table, database, ", ".join(text_cell_sql(column) for column in columns))
    return [tuple(None if cell is None else str(cell) for cell in row) for row in rows]


def _rows(table: Table, database: Database, select: str) -> list[tuple[object, ...]]:
    rows = table.ask(database, f"SELECT {select} FROM {table.scan} LIMIT {_ROWS_LIMIT + 1}")
    if len(rows) > _ROWS_LIMIT:
        raise InvalidInput(
            table.place, f"it has more than {_ROWS_LIMIT} rows", "keep those around the incident only"
        )
    return rows


def _direction(table: Table, text: str | None) -> str | None:
    word = (text or "").strip().lower()
    if word in {"", "up", "down"}:
        return word or None
    raise InvalidInput(table.place, f"the direction {quote(word)} is not known", 'write "up" or "down"')


def _printable(text: str | None) -> str | None:
    return printable(text) or None if text else None
