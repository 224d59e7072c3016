"""Estimates the onset: a stated time is checked, and kept unless another time is clearly better."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from heapq import heappop, heappush, heappushpop
from math import isnan

import numpy as np

from diagnosis_harness.analysis.arrays import Floats
from diagnosis_harness.analysis.robust import median_rows, width_rows

REACH_S = 900.0  # how far from the stated time to search
MOST_REACH_S = 3_600.0  # how far at most, where the step lies at the edge of what was searched
LEAST_SIDE = 3  # points that each side of a split needs
CLEAR = 5.0  # widths between the two sides' medians
SPLITS_TRIED = 240  # of one series, examined closely: four hours by the minute
EARLY_LEAST = 12  # minimum number of points before the step: fewer lie close together by chance
BEYOND_SHARE = 0.9  # share of the points since a step that must lie beyond nearly all points before it
EARLY_SHARE = 0.95  # share of the points before it; one or two outliers may lie anywhere
BETTER = 1.1  # how much more of the variation a split must explain than the stated one, to replace it
SAME_SHARE = 1e-9  # gains closer than this share of the variation differ by rounding alone


@dataclass(frozen=True, slots=True)
class OnsetEstimate:
    """`time_s` is the onset to use; `estimated_s` is the best split found, None if there is no clear one.

    `clarity` is the distance between the sides' medians at that split, in widths of the earlier side; 0
    without one.
    """

    time_s: float
    estimated_s: float | None
    clarity: float
    moved: bool
    by_several: bool = False
    """Whether series of several entities show it together, so that it does not belong to one of them alone.
    """


def estimate_onset(
    time_s: Floats,
    value: Floats,
    *,
    stated_s: float | None,
    latest_s: float = np.inf,
    reach_s: float = REACH_S,
) -> OnsetEstimate | None:
    """The split of `value` (rows are indicators on shared times) that explains most absolute deviation.

    Searches within `reach_s` of the stated time, everywhere if none is stated, and never beyond `latest_s`:
    an alert fires after what it reports. The split is at the first point of the later side, so it is early
    by at most one step. None if no time is stated and no split is clear.
    """
    best = _best_split(time_s, value, stated_s, (latest_s, reach_s))
    if stated_s is None:
        if best is None or best[1] < CLEAR:
            return None
        return OnsetEstimate(best[0], best[0], best[1], moved=True)
    if best is None or best[1] < CLEAR:
        return OnsetEstimate(stated_s, None, 0.0, moved=False)
    found_s, clarity, gain, stated_gain = best
    step_s = float(np.median(np.diff(time_s))) if len(time_s) > 1 else 0.0
    moved = gain > BETTER * stated_gain and abs(found_s - stated_s) > step_s
    return OnsetEstimate(found_s if moved else stated_s, found_s, clarity, moved)


def is_at_the_edge(estimate: OnsetEstimate | None, stated_s: float, step_s: float, *, reach_s: float) -> bool:
    """Whether the estimate lies where the search ended, so that the step itself may lie further away."""
    if estimate is None or estimate.estimated_s is None:
        return False
    return abs(estimate.estimated_s - stated_s) > reach_s - step_s


@dataclass(frozen=True, slots=True)
class EarlierStep:
    """A step of one series before an onset that the series had not reversed by then.

    `is_clear` is true if nearly all points since the step lie beyond nearly all points before it, and there
    are enough points before it. Any other step may be chance: the series is not normal, but is not known to
    have moved either.
    """

    time_s: float
    is_clear: bool


def find_earlier_step(time_s: Floats, value: Floats, *, onset_s: float) -> EarlierStep | None:
    """The step by which one series had moved before an onset, without returning; None if there is none.

    Its clearest step lies before the onset, and its values after the onset are like those since that step.
    Such a series looks normal around the onset but is not: the trouble began earlier than the question's
    time.
    """
    finite = np.isfinite(value)
    times, values = time_s[finite], value[finite]
    if int((times >= onset_s).sum()) < LEAST_SIDE or int((times < onset_s).sum()) < 2 * LEAST_SIDE:
        return None
    coarse = max(1, len(values) // SPLITS_TRIED)
    seen = len(values) // coarse * coarse
    found = estimate_onset(
        times[:seen:coarse],
        median_rows(values[:seen].reshape(-1, coarse))[None],
        stated_s=None,
        latest_s=onset_s,
    )
    if found is None:
        return None
    early, between = values[times < found.time_s], values[(times >= found.time_s) & (times < onset_s)]
    if len(between) < LEAST_SIDE:
        return None
    before, since, after = (float(np.median(part)) for part in (early, between, values[times >= onset_s]))
    if abs(after - since) >= 0.5 * abs(since - before):
        return None
    return EarlierStep(found.time_s, _lies_beyond(values[times >= found.time_s], early, rose=since > before))


def _lies_beyond(late: Floats, early: Floats, *, rose: bool) -> bool:
    """Whether nearly all later values lie beyond nearly all earlier ones."""
    if len(early) < EARLY_LEAST:
        return False
    late, early = (late, early) if rose else (-late, -early)
    return float(np.quantile(late, 1.0 - BEYOND_SHARE)) > float(np.quantile(early, EARLY_SHARE))


def _best_split(
    time_s: Floats, value: Floats, stated_s: float | None, allowed: tuple[float, float]
) -> tuple[float, float, float, float] | None:
    """(time, clarity, gain there, gain at the stated time) of the best split; None if there is none."""
    latest_s, reach_s = allowed
    near = np.isfinite(value).any(axis=0)
    instants, rows = time_s[near], _standardise(value[:, near])
    splits = np.arange(LEAST_SIDE, len(instants) - LEAST_SIDE + 1)
    if stated_s is not None and len(splits):
        splits = splits[np.abs(instants[splits] - stated_s) <= reach_s]
    splits = splits[instants[splits] <= latest_s] if len(splits) else splits
    if len(splits) == 0 or len(rows) == 0:
        return None
    gain_at, whole = _gains(rows)
    gains = gain_at[splits]
    place = int(np.argmax(gains >= gains.max() - SAME_SHARE * whole))
    split = int(splits[place])
    stated_gain = 0.0
    if stated_s is not None:
        at = int(np.searchsorted(instants, stated_s))
        if 0 < at < len(instants):
            stated_gain = float(gain_at[at])
    return float(instants[split]), _clarity(rows, split), float(gains[place]), stated_gain


def _standardise(value: Floats) -> Floats:
    """Scale each row that varies by its own width, so that rows can be added."""
    finite = value[np.isfinite(value).any(axis=1)]
    middle = median_rows(finite)
    width = width_rows(finite - middle[:, None], np.zeros(len(finite)))
    keep = width > 0
    return np.asarray((finite[keep] - middle[keep, None]) / width[keep, None], dtype=np.float64)


def _gains(rows: Floats) -> tuple[Floats, float]:
    """How much of the deviation a split before each point explains, and the whole deviation."""
    explained, whole = np.zeros(rows.shape[1] + 1), 0.0
    for row in rows:
        early = _deviations(row.tolist())
        late = _deviations(row[::-1].tolist())[::-1]
        explained += early[-1] - early - late
        whole += float(early[-1])
    return explained, whole


def _deviations(values: Iterable[float]) -> Floats:
    """Sum of the distances of the first n values from their median, for each n from 0; NaN counts nothing.

    Two heaps keep the lower and the upper half, so a value costs a logarithm and not a sort.
    """
    low: list[float] = []  # negated, so that its largest is on top; holds the middle of an odd number
    high: list[float] = []
    low_sum = high_sum = 0.0
    sums = [0.0]
    for value in values:
        if not isnan(value):
            largest = -heappushpop(low, -value)
            low_sum += value - largest
            heappush(high, largest)
            high_sum += largest
            if len(high) > len(low):
                least = heappop(high)
                heappush(low, -least)
                high_sum -= least
                low_sum += least
        middle = -low[0] if len(low) > len(high) else 0.0
        sums.append(high_sum - low_sum + middle)
    return np.array(sums)


def _clarity(rows: Floats, split: int) -> float:
    """The largest distance between the two sides' medians, in widths of the earlier side."""
    early, late = rows[:, :split], rows[:, split:]
    sides = np.minimum(np.isfinite(early).sum(axis=1), np.isfinite(late).sum(axis=1))
    middle = median_rows(early)
    width = np.maximum(width_rows(early - middle[:, None], np.zeros(len(rows))), 1e-3)
    distance = np.abs(median_rows(late) - middle) / width
    return float(np.max(np.where(sides >= LEAST_SIDE, np.nan_to_num(distance), 0.0), initial=0.0))
