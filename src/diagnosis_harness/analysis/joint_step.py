"""The strongest step that several series take together: when something began, with few points after it.

A step is judged by the points right before and right after it. An earlier blip therefore hides nothing, since
medians of what came before do not see it, and a series that was still for hours counts too. What lies beyond
a pause of the recording is compared with nothing: the two sides may be different days.
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
"""Points after a step that are compared: an alert fires some two or three of them after what it alerts to."""
BEFORE = 2 * AFTER
"""Points right before it: twice as many, since one blip among them must not carry their median."""
LEAST_AFTER = 2
"""Points after a step at least: one alone is a spike."""
LEAST_NORMAL = 4
"""Points before a step at least that say how far a series strays by itself."""
PAUSE = 2
"""Empty columns in a row that still belong to one stretch of a recording: a scrape or two may fail."""
TOGETHER = 5
"""Series that count for a step, the strongest ones: a service has about as many symptoms, and the many series
that every system has say nothing more."""
BASE_POINTS = 10
"""Points of a baseline from which on its width is the series' own."""


@dataclass(frozen=True, slots=True)
class JointStep:
    """A step at column `at`, the first after it: how far the strongest series moved, and how many did."""

    at: int
    strength: float
    widths: float
    series: int


def find_joint_step(value: Floats, baseline: Floats, allowed: Flags, *, clear: float) -> JointStep | None:
    """The strongest step among the allowed columns; None where no series moved by `clear` widths there.

    Args:
        value: rows are series on shared instants, upwards being harm.
        baseline: the same rows in normal operation, without columns where there is none.
        allowed: the columns that a step may begin at.
    """
    stretch = _stretches(value)
    base_width = _base_width(value, baseline)
    best: JointStep | None = None
    for at in np.flatnonzero(allowed & (stretch >= 0)).tolist():
        inside = np.flatnonzero(stretch == stretch[at])
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
    """How far each series rose, over what was right before and over all before, the smaller of both."""
    past, late, all_before = value[:, before], value[:, after], value[:, : int(after[0])]
    usual, level = median_rows(all_before), median_rows(past)
    width = np.where(
        np.isfinite(base_width), base_width, width_rows(all_before - usual[:, None], np.zeros(len(usual)))
    )
    width = np.nan_to_num(np.fmax(width, 0.0))
    reached = median_rows(late)
    risen = np.minimum(reached - level, reached - usual)
    # A step that begins at the next column is none here: the first point too has made half of it.
    risen = np.nan_to_num(np.fmin(risen, 2.0 * (late[:, 0] - level)))
    # A move below two hundredths of the level is nothing, however still the series was.
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
    """The usual width of each series in its baseline; NaN where that has too few points."""
    if baseline.shape[1] == 0:
        return np.full(len(value), np.nan)
    middle = median_rows(baseline)
    width = width_rows(baseline - middle[:, None], np.zeros(len(middle)))
    return np.where(np.isfinite(baseline).sum(axis=1) >= BASE_POINTS, width, np.nan)


def _stretches(value: Floats) -> Ints:
    """The stretch of the recording that each column belongs to; -1 for one without any point."""
    held = np.flatnonzero(np.isfinite(value).any(axis=0))
    found = np.full(value.shape[1], -1, dtype=np.int64)
    found[held] = np.cumsum(np.diff(held, prepend=held[:1]) > PAUSE + 1)
    return found
