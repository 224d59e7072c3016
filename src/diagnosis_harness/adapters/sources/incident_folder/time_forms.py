"""Formats of timestamps other than ISO 8601 that can be read in only one way.

Each has a pattern for the first cells of a column, and the SQL that reads every cell. If a date can be read
in two ways (`05/06/2026`), all first cells decide together; if they do not, nothing is guessed.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from diagnosis_harness.adapters.sources.incident_folder.database import text_sql

_CLOCK: Final = r"\d{1,2}:\d{2}:\d{2}"
_FRACTION: Final = r"(?:[.,]\d+)?"
_MONTH: Final = r"(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)"
_DAY: Final = r"(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)"
_OFFSET: Final = r"(?:Z|UTC|GMT|[+-]\d{2}(?::?\d{2})?)"
_HALF: Final = r"\s?[AaPp][Mm]"
_ISO: Final = rf"\d{{4}}[-/]\d{{2}}[-/]\d{{2}}[T ]{_CLOCK}"

Sql = Callable[[str], str]


@dataclass(frozen=True, slots=True)
class TimeForm:
    """One format of timestamps."""

    shown: str
    pattern: re.Pattern[str]
    zoned: bool
    sql: Sql
    """The SQL of a cell → a TIMESTAMP, with a zone if `zoned`; NULL if the cell is not such a time."""


def _form(shown: str, pattern: str, sql: Sql, *, zoned: bool = False) -> TimeForm:
    return TimeForm(shown, re.compile(pattern, re.ASCII), zoned, sql)


def _replace(cell: str, pattern: str, by: str) -> str:
    return f"regexp_replace({cell}, '{pattern}', '{by}', 'g')"


def _plain_iso(cell: str) -> str:
    """The cell with a point before the fraction, no space before the offset and nothing after it."""
    pointed = _replace(f"trim({cell})", "(:[0-9]{2}),([0-9])", r"\1.\2")
    offset = _replace(pointed, r"\s*([-+][0-9]{2}):?([0-9]{2})(\s+[-+A-Z0-9]{1,5})?(\s+m=\S+)?$", r"\1:\2")
    return _replace(offset, r"\s*(UTC|GMT)$", "Z")


def _iso(zoned: str) -> Sql:
    return lambda cell: f"TRY_CAST({_plain_iso(cell)} AS {zoned})"


def _parse(*formats: str) -> Sql:
    """SQL by `strptime`, after repeated spaces are reduced to one and brackets around the time removed."""
    return lambda cell: _first_of(cell, formats)


def _first_of(cell: str, formats: Sequence[str]) -> str:
    tidy = _replace(_replace(f"trim({cell}, ' []')", r"\s+", " "), "(:[0-9]{2}),([0-9])", r"\1.\2")
    tries = (f"try_strptime({tidy}, {text_sql(one)})" for one in formats)
    return f"coalesce({', '.join(tries)})"


FORMS: Final = (
    _form("ISO 8601 with a zone", rf"{_ISO}{_FRACTION}\s*{_OFFSET}", _iso("TIMESTAMPTZ"), zoned=True),
    _form(
        "date, time, offset and zone name",
        rf"{_ISO}{_FRACTION} [+-]\d{{4}} [-+A-Z0-9]{{1,5}}(?: m=\S+)?",
        _iso("TIMESTAMPTZ"),
        zoned=True,
    ),
    _form("ISO 8601 with a comma before the fraction", rf"{_ISO},\d+", _iso("TIMESTAMP")),
    _form(
        "access log time",
        rf"\[?\d{{2}}/{_MONTH}/\d{{4}}:{_CLOCK} [+-]\d{{4}}\]?",
        _parse("%d/%b/%Y:%H:%M:%S %z"),
        zoned=True,
    ),
    _form(
        "month, day, year and time, as Kibana shows it",
        rf"{_MONTH} \d{{1,2}}, \d{{4}} @ {_CLOCK}{_FRACTION}",
        _parse("%b %d, %Y @ %H:%M:%S.%f", "%b %d, %Y @ %H:%M:%S"),
    ),
    _form(
        "date of HTTP and mail",
        rf"{_DAY}, \d{{1,2}} {_MONTH} \d{{4}} {_CLOCK} (?:GMT|UTC|[+-]\d{{4}})",
        lambda cell: _parse("%a, %d %b %Y %H:%M:%S %z")(_replace(cell, "(GMT|UTC)", "+0000")),
        zoned=True,
    ),
    _form("date of ctime", rf"{_DAY} {_MONTH} +\d{{1,2}} {_CLOCK} \d{{4}}", _parse("%a %b %d %H:%M:%S %Y")),
    _form(
        "date of git",
        rf"{_DAY} {_MONTH} +\d{{1,2}} {_CLOCK} \d{{4}} [+-]\d{{4}}",
        _parse("%a %b %d %H:%M:%S %Y %z"),
        zoned=True,
    ),
    _form(
        "month, day, year and time with am or pm",
        rf"{_MONTH} \d{{1,2}}, \d{{4}},? {_CLOCK}{_HALF}",
        lambda cell: _parse("%b %d, %Y %I:%M:%S %p")(
            _replace(_replace(cell, ",? ([0-9]{1,2}:)", r" \1"), r"\s?([AaPp][Mm])$", r" \1")
        ),
    ),
    _form(
        "day, month, year and time",
        rf"\d{{1,2}}[- ]{_MONTH}[- ]\d{{4}} {_CLOCK}{_FRACTION}",
        lambda cell: _first_of(_replace(cell, "-", " "), ("%d %b %Y %H:%M:%S.%f", "%d %b %Y %H:%M:%S")),
    ),
    _form(
        "compact date and time in UTC",
        r"\d{8}T\d{6}Z",
        lambda cell: _parse("%Y%m%dT%H%M%S %z")(_replace(cell, "Z$", " +0000")),
        zoned=True,
    ),
    _form(
        "compact date and time",
        rf"\d{{8}}[- T]{_CLOCK}{_FRACTION}",
        lambda cell: _first_of(
            _replace(cell, "^([0-9]{8})[-T]", r"\1 "), ("%Y%m%d %H:%M:%S.%f", "%Y%m%d %H:%M:%S")
        ),
    ),
)
_NUMERIC: Final = re.compile(
    rf"(\d{{1,2}})([/.-])(\d{{1,2}})\2\d{{4}},? \d{{1,2}}:\d{{2}}(:\d{{2}})?({_HALF})?", re.ASCII
)
_CLOCK_CELL: Final = re.compile(rf"\s*{_CLOCK}{_FRACTION}\s*", re.ASCII)
_DATE_CELL: Final = re.compile(r"\s*\d{4}[-/]\d{2}[-/]\d{2}\s*", re.ASCII)


def form_of(cells: Sequence[str]) -> TimeForm | None:
    """The form of all of the cells; None if there is none, or more than one reading."""
    if not cells:
        return None
    stripped = [cell.strip() for cell in cells]
    for form in FORMS:
        if form.pattern.fullmatch(stripped[0]) and all(form.pattern.fullmatch(cell) for cell in stripped):
            return form
    return _numeric_form(stripped)


def is_ambiguous(cells: Sequence[str]) -> bool:
    """Whether the cells are dates that can be read with the day first or with the month first."""
    stripped = [cell.strip() for cell in cells]
    return (
        bool(cells) and all(_NUMERIC.fullmatch(cell) for cell in stripped) and _numeric_form(stripped) is None
    )


def form_of_date(cell: str) -> str:
    """How `strptime` writes an ambiguous date like this one, with places for the day and the month."""
    sign = re.sub(r"\d", "", cell)[:1]
    comma = "," if "," in cell else ""
    half = re.search(r"[AaPp][Mm]", cell) is not None
    clock = ("%I:%M" if half else "%H:%M") + (":%S" if cell.count(":") > 1 else "") + (" %p" if half else "")
    return f"{{}}{sign}{{}}{sign}%Y{comma} {clock}"


def form_named(text: str) -> TimeForm:
    """The form of a `time_format` of incident.toml, in the codes of `strptime`."""
    return TimeForm(f"written as {text}", re.compile(".*"), "%z" in text, _parse(text))


def fits(text: str, cell: str) -> bool:
    """Whether a cell matches a `time_format`."""
    try:
        datetime.strptime(cell.strip(), text)  # noqa: DTZ007 - only whether it can be read is asked
    except (ValueError, re.error):
        return False
    return True


def is_clock(cell: str) -> bool:
    """Whether the cell is a time of day without a date."""
    return _CLOCK_CELL.fullmatch(cell) is not None


def is_date(cell: str) -> bool:
    """Whether the cell is a date without a time of day."""
    return _DATE_CELL.fullmatch(cell) is not None


def _numeric_form(cells: Sequence[str]) -> TimeForm | None:
    """`31/12/2026 …` has the day first, `12/31/2026 …` the month; None if no number exceeds 12."""
    found = [_NUMERIC.fullmatch(cell) for cell in cells]
    matches = [match for match in found if match is not None]
    if len(matches) < len(cells):
        return None
    day_first = any(int(match[1]) > 12 for match in matches)
    month_first = any(int(match[3]) > 12 for match in matches)
    if day_first == month_first:
        return None
    date = "%d/%m/%Y" if day_first else "%m/%d/%Y"
    clocks = ("%I:%M:%S %p", "%I:%M %p") if matches[0][5] else ("%H:%M:%S", "%H:%M")
    formats = tuple(f"{date} {clock}" for clock in clocks)
    return TimeForm(
        f"{'day' if day_first else 'month'} first",
        _NUMERIC,
        zoned=False,
        sql=lambda cell: _first_of(
            _replace(_replace(_replace(cell, "[.-]", "/"), ", ", " "), r"([0-9])\s?([AaPp][Mm])$", r"\1 \2"),
            formats,
        ),
    )
