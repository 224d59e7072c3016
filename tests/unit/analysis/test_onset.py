"""When it began."""

from __future__ import annotations

import numpy as np
import pytest

from diagnosis_harness.analysis.arrays import Floats
from diagnosis_harness.analysis.onset import EarlierStep, estimate_onset, find_earlier_step
from diagnosis_harness.analysis.robust import width_rows

TIME_S = np.linspace(1_000_000.0, 1_003_570.0, 120)


def step_at(at: int, seed: int = 0) -> np.ndarray[tuple[int, int], np.dtype[np.float64]]:
    """An indicator that doubles at a column."""
    rng = np.random.default_rng(seed)
    return ((1.0 + 0.03 * rng.standard_normal(120)) * np.where(np.arange(120) >= at, 2.0, 1.0))[None, :]


@pytest.mark.parametrize("seed", range(10))
def test_a_step_is_found_within_one_point(seed: int) -> None:
    """Without anything stated the indicator decides."""
    found = estimate_onset(TIME_S, step_at(80, seed), stated_s=None)
    assert found is not None
    assert abs(found.time_s - TIME_S[80]) <= 30.0


def test_a_late_alert_is_moved_to_where_it_began() -> None:
    """Faulty minutes must not count as normal."""
    found = estimate_onset(TIME_S, step_at(80), stated_s=float(TIME_S[90]))
    assert found is not None
    assert found.moved
    assert abs(found.time_s - TIME_S[80]) <= 30.0


def test_a_stated_onset_without_a_clear_change_is_kept() -> None:
    """Noise moves nothing."""
    found = estimate_onset(TIME_S, step_at(999), stated_s=float(TIME_S[90]))
    assert found is not None
    assert (found.time_s, found.estimated_s, found.moved) == (TIME_S[90], None, False)


def test_nothing_stated_and_nothing_clear_is_not_an_onset() -> None:
    """There is no default."""
    assert estimate_onset(TIME_S, step_at(999), stated_s=None) is None


def test_a_change_far_from_what_was_stated_is_not_taken() -> None:
    """Half an hour earlier something else may have happened."""
    found = estimate_onset(TIME_S, step_at(40), stated_s=float(TIME_S[110]))
    assert found is not None
    assert found.time_s == TIME_S[110]


def test_an_onset_after_the_alert_is_not_believed() -> None:
    """An alert fires after what it alerts to."""
    alert_s = float(TIME_S[80])
    found = estimate_onset(TIME_S, step_at(90), stated_s=alert_s, latest_s=alert_s)
    assert found is not None
    assert found.time_s <= alert_s


def test_gaps_and_constant_rows_do_no_harm() -> None:
    """Indicators without data or variation are passed over."""
    rows = np.concatenate((step_at(80), np.full((1, 120), np.nan), np.ones((1, 120))))
    found = estimate_onset(TIME_S, rows, stated_s=None)
    assert found is not None
    assert abs(found.time_s - TIME_S[80]) <= 30.0


def test_too_few_points_keep_what_was_stated() -> None:
    """Five rows cannot be split."""
    found = estimate_onset(TIME_S[:5], step_at(2)[:, :5], stated_s=float(TIME_S[2]))
    assert found is not None
    assert (found.time_s, found.moved) == (TIME_S[2], False)


def deviation(rows: Floats) -> float:
    """The sum of the distances of all points from the median of their row."""
    present = [row[np.isfinite(row)] for row in rows]
    return float(sum(np.abs(row - np.median(row)).sum() for row in present if len(row)))


@pytest.mark.parametrize("seed", range(40))
def test_the_split_that_explains_most_deviation_is_found(seed: int) -> None:
    """As the definition says, with gaps, equal values and several indicators."""
    rng = np.random.default_rng(seed)
    rows = rng.standard_normal((int(rng.integers(1, 5)), 120)).cumsum(axis=1)
    rows = np.round(rows, int(rng.integers(0, 3)))
    rows[:, int(rng.integers(20, 100)) :] += 200.0
    rows[rng.random(rows.shape) < 0.1] = np.nan
    seen = np.isfinite(rows).any(axis=0)
    times, present = TIME_S[seen], rows[:, seen]
    middle = np.nanmedian(present, axis=1)[:, None]
    scaled = (present - middle) / width_rows(present - middle, np.zeros(len(present)))[:, None]
    left = [deviation(scaled[:, :at]) + deviation(scaled[:, at:]) for at in range(3, len(times) - 2)]

    found = estimate_onset(TIME_S, rows, stated_s=None)

    assert found is not None
    assert found.time_s == times[3 + int(np.argmin(left))]


@pytest.mark.parametrize(
    ("course", "expected"),
    [
        ([(30, 0.1), (60, 1.0)], 30.0),  # moved before the onset and stayed
        ([(30, 0.1), (5, 1.0), (55, 0.1)], None),  # moved and came back
        ([(90, 0.1)], None),  # never moved
        ([(60, 0.1), (30, 1.0)], None),  # moved at the onset
    ],
)
def test_what_moved_before_an_onset_and_stayed_had_begun(
    course: list[tuple[int, float]], expected: float | None
) -> None:
    """Around the onset it looks calm; only a move that lasted until then counts."""
    noise = np.tile([0.0, 0.004, -0.003], 40)[:90]
    value = np.concatenate([np.full(length, level) for length, level in course]) + noise

    found = find_earlier_step(np.arange(90.0), value, onset_s=60.0)

    assert found == (None if expected is None else EarlierStep(expected, is_clear=True))


@pytest.mark.parametrize("seed", range(40))
def test_noise_and_a_short_beginning_show_no_clear_step(seed: int) -> None:
    """A few first points lie close together by chance, and a step after them may be none."""
    rng = np.random.default_rng(seed)
    noise = np.abs(rng.normal(0.002, 0.001, 330))
    short = np.concatenate([np.full(5, 0.1), np.full(85, 1.0)]) + rng.normal(0.0, 0.004, 90)

    of_noise = find_earlier_step(np.arange(330.0), noise, onset_s=300.0)
    of_short = find_earlier_step(np.arange(90.0), short, onset_s=60.0)

    assert of_noise is None or not of_noise.is_clear
    assert of_short == EarlierStep(5.0, is_clear=False)
