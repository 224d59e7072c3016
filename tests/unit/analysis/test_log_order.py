"""Which line follows which, and when that is broken."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from diagnosis_harness.analysis.log_order import NO_NEXT, BrokenOrder, OrderedLines, compare_order
from diagnosis_harness.analysis.log_patterns import SLICES

START, CHECK, SAVE, DONE, ODD = range(5)


def compare(normal: Sequence[Sequence[int]], late: Sequence[Sequence[int]], cut: int = 0) -> BrokenOrder:
    """The comparison of requests given by the lines that each writes; the last `cut` may go on."""
    pattern: list[int] = []
    context: list[int] = []
    part: list[int] = []
    ends: list[bool] = []
    for number, lines in enumerate((*normal, *late)):
        pattern += lines
        context += [number] * len(lines)
        part += [number * SLICES // len(normal) if number < len(normal) else -1] * len(lines)
        ends += [number >= len(normal) + len(late) - cut] * len(lines)
    mixed = np.random.default_rng(2).permutation(len(set(context)))  # requests run side by side
    order = np.argsort(mixed[np.array(context)] // 4, kind="stable")
    return compare_order(
        OrderedLines(
            np.array(pattern)[order],
            np.array(context)[order],
            np.array(part)[order],
            np.array(ends, dtype=np.bool_)[order],
            5,
        )
    )


GOOD = [[START, CHECK, SAVE, DONE]] * 80


def test_an_early_return_names_the_place_where_it_happens() -> None:
    """After the check nothing is saved any more; no error is logged."""
    found = compare(GOOD, [[START, CHECK]] * 20)
    assert found.first.tolist() == [CHECK]
    assert (found.then[0], found.instead[0]) == (SAVE, NO_NEXT)
    assert (found.before[0], found.after[0]) == (1.0, 0.0)
    assert found.z[0] > 8


def test_another_line_in_its_place_is_named() -> None:
    """An exception is logged in place of the usual line."""
    found = compare(GOOD, [[START, CHECK, ODD]] * 12 + [[START, CHECK, SAVE, DONE]] * 8)
    assert (found.first[0], found.then[0], found.instead[0]) == (CHECK, SAVE, ODD)


def test_the_other_one_of_two_usual_branches_is_not_a_break() -> None:
    """Requests of another kind take the way that such requests take."""
    normal = [[START, SAVE], [START, CHECK]] * 40
    assert len(compare(normal, [[START, CHECK]] * 12 + [[START, SAVE]] * 4).first) == 0


def test_lines_that_are_lost_everywhere_break_nothing() -> None:
    """A recording that loses the rest of each request says nothing of any of them."""
    lost = [list(GOOD[0][: at + 1]) for at in range(4)] * 10
    assert len(compare(GOOD, lost).first) == 0
    assert len(compare(GOOD, [list(GOOD[0][:2])] * 20 + [list(GOOD[0])] * 20).first) == 1


def test_requests_that_may_go_on_behind_the_end_are_left_out() -> None:
    """They end there because the recording does."""
    assert len(compare(GOOD, [[START, CHECK]] * 20, cut=20).first) == 0


def test_normal_operation_says_how_far_it_strays() -> None:
    """One value for each slice of it; none without lines after the onset."""
    assert len(compare(GOOD, [[START, CHECK]] * 20).null) == SLICES
    assert len(compare(GOOD, []).null) == 0
