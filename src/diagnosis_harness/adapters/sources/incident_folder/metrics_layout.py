"""The layout of a metrics file: which columns say what.

Three layouts: *long* (a row is one value of one series), *wide* (a row is a timestamp, a column is a
series), and wide with an entity column (a row is a timestamp of one entity, a column is a signal).
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import tzinfo

from diagnosis_harness.adapters.sources.incident_folder.binding import (
    ENTITY,
    SIGNAL,
    UNIT,
    VALUE,
    TimeReading,
    find,
    read_time,
)
from diagnosis_harness.adapters.sources.incident_folder.names import (
    join_header,
    printable,
    split_series_name,
)
from diagnosis_harness.adapters.sources.incident_folder.settings_file import SETTINGS_NAME
from diagnosis_harness.adapters.sources.incident_folder.table import Column, Table, show_columns
from diagnosis_harness.kernel.errors import InvalidInput


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
    def keys(self) -> dict[str, Column]:
        """The columns by which rows of this layout belong to a series."""
        pairs = (("entity", self.entity), ("signal", self.signal))
        return {name: column for name, column in pairs if column is not None}


def layout_of(table: Table, zone: tzinfo) -> Layout:
    """The layout by incident.toml, else by the usual names of columns and by what the columns hold.

    Raises:
        InvalidInput: no time column, no column of numbers, or incident.toml names what is not there.
    """
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
            f"its layout is long, it has no {missing} column (its columns: {show_columns(table.columns)})",
            f'set `{missing} = "…"` under [files."{table.place}"] in {SETTINGS_NAME}',
        )
    barred = any("|" in column.name for column in table.columns)
    stated = settings.entity is not None
    by_entity = entity is not None and (stated or not (barred or entity.looks_numeric))
    keyed = {time.column.ref, entity.ref} if by_entity and entity is not None else {time.column.ref}
    columns = [
        column
        for column in table.columns
        if column.ref not in keyed and (column.looks_numeric or column.looks_empty)
    ]
    values = tuple(
        _value_column(column, number, by_entity=by_entity) for number, column in enumerate(columns)
    )
    if not values:
        raise InvalidInput(
            table.place,
            f"none of its columns holds numbers (its columns: {show_columns(table.columns)})",
            f'name the column of numbers "value", or set `value` for the file in {SETTINGS_NAME}',
        )
    kind = "wide with an entity column" if by_entity else "wide"
    return Layout(kind, time, entity if by_entity else None, None, None, values)


def _apart(column: Column | None, time: TimeReading) -> Column | None:
    return None if column is not None and column.ref == time.column.ref else column


def _value_column(column: Column, number: int, *, by_entity: bool) -> ValueColumn:
    if by_entity:
        return ValueColumn(column, f"v{number}", None, printable(column.name) or "value")
    entity, signal = join_header(column.levels) if column.levels else split_series_name(column.name)
    return ValueColumn(column, f"v{number}", entity, signal)
