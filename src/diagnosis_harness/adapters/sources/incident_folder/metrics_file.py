"""One metrics file: its checked rows and its series."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import tzinfo
from typing import Final
from zoneinfo import ZoneInfo

from diagnosis_harness.adapters.sources.incident_folder.binding import check_times, find_unused_columns
from diagnosis_harness.adapters.sources.incident_folder.database import Database
from diagnosis_harness.adapters.sources.incident_folder.metrics_layout import Layout, ValueColumn, layout_of
from diagnosis_harness.adapters.sources.incident_folder.names import (
    printable,
    quote,
    unit_of_signal,
)
from diagnosis_harness.adapters.sources.incident_folder.repeated_hour import (
    clock_changes,
    separate_passes,
)
from diagnosis_harness.adapters.sources.incident_folder.stated_signals import StatedSignals
from diagnosis_harness.adapters.sources.incident_folder.table import (
    Column,
    Kind,
    Table,
    number_sql,
    show_columns,
)
from diagnosis_harness.kernel.errors import InvalidInput
from diagnosis_harness.kernel.window import utc_text
from diagnosis_harness.toolbox.ports import UNNAMED_ENTITY, UNSTATED, FileNote, SeriesMeaning

SERIES_LIMIT: Final = 200_000
_ROWS_PER_MEGABYTE: Final = 8_000


@dataclass(frozen=True, slots=True)
class SeriesPart:
    """The rows of one series in one file."""

    source: str
    """SQL to select from: columns time, the keys, and `ref`."""
    keys: tuple[tuple[str, str], ...]
    """Key columns with their raw text; empty for a wide file."""
    ref: str
    entity: str
    signal: str
    unit: str | None
    points: int
    first_s: float
    last_s: float
    meaning: SeriesMeaning = UNSTATED
    """As incident.toml states it."""


@dataclass(frozen=True, slots=True)
class MetricFile:
    """Content of one metrics file."""

    parts: tuple[SeriesPart, ...]
    first_s: float
    last_s: float
    note: FileNote
    owners: Mapping[str, str] = field(default_factory=dict)
    """Instance → service, from labels in the names of columns."""


@dataclass(frozen=True, slots=True)
class _Cells:
    """One value column in one group of rows."""

    points: int
    least: float
    greatest: float

    @property
    def odd(self) -> bool:
        """Whether the values include a NaN or an infinity (duckdb orders NaN above everything)."""
        return self.points > 0 and not (math.isfinite(self.least) and math.isfinite(self.greatest))


@dataclass(frozen=True, slots=True)
class _Group:
    """The rows of one combination of keys."""

    keys: tuple[str | None, ...]
    unit: str | None
    rows: int
    timed: int
    first_s: float
    last_s: float
    timestamps: int
    """XOR of the hashes of all timestamps."""
    cells: tuple[_Cells, ...]

    def has_names(self, count: int) -> bool:
        """Whether the first keys, which name the series, are all present."""
        return all(key is not None and key.strip() for key in self.keys[:count])


def read_metrics(
    table: Table,
    database: Database,
    zone: tzinfo,
    stated: StatedSignals,
    *,
    known: Collection[str] = frozenset(),
) -> MetricFile:
    """Read and check one metrics file; `known` are the entities of other files.

    Raises:
        InvalidInput: no time column, no numbers, text among numbers, impossible times, too many series.
    """
    layout = layout_of(table, database, zone, known)
    select = [
        f"{layout.time.sql} AS time",
        *(f"CAST({column.ref} AS VARCHAR) AS {key}" for key, column in layout.names.items()),
        *(
            f"coalesce(CAST({column.ref} AS VARCHAR), '') AS label{at}"
            for at, column in enumerate(layout.labels)
        ),
        *([f"CAST({layout.unit.ref} AS VARCHAR) AS unit"] if layout.unit is not None else []),
        *(f"{number_sql(value.column)} AS {value.ref}" for value in layout.values),
    ]
    reader = _Reader(table, database, layout, table.read(database, ", ".join(select)))
    reader.resolve_repeated_hours()
    return reader.result(stated)


class _Reader:
    """Checks the rows and lists the series; used while one file is being opened."""

    def __init__(self, table: Table, database: Database, layout: Layout, source: str) -> None:
        self.table = table
        self.database = database
        self.layout = layout
        self.source = source
        self.remarks: list[str] = []
        self.dropped: list[Column] = []

    def resolve_repeated_hours(self) -> None:
        """If the clock of the file's zone was put back, distinguish the two passes of that hour."""
        zone = self.layout.time.zone
        if not isinstance(zone, ZoneInfo):
            return
        bounds = self.table.ask(self.database, f"SELECT min(time), max(time) FROM {self.source}")[0]
        for change in clock_changes(zone, _number(bounds[0]), _number(bounds[1])):
            self.source, moved = separate_passes(self.database, self.source, list(self.layout.keys), change)
            how = (
                f"{moved} rows of the repeated hour distinguished by their order"
                if moved
                else "times of the repeated hour are read as its second pass"
            )
            self.remarks.append(f"the clock of {zone} was put back at {utc_text(change.at_s)}; {how}")

    def result(self, stated: StatedSignals) -> MetricFile:
        """The file's series and its note."""
        groups = self._groups()
        rows = sum(group.rows for group in groups)
        groups = self._with_time(groups, rows)
        groups = self._with_names(groups, rows)
        groups = self._without_text(groups)
        if any(cells.odd for group in groups for cells in group.cells):
            groups = self._without_odd_numbers()
        parts = self._parts(groups, stated)
        self._count_missing(groups)
        self._count_doubles(groups)
        return MetricFile(
            parts=tuple(parts),
            first_s=min((group.first_s for group in groups), default=math.nan),
            last_s=max((group.last_s for group in groups), default=math.nan),
            note=self._note(rows, len(parts)),
            owners=self.layout.owners,
        )

    def _note(self, rows: int, series: int) -> FileNote:
        layout = self.layout
        if rows == 0:
            self.remarks.append("it has no rows")
        if rows == 1:
            self.remarks.append("a single row cannot show a change")
        used = [
            layout.time.column,
            layout.unit,
            *layout.keys.values(),
            *(value.column for value in layout.values),
            *self.dropped,
        ]
        if layout.labels:
            self.remarks.append(f"series distinguished by {show_columns(layout.labels)}")
        if layout.remark:
            self.remarks.append(layout.remark)
        unused = find_unused_columns(self.table, used)
        if unused:
            self.remarks.append(f"columns not used: {show_columns(unused)}")
        if self.dropped:
            self.remarks.append(f"columns of text: {show_columns(self.dropped)}")
        head = (
            f"read as {layout.kind}, {series} series, time column {quote(layout.time.column.name)} "
            f"({layout.time.shown})"
        )
        return FileNote(self.table.place, "metrics", rows, "; ".join([head, *self.remarks]) + ".")

    def _groups(self) -> list[_Group]:
        keys = list(self.layout.keys)
        unit = "min(unit)" if self.layout.unit is not None else "NULL"
        select = [*keys, unit, "count(*)", "count(time)", "min(time)", "max(time)", "bit_xor(hash(time))"]
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
        return [_group(row, len(keys)) for row in rows if row[len(keys) + 1]]

    def _with_time(self, groups: list[_Group], rows: int) -> list[_Group]:
        """Check the times; leave out rows without one."""
        timed = sum(group.timed for group in groups)
        first_s = min((group.first_s for group in groups if group.timed), default=math.nan)
        last_s = max((group.last_s for group in groups if group.timed), default=math.nan)
        check_times(self.table, self.database, self.layout.time, (rows, timed, first_s, last_s))
        if timed == rows:
            return groups
        self.remarks.append(f"{rows - timed} of {rows} rows left out: no time")
        self.source = f"(SELECT * FROM {self.source} WHERE time IS NOT NULL)"
        return self._groups()

    def _with_names(self, groups: list[_Group], rows: int) -> list[_Group]:
        """Leave out rows that do not name the series of their value."""
        names = self.layout.names
        unnamed = sum(group.rows for group in groups if not group.has_names(len(names)))
        if unnamed:
            self.remarks.append(f"{unnamed} of {rows} rows left out: no {' or no '.join(names)}")
            blank = " AND ".join(f"trim({key}) <> ''" for key in names)
            self.source = f"(SELECT * FROM {self.source} WHERE {blank})"
        return [group for group in groups if group.has_names(len(names))]

    def _without_text(self, groups: list[_Group]) -> list[_Group]:
        """Refuse text among numbers; leave out a column that is mostly text."""
        rows = sum(group.rows for group in groups)
        points = [sum(group.cells[at].points for group in groups) for at in range(len(self.layout.values))]
        suspects = [
            (value, present)
            for value, present in zip(self.layout.values, points, strict=True)
            if present < rows and value.column.kind is Kind.TEXT
        ]
        texts = self.table.count_text(self.database, [value.column for value, _ in suspects])
        dropped: list[ValueColumn] = []
        for (value, present), text in zip(suspects, texts, strict=True):
            if text and (text <= present or self.layout.kind == "long"):
                raise self.table.refuse_text(self.database, value.column)
            if text:
                dropped.append(value)
        if not dropped:
            return groups
        self.dropped = [value.column for value in dropped]
        kept = tuple(value for value in self.layout.values if value not in dropped)
        self.layout = replace(self.layout, values=kept)
        return self._groups() if kept else []

    def _without_odd_numbers(self) -> list[_Group]:
        """Count NaN and infinities and read them as missing."""
        refs = [value.ref for value in self.layout.values]
        counts = ", ".join(f"count(*) FILTER (isnan({ref})), count(*) FILTER (isinf({ref}))" for ref in refs)
        row = [
            int(str(cell)) for cell in self.table.ask(self.database, f"SELECT {counts} FROM {self.source}")[0]
        ]
        for count, what in ((sum(row[0::2]), "NaN"), (sum(row[1::2]), "infinite values")):
            if count:
                self.remarks.append(f"{count} {what} read as missing")
        odd = [
            ref for ref, nans, infinite in zip(refs, row[0::2], row[1::2], strict=True) if nans or infinite
        ]
        finite = ", ".join(f"CASE WHEN isfinite({ref}) THEN {ref} END AS {ref}" for ref in odd)
        self.source = f"(SELECT * REPLACE ({finite}) FROM {self.source})"
        return self._groups()

    def _parts(self, groups: Sequence[_Group], stated: StatedSignals) -> list[SeriesPart]:
        parts: list[SeriesPart] = []
        empty = 0
        for group in groups:
            raw = {
                key: text for key, text in zip(self.layout.keys, group.keys, strict=True) if text is not None
            }
            for value, cells in zip(self.layout.values, group.cells, strict=True):
                if not cells.points:
                    empty += 1
                    continue
                entity = value.entity or printable(raw.get("entity", "")) or UNNAMED_ENTITY
                plain = value.signal or printable(raw.get("signal", ""))
                signal = plain + self._labels_of(raw)
                unit = printable(group.unit or "") or self.table.file.settings.unit or stated.unit(signal)
                parts.append(
                    SeriesPart(
                        source=self.source,
                        keys=tuple(raw.items()),
                        ref=value.ref,
                        entity=entity,
                        signal=signal,
                        unit=unit or value.unit or unit_of_signal(plain),
                        points=cells.points,
                        first_s=group.first_s,
                        last_s=group.last_s,
                        meaning=stated.meaning(signal),
                    )
                )
        if empty:
            self.remarks.append(f"{empty} series without any value left out")
        return parts

    def _labels_of(self, raw: Mapping[str, str]) -> str:
        """The labels that distinguish the series from others of its name, in braces."""
        pairs = [
            f"{printable(column.name)}={printable(raw[f'label{at}'])}"
            for at, column in enumerate(self.layout.labels)
            if raw[f"label{at}"].strip()
        ]
        return f"{{{','.join(pairs)}}}" if pairs else ""

    def _count_missing(self, groups: Sequence[_Group]) -> None:
        cells = sum(group.rows for group in groups for one in group.cells if one.points)
        points = sum(one.points for group in groups for one in group.cells)
        if points < cells:
            self.remarks.append(
                f"{cells - points} of {cells} values are missing (empty, N/A, NaN and the like)"
            )

    def _count_doubles(self, groups: Sequence[_Group]) -> None:
        """Note timestamps that occur twice in one series; they are averaged when the series is read.

        Series of one agent share their timestamps, so few groups need a closer look: two with the same number
        of rows and the same XOR of the timestamps' 64-bit hashes have the same timestamps, including
        repeated ones.
        """
        alike: dict[tuple[int, int], list[_Group]] = {}
        for group in groups:
            alike.setdefault((group.rows, group.timestamps), []).append(group)
        seen = [same[0] for same in alike.values()]
        doubles = sum(
            (group.rows - distinct) * len(alike[group.rows, group.timestamps])
            for group, distinct in zip(seen, self._distinct_instants(seen), strict=True)
        )
        if doubles:
            self.remarks.append(
                f"{doubles} rows repeat a timestamp of their series; their values are averaged"
            )

    def _distinct_instants(self, groups: Sequence[_Group]) -> list[int]:
        """The number of distinct timestamps of each group, counted in pieces that easily fit into memory."""
        keys = list(self.layout.keys)
        lists = "".join(f", unnest(?::VARCHAR[]) AS {key}" for key in keys)
        equal = " AND ".join(f"t.{key} = k.{key}" for key in keys) or "true"
        parameters = [[group.keys[at] for group in groups] for at in range(len(keys))]
        at_once = self.database.memory_limit_mb * _ROWS_PER_MEGABYTE
        pieces = -(-sum(group.rows for group in groups) // at_once)
        counts = [0] * len(groups)
        for piece in range(pieces):
            where = f" WHERE hash(t.time) % {pieces} = {piece}" if pieces > 1 else ""
            rows = self.table.ask(
                self.database,
                f"SELECT k.number, count(DISTINCT t.time) FROM {self.source} t "
                f"JOIN (SELECT unnest(range({len(groups)})) AS number{lists}) k ON {equal}{where} GROUP BY 1",
                parameters,
            )
            for number, count in rows:
                counts[int(str(number))] += int(str(count))
        return counts


def _group(row: Sequence[object], keys: int) -> _Group:
    names = tuple(None if cell is None else str(cell) for cell in row[:keys])
    unit, rows, timed, first_s, last_s, hashes = row[keys : keys + 6]
    cells = row[keys + 6 :]
    return _Group(
        keys=names,
        unit=None if unit is None else str(unit),
        rows=int(str(rows)),
        timed=int(str(timed)),
        first_s=_number(first_s),
        last_s=_number(last_s),
        timestamps=0 if hashes is None else int(str(hashes)),
        cells=tuple(
            _Cells(int(str(cells[at])), _number(cells[at + 1]), _number(cells[at + 2]))
            for at in range(0, len(cells), 3)
        ),
    )


def _number(cell: object) -> float:
    return float(cell) if isinstance(cell, float) else math.nan
