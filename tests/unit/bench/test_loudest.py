"""The entity whose metrics changed most, found without the product's analysis."""

from __future__ import annotations

import numpy as np
import pytest

from diagnosis_harness.bench.case import Loud
from diagnosis_harness.bench.loudest import loudness, rank_loud
from diagnosis_harness.toolbox.ports import Series


def series(entity: str, *values: float, signal: str = "s") -> Series:
    """A value a minute."""
    return Series(
        entity,
        signal,
        None,
        np.arange(0, 60.0 * len(values), 60.0, dtype=np.float64),
        np.array(values, dtype=np.float64),
    )


def test_the_shift_counts_in_usual_widths() -> None:
    """From around 10, give or take about 1, to 30: some thirteen widths; a series that stays is silent."""
    loud = loudness(
        [series("a", 9, 10, 11, 10, 30, 30), series("b", 5, 5, 5, 5, 5, 5)], before={}, split_s=240
    )
    assert loud["a"] == pytest.approx((20 / (1.4826 * 0.5),))
    assert loud["b"] == (0.0,)


def test_without_points_before_normal_operation_decides() -> None:
    """The incident's recording begins with the incident."""
    usual = {("a", "s"): np.array([9.0, 10.0, 11.0])}
    assert loudness([series("a", 30, 30)], before=usual, split_s=0)["a"] == pytest.approx((20 / 1.4826,))
    assert loudness([series("a", 30, 30)], before={}, split_s=0) == {}


def test_an_all_zero_series_is_no_louder_than_a_hundred_widths() -> None:
    """One error among zeroes is much, and not infinitely much."""
    assert loudness([series("a", 0, 0, 0, 0.01)], before={}, split_s=180)["a"] == pytest.approx((100.0,))


def test_gaps_are_not_a_change() -> None:
    """Missing values neither move nor widen."""
    nan = float("nan")
    assert loudness([series("a", 5, nan, 5, 5, nan, 5)], before={}, split_s=240) == {"a": (0.0,)}
    assert loudness([series("a", 5, nan, 5, 5, nan, nan)], before={}, split_s=240) == {}


def test_series_that_rest_at_zero_are_told_apart_by_the_size_of_the_move() -> None:
    """Beside others of the same signal: three hundred errors are more than three; another unit is no help."""
    zeroes = [
        series("few", 0, 0, 0, 3, signal="errors"),
        series("many", 0, 0, 0, 300, signal="errors"),
        series("bytes", 0, 0, 0, 9e9, signal="sent"),
    ]
    loud = loudness(zeroes, before={}, split_s=180)
    assert loud["few"] == pytest.approx((1.0,))
    assert loud["many"] == loud["bytes"] == pytest.approx((100.0,))


def test_a_series_with_a_scale_of_its_own_keeps_it() -> None:
    """A loud one elsewhere does not silence it."""
    both = [series("small", 9, 10, 11, 10, 30, 30), series("large", 9e6, 9e6, 9e6, 9e6, 9e6, 9e6)]
    assert loudness(both, before={}, split_s=240)["small"] == pytest.approx((20 / (1.4826 * 0.5),))


def test_equally_loud_entities_are_told_apart_by_all_their_series() -> None:
    """An instance's series count for its service."""
    loud = rank_loud({"a-1": [100.0, 3.0], "b": [100.0], "a-2": [5.0], "c": [0.0]}, {"a-1": "a", "a-2": "a"})
    assert loud == (Loud("a", 100.0, 108.0), Loud("b", 100.0, 100.0))
