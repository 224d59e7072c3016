"""Finds series that rose to a round number, a power of two or a stated limit and stay exactly there."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from math import expm1, floor, log1p, log10
from typing import Final

import numpy as np

from diagnosis_harness.analysis.arrays import Floats
from diagnosis_harness.analysis.clue import NOISE_FLOOR, Clue, Modality
from diagnosis_harness.analysis.meaning import RESOURCES, SignalKind
from diagnosis_harness.kernel.names import display_name
from diagnosis_harness.kernel.window import TimeWindow, utc_text
from diagnosis_harness.toolbox.clues import RESOURCE_FAULT
from diagnosis_harness.toolbox.metric_row import MetricRow
from diagnosis_harness.toolbox.metric_table import MetricTable
from diagnosis_harness.toolbox.wording import digits
from diagnosis_harness.tools.evidence import LIMIT_HELD, EvidenceItem, ItemKind

_LEAST_BEFORE: Final = 10
"""Values below the limit before it was reached; with fewer it is unclear that the series moves freely."""
LEAST_DIFFERENT: Final = 3
"""Distinct values among them: a setting that is changed is constant before as well."""
LEAST_HELD: Final = 5
"""Consecutive values at the limit: a quantity that moves freely rarely has the same value five times."""
REACHED_BEFORE_S: Final = 600.0
"""How long before the onset it may have been reached: a full resource takes some minutes to be noticed."""
_NEAR_ONSET: Final = 2
"""Steps after the onset by which it may be reached; the onset is accurate to about a minute."""
LEAST_ROUND, LEAST_POWER = 10.0, 127.0
"""The smallest round number, power of two, or power of two minus one that counts as a limit."""
ITEMS_MOST: Final = 8
"""Maximum number of items: all instances of a service report the same limit, and signals need the rest of a
record."""
_EXCESS: Final = 2.0
"""Score in the log units of a clue, equal to that of a fault reported by a platform; no other value was
tried."""
_SURE_WINDOWS: Final = 12
"""Number of normal windows it is worth: staying at a limit is no coincidence, like a platform report."""
_COUNTED: Final = RESOURCES | {SignalKind.OTHER}
"""Kinds of signals that fill up. Load may be generated at a constant rate, and success shares end at 100%."""


@dataclass(frozen=True, slots=True)
class HeldLimit:
    """A row of the table that reached its limit, and when."""

    row: MetricRow
    limit: float
    at_s: float


def find_held_limits(table: MetricTable) -> tuple[HeldLimit, ...]:
    """Every series that reached its limit shortly before or at the onset and stays there."""
    stated = _limits_by_entity(table)
    onset_s = table.time_s[min(table.split, len(table.time_s) - 1)]
    earliest = int(np.searchsorted(table.time_s, onset_s - REACHED_BEFORE_S))
    found = []
    for place, row in enumerate(table.rows):
        if row.caller is not None or row.rate or row.meaning.kind not in _COUNTED or row.meaning.harmful < 0:
            continue
        reached = _find_reach(table.value[place, : table.end])
        if reached is None or not earliest <= reached <= table.split + _NEAR_ONSET:
            continue
        limit = float(np.nanmax(table.value[place, : table.end]))
        if is_limit(limit) or limit in stated.get(row.entity, ()) or limit in stated.get(row.owner, ()):
            found.append(HeldLimit(row, limit, float(table.time_s[reached])))
    return tuple(found)


def is_limit(value: float) -> bool:
    """Whether a number is a typical limit: round, a power of two, or a power of two minus one."""
    if value < LEAST_ROUND or value != floor(value):
        return False
    whole = int(value)
    if value >= LEAST_POWER and (whole & (whole - 1) == 0 or whole & (whole + 1) == 0):
        return True
    leading = 1 if value < LEAST_ROUND**2 else 2
    unit: int = 10 ** max(floor(log10(whole)) - leading + 1, 1)
    return whole % unit == 0


def limit_items(table: MetricTable, window: TimeWindow | None) -> Iterator[EvidenceItem]:
    """One STATE item for each series."""
    for number, one in enumerate(find_held_limits(table)[:ITEMS_MOST], start=1):
        yield EvidenceItem(
            f"l{number}",
            ItemKind.STATE,
            f"{display_name(one.row.entity)} {display_name(one.row.signal)} {LIMIT_HELD}:"
            f" {digits(one.limit)} from {utc_text(one.at_s)} on",
            entity=one.row.entity,
            signal=one.row.signal,
            value=one.limit,
            unit=one.row.unit,
            window=window,
            onset_s=one.at_s,
            attributes={
                "state": LIMIT_HELD,
                "bad": True,
                "kind": one.row.meaning.kind.value,
                "owner": one.row.owner,
            },
        )


def limit_clues(table: MetricTable) -> list[Clue]:
    """One clue for each series, about a resource that is full."""
    return [
        Clue(
            one.row.owner,
            Modality.STATE,
            expm1(log1p(NOISE_FLOOR) + _EXCESS),
            NOISE_FLOOR,
            one.row.signal if one.row.entity == one.row.owner else f"{one.row.entity}/{one.row.signal}",
            RESOURCE_FAULT.get(one.row.meaning.kind, "SATURATION"),
            null_windows=_SURE_WINDOWS,
            instance=one.row.entity if one.row.entity != one.row.owner else None,
        )
        for one in find_held_limits(table)
    ]


def _find_reach(value: Floats) -> int | None:
    """The first place from which all values equal the maximum; None if that is no limit."""
    places = np.flatnonzero(np.isfinite(value))
    if len(places) < _LEAST_BEFORE + LEAST_HELD:
        return None
    finite = value[places]
    largest = finite.max()
    below = np.flatnonzero(finite < largest)
    first = int(below[-1]) + 1 if len(below) else 0
    before = finite[:first]
    if len(finite) - first < LEAST_HELD or len(before) < _LEAST_BEFORE or before.max() >= largest:
        return None
    return int(places[first]) if len(np.unique(before)) >= LEAST_DIFFERENT else None


def _limits_by_entity(table: MetricTable) -> Mapping[str, frozenset[float]]:
    """By entity, the limits that its own series state."""
    found: dict[str, set[float]] = {}
    for place, row in enumerate(table.rows):
        if row.meaning.kind is SignalKind.LIMIT:
            value = table.value[place, : table.end]
            found.setdefault(row.entity, set()).update(np.unique(value[np.isfinite(value)])[-3:].tolist())
    return {entity: frozenset(values) for entity, values in found.items()}
