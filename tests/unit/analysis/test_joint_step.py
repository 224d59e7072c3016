"""The strongest step that several series take together."""

from __future__ import annotations

import numpy as np
import pytest

from diagnosis_harness.analysis.arrays import Floats
from diagnosis_harness.analysis.joint_step import find_joint_step

COLUMNS = 60
NOTHING: Floats = np.zeros((1, 0))
ANYWHERE = np.ones(COLUMNS, dtype=np.bool_)


def line(at: int, *, times: float = 3.0, seed: int = 0) -> Floats:
    """A series with three per cent of noise that grows at a column."""
    rng = np.random.default_rng(seed)
    return np.asarray(
        (1.0 + 0.03 * rng.standard_normal(COLUMNS)) * np.where(np.arange(COLUMNS) >= at, times, 1.0)
    )


def step_at(*rows: Floats, baseline: Floats | None = None, clear: float = 5.0) -> int | None:
    """The column of the step."""
    value = np.stack(rows)
    base = np.zeros((len(rows), 0)) if baseline is None else baseline
    found = find_joint_step(value, base, ANYWHERE, clear=clear)
    return None if found is None else found.at


@pytest.mark.parametrize("left", [2, 3, 5, 30])
def test_a_step_is_found_with_two_points_after_it(left: int) -> None:
    """An alert leaves no more."""
    assert step_at(line(COLUMNS - left)) == COLUMNS - left


@pytest.mark.parametrize("seed", range(6))
def test_a_lone_point_and_noise_are_not_a_step(seed: int) -> None:
    """Neither a spike nor a calm series."""
    calm = line(COLUMNS, seed=seed)
    spike = calm.copy()
    spike[40] = 30.0
    assert step_at(calm) is None
    assert step_at(spike) is None


def test_an_older_blip_does_not_hide_a_clean_step() -> None:
    """It is larger, of another series, and over."""
    blip = line(COLUMNS)
    blip[10:12] = 400.0
    first, second = line(50, seed=1), line(50, seed=2)
    assert step_at(blip, first, second) == 50


def test_a_series_that_was_still_counts() -> None:
    """A success rate of a hundred that falls has no width of its own."""
    success = np.where(np.arange(COLUMNS) >= 55, 54.0, 100.0)
    assert step_at(-success) == 55


def test_a_pause_is_not_a_step() -> None:
    """The two sides of it may be different days."""
    other_day = line(30)
    other_day[20:30] = np.nan
    assert step_at(other_day) is None
    one_scrape = line(30)
    one_scrape[[25, 28]] = np.nan
    assert step_at(one_scrape) == 30


def test_a_restless_baseline_makes_a_step_ordinary() -> None:
    """The recording was calm by chance."""
    rng = np.random.default_rng(3)
    restless = np.asarray(1.0 + 2.0 * rng.random((1, 400)))
    assert step_at(line(50, times=1.6)) == 50
    assert step_at(line(50, times=1.6), baseline=restless) is None


def test_falls_and_columns_that_are_not_allowed_are_not_a_step() -> None:
    """Harm is upwards."""
    assert step_at(line(50, times=0.2)) is None
    late = np.arange(COLUMNS) > 55
    assert find_joint_step(line(50)[None], NOTHING, late, clear=5.0) is None
