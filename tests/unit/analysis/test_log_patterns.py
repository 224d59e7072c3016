"""How often lines are written: what is a change, and what normal operation does as well."""

from __future__ import annotations

import numpy as np
import pytest

from diagnosis_harness.analysis.arrays import Floats
from diagnosis_harness.analysis.log_patterns import (
    SLICES,
    PatternShift,
    TimedLines,
    compare_patterns,
    is_shift,
    slice_of,
)

NORMAL_S, FAULT_S = 3_600.0, 600.0


def compare(*patterns: tuple[Floats, Floats], demand: float = 1.0) -> PatternShift:
    """The comparison of patterns given by the times of their lines, normal and after the onset."""
    codes, seconds, slices = [], [], []
    for code, (before, after) in enumerate(patterns):
        codes += [np.full(len(before) + len(after), code)]
        seconds += [np.floor(before), np.floor(after)]
        slices += [slice_of(before, 0.0, NORMAL_S, 0.0), np.full(len(after), -1)]
    lines = TimedLines(
        np.concatenate(codes).astype(np.int64),
        np.concatenate(seconds).astype(np.int64),
        np.concatenate(slices).astype(np.int64),
        len(patterns),
        NORMAL_S,
        FAULT_S,
    )
    return compare_patterns(lines, np.full(len(patterns), demand))


def steady(rate: float, start_s: float, length_s: float, seed: int = 3) -> Floats:
    """Times of independent events."""
    rng = np.random.default_rng(seed)
    return np.sort(start_s + length_s * rng.random(round(rate * length_s)))


def test_new_risen_fallen_and_gone_are_found() -> None:
    """Each by its sign, with lines and what would have been usual."""
    none = np.zeros(0)
    normal = steady(0.2, 0, NORMAL_S)
    shift = compare(
        (none, steady(0.2, NORMAL_S, FAULT_S)),
        (normal, steady(1.0, NORMAL_S, FAULT_S)),
        (normal, steady(0.01, NORMAL_S, FAULT_S)),
        (normal, none),
        (normal, steady(0.2, NORMAL_S, FAULT_S)),
    )
    assert is_shift(shift).tolist() == [True, True, True, True, False]
    assert (shift.z[:2] > 0).all()
    assert (shift.z[2:4] < 0).all()
    assert shift.usual[1] == pytest.approx(120.0)
    assert (shift.before[0], shift.after[0]) == (0, 120)


def test_a_single_odd_line_is_not_a_finding() -> None:
    """Nor are two."""
    none = np.zeros(0)
    assert not is_shift(compare((none, steady(0.2, 3_600.0, 5.0)))).any()
    assert not is_shift(compare((none, np.array([3_700.0, 3_800.0])))).any()


def test_lines_of_one_second_count_as_one_event() -> None:
    """A stack of two hundred lines that is printed once is news once."""
    none = np.zeros(0)
    burst = compare((none, np.full(200, 3_700.0)))
    spread = compare((none, steady(1 / 3, NORMAL_S, FAULT_S)))
    assert not is_shift(burst).any()
    assert is_shift(spread).all()


def test_what_normal_operation_does_in_bursts_is_not_a_finding() -> None:
    """A job that writes for five minutes of every hour and happens to do so now."""
    hourly = steady(1.0, 1_000.0, 400.0)
    shift = compare((hourly, steady(0.6, NORMAL_S, FAULT_S)))
    assert not is_shift(shift).any()
    assert compare((hourly, steady(0.6, NORMAL_S, FAULT_S))).as_far.max() >= 1


def test_a_rise_that_the_load_explains_does_not_count() -> None:
    """Three times the requests bring three times the failures."""
    normal, busy = steady(0.2, 0, NORMAL_S), steady(0.6, NORMAL_S, FAULT_S)
    assert is_shift(compare((normal, busy))).all()
    assert not is_shift(compare((normal, busy), demand=3.0)).any()


def test_many_patterns_give_no_finding_by_chance() -> None:
    """Four thousand patterns of which none changed: what is found by chance is corrected for."""
    rng = np.random.default_rng(11)
    patterns = []
    for _ in range(4_000):
        rate = float(rng.choice([0.002, 0.01, 0.05]))
        before = np.sort(NORMAL_S * rng.random(rng.poisson(rate * NORMAL_S)))
        after = NORMAL_S + np.sort(FAULT_S * rng.random(rng.poisson(rate * FAULT_S)))
        patterns.append((before, after))
    assert is_shift(compare(*patterns)).sum() <= 1


def test_without_normal_operation_nothing_is_compared() -> None:
    """Lines alone are no change."""
    lines = TimedLines(np.zeros(5, np.int64), np.arange(5), np.full(5, -1), 1, 0.0, 60.0)
    shift = compare_patterns(lines, np.ones(1))
    assert not is_shift(shift).any()
    assert (shift.after[0], shift.null.shape[1]) == (5, 0)


def test_slices_are_equal_parts_of_all_normal_time() -> None:
    """Also over two recordings."""
    first = slice_of(np.array([0.0, 99.0]), 0.0, 200.0, 0.0)
    second = slice_of(np.array([5_000.0, 5_100.0]), 5_000.0, 200.0, 100.0)
    assert first.tolist() == [0, 3]
    assert second.tolist() == [4, SLICES - 1]
