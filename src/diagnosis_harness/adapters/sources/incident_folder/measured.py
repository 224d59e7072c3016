"""Columns whose cells carry their unit, as dashboards write them: `850 ms`, `1.02 s`, `1.70 GiB`, `31%`."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from diagnosis_harness.adapters.sources.incident_folder.database import Database, text_sql
from diagnosis_harness.adapters.sources.incident_folder.names import quote
from diagnosis_harness.adapters.sources.incident_folder.table import Column, Kind, Table, is_missing_sql
from diagnosis_harness.kernel.errors import InvalidInput

_FACTORS: Final = {
    "s": {
        "ns": 1e-9, "µs": 1e-6, "μs": 1e-6, "us": 1e-6, "ms": 1e-3, "s": 1.0, "sec": 1.0, "secs": 1.0,
        "second": 1.0, "seconds": 1.0, "min": 60.0, "mins": 60.0, "minute": 60.0, "minutes": 60.0, "m": 60.0,
        "h": 3600.0, "hour": 3600.0, "hours": 3600.0, "day": 86400.0, "days": 86400.0,
    },
    "bytes": {
        "B": 1.0, "byte": 1.0, "bytes": 1.0, "kB": 1e3, "KB": 1e3, "MB": 1e6, "GB": 1e9, "TB": 1e12,
        "KiB": 2.0**10, "MiB": 2.0**20, "GiB": 2.0**30, "TiB": 2.0**40,
    },
    "bytes/s": {
        "B/s": 1.0, "kB/s": 1e3, "KB/s": 1e3, "MB/s": 1e6, "GB/s": 1e9, "KiB/s": 2.0**10, "MiB/s": 2.0**20,
        "GiB/s": 2.0**30,
    },
    "1/s": {
        "req/s": 1.0, "reqps": 1.0, "rps": 1.0, "ops/s": 1.0, "/s": 1.0, "c/s": 1.0, "p/s": 1.0, "io/s": 1.0,
        "wps": 1.0, "qps": 1.0, "Hz": 1.0, "iops": 1.0, "K req/s": 1e3, "K ops/s": 1e3,
    },
    "1/min": {"req/min": 1.0, "ops/min": 1.0, "rpm": 1.0, "/min": 1.0, "cpm": 1.0},
    "percent": {"%": 1.0},
    "count": {"K": 1e3, "k": 1e3, "Mil": 1e6, "Bil": 1e9},
}  # fmt: skip
"""Unit of a column → the suffixes that dashboards write, each with its size in that unit."""

_EXPONENT: Final = "([eE][-+]?[0-9]+)?"
_POINT: Final = rf"[-+]?(([1-9][0-9]{{0,2}}(,[0-9]{{3}})+|[0-9]+)(\.[0-9]*)?|\.[0-9]+){_EXPONENT}"
_COMMA: Final = rf"[-+]?([1-9][0-9]{{0,2}}(\.[0-9]{{3}})+|[0-9]+)(,[0-9]+)?{_EXPONENT}"
"""Numbers with a decimal point, commas between thousands, which no zero begins; and the other way round."""
_CELL: Final = re.compile(r"\s*(?P<number>[-+]?[\d.,]*\d[\d.,]*(?:[eE][-+]?\d+)?)\s*(?P<unit>\D*?)\s*")


@dataclass(frozen=True, slots=True)
class MeasuredColumn:
    """A column of numbers with units, as numbers of one unit."""

    column: Column
    unit: str


def column_with_units(column: Column) -> MeasuredColumn | None:
    """The column read in one unit, if all first cells are numbers with units of one kind; else None.

    A cell without a unit counts only if it is a zero, or if the others are thousands (`1.2 K`, `980`). A
    column without units is read here if it has commas that can be read in only one way.
    """
    if column.kind is not Kind.TEXT or not column.present:
        return None
    cells = [cell for cell in column.present if cell.strip().lower() != "no data"]
    written = _number_form([cell.replace("\u00a0", " ") for cell in cells])
    unit = None if written is None else _unit_of(cells)
    if written is None or unit is None:
        return None
    cell = f"replace({column.ref}, chr(160), ' ')"
    lead = text_sql(rf"^\s*({written})")
    number = f"regexp_extract({cell}, {lead}, 1)"
    if written == _COMMA:
        number = f"replace(replace({number}, '.', ''), ',', '.')"
    number = f"TRY_CAST(replace({number}, ',', '') AS DOUBLE)"
    sign = f"trim(regexp_replace({cell}, {lead}, ''))"
    cases = " ".join(f"WHEN {text_sql(one)} THEN {by!r}" for one, by in _FACTORS.get(unit, {}).items())
    bare = "1.0" if unit in {"count", ""} else f"CASE WHEN {number} = 0 THEN 1.0 END"
    factor = f"CASE {sign} {cases} WHEN '' THEN {bare} END"
    return MeasuredColumn(
        replace(column, ref=f"({number} * {factor})", kind=Kind.NUMBER), "" if unit == "count" else unit
    )


def _number_form(cells: Sequence[str]) -> str | None:
    """How the numbers are written; None if some are not numbers, or can be read in more than one way.

    `1,234` may be a thousand or a little more than one: other cells, a point or a unit must decide.
    """
    matches = [match for cell in cells if (match := _CELL.fullmatch(cell)) is not None]
    numbers = [match["number"] for match in matches]
    if len(matches) < len(cells):
        return None
    with_commas = [number for number in numbers if "," in number]
    if all(re.fullmatch(_POINT, number) for number in numbers):
        told = any(match["unit"] for match in matches) or any(
            "." in number or number.count(",") > 1 for number in with_commas
        )
        return _POINT if told or not with_commas else None
    return _COMMA if all(re.fullmatch(_COMMA, number) for number in numbers) else None


def refuse_unread(table: Table, database: Database, plain: Column, read: MeasuredColumn) -> None:
    """Refuse a cell that is neither missing nor a number with a unit of the column.

    Raises:
        InvalidInput: there is such a cell.
    """
    odd = (
        f"({read.column.ref} IS NULL AND NOT {is_missing_sql(plain)} "
        f"AND lower(trim({plain.ref})) <> 'no data')"
    )
    hit = table.first_where(database, plain, odd)
    if hit is not None:
        where, cell = hit
        raise InvalidInput(
            f"{table.place} {where}",
            f"column {quote(plain.name)} holds {quote(cell or '')} among values with a unit",
            "export raw values, or leave the cell empty if there is none",
        )


def _unit_of(cells: Sequence[str]) -> str | None:
    """The unit in which all cells can be read; empty if none has a unit and they contain commas."""
    found: set[str] = set()
    bare = False
    for cell in cells:
        match = _CELL.fullmatch(cell.replace("\u00a0", " "))
        if match is None:
            return None
        sign = match["unit"].strip()
        if sign:
            found.add(sign)
        else:
            bare = bare or match["number"].strip("+-0.,") != ""
    if not found:
        return "" if any("," in cell for cell in cells) else None
    for unit, factors in _FACTORS.items():
        if found <= factors.keys():
            return unit if not bare or unit == "count" else None
    return None
