"""Finds the column for each purpose: by incident.toml, by the usual names, and for the time by content."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from datetime import tzinfo
from typing import Final

from diagnosis_harness.adapters.sources.incident_folder.database import Database
from diagnosis_harness.adapters.sources.incident_folder.names import plain_key, quote, time_unit_of
from diagnosis_harness.adapters.sources.incident_folder.settings_file import SETTINGS_NAME, files_table
from diagnosis_harness.adapters.sources.incident_folder.table import (
    Column,
    Kind,
    Table,
    is_missing,
    is_missing_sql,
    is_number,
    number_sql,
    show_columns,
)
from diagnosis_harness.adapters.sources.incident_folder.time_forms import (
    TimeForm,
    fits,
    form_named,
    form_of,
    form_of_date,
    is_ambiguous,
    is_clock,
    is_date,
)
from diagnosis_harness.adapters.sources.incident_folder.times import (
    EARLIEST_S,
    LATEST_S,
    UNITS,
    epoch_sql,
    has_zone,
    is_instant,
    naive_sql,
    unit_of_text,
    zone_named,
)
from diagnosis_harness.kernel.errors import InvalidInput

TIME: Final = (
    "time", "timestamp", "ts", "datetime", "date_time", "date", "unix_timestamp", "unix_time", "epoch",
    "event_time", "start_time", "start", "start_time_unix", "time_unix", "instant", "clock",
    "fired_at", "triggered_at", "alert_time",
)  # fmt: skip
ENTITY: Final = (
    "entity", "service", "service_name", "microservice", "component", "application", "app", "app_name",
    "workload", "pod", "pod_name", "instance", "container", "container_name", "host", "hostname", "node",
    "node_name", "cmdb_id", "kubernetes_deployment_name", "kubernetes_labels_app",
    "kubernetes_container_name", "kubernetes_pod_name", "k8s_deployment_name", "k8s_container_name",
    "k8s_pod_name", "job",
)  # fmt: skip
SIGNAL: Final = ("signal", "metric", "metric_name", "kpi", "kpi_name", "measurement", "name", "series")
VALUE: Final = ("value", "val", "v", "metric_value", "kpi_value", "reading")
UNIT: Final = ("unit", "units")

_FAR_S: Final = 1e11
_SPACED_OFFSET: Final = re.compile(r"\s(?:UTC|GMT|[+-]\d)")
"""duckdb does not read an offset after a space."""


@dataclass(frozen=True, slots=True)
class TimeReading:
    """How the time column of one file is read."""

    column: Column
    sql: str
    """Seconds since the epoch; NULL if the cell is not such a time."""
    earliest_s: float
    latest_s: float
    shown: str
    """What was detected, for the file's note."""
    zone: tzinfo | None = None
    """The zone in which times without a zone are read; None if they have one."""


def find(table: Table, usual: Sequence[str], *, wanted: str | None = None, key: str = "") -> Column | None:
    """The column that incident.toml names under `key`, else the first of the usual names, else None.

    Raises:
        InvalidInput: incident.toml names a column that the file does not have.
    """
    if wanted is not None:
        column = next(
            (column for column in table.columns if wanted.strip() in {column.name, plain_key(column.name)}),
            None,
        )
        if column is None:
            raise InvalidInput(
                f"{SETTINGS_NAME} [files.{table.place!r}]",
                f"`{key}` names column {quote(wanted)}, which the file does not have",
                f"name one of its columns: {show_columns(table.columns)}",
            )
        return column
    by_key: dict[str, Column] = {}
    for column in table.columns:
        by_key.setdefault(plain_key(column.name), column)
    for column in table.columns:
        by_key.setdefault(time_unit_of(column.name)[0], column)
    for column in table.columns:
        if column.leaf:
            by_key.setdefault(plain_key(column.leaf), column)
    return next((by_key[name] for name in usual if name in by_key), None)


def find_every(table: Table, usual: Sequence[str]) -> list[Column]:
    """All text columns with one of the usual names, the most usual first; each row fills one of them."""
    return [
        column
        for name in usual
        for column in table.columns
        if column.kind is Kind.TEXT and name in {plain_key(column.name), plain_key(column.leaf)}
    ]


def read_time(
    table: Table, zone: tzinfo, *, usual: Sequence[str] = TIME, by_content: bool = True
) -> TimeReading:
    """Find the time column and how to read it.

    Raises:
        InvalidInput: no column holds times, or its first cells have no known unit or several.
    """
    column = find(table, usual, wanted=table.file.settings.time, key="time")
    if column is None and by_content:
        column = _by_content(table)
    if column is not None and column.kind is Kind.TEXT:
        column = _with_date(table, column)
    if column is None:
        raise InvalidInput(
            table.place,
            f"it has no time column (its columns: {show_columns(table.columns)})",
            f'name it "time", or set `time = "…"` under {files_table(table.place)} in {SETTINGS_NAME}',
        )
    return reading_of(table, column, zone)


def _with_date(table: Table, column: Column) -> Column:
    """Date and time of day joined if they are in two columns; otherwise the column itself."""
    own = column.present
    if not own or not (all(map(is_date, own)) or all(map(is_clock, own))):
        return column
    halves = [one for one in table.columns if one.kind is Kind.TEXT and one.present]
    dates = [one for one in halves if all(is_date(cell) for cell in one.present)]
    clocks = [one for one in halves if all(is_clock(cell) for cell in one.present)]
    if column not in (*dates, *clocks) or not dates or not clocks:
        return column
    date = column if column in dates else dates[0]
    clock = column if column in clocks else clocks[0]
    return replace(
        clock,
        name=f"{date.name} {clock.name}",
        ref=f"(trim({date.ref}) || ' ' || trim({clock.ref}))",
        sample=tuple(
            None if one is None or other is None else f"{one.strip()} {other.strip()}"
            for one, other in zip(date.sample, clock.sample, strict=True)
        ),
    )


def reading_of(table: Table, column: Column, zone: tzinfo) -> TimeReading:
    """How a column of timestamps is read.

    Raises:
        InvalidInput: its first cells have no known unit or several.
    """
    settings = table.file.settings
    if settings.zone is not None:
        zone = zone_named(settings.zone, place=f"{SETTINGS_NAME} [files.{table.place!r}]")
    stated = settings.time_format
    if stated is not None and column.kind is Kind.TEXT:
        _check_format(table, column, stated)
        sql, shown = _other_form(form_named(stated), column, zone)
        earliest, latest = EARLIEST_S, LATEST_S
    elif column.kind in {Kind.TIMESTAMP, Kind.ZONED_TIMESTAMP} or column.looks_like_timestamps:
        if is_ambiguous(column.present):
            raise _ambiguous(table, column)
        sql, shown = _timestamp_sql(column, zone)
        earliest, latest = EARLIEST_S, LATEST_S
    else:
        unit = settings.time_unit or _unit(table, column)
        sql, shown = _epoch_sql(column, unit), f"epoch {unit}"
        earliest, latest = (-_FAR_S, _FAR_S) if settings.time_unit else (EARLIEST_S, LATEST_S)
    if settings.shift_s:
        sql, shown = f"({sql}) + {settings.shift_s!r}", f"{shown}, shifted by {settings.shift_s:g} s"
        earliest, latest = earliest + settings.shift_s, latest + settings.shift_s
    local = zone if "without a zone" in shown else None
    return TimeReading(column, sql, earliest_s=earliest, latest_s=latest, shown=shown, zone=local)


def check_times(table: Table, database: Database, reading: TimeReading, found: Sequence[object]) -> None:
    """Check the times that were read: `found` is rows, rows with a time, least and greatest time.

    Raises:
        InvalidInput: a cell holds no time, or one that is impossible in the unit of the others.
    """
    rows, timed = int(str(found[0])), int(str(found[1]))
    inside = not timed or (
        reading.earliest_s <= float(str(found[2])) and float(str(found[3])) <= reading.latest_s
    )
    if not inside or (timed < rows and _has_odd_cell(table, database, reading)):
        raise _odd_time(table, database, reading)


def _odd_sql(reading: TimeReading) -> str:
    return (
        f"(NOT {is_missing_sql(reading.column)} "
        f"AND coalesce(({reading.sql}) NOT BETWEEN {reading.earliest_s!r} AND {reading.latest_s!r}, true))"
    )


def _has_odd_cell(table: Table, database: Database, reading: TimeReading) -> bool:
    return table.first_where(database, reading.column, _odd_sql(reading)) is not None


def _odd_time(table: Table, database: Database, reading: TimeReading) -> InvalidInput:
    """The error for the first cell that is not such a time."""
    hit = table.first_where(database, reading.column, _odd_sql(reading))
    where, cell = hit if hit is not None else ("", None)
    shown, name = quote(cell or ""), quote(reading.column.name)
    place = f"{table.place} {where}".strip()
    expected = reading.shown.removeprefix("epoch ")
    other = unit_of_text(cell or "")
    if other is not None and expected in UNITS:
        return InvalidInput(
            place,
            f"column {name} mixes times in {expected} and in {other} ({shown})",
            "write all times of a file in the same form",
        )
    alike = is_instant(cell or "") and has_zone(cell or "") == reading.shown.startswith(
        "ISO 8601 with a zone"
    )
    if (is_instant(cell or "") or other is not None) and not alike:
        return InvalidInput(
            place,
            f"column {name} mixes ways to write a time: {shown} is not like the first ones ({reading.shown})",
            "write all times of a file in the same form, all with a zone or all without",
        )
    return InvalidInput(
        place,
        f"{shown} in column {name} is not a time between 1990 and 2100",
        "write ISO 8601 such as 2024-01-01T14:05:00Z, or epoch numbers of one unit",
    )


def find_unused_columns(table: Table, used: Collection[Column | None]) -> list[Column]:
    """The columns that are not used."""
    present = [column for column in used if column is not None]
    refs = {column.ref for column in present}
    names = {column.name for column in present}  # a column that is read through an expression has another ref
    joined = " ".join(ref for ref in refs if ref.startswith("("))
    return [
        column
        for column in table.columns
        if column.ref not in refs and column.name not in names and f"trim({column.ref})" not in joined
    ]


def _by_content(table: Table) -> Column | None:
    candidates = [column for column in table.columns if column.looks_like_timestamps]
    if candidates:
        return candidates[0]
    first = table.columns[0] if table.columns else None
    if first is None or not first.looks_numeric:
        return None
    numbers = [float(cell) for cell in first.present if is_number(cell)]
    plausible = all(unit_of_text(cell) for cell in first.present)
    return first if plausible and numbers == sorted(numbers) else None


def _timestamp_sql(column: Column, zone: tzinfo) -> tuple[str, str]:
    ref, zone_name = column.ref, str(zone)
    if column.kind is Kind.ZONED_TIMESTAMP:
        return epoch_sql(ref), "timestamps with a zone"
    if column.kind is Kind.TIMESTAMP:
        return naive_sql(f"CAST({ref} AS TIMESTAMP)", zone), f"timestamps without a zone, read as {zone_name}"
    present = column.present
    if not all(is_instant(cell) for cell in present) or any(_SPACED_OFFSET.search(cell) for cell in present):
        form = form_of(present)
        if form is not None:
            return _other_form(form, column, zone)
    anywhere = f"regexp_matches(substr({ref}, 12), '[-+A-Za-z]')"
    if has_zone(present[0]):
        zoned = f"suffix({ref}, 'Z')" if all(cell.endswith("Z") for cell in present) else anywhere
        sql = epoch_sql(f"TRY_CAST({ref} AS TIMESTAMPTZ)")
        return f"CASE WHEN {zoned} THEN {sql} END", "ISO 8601 with a zone"
    sql = naive_sql(f"TRY_CAST({ref} AS TIMESTAMP)", zone)
    return f"CASE WHEN NOT {anywhere} THEN {sql} END", f"ISO 8601 without a zone, read as {zone_name}"


def _other_form(form: TimeForm, column: Column, zone: tzinfo) -> tuple[str, str]:
    """Read a column written in a form other than ISO 8601."""
    if form.zoned:
        return epoch_sql(form.sql(column.ref)), form.shown
    return naive_sql(form.sql(column.ref), zone), f"{form.shown}, without a zone, read as {zone}"


def _check_format(table: Table, column: Column, stated: str) -> None:
    cell = next((cell for cell in column.present if not fits(stated, cell)), None)
    if cell is not None:
        raise InvalidInput(
            f"{SETTINGS_NAME} [files.{table.place!r}]",
            f"`time_format` {quote(stated)} does not fit {quote(cell)} in column {quote(column.name)}",
            'write it as strptime does, such as "%d/%m/%Y %H:%M:%S"',
        )


def _ambiguous(table: Table, column: Column) -> InvalidInput:
    cell = column.present[0].strip()
    rest = form_of_date(cell)
    return InvalidInput(
        table.place,
        f"{quote(cell)} in column {quote(column.name)} can be read with the day or with the month first",
        f'set `time_format = "{rest.format("%d", "%m")}"` or, with the month first, '
        f'`"{rest.format("%m", "%d")}"` under '
        f"{files_table(table.place)} in {SETTINGS_NAME}",
    )


def _epoch_sql(column: Column, unit: str) -> str:
    number = f"nullif({number_sql(column)}, 'nan'::DOUBLE)"
    return number if unit == "s" else f"{number} / {UNITS[unit]!r}"


def _unit(table: Table, column: Column) -> str:
    cells = [cell for cell in column.sample if cell is not None and not is_missing(cell)]
    if column.kind is Kind.OTHER or not cells:
        raise InvalidInput(
            table.place,
            f"column {quote(column.name)} holds no times in its first rows",
            "write ISO 8601 such as 2024-01-01T14:05:00Z, or epoch numbers of one unit",
        )
    units = [unit_of_text(cell) for cell in cells]
    known = [unit for unit in units if unit is not None]
    if not known:
        raise InvalidInput(
            table.place,
            f"column {quote(column.name)} holds {quote(cells[0])}, no time between 1990 and 2100",
            f"write ISO 8601 or epoch numbers, or set `time_unit` for the file in {SETTINGS_NAME}",
        )
    return known[0]
