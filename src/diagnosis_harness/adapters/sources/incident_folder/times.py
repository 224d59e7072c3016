"""Reads timestamps of files, and builds the SQL that converts a column of them to epoch seconds."""

from __future__ import annotations

import math
import re
from datetime import UTC, datetime, timedelta, timezone, tzinfo
from typing import Final
from zoneinfo import ZoneInfo

from diagnosis_harness.kernel.errors import InvalidInput

UNITS: Final = {"s": 1.0, "ms": 1e3, "us": 1e6, "ns": 1e9}
"""Time unit → its number per second."""

EARLIEST_S: Final = 631_152_000.0  # 1990
LATEST_S: Final = 4_102_444_800.0  # 2100
"""A number between these is read as a time even if its unit is not stated."""

_INSTANT: Final = re.compile(
    r"\s*\d{4}[-/]\d{1,2}[-/]\d{1,2}"
    r"([T ]\d{1,2}:\d{2}(:\d{2}(\.\d+)?)?\s*(?P<zone>Z|z|UTC|[+-]\d{2}(:?\d{2})?)?)?\s*",
    re.ASCII,
)
_NUMBER: Final = re.compile(r"\s*[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?\s*", re.ASCII)
_OFFSET: Final = re.compile(r"(?P<sign>[+-])(?P<hours>\d{2}):?(?P<minutes>\d{2})", re.ASCII)


def is_instant(text: str) -> bool:
    """Whether the text is written as an ISO 8601 date, with or without a time of day."""
    return _INSTANT.fullmatch(text) is not None


def has_zone(text: str) -> bool:
    """Whether an ISO 8601 text has a zone."""
    match = _INSTANT.fullmatch(text)
    return match is not None and match.group("zone") is not None


def unit_of(number: float) -> str | None:
    """The unit in which a number is an epoch time between 1990 and 2100; None if there is none.

    The four ranges do not touch, so no number fits two units.
    """
    return next((unit for unit, per_s in UNITS.items() if EARLIEST_S <= number / per_s < LATEST_S), None)


def unit_of_text(text: str) -> str | None:
    """The same for a number written as text; None also if it is not a number."""
    return unit_of(float(text)) if _NUMBER.fullmatch(text) else None


def zone_named(name: str, *, place: str) -> tzinfo:
    """The zone of an IANA name (`Asia/Shanghai`) or of a fixed offset (`+08:00`).

    Raises:
        InvalidInput: there is no such zone.
    """
    offset = _OFFSET.fullmatch(name.strip())
    try:
        if offset:
            shift = timedelta(hours=int(offset["hours"]), minutes=int(offset["minutes"]))
            return timezone(-shift if offset["sign"] == "-" else shift)
        return ZoneInfo(name.strip())
    except (ValueError, OSError) as error:  # ZoneInfoNotFoundError is a KeyError, caught below
        raise _no_zone(name, place) from error
    except KeyError as error:
        raise _no_zone(name, place) from error


def _no_zone(name: str, place: str) -> InvalidInput:
    return InvalidInput(
        place, f"there is no time zone {name!r}", 'name one such as "UTC", "Asia/Shanghai" or "+08:00"'
    )


def instant_s(value: object, *, zone: tzinfo, place: str) -> float:
    """Epoch seconds of a timestamp in a settings file: ISO 8601 text, a TOML time, or an epoch number.

    Raises:
        InvalidInput: it is none of these, or not between 1990 and 2100.
    """
    seconds = math.nan
    if isinstance(value, str) and (unit := unit_of_text(value)):
        seconds = float(value) / UNITS[unit]
    elif isinstance(value, str):
        seconds = _text_s(value, zone)
    elif isinstance(value, datetime):
        seconds = _timestamp_s(value, zone)
    elif isinstance(value, int | float) and (unit := unit_of(value)):
        seconds = value / UNITS[unit]
    if EARLIEST_S <= seconds < LATEST_S:
        return seconds
    raise InvalidInput(
        place,
        f"{str(value)[:60]!r} is not a time between 1990 and 2100",
        'write it as "2024-01-01T14:05:00Z" or as epoch seconds',
    )


def _text_s(text: str, zone: tzinfo) -> float:
    try:
        return _timestamp_s(datetime.fromisoformat(text.strip()), zone)
    except (ValueError, OverflowError):
        return math.nan


def _timestamp_s(timestamp: datetime, zone: tzinfo) -> float:
    if timestamp.tzinfo is None:
        timestamp = timestamp.replace(tzinfo=zone)
    try:
        return timestamp.astimezone(UTC).timestamp()
    except (ValueError, OverflowError):
        return math.nan


def naive_sql(timestamp: str, zone: tzinfo) -> str:
    """SQL: epoch seconds of a TIMESTAMP expression, which is read in the zone."""
    if isinstance(zone, ZoneInfo) and zone.key not in {"UTC", "Etc/UTC"}:
        return f"epoch_us(timezone('{zone.key}', {timestamp})) / 1e6"
    offset = zone.utcoffset(None)
    shift_s = offset.total_seconds() if offset else 0.0
    return f"epoch_us({timestamp}) / 1e6" + (f" - {shift_s!r}" if shift_s else "")


def epoch_sql(timestamp: str) -> str:
    """SQL: epoch seconds of a TIMESTAMPTZ expression."""
    return f"epoch_us({timestamp}) / 1e6"
