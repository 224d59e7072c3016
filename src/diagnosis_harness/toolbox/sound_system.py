"""Decides whether all telemetry together shows nothing unusual around an onset.

False reassurance is a wrong answer. So the affected entities must be known to be normal, and so must every
entity's symptoms over the whole recording, not only around the onset: a stated onset may be wrong, and
brief trouble disappears in an hour. No candidate may stand out, requests must arrive as usual, and no
telemetry may be unread.
"""

from __future__ import annotations

from collections.abc import Collection
from statistics import median

import numpy as np

from diagnosis_harness.analysis.arrays import Floats
from diagnosis_harness.analysis.meaning import SYMPTOMS, SignalSide
from diagnosis_harness.analysis.robust import mean_rows
from diagnosis_harness.toolbox.clues import LEAST_DEMAND
from diagnosis_harness.toolbox.effect import EffectState
from diagnosis_harness.toolbox.incident_view import IncidentView, RankedCauses
from diagnosis_harness.toolbox.metric_table import MetricTable
from diagnosis_harness.toolbox.rare_events import counts_callers_that_gave_up, counts_requests

STANDS_OUT = 0.5
"""Score, in log units above the noise, from which a candidate stands out: one normal window in fifty
reaches it
(`analysis.rank`)."""
EXCURSION = 8.0
"""Range of a series from low to high, in usual steps between points: normal noise covers three to six of
them,
up to seven for the one-sided noise of high percentiles."""
SMOOTHED = 3
"""Consecutive points examined together: one late scrape is no trouble, three in a row are."""
STEP_OF_NOISE = 0.954
"""The usual step between two points of normal noise, in its standard deviations."""
LEAST_SHARE, LEAST_PART = 0.01, 0.05
"""Minimum spread of any series: one request of a hundred if failures are counted, else a twentieth."""
LEAST_RECORDED = 20
"""Points of a recording needed to show how a series behaves by itself."""


def shows_nothing_unusual(view: IncidentView, ranking: RankedCauses, affected: Collection[str]) -> bool:
    """Whether the affected entities are known to be normal, and nothing stands out anywhere.

    Args:
        affected: the possibly affected entities: the alert's entity, otherwise all entry points.
    """
    table = view.metrics
    if table is None or ranking.effect.state is not EffectState.NORMAL:
        return False
    if any(one.score >= STANDS_OUT for one in ranking.candidates):
        return False
    courses = _symptom_courses(table, affected)
    if not any(owner in affected for owner, _ in courses) or not all(map(is_steady, courses.values())):
        return False
    return _has_usual_demand(table, affected)


def _symptom_courses(table: MetricTable, affected: Collection[str]) -> dict[tuple[str, str], Floats]:
    """Each symptom of each entity over the whole recording, harm upwards; the mean over instances.

    Only calls made by the affected entities are included: their users wait for those as for their own work.
    """
    grouped: dict[tuple[str, str], list[int]] = {}
    for place, row in enumerate(table.rows):
        own = row.caller is None and row.meaning.side is SignalSide.OWN
        is_relevant = row.caller in affected or (row.callee is not None and row.owner in affected)
        is_symptom = row.meaning.kind in SYMPTOMS and row.meaning.harmful != 0
        if (own or is_relevant) and (is_symptom or counts_callers_that_gave_up(row)):
            grouped.setdefault((row.owner, row.signal), []).append(place)
    found = {}
    for (owner, signal), places in grouped.items():
        whole = [place for place in places if table.rows[place].entity == owner] or places
        found[owner, signal] = mean_rows(table.value, whole) * (table.rows[whole[0]].meaning.harmful or 1)
    return found


def is_steady(course: Floats) -> bool:
    """Whether a series never rises far above its own lows for three points in a row.

    Its noise is taken from steps between neighbouring points, so trouble that fills most of the recording
    shows.
    """
    known = course[np.isfinite(course)]
    if len(known) < LEAST_RECORDED:
        return False
    smooth = np.median(np.lib.stride_tricks.sliding_window_view(known, SMOOTHED), axis=1)
    low, middle, high = np.quantile(smooth, (0.05, 0.5, 1.0)).tolist()
    is_share = float(known.min()) >= -1.0 and float(known.max()) <= 1.0
    least = LEAST_SHARE if is_share and abs(middle) < LEAST_SHARE else LEAST_PART * abs(middle)
    width = float(np.median(np.abs(np.diff(known)))) / STEP_OF_NOISE
    return float(high - low) <= EXCURSION * max(width, least / 2.0)


def _has_usual_demand(table: MetricTable, affected: Collection[str]) -> bool:
    """Whether requests arrive as usual, if anything counts them: neither a surge nor silence is usual."""
    growth = [
        float(table.shift.value[place]) / level
        for place, row in enumerate(table.rows)
        if row.caller is None and row.owner in affected and counts_requests(row)
        and (level := float(table.shift.level[place])) > 0
    ]  # fmt: skip
    return not growth or 1.0 / LEAST_DEMAND <= median(growth) <= LEAST_DEMAND
