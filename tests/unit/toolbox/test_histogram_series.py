"""Series of a histogram become its rate, its mean and its quantiles."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from diagnosis_harness.analysis.histogram import HISTOGRAM_QUANTILES, quantile_of
from diagnosis_harness.toolbox.histogram_series import read_histograms_of
from diagnosis_harness.toolbox.ports import Series

BOUNDS_S = (0.1, 0.5, 1.0, 5.0, np.inf)
TIME_S = np.arange(0.0, 600.0, 30.0)
Values = NDArray[np.float64]


def _histogram(
    durations: list[Values], *, style: str = "{{le={bound}}}", reset_at: int | None = None
) -> list[Series]:
    """What a program counts that serves `durations[i]` before the i-th sample."""

    def total(gains: list[float]) -> Values:
        levels = np.cumsum(gains)
        if reset_at is not None:
            levels[reset_at:] -= levels[reset_at - 1]
        return levels

    def one(signal: str, gains: list[float], unit: str | None = None) -> Series:
        return Series("shop", signal, unit, TIME_S, total(gains))

    name = "http_request_duration_seconds"
    series = [
        one(
            f"{name}_bucket" + style.format(bound=f"{bound:g}"),
            [float((d <= bound).sum()) for d in durations],
        )
        for bound in BOUNDS_S
    ]
    series.append(one(f"{name}_sum", [float(d.sum()) for d in durations], "s"))
    series.append(one(f"{name}_count", [float(len(d)) for d in durations]))
    return series


def _durations(scale: float) -> list[Values]:
    rng = np.random.default_rng(7)
    return [rng.uniform(0.0, scale, 300) for _ in TIME_S]


@pytest.mark.parametrize("style", ["{{le={bound}}}", "_le_{bound}"])
@pytest.mark.parametrize("reset_at", [None, 9])
def test_a_triple_becomes_rate_mean_and_quantiles(style: str, reset_at: int | None) -> None:
    """In both styles of naming buckets, and across a reset."""
    derived = {
        one.signal: one
        for one in read_histograms_of(_histogram(_durations(1.0), style=style, reset_at=reset_at))
    }
    name = "http_request_duration_seconds"
    assert sorted(derived) == [f"{name}_{end}" for end in ("mean", "p50", "p95", "p99", "per_second")]
    assert derived[f"{name}_per_second"].value == pytest.approx(10.0)
    assert derived[f"{name}_mean"].value == pytest.approx(0.5, abs=0.06)
    assert derived[f"{name}_p50"].value == pytest.approx(0.5, abs=0.1)
    assert derived[f"{name}_p95"].value == pytest.approx(0.95, abs=0.05)
    assert {one.unit for one in derived.values()} == {"s", "1/s"}


def test_the_quantiles_follow_the_durations() -> None:
    """Four times as slow is about four times the quantile."""
    slow = {one.signal: one for one in read_histograms_of(_histogram(_durations(4.0)))}
    assert np.median(slow["http_request_duration_seconds_p50"].value) == pytest.approx(2.3, abs=0.7)


def test_other_labels_stay_in_the_name() -> None:
    """Two routes are two histograms."""
    series = [
        Series(
            "shop", f"wait_seconds_{part}{{route={route}}}", None, TIME_S, np.cumsum(np.full(len(TIME_S), n))
        )
        for route in ("a", "b")
        for part, n in (("sum", 3.0), ("count", 6.0))
    ]
    derived = {one.signal: one for one in read_histograms_of(series)}
    assert set(derived) == {
        f"wait_seconds_{end}{{route={r}}}" for end in ("mean", "per_second") for r in "ab"
    }
    assert derived["wait_seconds_mean{route=a}"].value == pytest.approx(0.5)


def test_what_is_not_a_histogram_is_left_alone() -> None:
    """A sum and a count for each minute do not add up; a lone count has nothing to be divided by."""
    level = 5 + np.sin(TIME_S)
    series = [
        Series("shop", "errors_sum", None, TIME_S, level),
        Series("shop", "errors_count", None, TIME_S, level),
        Series("shop", "logins_count", None, TIME_S, np.cumsum(level)),
    ]
    assert {one.signal for one in read_histograms_of(series)} == {one.signal for one in series}


def test_a_quantile_beyond_the_last_bound_is_that_bound() -> None:
    """Nothing is known of what lies above it."""
    counts = np.array([[1.0], [2.0], [100.0]])
    bounds = np.array([0.1, 1.0, np.inf])
    assert [float(quantile_of(bounds, counts, q)[0]) for q in HISTOGRAM_QUANTILES] == [1.0, 1.0, 1.0]
    assert float(quantile_of(bounds, counts, 0.01)[0]) == pytest.approx(0.1)
