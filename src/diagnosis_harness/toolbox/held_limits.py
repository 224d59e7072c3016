"""Series that rose to a limit and stay at exactly that: a round number, a power of two, or a stated limit."""

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
"""Values below the limit before it was reached; fewer do not show that the series goes its own way."""
LEAST_DIFFERENT: Final = 3
"""Different values among them: a setting that is changed stands still before as well."""
LEAST_HELD: Final = 5
"""Values in a row at the limit: measurements of what is free to move are hardly five times the same."""
REACHED_BEFORE_S: Final = 600.0
"""How long before the onset it may have been reached: what is full takes some minutes to be noticed."""
_NEAR_ONSET: Final = 2
"""Steps after the onset by which it may be reached, which is known to about a minute."""
LEAST_ROUND, LEAST_POWER = 10.0, 127.0
"""The smallest round number, and the smallest power of two or number one below it, that counts as a limit."""
ITEMS_MOST: Final = 8
"""Where all instances of a service reached a limit each says the same; signals need the rest of a record."""
_EXCESS: Final = 2.0
"""In the log units of a clue, as much as a fault that a platform reports; no other value was tried."""
_SURE_WINDOWS: Final = 12
"""What stands still at a limit is no matter of chance, as a platform's own words are not."""
_COUNTED: Final = RESOURCES | {SignalKind.OTHER}
"""What fills up. Load may be generated at an even rate, and shares of what succeeds end at their whole."""


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
    """Whether a number is one at which limits are set: round, a power of two, or one below it."""
    if value < LEAST_ROUND or value != floor(value):
        return False
    whole = int(value)
    if value >= LEAST_POWER and (whole & (whole - 1) == 0 or whole & (whole + 1) == 0):
        return True
    leading = 1 if value < LEAST_ROUND**2 else 2
    unit: int = 10 ** max(floor(log10(whole)) - leading + 1, 1)
    return whole % unit == 0


def limit_items(table: MetricTable, window: TimeWindow | None) -> Iterator[EvidenceItem]:
    """One STATE item for each."""
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
    """One clue for each, of a resource that is full."""
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
    """The first place from which on all values are the largest of all; None where that is no limit held."""
    places = np.flatnonzero(np.isfinite(value))
    if len(places) < _LEAST_BEFORE + LEAST_HELD:
        return None
    held = value[places]
    largest = held.max()
    below = np.flatnonzero(held < largest)
    first = int(below[-1]) + 1 if len(below) else 0
    before = held[:first]
    if len(held) - first < LEAST_HELD or len(before) < _LEAST_BEFORE or before.max() >= largest:
        return None
    return int(places[first]) if len(np.unique(before)) >= LEAST_DIFFERENT else None


def _limits_by_entity(table: MetricTable) -> Mapping[str, frozenset[float]]:
    """By entity what its own series say that its limits are."""
    found: dict[str, set[float]] = {}
    for place, row in enumerate(table.rows):
        if row.meaning.kind is SignalKind.LIMIT:
            value = table.value[place, : table.end]
            found.setdefault(row.entity, set()).update(np.unique(value[np.isfinite(value)])[-3:].tolist())
    return {entity: frozenset(values) for entity, values in found.items()}
