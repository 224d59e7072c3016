"""What an asker states by condition: nothing shifts that was not published, and an alert is on what moved."""

from __future__ import annotations

import pytest

from diagnosis_harness.bench.case import SHIFTS, Condition, MovedSeries
from diagnosis_harness.bench.datasets.folder import PublishedAlert
from diagnosis_harness.bench.datasets.stating import Statement, find_moved, pick_window, state

ALERT = PublishedAlert(time_s=1000.0, entity="web", signal="latency")


@pytest.mark.parametrize(
    ("published", "expected"),
    [
        (Statement(alert=ALERT), (1060.0, None)),  # an alert alone: its time
        (Statement(onset_s=500.0), (None, 560.0)),  # an onset alone
        (Statement(alert=PublishedAlert(time_s=500.0), onset_s=500.0), (560.0, 560.0)),  # the same time twice
        (Statement(alert=ALERT, onset_s=500.0), (1000.0, 560.0)),  # a later alert stays where it was
        (Statement(alert=PublishedAlert(entity="web")), (None, None)),  # an alert without a time
    ],
)
def test_a_shift_moves_the_onset_or_else_the_alert(
    published: Statement, expected: tuple[float | None, float | None]
) -> None:
    """A minute late is a minute late of what was stated as the beginning."""
    statement = state(Condition.ONSET_60_LATE, published=published)
    assert (statement.alert.time_s if statement.alert else None, statement.onset_s) == expected
    assert set(SHIFTS.values()) == {-120.0, -60.0, 60.0, 120.0}


def test_a_realistic_alert_names_the_moved_series_and_no_onset() -> None:
    """Two minutes late; where nothing is known to have moved, a time alone."""
    moved = MovedSeries("web", "success_percent", "down")
    published = Statement(alert=PublishedAlert(time_s=500.0), onset_s=500.0)
    statement = state(Condition.ALERT, published=published, onset_s=500.0, moved=moved)
    assert statement == Statement(
        alert=PublishedAlert(time_s=620.0, entity="web", signal="success_percent", direction="down")
    )
    assert state(Condition.HEALTHY_ALERT, published=published, onset_s=900.0) == Statement(
        alert=PublishedAlert(time_s=1020.0)
    )


def test_the_moved_series_is_the_one_with_the_most_harm() -> None:
    """Latency that rises and success that falls; an improvement is no reason for an alert."""
    minutes = [60.0 * n for n in range(10)]
    steady = [(t, 100.0 + n % 2) for n, t in enumerate(minutes)]
    series = {
        "latency_p50": [*steady, (600.0, 130.0)],
        "latency_p99": [*steady, (600.0, 10.0)],
        "success_percent": [*steady, (600.0, 20.0)],
    }
    assert find_moved("web", series, 590.0) == MovedSeries("web", "success_percent", "down")
    better = {**series, "success_percent": [*steady, (600.0, 900.0)]}
    assert find_moved("web", better, 590.0) == MovedSeries("web", "latency_p50", "up")


def test_a_series_with_one_point_before_has_not_moved() -> None:
    """Nothing can be said of it; with two, something can."""
    after = (660.0, 9.0)
    assert find_moved("web", {"latency": [(540.0, 1.0), after]}, 600.0) is None
    assert find_moved("web", {"latency": [(480.0, 1.0), (540.0, 1.0), after]}, 600.0) is not None
    assert find_moved("web", {"latency": [(480.0, 1.0), (540.0, 1.0)]}, 600.0) is None


def test_windows_are_spread_and_have_no_pause() -> None:
    """Each incident has its own, as far as the recording goes."""
    times = [*range(0, 600, 60), *range(1200, 1800, 60)]
    windows = [pick_window(times, rank=rank, count=4, samples=5) for rank in range(4)]
    assert windows[0] == (0.0, 60.0, 120.0, 180.0, 240.0)
    assert len(set(windows)) == 4
    assert all(window is not None and window[-1] - window[0] == 240 for window in windows)
    assert pick_window(times, rank=0, count=1, samples=11) is None
    assert pick_window([], rank=0, count=1, samples=1) is None
