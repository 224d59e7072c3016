"""One metrics file: its layout, its checked rows, and the series it holds.

Three layouts: *long* (a row is one value of one series), *wide* (a row is an instant, a column is a series), and wide
with an entity column (a row is an instant of one entity, a column is a signal).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import tzinfo
from typing import Final

from diagnosis_harness.adapters.sources.incident_folder.binding import (
    ENTITY,
    SIGNAL,
    UNIT,
    VALUE,
    TimeReading,
    check_times,
    find,
    read_time,
    unused_columns,
)
from diagnosis_harness.adapters.sources.incident_folder.database import Database
from diagnosis_harness.adapters.sources.incident_folder.names import (
    UNNAMED_ENTITY,
    joined_header,
    printable,
    quoted,
    split_series_name,
    unit_of_signal,
)
from diagnosis_harness.adapters.sources.incident_folder.settings_file import SETTINGS_NAME
from diagnosis_harness.adapters.sources.incident_folder.table import (
    Column,
    Kind,
    Table,
    number_sql,
    show_columns,
    text_cell_sql,
)
from diagnosis_harness.kernel.errors import InvalidInput
from diagnosis_harness.toolbox.ports import FileNote

SERIES_LIMIT: Final = 200_000
_HASHES_AT_ONCE: Final = 4_000_000


@dataclass(frozen=True, slots=True)
class ValueColumn:
    """One column of numbers. `entity` and `signal` are None where the row says them."""

    column: Column
    ref: str
    entity: str | None
    signal: str | None


@dataclass(frozen=True, slots=True)
class Layout:
    """Which columns say what."""

    kind: str
    time: TimeReading
    entity: Column | None
    signal: Column | None
    unit: Column | None
    values: tuple[ValueColumn, ...]

    @property
    def keys(self) -> tuple[str, ...]:
        """The key columns that rows of this layout have."""
        return tuple(
            name for name, column in (("entity", self.entity), ("signal", self.signal)) if column is not None
        )


@dataclass(frozen=True, slots=True)
class SeriesPart:
    """The rows of one series in one file."""

    source: str
    """SQL to select from: columns time, the keys, and `ref`."""
    keys: tuple[tuple[str, str], ...]
    """Key column and its raw text; empty for a wide file."""
    ref: str
    entity: str
    signal: str
    unit: str | None
    points: int
    first_s: float
    last_s: float


@dataclass(frozen=True, slots=True)
class MetricFile:
    """What one metrics file holds."""

    parts: tuple[SeriesPart, ...]
    first_s: float
    last_s: float
    note: FileNote


def read_metrics(table: Table, database: Database, zone: tzinfo, units: Mapping[str, str]) -> MetricFile:
    """Read and check one metrics file; `units` are those of `[units]`.

    Raises:
        InvalidInput: no time column, no numbers, text among numbers, times that cannot be right, too many series.
    """
    layout = _layout(table, zone)
    if not layout.values:
        raise InvalidInput(
            table.place,
            f"none of its columns holds numbers (its columns: {show_columns(table.columns)})",
            f'name the column of numbers "value", or set `value = "…"` under [files."{table.place}"] in {SETTINGS_NAME}',
        )
    select = [
        f"{layout.time.sql} AS time",
        *(f"{text_cell_sql(getattr(layout, key))} AS {key}" for key in layout.keys),
        *([f"{text_cell_sql(layout.unit)} AS unit"] if layout.unit is not None else []),
        *(f"{number_sql(value.column)} AS {value.ref}" for value in layout.values),
    ]
    reader = _Reader(table, database, layout, table.read(database, ", ".join(select)))
    return reader.result(units)


def _layout(table: Table, zone: tzinfo) -> Layout:
    time = read_time(table, zone)
    settings = table.file.settings
    entity = _apart(find(table, ENTITY, wanted=settings.entity, key="entity"), time)
    signal = _apart(find(table, SIGNAL, wanted=settings.signal, key="signal"), time)
    value = _apart(find(table, VALUE, wanted=settings.value, key="value"), time)
    if settings.layout != "wide" and signal is not None and value is not None and not signal.looks_numeric:
        unit = find(table, UNIT)
        return Layout("long", time, entity, signal, unit, (ValueColumn(value, "v0", None, None),))
    if settings.layout == "long":
        missing = "signal" if signal is None else "value"
        raise InvalidInput(
            table.place,
            f"it is said to be long but has no {missing} column (its columns: {show_columns(table.columns)})",
            f'set `{missing} = "…"` under [files."{table.place}"] in {SETTINGS_NAME}',
        )
    by_entity = (
        entity is not None and (settings.entity is not None or not entity.looks_numeric) and not entity.levels
    )
    keyed = {time.column.ref, entity.ref} if by_entity and entity is not None else {time.column.ref}
    columns = [
        column
        for column in table.columns
        if column.ref not in keyed and (column.looks_numeric or column.looks_empty)
    ]
    values = tuple(
        _value_column(column, number, by_entity=by_entity) for number, column in enumerate(columns)
    )
    kind = "wide with an entity column" if by_entity else "wide"
    return Layout(kind, time, entity if by_entity else None, None, None, values)


def _apart(column: Column | None, time: TimeReading) -> Column | None:
    return None if column is not None and column.ref == time.column.ref else column


def _value_column(column: Column, number: int, *, by_entity: bool) -> ValueColumn:
    if by_entity:
        return ValueColumn(column, f"v{number}", None, printable(column.name) or "value")
    entity, signal = joined_header(column.levels) if column.levels else split_series_name(column.name)
    return ValueColumn(column, f"v{number}", entity, signal)


class _Reader:
    """Checks the rows that were read and lists the series; lives as long as one file is being opened."""

    def __init__(self, table: Table, database: Database, layout: Layout, source: str) -> None:
        self.table = table
        self.database = database
        self.layout = layout
        self.source = source
        self.remarks: list[str] = []
        self.dropped: list[Column] = []

    def result(self, units: Mapping[str, str]) -> MetricFile:
        """The file's series and its note."""
        rows, first_s, last_s = self._check_rows()
        groups = self._groups()
        groups = self._without_text(groups)
        if self._has_odd_numbers(groups):
            groups = self._without_odd_numbers()
        parts = self._parts(groups, units)
        self._count_missing(groups)
        self._count_doubles()
        used = (self.layout.time.column, self.layout.entity, self.layout.signal, self.layout.unit)
        values = [value.column for value in self.layout.values]
        unused = [*unused_columns(self.table, [*used, *values]), *self.dropped]
        head = (
            f"read as {self.layout.kind}, {len(parts)} series, time column "
            f"{quoted(self.layout.time.column.name)} ({self.layout.time.shown})"
        )
        if unused:
            self.remarks.append(f"columns not used: {show_columns(unused)}")
        note = FileNote(
            file=self.table.place, role="metrics", rows=rows, note="; ".join([head, *self.remarks]) + "."
        )
        return MetricFile(parts=tuple(parts), first_s=first_s, last_s=last_s, note=note)

    def _check_rows(self) -> tuple[int, float, float]:
        """Check the times, leave out rows without time or name; returns rows read, first and last instant."""
        keys = self.layout.keys
        row = self.table.ask(
            self.database,
            f"SELECT count(*), count(time), min(time), max(time){''.join(f', count({key})' for key in keys)} "
            f"FROM {self.source}",
        )[0]
        rows, timed = int(str(row[0])), int(str(row[1]))
        time = self.layout.time
        first_s, last_s = (math.nan, math.nan) if not timed else (float(str(row[2])), float(str(row[3])))
        check_times(self.table, self.database, time, row)
        conditions = []
        if timed < rows:
            conditions.append("time IS NOT NULL")
            self.remarks.append(f"{rows - timed} of {rows} rows left out: no time")
        for key, count in zip(keys, row[4:], strict=True):
            if int(str(count)) < rows:
                conditions.append(f"{key} IS NOT NULL")
                self.remarks.append(f"{rows - int(str(count))} of {rows} rows left out: no {key}")
        if conditions:
            self.source = f"(SELECT * FROM {self.source} WHERE {' AND '.join(conditions)})"
        if rows == 0:
            self.remarks.append("it has no rows")
        if rows == 1:
            self.remarks.append("a single row cannot show a change")
        return rows, first_s, last_s

    def _groups(self) -> list[tuple[object, ...]]:
        """Per combination of keys: keys, unit, rows, first, last, then points, least, greatest per value column;
        last, whether any cell holds text.
        """
        keys = self.layout.keys
        select = [
            *keys,
            "min(unit)" if self.layout.unit is not None else "NULL",
            "count(*)",
            "min(time)",
            "max(time)",
        ]
        for value in self.layout.values:
            select += [f"count({value.ref})", f"min({value.ref})", f"max({value.ref})"]
        by = f" GROUP BY {', '.join(keys)}" if keys else ""
        rows = self.table.ask(
            self.database, f"SELECT {', '.join(select)} FROM {self.source}{by} LIMIT {SERIES_LIMIT + 1}"
        )
        if len(rows) * len(self.layout.values) > SERIES_LIMIT:
            raise InvalidInput(
                self.table.place,
                f"it holds more than {SERIES_LIMIT} series",
                f"check the layout ({self.layout.kind}), or keep the entities around the incident only",
            )
        return rows

    def _without_text(self, groups: list[tuple[object, ...]]) -> list[tuple[object, ...]]:
        """Refuse text among numbers; leave out a column that is text for the most part."""
        start = len(self.layout.keys) + 4
        rows = sum(int(str(row[start - 3])) for row in groups)
        suspects, numbers = [], []
        for number, value in enumerate(self.layout.values):
            points = sum(int(str(row[start + 3 * number])) for row in groups)
            if points < rows and value.column.kind is Kind.TEXT:
                suspects.append(value)
                numbers.append(points)
        texts = self.table.count_text(self.database, [value.column for value in suspects])
        dropped = []
        for value, points, text in zip(suspects, numbers, texts, strict=True):
            if text and (text <= points or self.layout.kind == "long"):
                raise self.table.refuse_text(self.database, value.column)
            if text:
                dropped.append(value)
        if not dropped:
            return groups
        self.dropped = [value.column for value in dropped]
        self.layout = replace(
            self.layout, values=tuple(value for value in self.layout.values if value not in dropped)
        )
        return self._groups() if self.layout.values else []

    def _has_odd_numbers(self, groups: list[tuple[object, ...]]) -> bool:
        start = len(self.layout.keys) + 4
        return any(
            cell is not None and not math.isfinite(float(str(cell)))
            for row in groups
            for number in range(len(self.layout.values))
            for cell in row[start + 3 * number + 1 : start + 3 * number + 3]
        )

    def _without_odd_numbers(self) -> list[tuple[object, ...]]:
        """Count NaN and infinities and read them as missing."""
        refs = [value.ref for value in self.layout.values]
        nans = " + ".join(f"count(*) FILTER (isnan({ref}))" for ref in refs)
        infinite = " + ".join(f"count(*) FILTER (isinf({ref}))" for ref in refs)
        row = self.table.ask(self.database, f"SELECT {nans}, {infinite} FROM {self.source}")[0]
        if int(str(row[0])):
            self.remarks.append(f"{row[0]} NaN read as missing")
        if int(str(row[1])):
            self.remarks.append(f"{row[1]} infinite values read as missing")
        finite = ", ".join(f"CASE WHEN isfinite({ref}) THEN {ref} END AS {ref}" for ref in refs)
        self.source = f"(SELECT * REPLACE ({finite}) FROM {self.source})"
        return self._groups()

    def _parts(self, groups: list[tuple[object, ...]], units: Mapping[str, str]) -> list[SeriesPart]:
        keys = self.layout.keys
        start = len(keys) + 4
        parts, empty, fixed_unit = [], 0, self.table.file.settings.unit
        for row in groups:
            raw = dict(zip(keys, (str(cell) for cell in row), strict=False))
            for number, value in enumerate(self.layout.values):
                points = int(str(row[start + 3 * number]))
                if not points:
                    empty += 1
                    continue
                entity = value.entity or printable(raw.get("entity", "")) or UNNAMED_ENTITY
                signal = value.signal or printable(raw.get("signal", "")) or "value"
                stated = printable(str(row[len(keys)])) if row[len(keys)] is not None else None
                parts.append(
                    SeriesPart(
                        source=self.source,
                        keys=tuple(raw.items()),
                        ref=value.ref,
                        entity=entity,
                        signal=signal,
                        unit=stated or fixed_unit or units.get(signal) or unit_of_signal(signal),
                        points=points,
                        first_s=float(str(row[start - 2])),
                        last_s=float(str(row[start - 1])),
                    )
                )
        if empty:
            self.remarks.append(f"{empty} series without any value left out")
        escaped = sum(
            1 for part in parts if "\\x" in part.entity + part.signal or "\\u" in part.entity + part.signal
        )
        if escaped:
            self.remarks.append(f"{escaped} names hold signs that do not print; they are shown escaped")
        return parts

    def _count_missing(self, groups: list[tuple[object, ...]]) -> None:
        start = len(self.layout.keys) + 4
        cells = points = 0
        for row in groups:
            counts = [int(str(row[start + 3 * number])) for number in range(len(self.layout.values))]
            cells += int(str(row[start - 3])) * sum(1 for count in counts if count)
            points += sum(counts)
        if points < cells:
            self.remarks.append(
                f"{cells - points} of {cells} values are missing (empty, N/A, NaN and the like)"
            )

    def _count_doubles(self) -> None:
        """Note instants that occur twice in one series; they are averaged when the series is read.

        Counted by 64-bit hashes sorted piece by piece, so memory stays bounded; two different keys of one hash are too
        rare to matter for a count.
        """
        import numpy as np  # heavy

        rows = int(str(self.table.ask(self.database, f"SELECT count(*) FROM {self.source}")[0][0]))
        keys = ", ".join([*self.layout.keys, "time"])
        pieces = 1 << max(0, math.ceil(math.log2(max(1, rows) / _HASHES_AT_ONCE)))
        doubles = 0
        for piece in range(pieces):
            where = f"WHERE h % {pieces} = {piece}" if pieces > 1 else ""
            hashes = np.ma.getdata(
                self.database.arrays(f"SELECT h FROM (SELECT hash({keys}) AS h FROM {self.source}) {where}")[
                    "h"
                ]
            )
            hashes.sort()
            doubles += int(np.count_nonzero(hashes[1:] == hashes[:-1]))
        if doubles:
            self.remarks.append(
                f"{doubles} rows repeat an instant of their series; their values are averaged"
            )
