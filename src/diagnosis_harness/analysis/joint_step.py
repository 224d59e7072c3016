"""Finds the strongest step that several series take together, even with few points after it.

A step is judged by the points directly before and after it. So an earlier spike does not hide it, and a
series that was constant for hours counts too: a median over the whole past would miss both. Points on the
other side of a gap in the recording are not compared, because the two sides may be different days.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from diagnosis_harness.analysis.arrays import Flags, Floats, Ints
from diagnosis_harness.analysis.clue import NOISE_FLOOR
from diagnosis_harness.analysis.robust import (
    LEVEL_FLOOR,
    MOST_WIDTHS_STILL,
    median_rows,
    width_rows,
)

AFTER = 3
"""Points after a step that are compared: an alert fires two or three points after what it reports."""
BEFORE = 2 * AFTER
"""Points directly before the step: twice as many, so that one spike among them cannot move their median."""
LEAST_AFTER = 2
"""Minimum number of points after a step: one alone is a spike."""
LEAST_NORMAL = 4
"""Minimum number of points before a step, to know how far a series varies by itself."""
PAUSE = 2
"""Empty columns in a row that do not split a recording: a scrape or two may fail."""
TOGETHER = 5
"""Number of series, the strongest ones, that count for a step: a service has about as many symptoms, and
the many
other series of every system add nothing."""
BASE_POINTS = 10
"""Number of baseline points from which the baseline width of a series is used."""


@dataclass(frozen=True, slots=True)
class JointStep:
    """A step whose first later column is `at`: how far the strongest series moved, and how many moved."""

    at: int
    strength: float
    widths: float
    series: int


def find_joint_step(value: Floats, baseline: Floats, allowed: Flags, *, clear: float) -> JointStep | None:
    """The strongest step among the allowed columns; None if no series moved there by `clear` widths.

    Args:
        value: one row per series on shared times, where up is harmful.
        baseline: the same rows in normal operation; no columns if there is none.
        allowed: the columns at which a step may begin.
    """
    segment = _segments(value)
    base_width = _base_width(value, baseline)
    best: JointStep | None = None
    for at in np.flatnonzero(allowed & (segment >= 0)).tolist():
        inside = np.flatnonzero(segment == segment[at])
        before, after = inside[inside < at][-BEFORE:], inside[inside >= at][:AFTER]
        if len(after) < LEAST_AFTER or len(before) < LEAST_AFTER:
            continue
        widths = _widths(value, before, after, base_width)
        excess = np.maximum(np.log1p(widths) - np.log1p(NOISE_FLOOR), 0.0)
        strength = float(np.sort(excess)[-TOGETHER:].sum())
        if best is None or strength > best.strength:
            best = JointStep(at, strength, float(widths.max(initial=0.0)), int((widths >= clear).sum()))
    return best if best is not None and best.widths >= clear else None


def _widths(value: Floats, before: Ints, after: Ints, base_width: Floats) -> Floats:
    """How far each series rose in widths: above the points directly before or above all before, if less."""
    past, late, all_before = value[:, before], value[:, after], value[:, : int(after[0])]
    usual, level = median_rows(all_before), median_rows(past)
    width = np.where(
        np.isfinite(base_width), base_width, width_rows(all_before - usual[:, None], np.zeros(len(usual)))
    )
    width = np.nan_to_num(np.fmax(width, 0.0))
    reached = median_rows(late)
    risen = np.minimum(reached - level, reached - usual)
    # A step that begins at the next column is excluded: at this column half of the move has not happened.
    risen = np.nan_to_num(np.fmin(risen, 2.0 * (late[:, 0] - level)))
    # A move below two hundredths of the level does not count, however constant the series was.
    width = np.where(width > 0, np.maximum(width, LEVEL_FLOOR * np.abs(np.nan_to_num(level))), 0.0)
    still = np.where(risen > LEVEL_FLOOR * np.abs(np.nan_to_num(level)), MOST_WIDTHS_STILL, 0.0)
    moved = np.divide(risen, width, out=still, where=width > 0)
    enough = (
        (np.isfinite(late).sum(axis=1) >= LEAST_AFTER)
        & (np.isfinite(past).sum(axis=1) >= LEAST_AFTER)
        & (np.isfinite(all_before).sum(axis=1) >= LEAST_NORMAL)
    )
    return np.where(enough, np.clip(moved, 0.0, MOST_WIDTHS_STILL), 0.0)


def _base_width(value: Floats, baseline: Floats) -> Floats:
    """The usual width of each series in its baseline; NaN if it has too few points."""
    if baseline.shape[1] == 0:
        return np.full(len(value), np.nan)
    middle = median_rows(baseline)
    width = width_rows(baseline - middle[:, None], np.zeros(len(middle)))
    return np.where(np.isfinite(baseline).sum(axis=1) >= BASE_POINTS, width, np.nan)


def _segments(value: Floats) -> Ints:
    """The contiguous segment of the recording that each column belongs to.

    -1 for a column without any point.
    """
    filled = np.flatnonzero(np.isfinite(value).any(axis=0))
    found = np.full(value.shape[1], -1, dtype=np.int64)
    found[filled] = np.cumsum(np.diff(filled, prepend=filled[:1]) > PAUSE + 1)
    return found
