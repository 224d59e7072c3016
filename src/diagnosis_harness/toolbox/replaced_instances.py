"""Joins the instances of a replaced service into one series: the old ones before, the new ones after.

None of the instances can be compared with itself: a series that ended has nothing after the onset, and one
that began has nothing before.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from diagnosis_harness.analysis.arrays import Floats
from diagnosis_harness.analysis.robust import mean_rows
from diagnosis_harness.toolbox.metric_row import MetricRow

HANDOVER_STEPS = 5
"""Steps around the onset in which all instances change: a rollout takes minutes."""


def add_replaced_services(
    rows: Sequence[MetricRow], value: Floats, baseline: Floats, *, split: int
) -> tuple[tuple[MetricRow, ...], Floats, Floats]:
    """The rows, plus one per signal of a service whose instances were all replaced near the onset."""
    grouped: dict[tuple[str, str, str | None], list[int]] = {}
    for place, row in enumerate(rows):
        grouped.setdefault((row.owner, row.signal, row.caller), []).append(place)
    finite = np.isfinite(value)
    replaced = [places for places in grouped.values() if _are_replaced(rows, places, finite, split=split)]
    if not replaced:
        return tuple(rows), value, baseline
    added = tuple(replace(rows[places[0]], entity=rows[places[0]].owner) for places in replaced)
    return (
        (*rows, *added),
        np.concatenate((value, [mean_rows(value, places) for places in replaced])),
        np.concatenate((baseline, [mean_rows(baseline, places) for places in replaced])),
    )


def _are_replaced(rows: Sequence[MetricRow], places: Sequence[int], finite: Floats, *, split: int) -> bool:
    """Whether all are instances that end or begin near the onset, with at least one of each.

    An instance that existed the whole time is compared with itself.
    """
    if len(places) < 2 or any(rows[place].entity == rows[place].owner for place in places):
        return False
    ends, begins = 0, 0
    for place in places:
        there = np.flatnonzero(finite[place])
        if not len(there):
            continue
        is_new, is_old = there[0] >= split - HANDOVER_STEPS, there[-1] < split + HANDOVER_STEPS
        if is_new == is_old:
            return False
        ends, begins = ends + bool(is_old), begins + bool(is_new)
    return ends > 0 and begins > 0
