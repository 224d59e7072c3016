"""Confidence intervals of figures: Wilson's for shares, a seeded bootstrap for everything else."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import sqrt

import numpy as np
from numpy.typing import NDArray

Z_95 = 1.959963984540054
RESAMPLES = 2000  # the ends of the interval are then steady to about one percent of its width
SEED = 20240101  # arbitrary but fixed, so that the same outcomes give the same interval

Statistic = Callable[[NDArray[np.float64]], float]
"""A figure of some rows of numbers; rows are incidents."""


@dataclass(frozen=True, slots=True)
class Interval:
    """A figure with its 95% interval and its number of incidents."""

    share: float
    low: float
    high: float
    count: int = 0


def wilson(hits: int, count: int) -> Interval:
    """Wilson's score interval at 95% (1927). Without data it is the whole range."""
    if count == 0:
        return Interval(share=0.0, low=0.0, high=1.0)
    share, z2 = hits / count, Z_95**2
    centre = (share + z2 / (2 * count)) / (1 + z2 / count)
    half = Z_95 / (1 + z2 / count) * sqrt(share * (1 - share) / count + z2 / (4 * count**2))
    return Interval(share=share, low=max(0.0, centre - half), high=min(1.0, centre + half), count=count)


def bootstrap(rows: Sequence[Sequence[float]], statistic: Statistic) -> Interval:
    """The percentile interval of a figure, over incidents drawn again with a fixed seed."""
    values = np.asarray(rows, dtype=np.float64)
    if not len(values):
        return Interval(share=0.0, low=0.0, high=1.0)
    rng = np.random.default_rng(SEED)
    drawn = rng.integers(len(values), size=(RESAMPLES, len(values)))
    figures = [statistic(values[chosen]) for chosen in drawn]
    low, high = np.percentile(figures, [2.5, 97.5])
    return Interval(share=statistic(values), low=float(low), high=float(high), count=len(values))


def mean(rows: NDArray[np.float64]) -> float:
    """The mean of the first column."""
    return float(np.mean(rows[:, 0]))
