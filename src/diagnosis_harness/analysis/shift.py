"""Measures how far each series moved after the onset, against the minutes before it and a separate baseline.

It also measures how far each series moves on its own, in windows of normal operation.

Levels drift between recordings, and there are few minutes before the onset. So the usual level is a
weighted mean of both medians, in which the minutes before weigh more the more there are; the usual width
pools both, each around its own median.
"""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np

from diagnosis_harness.analysis.arrays import Floats, Ints
from diagnosis_harness.analysis.robust import (
    LEVEL_FLOOR,
    MOST_WIDTHS,
    MOST_WIDTHS_STILL,
    median_rows,
    rise_rows,
    width_rows,
)

PRIOR_POINTS = 10  # steps before the onset that weigh as much as a whole baseline; two weigh almost nothing
BLOCK = 256  # rows at a time, so that the copies of a block stay in the processor's cache
NULL_WINDOWS = 60  # maximum number of normal windows used to learn how far a series varies by itself


@dataclass(frozen=True, slots=True)
class Shift:
    """Arrays with one entry per series.

    Attributes:
        level: usual value; `value`: median after the onset; both in the series' own unit, NaN if unknown.
        width: usual distance from the level.
        up, down: robust score of the rise and of the fall, 0 or more.
        null_up, null_down: the same scores for windows of normal operation, (series, windows); as long as
            the fault window if the recordings are long enough.
        points: finite points after the onset; `before`: finite points of normal operation.
    """

    level: Floats
    value: Floats
    width: Floats
    up: Floats
    down: Floats
    null_up: Floats
    null_down: Floats
    points: Ints
    before: Ints


def shift_of(before: Floats, after: Floats, baseline: Floats, *, zero: Floats | None = None) -> Shift:
    """The shift of each row from `before` and `baseline` to `after`.

    A matrix without columns means that there is no such recording. `zero` is where the scale of a row
    begins, 0 by default: 100 for an availability in per cent, whose faults are measured from 100. Rows with
    fewer than two normal points, or none after the onset, score 0.
    """
    zero = np.zeros(len(before)) if zero is None else zero
    blocks = [
        _shift_of(before[k : k + BLOCK], after[k : k + BLOCK], baseline[k : k + BLOCK], zero[k : k + BLOCK])
        for k in range(0, max(len(before), 1), BLOCK)
    ]
    return Shift(*(np.concatenate([getattr(one, f.name) for one in blocks]) for f in fields(Shift)))


def _shift_of(before: Floats, after: Floats, baseline: Floats, zero: Floats) -> Shift:
    usual_before, usual_base = median_rows(before), median_rows(baseline)
    count_before = np.isfinite(before).sum(axis=1, dtype=np.float64)
    has_base = np.isfinite(usual_base)
    weight = np.where(has_base, count_before**2 / (count_before**2 + PRIOR_POINTS**2), 1.0)
    weight = np.where(count_before == 0, 0.0, weight)
    level = weight * np.nan_to_num(usual_before) + (1 - weight) * np.nan_to_num(usual_base)
    normal = np.concatenate((baseline - usual_base[:, None], before - usual_before[:, None]), axis=1)
    width = np.maximum(width_rows(normal, np.zeros(len(level))), 0.0)
    # For a series that never moved before, at whatever level, the size of a move is not meaningful.
    most = np.where(width > 0, MOST_WIDTHS, MOST_WIDTHS_STILL)
    width = np.fmax(width, LEVEL_FLOOR * np.abs(level - zero))
    known = np.isfinite(normal).sum(axis=1)
    enough = (known >= 2) & np.isfinite(after).any(axis=1)
    up = np.where(enough, np.minimum(rise_rows(after, level, width), most), 0.0)
    down = np.where(enough, np.minimum(rise_rows(-after, -level, width), most), 0.0)
    null_up, null_down = _null(normal, width, after.shape[1])
    return Shift(
        np.where(known > 0, level, np.nan),
        median_rows(after),
        width,
        up,
        down,
        null_up,
        null_down,
        np.isfinite(after).sum(axis=1).astype(np.int64),
        known.astype(np.int64),
    )


def _null(normal: Floats, width: Floats, length: int) -> tuple[Floats, Floats]:
    """Scores of normal windows of `length` columns; of shorter ones if fewer than four would fit."""
    columns = normal.shape[1]
    length = max(min(length, 2), min(length, columns // 4))
    stride = max(length // 2, columns // NULL_WINDOWS, 1)
    starts = range(0, columns - length + 1, stride)
    zero = np.zeros(len(normal))
    ups = [rise_rows(normal[:, s : s + length], zero, width) for s in starts]
    downs = [rise_rows(-normal[:, s : s + length], zero, width) for s in starts]
    empty = np.zeros((len(normal), 0))
    return (np.stack(ups, axis=1), np.stack(downs, axis=1)) if ups else (empty, empty)


def own_time_of_change(
    time_s: Floats, value: Floats, *, level: float, width: float, from_s: float
) -> float | None:
    """The first time from `from_s` on with two points in a row more than three widths from the level.

    None if that never happens. A single last point does not count.
    """
    late = np.flatnonzero((time_s >= from_s) & np.isfinite(value))
    if len(late) < 2 or not np.isfinite(level):
        return None
    moved = value[late] - level
    stray = moved / width if width > 0 else np.where(moved == 0, 0.0, np.copysign(4.0, moved))
    together = ((stray[:-1] > 3) & (stray[1:] > 3)) | ((stray[:-1] < -3) & (stray[1:] < -3))
    hits = np.flatnonzero(together)
    return float(time_s[late[hits[0]]]) if len(hits) else None
