"""A series is one short line that shows its shape."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from diagnosis_harness.cli.render.evidence import plot
from diagnosis_harness.cli.render.sparkline import sparkline
from diagnosis_harness.kernel.json_value import JsonValue


@pytest.mark.parametrize(
    ("points", "line"),
    [
        ([0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0], "▁▂▃▄▅▆▇█"),
        ([5.0, 5.0, 5.0], "▁▁▁"),
        ([0.0, None, 7.0], "▁ █"),
        ([None, None], ""),
        ([], ""),
    ],
)
def test_blocks_span_the_least_to_the_greatest_value(points: list[float | None], line: str) -> None:
    """A level series is low, a gap is a gap, nothing is nothing."""
    assert sparkline(points, width=20) == line


def test_a_short_spike_survives_thinning() -> None:
    """One high point among a hundred is still seen in twenty columns."""
    line = sparkline([1.0] * 50 + [9.0] + [1.0] * 49, width=20)

    assert len(line) == 20
    assert line.count("█") == 1


@pytest.mark.parametrize(("mark", "line"), [(0.5, "▁▁│▁▁"), (0.0, "▁▁▁▁"), (1.5, "▁▁▁▁"), (None, "▁▁▁▁")])
def test_the_onset_is_marked_where_it_lies_inside(mark: float | None, line: str) -> None:
    """An onset outside the plot is not drawn."""
    assert sparkline([1.0] * 4, width=20, mark=mark) == line


def test_the_plot_of_an_item_marks_its_onset_in_the_course_that_it_shows() -> None:
    """The course begins before the item's window if the item says so."""
    item: dict[str, JsonValue] = {
        "signal": "cpu",
        "value": 9.0,
        "baseline": 1.0,
        "points": [1.0, 1.0, 1.0, 1.0, 9.0, 9.0, 9.0, 9.0],
        "onset": "2024-01-01T12:00:00Z",
        "window": ["2024-01-01T12:00:00Z", "2024-01-01T12:10:00Z"],
        "attributes": {"course_start": "2024-01-01T11:50:00Z"},
    }

    line = plot(item, indent=2, width=80)

    assert line is not None
    assert line.plain == "  cpu  ▁▁▁▁│████  1 → 9"


def test_an_item_without_a_series_has_no_plot() -> None:
    """Nothing is drawn for a ranking or a count."""
    assert plot({"signal": "cpu", "value": 9.0}, indent=2, width=80) is None
    assert plot({"signal": "cpu", "points": [None, None]}, indent=2, width=80) is None


@given(
    points=st.lists(st.none() | st.floats(-1e300, 1e300), min_size=1, max_size=200),
    width=st.integers(1, 40),
)
def test_a_line_is_never_wider_than_asked(points: list[float | None], width: int) -> None:
    """Whatever the series."""
    assert len(sparkline(points, width=width)) <= width
