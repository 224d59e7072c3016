"""Shifts of series against the minutes before and a baseline from another time."""

from __future__ import annotations

import numpy as np
import pytest

from diagnosis_harness.analysis.robust import MOST_WIDTHS_STILL
from diagnosis_harness.analysis.shift import own_time_of_change, shift_of

NOTHING = np.zeros((1, 0))


def noisy(level: float, count: int, seed: int = 0) -> np.ndarray[tuple[int, int], np.dtype[np.float64]]:
    """One row around a level."""
    return level * (1.0 + 0.05 * np.random.default_rng(seed).standard_normal((1, count)))


def test_a_rise_scores_up_and_not_down() -> None:
    """The direction is compared separately."""
    shift = shift_of(noisy(1.0, 60), noisy(3.0, 10, 1), NOTHING)
    assert shift.up[0] > 20
    assert shift.down[0] == 0


def test_a_level_that_drifted_between_recordings_is_not_a_shift() -> None:
    """With many minutes before onset, a baseline of another month gives way."""
    shift = shift_of(noisy(2.0, 60), noisy(2.0, 10, 1), noisy(1.0, 500, 2))
    assert shift.up[0] < 3


def test_few_minutes_before_onset_leave_the_level_to_the_baseline() -> None:
    """Two points that the fault already touched do not become normal."""
    shift = shift_of(noisy(3.0, 2), noisy(3.0, 3, 1), noisy(1.0, 500, 2))
    assert shift.up[0] > 10


def test_normal_windows_show_what_a_series_does_by_itself() -> None:
    """A restless series reaches its own score again and again."""
    restless = np.tile([1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 9.0, 9.0, 1.0], 12)[None, :]
    shift = shift_of(restless, np.array([[9.0, 9.0, 1.0]]), NOTHING)
    assert shift.up[0] > 3
    assert (shift.null_up[0] >= shift.up[0]).mean() > 0.05


def test_an_availability_is_judged_by_what_is_missing() -> None:
    """From 99.9 to 98 is twenty times the failures, though two per cent of the level."""
    before = 99.9 + 0.02 * np.random.default_rng(0).standard_normal((1, 60))
    shift = shift_of(before, np.array([[98.0, 98.1, 97.9]]), NOTHING, zero=np.array([100.0]))
    assert shift.down[0] > 20


def test_rows_without_points_score_nothing() -> None:
    """Nothing before, or nothing after, is no finding."""
    gap = np.full((1, 5), np.nan)
    assert shift_of(gap, noisy(1.0, 5), NOTHING).up[0] == 0
    assert shift_of(noisy(1.0, 50), gap, NOTHING).up[0] == 0


def test_the_order_of_series_does_not_matter() -> None:
    """Each row is judged by itself, also across blocks."""
    rng = np.random.default_rng(3)
    before, after = rng.lognormal(size=(600, 40)), rng.lognormal(size=(600, 8))
    order = rng.permutation(600)
    nothing = np.zeros((600, 0))
    np.testing.assert_array_equal(
        shift_of(before[order], after[order], nothing).up, shift_of(before, after, nothing).up[order]
    )


@pytest.mark.parametrize(("values", "expected"), [([1, 1, 5, 5, 5], 2.0), ([1, 1, 5, 1, 1], None)])
def test_a_change_of_one_point_is_not_a_change(values: list[float], expected: float | None) -> None:
    """Two points in a row date it."""
    found = own_time_of_change(
        np.arange(5.0), np.array(values, dtype=np.float64), level=1.0, width=0.1, from_s=0.0
    )
    assert found == expected


def test_a_series_that_never_moved_says_little_of_how_unusual_a_move_is() -> None:
    """At any level: it scores no higher than a series that was at zero."""
    after = np.full((2, 10), 0.8)
    before = np.vstack([np.full(30, 0.4), np.zeros(30)])

    found = shift_of(before, after, np.zeros((2, 0)))

    assert found.up.tolist() == [MOST_WIDTHS_STILL, MOST_WIDTHS_STILL]
