"""Robust statistics against slow twins and under changes that must not matter."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.typing import NDArray

from diagnosis_harness.analysis.robust import (
    MOST_WIDTHS,
    MOST_WIDTHS_STILL,
    high_rows,
    median_rows,
    quantile_sorted,
    rise_rows,
    sort_rows,
    width_rows,
)

Floats = NDArray[np.float64]
rows = arrays(
    np.float64,
    st.tuples(st.integers(1, 5), st.integers(1, 30)),
    elements=st.floats(-1e6, 1e6, width=32) | st.just(float("nan")),
)


@given(rows, st.floats(0.0, 1.0))
def test_quantiles_equal_numpy_s_row_by_row(value: Floats, share: float) -> None:
    """The vectorised quantile ignores gaps as numpy does on what is left."""
    ordered, count = sort_rows(value)
    found = quantile_sorted(ordered, count, share)
    for place, row in enumerate(value):
        finite = row[np.isfinite(row)]
        if len(finite) == 0:
            assert np.isnan(found[place])
        else:
            np.testing.assert_allclose(found[place], np.quantile(finite, share), rtol=1e-9, atol=1e-6)


@given(rows)
def test_width_equals_its_definition_row_by_row(value: Floats) -> None:
    """The largest of quartile range, median distance, a fifth of the deviation, and 2% of the level."""
    level = median_rows(value)
    found = width_rows(value, level)
    for place, row in enumerate(value):
        finite = row[np.isfinite(row)]
        if len(finite) == 0:
            assert np.isnan(found[place])
            continue
        middle = float(np.median(finite))
        expected = max(
            float(np.quantile(finite, 0.75) - np.quantile(finite, 0.25)) / 1.349,
            1.4826 * float(np.median(np.abs(finite - middle))),
            0.2 * float(finite.std()),
            0.02 * abs(middle),
        )
        np.testing.assert_allclose(found[place], expected, rtol=1e-6, atol=1e-6)


@given(rows, st.sampled_from([1e-6, 0.001, 1024.0, 1e9]))
def test_scores_do_not_depend_on_the_unit(value: Floats, factor: float) -> None:
    """Memory in bytes scores as memory in megabytes does."""
    half = max(1, value.shape[1] // 2)

    def score(finite: Floats) -> Floats:
        level = median_rows(finite[:, :half])
        return rise_rows(finite[:, half:], level, width_rows(finite[:, :half], level))

    np.testing.assert_allclose(score(value * factor), score(value), rtol=1e-6, atol=1e-9)


@given(rows, st.integers(0, 10_000))
def test_the_order_of_points_inside_a_window_does_not_matter(value: Floats, seed: int) -> None:
    """Levels and widths are of sets of points."""
    shuffled = value[:, np.random.default_rng(seed).permutation(value.shape[1])]
    np.testing.assert_array_equal(median_rows(shuffled), median_rows(value))
    np.testing.assert_allclose(
        width_rows(shuffled, median_rows(value)), width_rows(value, median_rows(value)), rtol=1e-9
    )


@given(rows)
def test_scores_are_finite_and_bounded(value: Floats) -> None:
    """Whatever comes in, no NaN and no infinity come out."""
    level = median_rows(value)
    score = rise_rows(value, level, width_rows(value, level))
    assert np.isfinite(score).all()
    assert ((score >= 0) & (score <= MOST_WIDTHS)).all()


def test_one_spike_carries_no_score() -> None:
    """A maximum would reward it; what two points reach does not."""
    after = np.array([[1.0, 1.0, 99.0, 1.0]])
    assert high_rows(after).tolist() == [1.0]


def test_a_single_point_is_all_there_is() -> None:
    """With one point after onset it has to do."""
    assert high_rows(np.array([[np.nan, 7.0]])).tolist() == [7.0]


def test_a_series_that_never_moved_says_only_so_much() -> None:
    """Zero width is no reason for an infinite score."""
    score = rise_rows(np.array([[5.0, 5.0]]), np.array([1.0]), np.array([0.0]))
    assert score.tolist() == [MOST_WIDTHS_STILL]
