"""Series made comparable."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from diagnosis_harness.analysis.series import (
    clean,
    is_cumulative,
    mean_per_step,
    on_grid,
    thin,
    to_rate,
    usual_step,
)

values = st.lists(st.floats(-1e9, 1e9) | st.just(float("nan")), max_size=200)


def test_clean_orders_times_and_keeps_the_last_of_repeats() -> None:
    """Later rows of a file win over earlier ones for the same instant."""
    time_s, value = clean(np.array([3.0, 1.0, 3.0]), np.array([1.0, 2.0, 9.0]))
    assert time_s.tolist() == [1.0, 3.0]
    assert value.tolist() == [2.0, 9.0]


def test_clean_leaves_no_infinity() -> None:
    """An infinity is a gap."""
    _, value = clean(np.array([1.0, 2.0]), np.array([np.inf, -np.inf]))
    assert np.isnan(value).all()


def test_clean_drops_times_that_are_not_numbers() -> None:
    """A row without an instant is nowhere."""
    time_s, value = clean(np.array([np.nan, 2.0]), np.array([1.0, 5.0]))
    assert (time_s.tolist(), value.tolist()) == ([2.0], [5.0])


def test_a_counter_is_recognised_across_a_reset() -> None:
    """One restart in twenty steps does not hide that values only add up."""
    counted = np.concatenate((np.arange(20.0), np.arange(20.0)))
    assert is_cumulative(counted)


def test_a_gauge_is_not_a_counter() -> None:
    """Values that go up and down are left as they are."""
    assert not is_cumulative(np.array([1.0, 3.0, 2.0, 5.0, 1.0, 4.0, 2.0, 3.0, 1.0]))


def test_rates_are_per_second_and_a_reset_counts_from_zero() -> None:
    """After a fall the value itself is what was added."""
    time_s, rate = to_rate(np.array([0.0, 10.0, 20.0]), np.array([100.0, 150.0, 20.0]))
    assert time_s.tolist() == [10.0, 20.0]
    assert rate.tolist() == [5.0, 2.0]


def test_no_step_of_a_grid_straddles_its_anchor() -> None:
    """A point just before onset and one just after never share a step."""
    time_s = np.array([995.0, 999.9, 1000.0, 1004.0])
    grid = on_grid(
        [(time_s, np.array([1.0, 1.0, 5.0, 5.0]))], start_s=990.0, end_s=1010.0, step_s=7.0, anchor_s=1000.0
    )
    late = grid.time_s > 1000.0
    assert np.nanmax(grid.value[0, ~late]) == 1.0
    assert np.nanmin(grid.value[0, late]) == 5.0


def test_points_of_one_step_are_averaged() -> None:
    """Finer series lose no more than their detail."""
    grid = on_grid(
        [(np.array([0.0, 1.0]), np.array([2.0, 4.0]))], start_s=0.0, end_s=2.0, step_s=2.0, anchor_s=0.0
    )
    assert grid.value.tolist() == [[3.0]]


def test_a_step_holds_the_mean_of_its_finite_values_and_empty_steps_are_left_out() -> None:
    """A source that is asked for coarser points invents nothing, and one NaN hides no neighbour."""
    nan = float("nan")
    time_s, value = mean_per_step(
        np.array([0.0, 9.0, 10.0, 35.0, 36.0]), np.array([1.0, 3.0, nan, 5.0, nan]), 10.0
    )
    assert time_s.tolist() == [0.0, 10.0, 30.0]
    assert value[[0, 2]].tolist() == [2.0, 5.0]
    assert np.isnan(value[1])


def test_a_grid_never_grows_beyond_its_limit() -> None:
    """A month in seconds is put on wider steps."""
    grid = on_grid(
        [(np.array([0.0, 2e6]), np.array([1.0, 2.0]))], start_s=0.0, end_s=2e6 + 1, step_s=1.0, anchor_s=0.0
    )
    assert grid.value.shape[1] <= 2_001


def test_the_usual_step_is_not_moved_by_one_gap() -> None:
    """The median distance counts."""
    assert usual_step([np.array([0.0, 10.0, 20.0, 500.0])]) == 10.0


@given(values, st.integers(1, 60))
def test_a_thinned_series_is_short_and_finite_or_none(found: list[float], most: int) -> None:
    """Plots get no NaN, and no more points than they asked for."""
    thinned = thin(np.array(found), most)
    assert len(thinned) <= most
    assert all(one is None or np.isfinite(one) for one in thinned)
