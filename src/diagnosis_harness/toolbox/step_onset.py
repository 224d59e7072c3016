"""When it began by a step of symptoms: of whom the alert names or users meet first, then of all."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from diagnosis_harness.analysis.arrays import Flags
from diagnosis_harness.analysis.joint_step import find_joint_step
from diagnosis_harness.analysis.meaning import SYMPTOMS, SignalSide
from diagnosis_harness.analysis.onset import CLEAR, OnsetEstimate
from diagnosis_harness.toolbox.incident_view import IncidentView
from diagnosis_harness.toolbox.metric_table import MetricTable
from diagnosis_harness.toolbox.ports import AlertInfo

LEAST_TOGETHER = 2
"""Series that must step together where any may, or at any time: of hundreds one does by chance."""
CLEAR_ANYWHERE = 2.0 * CLEAR
"""Widths of a step where nobody said when: all columns are looked at."""


def step_onset(view: IncidentView, alert: AlertInfo) -> OnsetEstimate | None:
    """The step that the series that raise the question take together."""
    table = view.metrics
    if table is None:
        return None
    return _step(view, table, view.indicator_rows(alert))


def step_onset_of_all(view: IncidentView) -> OnsetEstimate | None:
    """The strongest step that several symptoms of the system take together."""
    table = view.metrics
    if table is None:
        return None
    rows = [
        place
        for place, row in enumerate(table.rows)
        if row.caller is None
        and row.meaning.side is SignalSide.OWN
        and row.meaning.kind in SYMPTOMS
        and row.meaning.harmful
    ]
    onset = _step(view, table, rows)
    return None if onset is None else replace(onset, by_several=True)


def _step(view: IncidentView, table: MetricTable, rows: Sequence[int]) -> OnsetEstimate | None:
    """The strongest step that enough of these rows take together."""
    if not rows:
        return None
    sign = np.array([table.rows[place].meaning.harmful or 1 for place in rows], dtype=np.float64)[:, None]
    places = list(rows)
    baseline = table.baseline[places] if table.baseline.shape[1] else np.zeros((len(places), 0))
    allowed = _columns_to_try(view, table)
    step = find_joint_step(table.value[places] * sign, baseline * sign, allowed, clear=CLEAR_ANYWHERE)
    if step is None or step.series < LEAST_TOGETHER:
        return None
    at_s = float(table.time_s[step.at] - 0.5 * table.step_s)
    return OnsetEstimate(at_s, at_s, step.widths, moved=True)


def _columns_to_try(view: IncidentView, table: MetricTable) -> Flags:
    """Columns that an onset may be at: where spans were recorded, if there are any.

    Whoever exports the spans of a few minutes exports those of the incident, and before and after an onset
    elsewhere there would be none to compare.
    """
    if view.spans is None:
        return np.ones(len(table.time_s), dtype=np.bool_)
    begins_s = table.time_s - 0.5 * table.step_s
    start_s = view.spans.spans.start_s[view.spans.recording == 0]
    first_s, last_s = float(start_s.min()) - table.step_s, float(start_s.max())
    return np.asarray((begins_s >= first_s) & (begins_s <= last_s), dtype=np.bool_)
