"""Robust statistics over the rows of a matrix with gaps (NaN) but without infinities, all rows at once.

The score of a shift is BARO's (FSE'24): the distance from the baseline's median in robust widths. Its known
faults are corrected: the floors of the width are relative, never in raw units; a single point cannot
produce a score; the caller chooses the direction.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from diagnosis_harness.analysis.arrays import Floats, Ints

STD_FLOOR = 0.2  # a width below a fifth of the plain deviation means a heavy tail that quartiles miss
LEVEL_FLOOR = 0.02  # moves below two hundredths of the level do not count, however steady the series was
MOST_WIDTHS = 1_000.0  # larger scores carry no more information
MOST_WIDTHS_STILL = 20.0  # for a series that never moved, the size of a move is not meaningful


def sort_rows(value: Floats) -> tuple[Floats, Ints]:
    """Each row in ascending order with its NaN last, and how many values are numbers.

    No infinities allowed.
    """
    ordered = np.sort(value, axis=1)
    return ordered, value.shape[1] - np.isnan(ordered).sum(axis=1, dtype=np.int64)


def quantile_sorted(ordered: Floats, count: Ints, share: float) -> Floats:
    """The quantile of each row of `sort_rows`, interpolated linearly; NaN for an empty row."""
    if ordered.shape[1] == 0:
        return np.full(len(count), np.nan)
    place = share * np.maximum(count - 1, 0)
    low = np.floor(place).astype(np.int64)
    high = np.minimum(low + 1, np.maximum(count - 1, 0))
    rows = np.arange(len(count))
    below, above = ordered[rows, low], ordered[rows, high]
    return np.where(count > 0, below + (above - below) * (place - low), np.nan)


def median_rows(value: Floats) -> Floats:
    """The median of each row; NaN for an empty row."""
    ordered, count = sort_rows(value)
    return quantile_sorted(ordered, count, 0.5)


def width_rows(value: Floats, level: Floats) -> Floats:
    """How far each row usually deviates from `level`; 0 for a row that never moved, NaN if empty.

    The largest of the inter-quartile range / 1.349, 1.48 times the median distance, a fifth of the standard
    deviation, and two hundredths of the level.
    """
    ordered, count = sort_rows(value)
    quartiles = quantile_sorted(ordered, count, 0.75) - quantile_sorted(ordered, count, 0.25)
    distance = 1.4826 * median_rows(np.abs(ordered - level[:, None]))
    gap = np.isnan(ordered)
    mean = np.where(gap, 0.0, ordered).sum(axis=1) / np.maximum(count, 1)
    spread = np.where(gap, 0.0, ordered - mean[:, None])
    deviation = np.sqrt(np.einsum("ij,ij->i", spread, spread) / np.maximum(count, 1))
    widest = np.maximum(np.maximum(quartiles / 1.349, distance), STD_FLOOR * deviation)
    return np.where(count > 0, np.maximum(widest, LEVEL_FLOOR * np.abs(level)), np.nan)


def high_rows(value: Floats) -> Floats:
    """The level that two points of each row reach, in long rows a tenth of them.

    The point itself if it is alone.
    """
    ordered, count = sort_rows(value)
    if ordered.shape[1] == 0:
        return np.full(len(count), np.nan)
    from_top = np.where(count >= 2, np.maximum(1, count // 10), 0)
    place = np.maximum(count - 1 - from_top, 0)
    return np.where(count > 0, ordered[np.arange(len(count)), place], np.nan)


def rise_rows(value: Floats, level: Floats, width: Floats) -> Floats:
    """How many widths each row rose above `level`; never below 0, 0 for an empty row.

    The result does not depend on the unit of a series. It is capped at `MOST_WIDTHS`, and at
    `MOST_WIDTHS_STILL` for a series whose width is 0.
    """
    risen = high_rows(value) - level
    most = np.where(width > 0, MOST_WIDTHS, MOST_WIDTHS_STILL)
    scale = np.maximum(np.nan_to_num(width), np.abs(risen) / most)
    score = np.divide(risen, scale, out=np.zeros_like(risen), where=(scale > 0) & np.isfinite(risen))
    return np.maximum(score, 0.0)


def mean_rows(value: Floats, places: Sequence[int]) -> Floats:
    """The mean of some rows, column by column, over the finite values; NaN if there are none."""
    rows = value[list(places)]
    finite = np.isfinite(rows)
    count = finite.sum(axis=0)
    total = np.where(finite, rows, 0.0).sum(axis=0)
    mean: Floats = np.full(value.shape[1], np.nan)
    np.divide(total, count, out=mean, where=count > 0)
    return mean
