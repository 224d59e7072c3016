"""Groups of spans, normal operation against the fault window, and how far they stray by themselves."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from diagnosis_harness.analysis.arrays import Flags, Floats, Ints
from diagnosis_harness.analysis.spans import (
    Calls,
    GroupShift,
    ShareShift,
    SpanColumns,
    group_shift,
    share_shift,
)

NULL_SLICES = 8  # stretches of normal operation, each compared with the rest


@dataclass(frozen=True, slots=True)
class TimeGroups:
    """Groups by entity and operation; for calls `peer` is the caller, else -1.

    `null` is the largest z of each slice of normal operation; empty where there is too little of it.
    """

    entity: Ints
    peer: Ints
    operation: Ints
    shift: GroupShift
    null: Floats


@dataclass(frozen=True, slots=True)
class ShareGroups:
    """Shares of spans: failing ones of an operation, or parents that make a certain call.

    `entity` and `operation` are the span's (for calls the parent's), `child_entity`, `child_operation` what
    is called,
    -1 for failures. `null` as for `TimeGroups`, of the absolute z.
    """

    entity: Ints
    operation: Ints
    child_entity: Ints
    child_operation: Ints
    shift: ShareShift
    null: Floats


def self_time_groups(
    spans: SpanColumns, self_s: Floats, fault: Flags, recording: NDArray[np.int8]
) -> TimeGroups:
    """Time of one's own, by entity and operation."""
    group, first = _codes(spans.entity, spans.operation)
    slices = _slices(spans.start_s, fault, recording)
    shift, null = _time_shift(group, self_s, fault, slices=slices, groups=len(first))
    return TimeGroups(spans.entity[first], np.full(len(first), -1), spans.operation[first], shift, null)


def call_gap_groups(
    spans: SpanColumns, calls: Calls, fault: Flags, recording: NDArray[np.int8]
) -> TimeGroups:
    """Time between the two ends of a call, by caller, callee and operation."""
    callee, caller = spans.entity[calls.callee_row], spans.entity[calls.caller_row]
    operation = spans.operation[calls.callee_row]
    group, first = _codes(callee, caller, operation)
    late = fault[calls.callee_row]
    slices = _slices(spans.start_s[calls.callee_row], late, recording[calls.callee_row])
    shift, null = _time_shift(group, calls.gap_s, late, slices=slices, groups=len(first))
    return TimeGroups(callee[first], caller[first], operation[first], shift, null)


def failure_groups(spans: SpanColumns, fault: Flags, recording: NDArray[np.int8]) -> ShareGroups | None:
    """Share of spans that fail although none of their children does, by entity and operation.

    None where the source does not say which spans failed.
    """
    if spans.error is None or len(spans) == 0:
        return None
    group, first = _codes(spans.entity, spans.operation)
    own = spans.error & ~_has_failing_child(spans, spans.error)
    shift, null = _share_of(
        own, group, fault, slices=_slices(spans.start_s, fault, recording), groups=len(first)
    )
    none = np.full(len(first), -1)
    return ShareGroups(spans.entity[first], spans.operation[first], none, none, shift, null)


def any_failure_groups(spans: SpanColumns, fault: Flags, recording: NDArray[np.int8]) -> ShareGroups | None:
    """Share of spans that fail, whoever below them is to blame, by entity and operation."""
    if spans.error is None or len(spans) == 0:
        return None
    group, first = _codes(spans.entity, spans.operation)
    slices = _slices(spans.start_s, fault, recording)
    shift, null = _share_of(spans.error, group, fault, slices=slices, groups=len(first))
    none = np.full(len(first), -1)
    return ShareGroups(spans.entity[first], spans.operation[first], none, none, shift, null)


def call_failure_groups(
    spans: SpanColumns, calls: Calls, fault: Flags, recording: NDArray[np.int8]
) -> ShareGroups | None:
    """Share of calls that fail for the caller although the callee's span did not (time-outs, lost answers).

    By caller, callee and operation; `child_entity` is the callee. None where the source does not say which
    failed.
    """
    if spans.error is None or len(calls.callee_row) == 0:
        return None
    callee, caller = spans.entity[calls.callee_row], spans.entity[calls.caller_row]
    operation = spans.operation[calls.callee_row]
    group, first = _codes(caller, callee, operation)
    lost = spans.error[calls.caller_row] & ~spans.error[calls.callee_row]
    late = fault[calls.callee_row]
    slices = _slices(spans.start_s[calls.callee_row], late, recording[calls.callee_row])
    shift, null = _share_of(lost, group, late, slices=slices, groups=len(first))
    return ShareGroups(caller[first], operation[first], callee[first], operation[first], shift, null)


def call_pattern_groups(spans: SpanColumns, fault: Flags, recording: NDArray[np.int8]) -> ShareGroups | None:
    """Share of an operation's spans that have a certain child; None without any child.

    An early return or an exception shows as a call that is no longer made: the cheap form of the event
    patterns that Yu et al. (ESEC/FSE 2023) compare. Spans whose trace is cut off at the edge of a recording
    look the same, which the null learns.
    """
    child = np.flatnonzero(spans.parent >= 0)
    if len(child) == 0:
        return None
    kind, _ = _codes(spans.entity, spans.operation)
    kinds = int(kind.max()) + 1
    sound = np.ones(len(spans), dtype=np.bool_)
    if spans.error is not None:  # whoever stops because a callee failed is its victim
        sound = ~_has_failing_child(spans, spans.error)
    parent = spans.parent[child]
    _, once = np.unique(parent * kinds + kind[child], return_index=True)  # a child kind counts once a parent
    parent, child = parent[once], child[once]
    pair, first = _codes(kind[parent], kind[child])
    of_parent = kind[parent][first]
    slices = _slices(spans.start_s, fault, recording)

    def compare(late: Flags, normal: Flags) -> ShareShift:
        def calls_of(rows: Flags) -> Ints:
            return np.bincount(pair[(rows & sound)[parent]], minlength=len(first)).astype(np.int64)

        def spans_of(rows: Flags) -> Ints:
            return np.bincount(kind[rows & sound], minlength=kinds).astype(np.int64)[of_parent]

        return share_shift(calls_of(normal), spans_of(normal), calls_of(late), spans_of(late))

    shift, null = _with_null(compare, fault, slices)
    return ShareGroups(
        spans.entity[parent][first],
        spans.operation[parent][first],
        spans.entity[child][first],
        spans.operation[child][first],
        shift,
        null,
    )


def _time_shift(
    group: Ints, duration_s: Floats, fault: Flags, *, slices: Ints, groups: int
) -> tuple[GroupShift, Floats]:
    shift = group_shift(group, duration_s, fault, groups, baseline=slices >= 0)
    null = [
        float(
            group_shift(
                group, duration_s, slices == k, groups, baseline=(slices >= 0) & (slices != k)
            ).z.max()
        )
        for k in range(int(slices.max()) + 1 if len(slices) and groups else 0)
    ]
    return shift, np.array(null)


def _has_failing_child(spans: SpanColumns, error: Flags) -> Flags:
    failing = np.flatnonzero((spans.parent >= 0) & error)
    found = np.zeros(len(spans), dtype=np.bool_)
    found[spans.parent[failing]] = True
    return found


def _share_of(
    hit: Flags, group: Ints, fault: Flags, *, slices: Ints, groups: int
) -> tuple[ShareShift, Floats]:
    def compare(late: Flags, normal: Flags) -> ShareShift:
        def count(rows: Flags) -> Ints:
            return np.bincount(group[rows], minlength=groups).astype(np.int64)

        return share_shift(count(normal & hit), count(normal), count(late & hit), count(late))

    return _with_null(compare, fault, slices)


def _with_null(
    compare: Callable[[Flags, Flags], ShareShift], fault: Flags, slices: Ints
) -> tuple[ShareShift, Floats]:
    shift = compare(fault, slices >= 0)
    null = [
        float(np.abs(compare(slices == k, (slices >= 0) & (slices != k)).z).max())
        for k in range(int(slices.max()) + 1 if len(slices) else 0)
    ]
    return shift, np.array(null)


def _slices(start_s: Floats, fault: Flags, recording: NDArray[np.int8]) -> Ints:
    """The slice of each normal row, by time within its recording, -1 for rows of the fault window."""
    slices = np.full(len(start_s), -1, dtype=np.int64)
    normal = np.flatnonzero(~fault)
    order = normal[np.lexsort((start_s[normal], recording[normal]))]
    slices[order] = np.arange(len(order)) * NULL_SLICES // max(len(order), 1)
    return slices


def _codes(*columns: Ints) -> tuple[Ints, Ints]:
    """Dense codes of the distinct combinations, and the first row of each."""
    if len(columns[0]) == 0:
        return np.zeros(0, np.int64), np.zeros(0, np.int64)
    code = np.zeros(len(columns[0]), dtype=np.int64)
    for column in columns:
        code = code * (int(column.max()) + 1) + column
    _, first, dense = np.unique(code, return_index=True, return_inverse=True)
    return dense.astype(np.int64), first.astype(np.int64)
