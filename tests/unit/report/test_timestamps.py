"""Times are short and in UTC; names from data are harmless."""

from __future__ import annotations

import pytest

from diagnosis_harness.kernel.window import TimeWindow
from diagnosis_harness.report.timestamps import display_time, escape_line, span

NOON_S = 1_704_110_400.0  # 2024-01-01T12:00:00Z


@pytest.mark.parametrize(
    ("time_s", "text"),
    [
        (NOON_S, "2024-01-01 12:00 UTC"),
        (NOON_S + 7, "2024-01-01 12:00:07 UTC"),
        (NOON_S + 0.25, "2024-01-01 12:00:00.250 UTC"),
    ],
)
def test_a_time_is_as_exact_as_it_needs_to_be(time_s: float, text: str) -> None:
    """Seconds stand only where they are not zero."""
    assert display_time(time_s) == text


def test_a_window_of_one_day_names_the_day_once() -> None:
    """The end of a window inside a day is a time of day."""
    assert span(TimeWindow(NOON_S, NOON_S + 600)) == ("2024-01-01 12:00", "12:10 UTC")


def test_a_window_over_midnight_names_both_days() -> None:
    """The end of a longer window has its own date."""
    assert span(TimeWindow(NOON_S, NOON_S + 86_400)) == ("2024-01-01 12:00", "2024-01-02 12:00 UTC")


def test_ordinary_names_are_left_alone() -> None:
    """Chinese, dots, quotes and spaces are names like any other."""
    assert escape_line('结账 "checkout-v2".api') == '结账 "checkout-v2".api'
