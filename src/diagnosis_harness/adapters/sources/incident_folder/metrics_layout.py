"""The layout of a metrics file: the meaning of its columns.

Three layouts: *long* (a row is one value of one series), *wide* (a row is a timestamp, a column is a
series), and wide with an entity column (a row is a timestamp of one entity, a column is a signal).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import tzinfo

from diagnosis_harness.adapters.sources.incident_folder.binding import (
    ENTITY,
    SIGNAL,
    UNIT,
    VALUE,
    TimeReading,
    find,
    find_unused_columns,
    read_time,
)
from diagnosis_harness.adapters.sources.incident_folder.database import Database
from diagnosis_harness.adapters.sources.incident_folder.formats.reader import stem_of
from diagnosis_harness.adapters.sources.incident_folder.measured import (
    MeasuredColumn,
    column_with_units,
    refuse_unread,
)
from diagnosis_harness.adapters.sources.incident_folder.metric_labels import label_columns
from diagnosis_harness.adapters.sources.incident_folder.metrics_columns import (
    ColumnNames,
    is_signal_name,
    name_columns,
)
from diagnosis_harness.adapters.sources.incident_folder.names import plain_key, printable
from diagnosis_harness.adapters.sources.incident_folder.names_by_content import (
    NameColumns,
    find_name_columns,
)
from diagnosis_harness.adapters.sources.incident_folder.settings_file import SETTINGS_NAME, files_table
from diagnosis_harness.adapters.sources.incident_folder.table import Column, Kind, Table, show_columns
from diagnosis_harness.kernel.errors import InvalidInput


@dataclass(frozen=True, slots=True)
class ValueColumn:
    """One column of numbers. `entity` and `signal` are None if the row names them."""

    column: Column
    ref: str
    entity: str | None
    signal: str | None
    unit: str | None = None
    """The unit written in the cells."""


@dataclass(frozen=True, slots=True)
class Layout:
    """The meaning of the columns."""

    kind: str
    time: TimeReading
    entity: Column | None
    signal: Column | None
    unit: Column | None
    values: tuple[ValueColumn, ...]
    labels: tuple[Column, ...] = ()
    """Further columns that distinguish series."""
    owners: Mapping[str, str] = field(default_factory=dict)
    """Instance → service, from labels in the names of columns."""
    remark: str = ""

    @property
    def names(self) -> dict[str, Column]:
        """The columns that name the series of a row; a row without one of them belongs to no series."""
        pairs = (("entity", self.entity), ("signal", self.signal))
        return {name: column for name, column in pairs if column is not None}

    @property
    def keys(self) -> dict[str, Column]:
        """The columns by which rows of this layout belong to a series."""
        return self.names | {f"label{at}": column for at, column in enumerate(self.labels)}


def layout_of(table: Table, database: Database, zone: tzinfo, known: Collection[str]) -> Layout:
    """The layout by incident.toml, else by the usual names of columns and their content.

    Args:
        known: entities that the folder names elsewhere.

    Raises:
        InvalidInput: no time column, no column of numbers, or incident.toml names a missing column.
    """
    layout = _plain_layout(table, database, zone, known)
    used = {layout.time.column, layout.entity, layout.signal, layout.unit}
    used |= {value.column for value in layout.values}
    rest = [column for column in find_unused_columns(table, used) if not column.looks_empty]
    keys = [layout.time.column.ref, *(column.ref for column in layout.names.values())]
    return replace(layout, labels=label_columns(table, database, keys, rest))


def _plain_layout(table: Table, database: Database, zone: tzinfo, known: Collection[str]) -> Layout:
    time = read_time(table, zone)
    settings = table.file.settings
    as_columns = settings.columns == "entities"
    entity = _unless_time(find(table, ENTITY, wanted=settings.entity, key="entity"), time)
    wanted = None if as_columns else settings.signal
    signal = _unless_time(find(table, SIGNAL, wanted=wanted, key="signal"), time)
    value = _unless_time(find(table, VALUE, wanted=settings.value, key="value"), time)
    if value is not None and (_has_commas(value) or not (value.looks_numeric or value.looks_empty)):
        read = _read_units(table, database, value)
        value = value if read is None else read.column
    may_be_long = settings.layout != "wide" and not as_columns
    if may_be_long and signal is not None and value is not None and not signal.looks_numeric:
        unit = find(table, UNIT)
        return Layout("long", time, entity, signal, unit, (ValueColumn(value, "v0", None, None),))
    if settings.layout == "long":
        missing = "signal" if signal is None else "value"
        raise InvalidInput(
            table.place,
            f"its layout is long, it has no {missing} column (its columns: {show_columns(table.columns)})",
            f'set `{missing} = "…"` under {files_table(table.place)} in {SETTINGS_NAME}',
        )
    entity = _row_entity(table, entity)
    columns, units = _value_columns(table, database, time, entity)
    found = _by_content(table, [time.column, *columns]) if entity is None else NameColumns()
    if found.signal is not None:
        values = (ValueColumn(columns[0], "v0", None, None, units[0]),)
        return Layout(
            "long", time, found.entity, found.signal, find(table, UNIT), values, remark=found.remark
        )
    wide = _wide(table, _Wide(time, entity or found.entity, columns, units), known)
    return replace(wide, remark=found.remark) if found.remark else wide


def _by_content(table: Table, used: Sequence[Column]) -> NameColumns:
    """The columns of names where no heading is a usual one, unless incident.toml says what columns are."""
    if table.file.settings.columns is not None or any(column.levels for column in table.columns):
        return NameColumns()
    rest = [column for column in find_unused_columns(table, used) if not column.looks_numeric]
    return find_name_columns(table, rest, values=len(used) - 1)


def _row_entity(table: Table, entity: Column | None) -> Column | None:
    """The entity column of a wide file; None if the column names include the entity."""
    barred = any("|" in column.name for column in table.columns)
    stated = table.file.settings.entity is not None
    return entity if entity is not None and (stated or not (barred or entity.looks_numeric)) else None


@dataclass(frozen=True, slots=True)
class _Wide:
    time: TimeReading
    entity: Column | None
    columns: Sequence[Column]
    units: Sequence[str | None]


def _value_columns(
    table: Table, database: Database, time: TimeReading, entity: Column | None
) -> tuple[list[Column], list[str | None]]:
    """The columns of numbers, with the units in their cells."""
    keyed = {time.column.ref, *([] if entity is None else [entity.ref])}
    columns: list[Column] = []
    units: list[str | None] = []
    for column in table.columns:
        if column.ref in keyed or column.ref in time.column.ref:
            continue
        if column.looks_empty or (column.looks_numeric and not _has_commas(column)):
            columns.append(column)
            units.append(None)
            continue
        read = _read_units(table, database, column)
        if read is not None or column.looks_numeric:
            columns.append(column if read is None else read.column)
            units.append(None if read is None else read.unit or None)
    if not columns:
        raise InvalidInput(
            table.place,
            f"none of its columns holds numbers (its columns: {show_columns(table.columns)})",
            f'name the column of numbers "value", or set `value` for the file in {SETTINGS_NAME}',
        )
    return columns, units


def _wide(table: Table, wide: _Wide, known: Collection[str]) -> Layout:
    if wide.entity is not None:
        named = ColumnNames(())
        pairs: list[tuple[str | None, str]] = [(None, one) for one in _signals_of(wide.columns, table)]
    else:
        named = name_columns(wide.columns, table.file, known)
        pairs = [*named.names]
    values = tuple(
        ValueColumn(column, f"v{at}", whose, signal, unit)
        for at, (column, (whose, signal), unit) in enumerate(
            zip(wide.columns, pairs, wide.units, strict=True)
        )
    )
    kind = "wide" if wide.entity is None else "wide with an entity column"
    depth = max((len(column.levels) for column in wide.columns), default=0)
    kind += f" below {depth} header rows" if depth else ""
    return Layout(kind, wide.time, wide.entity, None, None, values, owners=named.owners, remark=named.remark)


def _signals_of(columns: Sequence[Column], table: Table) -> list[str]:
    """The signals of a file whose rows name the entity; a lone column may be named after the file."""
    stem = printable(stem_of(table.file.name))
    plain = len(columns) == 1 and (
        plain_key(columns[0].name) in VALUE or (is_signal_name(stem) and not is_signal_name(columns[0].name))
    )
    if plain and stem:
        return [stem]
    return [printable(column.name) or "value" for column in columns]


def _has_commas(column: Column) -> bool:
    return column.kind is Kind.TEXT and any("," in cell for cell in column.present)


def _read_units(table: Table, database: Database, column: Column) -> MeasuredColumn | None:
    read = column_with_units(column)
    if read is not None:
        refuse_unread(table, database, column, read)
    return read


def _unless_time(column: Column | None, time: TimeReading) -> Column | None:
    return None if column is not None and column.ref == time.column.ref else column
