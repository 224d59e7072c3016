"""Turns the buckets, sum and count of a histogram into rate, mean and quantiles."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from diagnosis_harness.analysis.arrays import Floats
from diagnosis_harness.analysis.series import clean

HISTOGRAM_QUANTILES = (0.5, 0.95, 0.99)  # the median, and the two tails that alerts use
LEAST_BUCKETS = 2  # a quantile is interpolated between two buckets

Samples = tuple[Floats, Floats]
"""Times and values of one series."""


def derive_series(
    buckets: Mapping[float, Samples], total: Samples | None, count: Samples | None
) -> Iterator[tuple[str, Samples]]:
    """Yield the series that a histogram implies between samples, each with the suffix of its name.

    Yields `per_second`; `mean` if there is a sum; `p50`, `p95` and `p99` if there are two buckets.

    Args:
        buckets: cumulative counts by upper bound.
        total: the sum of all observations.
        count: the number of observations; without it the highest bucket is used.
    """
    counter = count if count is not None else buckets[max(buckets)]
    time_s, levels = _align([counter, *([] if total is None else [total])])
    grown = _growth(levels)
    yield "per_second", (time_s[1:], grown[0] / np.diff(time_s))
    if total is not None:
        some = grown[0] > 0
        yield "mean", (time_s[1:][some], grown[1][some] / grown[0][some])
    if len(buckets) >= LEAST_BUCKETS:
        bounds = sorted(buckets)
        time_s, levels = _align([buckets[bound] for bound in bounds])
        grown = np.maximum.accumulate(_growth(levels), axis=0)
        some = grown[-1] > 0
        for quantile in HISTOGRAM_QUANTILES:
            value = quantile_of(np.array(bounds), grown[:, some], quantile)
            yield f"p{round(quantile * 100)}", (time_s[1:][some], value)


def quantile_of(bounds: Floats, counts: Floats, quantile: float) -> Floats:
    """The quantile of each column of cumulative counts, interpolated linearly within its bucket.

    Nothing is known above the last finite bound: the result is then that bound.
    """
    rank = quantile * counts[-1]
    place = (counts >= rank).argmax(axis=0)
    column = np.arange(counts.shape[1])
    below = np.where(place > 0, counts[place - 1, column], 0.0)
    low = np.where(place > 0, bounds[place - 1], np.minimum(0.0, bounds[0]))
    inside = counts[place, column] - below
    share = np.divide(rank - below, inside, out=np.zeros_like(rank), where=inside > 0)
    high = np.where(np.isfinite(bounds[place]), bounds[place], low)
    return np.asarray(low + (high - low) * share, dtype=np.float64)


def _align(series: Sequence[Samples]) -> Samples:
    """The times at which all series have a value, and their values at those times, one row per series."""
    cleaned = [clean(time_s, value) for time_s, value in series]
    finite = [(time_s[np.isfinite(value)], value[np.isfinite(value)]) for time_s, value in cleaned]
    shared = finite[0][0]
    for time_s, _ in finite[1:]:
        shared = np.intersect1d(shared, time_s, assume_unique=True)
    return shared, np.stack([value[np.searchsorted(time_s, shared)] for time_s, value in finite])


def _growth(levels: Floats) -> Floats:
    """The increase of each row from one time to the next; after a reset it grew from zero."""
    step = np.diff(levels, axis=1)
    reset = (step < 0).any(axis=0)  # all buckets belong to one program and reset together
    return np.where(reset, levels[:, 1:], step)
