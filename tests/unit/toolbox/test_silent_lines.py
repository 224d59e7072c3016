"""Operations that ran and did not write the line that each of them used to write."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from diagnosis_harness.analysis.log_order import OrderedLines, compare_order
from diagnosis_harness.analysis.log_patterns import SLICES, PatternShift
from diagnosis_harness.analysis.spans import SpanColumns, calls_between, self_time
from diagnosis_harness.kernel.window import TimeWindow
from diagnosis_harness.toolbox.log_view import LogPattern, LogView
from diagnosis_harness.toolbox.silent_lines import silent_line_clues
from diagnosis_harness.toolbox.span_table import SpanView

ONSET_S, END_S = 600.0, 900.0
NORMAL, AFTER = 40, 30


def spans() -> SpanView:
    """Three services, each with one operation, as often before the onset as `NORMAL` and after as `AFTER`."""
    start_s = np.concatenate((np.linspace(0.0, 599.0, NORMAL), np.linspace(600.0, 899.0, AFTER)))
    entity = np.repeat(np.arange(3), NORMAL + AFTER)
    rows = len(entity)
    columns = SpanColumns(np.full(rows, -1), entity, entity, np.tile(start_s, 3), np.full(rows, 0.1), None)
    view = SpanView(
        ("cart", "pay", "quote"),
        ("add", "charge", "price"),
        columns,
        self_time(columns),
        calls_between(columns),
        np.zeros(rows, np.bool_),
        np.zeros(rows, np.int8),
    )
    return view.since(ONSET_S)


def lines(before: Sequence[int], after: Sequence[int], *, at_once: bool = False) -> LogView:
    """One pattern of each service, with so many lines before and after the onset."""
    none = np.zeros(0, np.int64)
    empty = OrderedLines(none, none, none, np.zeros(0, np.bool_), 0)
    patterns = tuple(
        LogPattern(name, "INFO", f"{name} begins", f"{name} begins", False, ())
        for name in ("cart", "pay", "quote")
    )
    zero = np.zeros(len(patterns))
    counts = np.array([_evenly(number) for number in before])
    if at_once:
        counts = np.sort(np.cumsum(counts, axis=1) * (np.arange(SLICES) == SLICES - 1))
    shift = PatternShift(
        zero,
        np.array(before),
        np.array(after),
        zero,
        zero.astype(np.int64),
        np.zeros((len(patterns), 0)),
        counts,
    )
    return LogView(
        patterns,
        shift,
        compare_order(empty),
        zero,
        TimeWindow(ONSET_S, END_S),
        ONSET_S,
        sum(before),
        (0.0, np.nan),
    )


def _evenly(lines: int) -> list[int]:
    """The lines spread over the slices of normal operation."""
    return [lines // SLICES] * SLICES


def blame(before: Sequence[int], after: Sequence[int], *, at_once: bool = False) -> list[tuple[str, str]]:
    """Entities and regions of the findings."""
    return [
        (clue.entity, clue.region)
        for clue in silent_line_clues(lines(before, after, at_once=at_once), spans())
        if clue.excess > 0
    ]


def test_an_operation_that_ends_before_its_first_line_is_found() -> None:
    """It runs as often as ever and writes next to nothing, and no other line shows it."""
    assert blame([40, 40, 40], [30, 2, 30]) == [("pay", "charge before pay begins")]


def test_lines_that_a_recording_lost_everywhere_blame_nobody() -> None:
    """A log file that ends early cuts the lines of all."""
    assert blame([40, 40, 40], [10, 10, 10]) == []


def test_a_line_that_never_went_with_the_operation_says_nothing_of_it() -> None:
    """Half as many lines as spans are no line for each."""
    assert blame([40, 20, 40], [30, 1, 30]) == []


def test_as_many_lines_at_other_times_are_not_those_of_the_operation() -> None:
    """The numbers agree by coincidence; the lines were all written at once."""
    assert blame([40, 40, 40], [30, 2, 30], at_once=True) == []
