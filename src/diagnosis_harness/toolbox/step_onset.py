"""Finds the onset by a joint step of symptoms: of the alert's entity or the entry points, then of all."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from diagnosis_harness.analysis.arrays import Flags
from diagnosis_harness.analysis.joint_step import find_joint_step
from diagnosis_harness.analysis.meaning import SYMPTOMS, SignalSide
from diagnosis_harness.analysis.onset import CLEAR, REACH_S, OnsetEstimate
from diagnosis_harness.toolbox.incident_view import IncidentView
from diagnosis_harness.toolbox.metric_table import MetricTable
from diagnosis_harness.toolbox.ports import AlertInfo

LEAST_TOGETHER = 2
"""Series that must step together if any series, or any time, may count: of hundreds one steps by chance."""
CLEAR_ANYWHERE = 2.0 * CLEAR
"""Widths of a step if no time was stated: all columns are examined, not only a few before an alert."""


def step_onset(view: IncidentView, alert: AlertInfo, *, alert_s: float | None) -> OnsetEstimate | None:
    """The step of the series that raise the question: of several series, or of a single one before an alert.

    Few points lie between the onset and its alert; a split of the whole recording would need more.
    """
    table = view.metrics
    if table is None:
        return None
    least = LEAST_TOGETHER if alert_s is None else 1
    return _step(view, table, view.indicator_rows(alert), alert_s, least=least)


def step_onset_of_all(view: IncidentView, *, alert_s: float | None) -> OnsetEstimate | None:
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
    onset = _step(view, table, rows, alert_s, least=LEAST_TOGETHER)
    return None if onset is None else replace(onset, by_several=True)


def _step(
    view: IncidentView, table: MetricTable, rows: Sequence[int], alert_s: float | None, *, least: int
) -> OnsetEstimate | None:
    """The strongest step that enough of these rows take together."""
    if not rows:
        return None
    sign = np.array([table.rows[place].meaning.harmful or 1 for place in rows], dtype=np.float64)[:, None]
    places = list(rows)
    baseline = table.baseline[places] if table.baseline.shape[1] else np.zeros((len(places), 0))
    allowed = _columns_to_try(view, table, alert_s)
    clear = CLEAR_ANYWHERE if alert_s is None else CLEAR
    step = find_joint_step(table.value[places] * sign, baseline * sign, allowed, clear=clear)
    if step is None or step.series < least:
        return None
    at_s = float(table.time_s[step.at] - 0.5 * table.step_s)
    if alert_s is not None and alert_s - at_s <= table.step_s:
        return OnsetEstimate(alert_s, at_s, step.widths, moved=False)
    return OnsetEstimate(at_s, at_s, step.widths, moved=True)


def _columns_to_try(view: IncidentView, table: MetricTable, alert_s: float | None) -> Flags:
    """Columns at which an onset may be: shortly before an alert, and where any spans were recorded.

    A user who exports spans of a few minutes exports those of the incident; elsewhere there would be no
    spans to compare.
    """
    begins_s = table.time_s - 0.5 * table.step_s
    first_s, last_s = (-np.inf, np.inf) if alert_s is None else (alert_s - REACH_S, alert_s)
    if view.spans is not None:
        start_s = view.spans.spans.start_s[view.spans.recording == 0]
        first_s = max(first_s, float(start_s.min()) - table.step_s)
        last_s = min(last_s, float(start_s.max()))
    return np.asarray((begins_s >= first_s) & (begins_s <= last_s), dtype=np.bool_)
