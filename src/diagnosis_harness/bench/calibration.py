"""Measures calibration of the confidence: a curve, and Brier's score compared with that of the base rate."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from diagnosis_harness.bench.interval import Interval, bootstrap, wilson
from diagnosis_harness.bench.scoring import Outcome

EDGES = (0.0, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)  # most releases are above one half, so the bins are finer there


@dataclass(frozen=True, slots=True)
class Bin:
    """Releases of about the same confidence: their mean confidence, and how many of them were right."""

    low: float
    high: float
    confidence: float
    right: Interval


@dataclass(frozen=True, slots=True)
class Calibration:
    """The curve, and the mean squared error of the confidence (Brier, 1950).

    Attributes:
        base: the same error of a constant confidence equal to the share of right releases; a useful
            confidence has a smaller error.
    """

    bins: tuple[Bin, ...]
    brier: Interval
    base: Interval


def measure_calibration(outcomes: Iterable[Outcome]) -> Calibration | None:
    """Over all releases that have a confidence and whose correctness is known; None without any."""
    pairs = [
        (outcome.confidence, float(outcome.right))
        for outcome in outcomes
        if outcome.confidence is not None and outcome.right is not None
    ]
    if not pairs:
        return None
    return Calibration(bins=tuple(_bins(pairs)), brier=bootstrap(pairs, _brier), base=bootstrap(pairs, _base))


def _bins(pairs: Sequence[tuple[float, float]]) -> Iterable[Bin]:
    for low, high in pairwise(EDGES):
        inside = [pair for pair in pairs if low <= pair[0] < high or pair[0] == high == EDGES[-1]]
        if inside:
            yield Bin(
                low=low,
                high=high,
                confidence=sum(confidence for confidence, _ in inside) / len(inside),
                right=wilson(round(sum(right for _, right in inside)), len(inside)),
            )


def _brier(rows: NDArray[np.float64]) -> float:
    return float(np.mean((rows[:, 0] - rows[:, 1]) ** 2))


def _base(rows: NDArray[np.float64]) -> float:
    share = float(np.mean(rows[:, 1]))
    return share * (1.0 - share)
