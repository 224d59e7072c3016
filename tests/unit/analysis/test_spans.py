"""Self time, calls, group and share comparisons, against slow twins."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from diagnosis_harness.analysis.arrays import Flags, Floats
from diagnosis_harness.analysis.spans import (
    GroupShift,
    SpanColumns,
    calls_between,
    log_ms,
    moments_of,
    self_time,
    share_shift,
    shift_between,
)


def columns(rows: list[tuple[int, int, int, float, float]]) -> SpanColumns:
    """Spans from (parent, entity, operation, start, duration)."""
    parent, entity, operation, start, duration = zip(*rows, strict=True)
    return SpanColumns(
        np.array(parent, dtype=np.int64),
        np.array(entity, dtype=np.int64),
        np.array(operation, dtype=np.int64),
        np.array(start, dtype=np.float64),
        np.array(duration, dtype=np.float64),
        None,
    )


@st.composite
def trees(draw: st.DrawFn) -> SpanColumns:
    """Random forests of one entity: children may overlap and reach beyond their parent."""
    count = draw(st.integers(1, 25))
    rows = []
    for place in range(count):
        parent = draw(st.integers(-1, place - 1))
        start, duration = draw(st.integers(0, 50)), draw(st.integers(0, 30))
        rows.append((parent, 0, 0, float(start), float(duration)))
    return columns(rows)


def slow_self_time(spans: SpanColumns, row: int) -> float:
    """The twin: second by second."""
    begin, end = int(spans.start_s[row]), int(spans.start_s[row] + spans.duration_s[row])
    children = np.flatnonzero(spans.parent == row)
    covered = {
        second
        for child in children
        for second in range(int(spans.start_s[child]), int(spans.start_s[child] + spans.duration_s[child]))
    }
    return float(sum(second not in covered for second in range(begin, end)))


@given(trees())
def test_self_time_is_what_no_child_covers(spans: SpanColumns) -> None:
    """The vectorised union of overlapping children equals counting seconds."""
    expected = [slow_self_time(spans, row) for row in range(len(spans))]
    np.testing.assert_allclose(self_time(spans), expected, atol=1e-6)


def test_a_foreign_clock_does_not_make_self_time() -> None:
    """A callee's span that seems to start before its caller's is moved inside."""
    spans = columns([(-1, 0, 0, 100.0, 10.0), (0, 1, 1, 93.0, 8.0)])
    assert self_time(spans)[0] == pytest.approx(2.0)


def test_the_gap_of_a_call_is_what_the_callee_does_not_account_for() -> None:
    """Client span inside the caller, server span of the callee: durations only are compared."""
    spans = columns([(-1, 0, 0, 0.0, 10.0), (0, 0, 1, 1.0, 6.0), (1, 1, 2, 999.0, 4.0)])
    calls = calls_between(spans)
    assert calls.caller_row.tolist() == [1]
    assert calls.gap_s.tolist() == [2.0]


def test_a_server_span_with_one_call_is_not_a_client_span() -> None:
    """Its own work must not pass for time on the way."""
    spans = columns([(-1, 0, 0, 0.0, 10.0), (0, 1, 2, 1.0, 4.0)])
    assert len(calls_between(spans).gap_s) == 0


def test_a_root_client_span_is_known_by_its_operation() -> None:
    """The same operation on both sides is one call seen twice."""
    spans = columns([(-1, 0, 2, 0.0, 10.0), (0, 1, 2, 1.0, 4.0)])
    assert calls_between(spans).gap_s.tolist() == [6.0]


def _shift_of_one_group(duration_s: Floats, fault: Flags) -> GroupShift:
    """The shift of the `fault` rows against all others, all in one group."""
    part = np.where(fault, 1, 0)
    moments = moments_of(np.zeros(len(part), dtype=np.int64), log_ms(duration_s), part, groups=1, parts=2)
    return shift_between(moments, normal=(0,), late=(1,))


def test_shift_between_equals_its_formula() -> None:
    """One group, computed by hand."""
    rng = np.random.default_rng(0)
    duration = np.concatenate((rng.lognormal(-3, 0.5, 50), rng.lognormal(-1, 0.5, 10)))
    fault = np.arange(60) >= 50
    found = _shift_of_one_group(duration, fault)
    value = np.log1p(1000.0 * duration)
    sd = max(float(value[~fault].std()), 0.2)
    z = (value[fault].mean() - value[~fault].mean()) / np.sqrt(sd**2 / 10 + sd**2 / 30 + 0.03)
    assert found.z[0] == pytest.approx(z)
    assert (found.baseline_count[0], found.fault_count[0]) == (50, 10)


@given(st.data())
def test_moments_of_parts_equal_those_of_their_rows(data: st.DataObject) -> None:
    """Whichever parts are put together, and however far from zero the values lie."""
    rows = data.draw(st.integers(1, 30))
    group = np.array(data.draw(st.lists(st.integers(0, 3), min_size=rows, max_size=rows)), dtype=np.int32)
    part = np.array(data.draw(st.lists(st.integers(0, 2), min_size=rows, max_size=rows)), dtype=np.int8)
    value = 1e6 + np.array(
        data.draw(st.lists(st.floats(-5.0, 5.0, width=32), min_size=rows, max_size=rows)), dtype=np.float64
    )
    parts = sorted(data.draw(st.sets(st.integers(0, 2), min_size=1)))

    count, mean, deviation = moments_of(group, value, part, groups=4, parts=3).of(parts)

    for each in range(4):
        mine = value[(group == each) & np.isin(part, parts)]
        assert count[each] == len(mine)
        if len(mine):
            assert mean[each] == pytest.approx(mine.mean(), abs=1e-6)
            assert deviation[each] == pytest.approx(mine.std(), abs=1e-6)


def test_two_spans_are_not_a_group() -> None:
    """Below three on either side nothing is said."""
    duration = np.array([0.01] * 20 + [9.0, 9.0])
    found = _shift_of_one_group(duration, np.arange(22) >= 20)
    assert found.z.tolist() == [0.0]


def test_one_odd_span_is_not_a_failing_share() -> None:
    """Of five spans one failed: under three."""
    found = share_shift(np.array([0]), np.array([100]), np.array([1]), np.array([5]))
    assert 0 < found.z[0] < 3


def test_a_failing_third_is_a_finding() -> None:
    """Thirty of ninety, where none failed before."""
    found = share_shift(np.array([0]), np.array([300]), np.array([30]), np.array([90]))
    assert found.z[0] > 5
    assert (found.baseline[0], found.fault[0]) == (0.0, pytest.approx(1 / 3))
