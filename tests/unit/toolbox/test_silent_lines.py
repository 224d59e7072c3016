"""Operations that ran and did not write the line that each of them used to write."""

from __future__ import annotations

import tracemalloc
from collections.abc import Sequence
from dataclasses import fields, replace

import numpy as np

from diagnosis_harness.analysis.log_order import OrderedLines, compare_order
from diagnosis_harness.analysis.log_patterns import SLICES, PatternShift
from diagnosis_harness.analysis.spans import SpanColumns, calls_between, self_time
from diagnosis_harness.kernel.window import TimeWindow
from diagnosis_harness.toolbox.log_view import LogPattern, LogView
from diagnosis_harness.toolbox.silent_lines import silent_line_clues
from diagnosis_harness.toolbox.span_table import SpanView

SILENT = "charge runs without its line “pay begins”"
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
        (0.0, np.nan),
    )


def _evenly(lines: int) -> list[int]:
    """The lines spread over the slices of normal operation."""
    return [lines // SLICES] * SLICES


def blame(before: Sequence[int], after: Sequence[int], *, at_once: bool = False) -> list[tuple[str, str]]:
    """Entities and regions of the findings."""
    return findings(lines(before, after, at_once=at_once), spans())


def findings(logs: LogView, view: SpanView) -> list[tuple[str, str]]:
    """The same of a given comparison."""
    return [(clue.entity, clue.region) for clue in silent_line_clues(logs, view) if clue.excess > 0]


def select_patterns(logs: LogView, places: Sequence[int]) -> LogView:
    """Only these patterns, each as often as it is named."""
    shift = logs.shift
    kept = {f.name: getattr(shift, f.name)[list(places)] for f in fields(shift)}
    return replace(logs, patterns=tuple(logs.patterns[k] for k in places), shift=replace(shift, **kept))


def test_an_operation_that_ends_before_its_first_line_is_found() -> None:
    """It runs as often as ever and writes next to nothing, and no other line shows it."""
    assert blame([40, 40, 40], [30, 2, 30]) == [("pay", SILENT)]


def test_lines_that_a_recording_lost_everywhere_blame_nothing() -> None:
    """A log file that ends early cuts the lines of all."""
    assert blame([40, 40, 40], [10, 10, 10]) == []


def test_a_line_that_never_went_with_the_operation_says_nothing_of_it() -> None:
    """Half as many lines as spans are no line for each."""
    assert blame([40, 20, 40], [30, 1, 30]) == []


def test_as_many_lines_at_other_times_are_not_those_of_the_operation() -> None:
    """The numbers agree by coincidence; the lines were all written at once."""
    assert blame([40, 40, 40], [30, 2, 30], at_once=True) == []


def test_spans_after_the_end_of_the_comparison_say_nothing() -> None:
    """An operation that is called four times as often after the end wrote all its lines until then."""
    whole = spans()
    columns, rows = whole.spans, np.arange(len(whole.spans))
    again = rows[(columns.entity == 1) & (columns.start_s >= 750.0)]
    more = np.concatenate((rows, again, again, again))
    busy = replace(
        columns, **{name: getattr(columns, name)[more] for name in ("parent", "entity", "operation")}
    )
    busy = replace(busy, start_s=columns.start_s[more], duration_s=columns.duration_s[more])
    view = replace(
        whole,
        spans=busy,
        self_s=self_time(busy),
        calls=calls_between(busy),
        fault=np.zeros(len(more), np.bool_),
        recording=np.zeros(len(more), np.int8),
    ).since(ONSET_S, 750.0)
    logs = replace(lines([40] * 3, [15] * 3), window=TimeWindow(ONSET_S, 750.0))
    assert findings(logs, view) == []
    assert findings(replace(logs, shift=lines([40] * 3, [15, 1, 15]).shift), view) == [("pay", SILENT)]


def test_spans_of_a_baseline_without_lines_say_nothing() -> None:
    """One service was traced at another time too, of which there are no lines."""
    view = spans()
    rows = np.concatenate((np.arange(len(view.spans)), np.flatnonzero(view.spans.entity == 0)))
    both = replace(
        view.spans,
        **{name: getattr(view.spans, name)[rows] for name in ("parent", "entity", "operation")},
        start_s=view.spans.start_s[rows],
        duration_s=view.spans.duration_s[rows],
    )
    cut = replace(
        view,
        spans=both,
        self_s=self_time(both),
        calls=calls_between(both),
        fault=view.fault[rows] & (np.arange(len(rows)) < len(view.spans)),
        recording=(np.arange(len(rows)) >= len(view.spans)).astype(np.int8),
    )
    assert findings(lines([40] * 3, [30] * 3), cut) == []
    assert findings(lines([40] * 3, [30, 2, 30]), cut) == [("pay", SILENT)]


def test_the_only_operation_with_such_a_line_is_found() -> None:
    """No other could lack its lines too."""
    assert findings(select_patterns(lines([40] * 3, [30, 2, 30]), [1]), spans()) == [("pay", SILENT)]


def test_an_operation_that_writes_most_of_the_lines_is_found() -> None:
    """Three lines of one operation against one of each other: operations are counted, and not lines."""
    logs = select_patterns(lines([40] * 3, [30, 0, 30]), [0, 1, 1, 1, 2])
    assert findings(logs, spans()) == [("pay", SILENT)] * 3


def test_what_one_talkative_operation_lacks_is_not_missing_everywhere() -> None:
    """Seen from the one line of another operation that stopped."""
    logs = select_patterns(lines([40] * 3, [30, 12, 0]), [0, 1, 1, 1, 2])
    assert ("quote", "price runs without its line “quote begins”") in findings(logs, spans())


def test_services_and_operations_by_the_thousand_take_the_memory_of_their_pairs() -> None:
    """1,500 services with 12,000 names of operations: a table of all of them would take 1.3 GB."""
    rng = np.random.default_rng(5)
    rows, entities, operations = 20_000, 1_500, 12_000
    columns = SpanColumns(
        np.full(rows, -1),
        rng.integers(0, entities, rows),
        rng.integers(0, operations, rows),
        np.sort(rng.uniform(0.0, END_S, rows)),
        np.full(rows, 0.1),
        None,
    )
    view = SpanView(
        ("cart", "pay", "quote", *(f"s{n}" for n in range(3, entities))),
        tuple(f"o{n}" for n in range(operations)),
        columns,
        columns.duration_s,
        calls_between(columns),
        np.zeros(rows, np.bool_),
        np.zeros(rows, np.int8),
    ).since(ONSET_S)
    tracemalloc.start()
    try:
        assert findings(lines([40] * 3, [30] * 3), view) == []
        assert tracemalloc.get_traced_memory()[1] < 20e6
    finally:
        tracemalloc.stop()
