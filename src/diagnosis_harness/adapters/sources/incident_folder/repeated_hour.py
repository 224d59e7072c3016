"""Resolves the hour that a clock shows twice when it is put back, by the order of rows in the file."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, tzinfo
from typing import Final
from zoneinfo import ZoneInfo

from diagnosis_harness.adapters.sources.incident_folder.database import Database

_STEP_S: Final = 3600.0
_SPAN_LIMIT_S: Final = 3 * 366 * 86_400.0
"""Longer recordings are not searched, since one hour hardly matters in them."""


@dataclass(frozen=True, slots=True)
class ClockChange:
    """When a clock was put back, and by how many seconds."""

    at_s: float
    by_s: float


def clock_changes(zone: tzinfo | None, first_s: float, last_s: float) -> list[ClockChange]:
    """When the clocks of a zone were put back between two times."""
    if not isinstance(zone, ZoneInfo) or not first_s <= last_s <= first_s + _SPAN_LIMIT_S:
        return []
    changes = []
    at_s = first_s - first_s % _STEP_S - _STEP_S
    while at_s <= last_s:
        before, after = _offset_s(zone, at_s), _offset_s(zone, at_s + _STEP_S)
        if after < before:
            changes.append(ClockChange(at_s + _STEP_S, before - after))
        at_s += _STEP_S
    return changes


def separate_passes(
    database: Database, source: str, keys: Sequence[str], change: ClockChange
) -> tuple[str, int]:
    """Rows with the repeated hour resolved, and how many of them were moved to the first pass.

    Times of the repeated hour are read as of its second pass. If the time of a series, in the order of the
    file, jumps back inside that hour, the rows before the jump were written in the first pass.
    """
    start, end = change.at_s, change.at_s + change.by_s
    inside = f"time >= {start!r} AND time < {end!r}"
    by = f"PARTITION BY {', '.join(keys)} " if keys else ""
    numbered = f"SELECT *, row_number() OVER () AS row_place FROM {source}"
    fell = f"coalesce({inside} AND time < lag(time) OVER ({by}ORDER BY row_place), false)"
    falls = f"SELECT *, CAST({fell} AS INTEGER) AS falls FROM ({numbered})"
    passes = (
        f"SELECT *, sum(falls) OVER ({by}ORDER BY row_place) AS fallen, "
        f"max(falls) OVER ({by.strip()}) AS twice FROM ({falls})"
    )
    first = f"({inside} AND fallen = 0 AND twice = 1)"
    moved = int(database.rows(f"SELECT count(*) FROM ({passes}) WHERE {first}")[0][0])
    if not moved:
        return source, 0
    return (
        database.keep(
            f"SELECT * EXCLUDE (row_place, falls, fallen, twice) "
            f"REPLACE (CASE WHEN {first} THEN time - {change.by_s!r} ELSE time END AS time) FROM ({passes})"
        ),
        moved,
    )


def _offset_s(zone: ZoneInfo, at_s: float) -> float:
    offset = datetime.fromtimestamp(at_s, UTC).astimezone(zone).utcoffset()
    return 0.0 if offset is None else offset.total_seconds()
