"""Leaves out signals that began to move later than the effect, which therefore cannot be its cause."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from diagnosis_harness.analysis.clue import NOISE_FLOOR, calibrate
from diagnosis_harness.analysis.meaning import SYMPTOMS, SignalSide
from diagnosis_harness.analysis.shift import own_time_of_change
from diagnosis_harness.toolbox.metric_table import MetricTable

SLACK_STEPS, SLACK_S = 2, 60.0
"""How much later than its effect a cause may seem to begin: an onset is accurate to a sampling step or two,
and
most metrics are recorded once a minute."""


def leave_out_late(table: MetricTable, affected: str | None, *, onset_s: float) -> MetricTable:
    """The table without scores for rows that began later than the first symptom of the affected entity.

    The symptoms of the entity itself are kept, since they must be explained. If it is unknown when
    those began, all rows are kept.
    """
    harm, _ = calibrate(*table.harm())
    began = {
        place: at_s
        for place in np.flatnonzero(harm > NOISE_FLOOR).tolist()
        if (at_s := began_at(table, place, onset_s=onset_s)) is not None
    }
    effect = {
        place: at_s
        for place, at_s in began.items()
        if table.rows[place].owner == affected
        and table.rows[place].caller is None
        and table.rows[place].meaning.side is SignalSide.OWN
        and table.rows[place].meaning.kind in SYMPTOMS
    }
    if not effect:
        return table
    latest_s = min(effect.values()) + max(SLACK_S, SLACK_STEPS * table.step_s)
    late = [place for place, at_s in began.items() if at_s > latest_s and place not in effect]
    up, down = table.shift.up.copy(), table.shift.down.copy()
    up[late] = down[late] = 0.0
    return replace(table, shift=replace(table.shift, up=up, down=down))


def began_at(table: MetricTable, place: int, *, onset_s: float) -> float | None:
    """When a row began to differ from its usual level; None if it never did for two points in a row."""
    began = own_time_of_change(
        table.time_s[: table.end] - 0.5 * table.step_s,
        table.value[place, : table.end],
        level=float(table.shift.level[place]),
        width=float(table.shift.width[place]),
        from_s=onset_s - table.step_s,
    )
    return None if began is None else round(began, 3)
