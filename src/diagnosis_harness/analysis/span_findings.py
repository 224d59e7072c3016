"""Compares groups of spans in normal operation and the fault window, and how far they vary by themselves."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from diagnosis_harness.analysis.arrays import Codes, Flags, Floats, Ints
from diagnosis_harness.analysis.spans import (
    Calls,
    GroupShift,
    ShareShift,
    SpanColumns,
    calls_between,
    log_ms,
    moments_of,
    share_shift,
    shift_between,
)

NULL_SLICES = 8  # slices of normal operation, each compared with the rest
_LATE = NULL_SLICES
"""The part of the rows from the onset on, after the slices of normal operation."""
_LEFT_OUT = NULL_SLICES + 1
"""The part of the rows after the end of the comparison: neither normal nor fault."""
_PARTS = NULL_SLICES + 2  # the slices, the fault, and what is left out
AFTER_END = 2
"""The recording number of incident rows after the end of the comparison."""
_TABLE_SHARE = 4
"""Table entries per row up to which a table of all possible codes is smaller and faster than sorting."""


@dataclass(frozen=True, slots=True)
class TimeGroups:
    """Groups by entity and operation; for calls `peer` is the caller, else -1.

    `null` is the largest z of each slice of normal operation; empty if there is too little of it.
    """

    entity: Codes
    peer: Codes
    operation: Codes
    shift: GroupShift
    null: Floats


@dataclass(frozen=True, slots=True)
class ShareGroups:
    """Shares of spans: failing ones of an operation, or parents that make a certain call.

    `entity` and `operation` are the span's (for calls the parent's); `child_entity` and `child_operation`
    are the callee's, -1 for failures. `null` is as for `TimeGroups`, of the absolute z.
    """

    entity: Codes
    operation: Codes
    child_entity: Codes
    child_operation: Codes
    shift: ShareShift
    null: Floats


def self_time_groups(
    spans: SpanColumns, self_s: Floats, fault: Flags, recording: NDArray[np.int8]
) -> TimeGroups:
    """Self time by entity and operation."""
    group, first = _codes(spans.entity, spans.operation)
    slices = _slices(spans.start_s, fault, recording)
    shift, null = _time_shift(group, self_s, slices=slices, groups=len(first))
    return TimeGroups(spans.entity[first], np.full(len(first), -1), spans.operation[first], shift, null)


def call_gap_groups(
    spans: SpanColumns, calls: Calls, fault: Flags, recording: NDArray[np.int8]
) -> TimeGroups:
    """Time between the ends of a call, by caller, callee, operation and whether the callee recorded it."""
    callee, caller = calls.callee, spans.entity[calls.caller_row]
    operation = spans.operation[calls.callee_row]
    group, first = _codes(callee, caller, operation, calls.answered.astype(np.int64))
    late = fault[calls.callee_row]
    slices = _slices(spans.start_s[calls.callee_row], late, recording[calls.callee_row])
    shift, null = _time_shift(group, calls.gap_s, slices=slices, groups=len(first))
    return TimeGroups(callee[first], caller[first], operation[first], shift, null)


def failure_groups(
    spans: SpanColumns, calls: Calls, fault: Flags, recording: NDArray[np.int8]
) -> ShareGroups | None:
    """Share of spans that fail although none of their children does, by entity and operation.

    A failing call that its callee did not record does not count as the caller's own failure. None if the
    source does not record which spans failed.
    """
    if spans.error is None or len(spans) == 0:
        return None
    group, first = _codes(spans.entity, spans.operation)
    own = spans.error & ~_has_failing_child(spans, spans.error)
    own[calls.caller_row[~calls.answered]] = False
    shift, null = _share_of(own, group, slices=_slices(spans.start_s, fault, recording), groups=len(first))
    none = np.full(len(first), -1)
    return ShareGroups(spans.entity[first], spans.operation[first], none, none, shift, null)


def any_failure_groups(spans: SpanColumns, fault: Flags, recording: NDArray[np.int8]) -> ShareGroups | None:
    """Share of spans that fail, whichever callee is responsible, by entity and operation."""
    if spans.error is None or len(spans) == 0:
        return None
    group, first = _codes(spans.entity, spans.operation)
    slices = _slices(spans.start_s, fault, recording)
    shift, null = _share_of(spans.error, group, slices=slices, groups=len(first))
    none = np.full(len(first), -1)
    return ShareGroups(spans.entity[first], spans.operation[first], none, none, shift, null)


def call_failure_groups(
    spans: SpanColumns, calls: Calls, fault: Flags, recording: NDArray[np.int8]
) -> ShareGroups | None:
    """Share of calls that fail for the caller although the callee's span succeeded (time-outs, lost answers).

    For a call that the callee did not record, the caller's status counts. By caller, callee and operation;
    `child_entity` is the callee. None if the source does not record which calls failed.
    """
    if spans.error is None or len(calls.callee_row) == 0:
        return None
    callee, caller = calls.callee, spans.entity[calls.caller_row]
    operation = spans.operation[calls.callee_row]
    group, first = _codes(caller, callee, operation, calls.answered.astype(np.int64))
    lost = spans.error[calls.caller_row] & ~(spans.error[calls.callee_row] & calls.answered)
    late = fault[calls.callee_row]
    slices = _slices(spans.start_s[calls.callee_row], late, recording[calls.callee_row])
    shift, null = _share_of(lost, group, slices=slices, groups=len(first))
    return ShareGroups(caller[first], operation[first], callee[first], operation[first], shift, null)


def call_pattern_groups(spans: SpanColumns, fault: Flags, recording: NDArray[np.int8]) -> ShareGroups | None:
    """Share of an operation's spans that have a certain child; None if no span has a child.

    An early return or an exception shows as a call that is no longer made: a simple form of the event
    patterns that Yu et al. (ESEC/FSE 2023) compare. Spans whose trace is cut off at the edge of a recording
    look the same; the null accounts for those.

    A client span makes one call, and its callee depends on demand. So only spans of a client operation
    without any child have lost their call, counted against each callee by its usual share.
    """
    child = np.flatnonzero(spans.parent >= 0)
    if len(child) == 0:
        return None
    kind, _ = _codes(spans.entity, spans.operation)
    kinds = int(kind.max()) + 1
    sound = np.ones(len(spans), dtype=np.bool_)
    if spans.error is not None:  # a caller that stops because a callee failed is affected by it
        sound = ~_has_failing_child(spans, spans.error)
    once = _first_of_kind(spans.parent[child], kind[child], kinds)
    parent, child = spans.parent[child][once], child[once]
    pair, first = _codes(kind[parent], kind[child])
    of_parent = kind[parent][first]
    slices = _slices(spans.start_s, fault, recording)
    rows = np.flatnonzero(sound)
    makes = sound[parent]
    spans_of = _count(kind[rows], slices[rows], kinds)[of_parent]
    calls_of = _count(pair[makes], slices[parent[makes]], len(first))
    leads = np.zeros(len(spans), dtype=np.bool_)
    leads[parent] = True
    nowhere = np.flatnonzero(sound & ~leads)
    waits = _client_kinds(spans, kind, kinds)[of_parent]
    lost = _count(kind[nowhere], slices[nowhere], kinds)[of_parent]
    usual = calls_of[:, :NULL_SLICES].sum(axis=1)
    share = usual / np.maximum(np.bincount(of_parent, weights=usual, minlength=kinds)[of_parent], 1)
    spans_of[waits] = (calls_of + np.rint(lost * share[:, None]).astype(np.int64))[waits]
    shift, null = _share_shift(calls_of, spans_of, slices)
    return ShareGroups(
        spans.entity[parent][first],
        spans.operation[parent][first],
        spans.entity[child][first],
        spans.operation[child][first],
        shift,
        null,
    )


def _client_kinds(spans: SpanColumns, kind: Codes, kinds: int) -> Flags:
    """Which kinds of spans only wait for a call to another entity."""
    found = np.zeros(kinds, dtype=np.bool_)
    found[kind[calls_between(spans).caller_row]] = True
    return found


def _time_shift(group: Codes, duration_s: Floats, *, slices: Codes, groups: int) -> tuple[GroupShift, Floats]:
    moments = moments_of(group, log_ms(duration_s), slices, groups=groups, parts=_PARTS)
    normal = range(NULL_SLICES)
    null = [
        float(shift_between(moments, normal=[k for k in normal if k != part], late=(part,)).z.max())
        for part in (_slices_with_rows(slices) if groups else ())
    ]
    return shift_between(moments, normal=normal, late=(_LATE,)), np.array(null)


def _has_failing_child(spans: SpanColumns, error: Flags) -> Flags:
    failing = np.flatnonzero((spans.parent >= 0) & error)
    found = np.zeros(len(spans), dtype=np.bool_)
    found[spans.parent[failing]] = True
    return found


def _share_of(hit: Flags, group: Codes, *, slices: Codes, groups: int) -> tuple[ShareShift, Floats]:
    return _share_shift(_count(group[hit], slices[hit], groups), _count(group, slices, groups), slices)


def _share_shift(hits: Ints, count: Ints, slices: Codes) -> tuple[ShareShift, Floats]:
    """By group and part: the fault part, and each normal part, against the (other) normal ones."""

    def compare(late: int, normal: Sequence[int]) -> ShareShift:
        chosen = list(normal)
        return share_shift(
            hits[:, chosen].sum(axis=1), count[:, chosen].sum(axis=1), hits[:, late], count[:, late]
        )

    normal = range(NULL_SLICES)
    null = [
        float(np.abs(compare(part, [k for k in normal if k != part]).z).max())
        for part in _slices_with_rows(slices)
    ]
    return compare(_LATE, normal), np.array(null)


def _count(group: Codes, slices: Codes, groups: int) -> Ints:
    """Number of rows of each group and part."""
    cell = group * np.int64(_PARTS) + slices
    return np.bincount(cell, minlength=groups * _PARTS).reshape(groups, _PARTS).astype(np.int64)


def _slices_with_rows(slices: Codes) -> range:
    """The number of slices up to the last one that has rows."""
    normal = slices[slices < _LATE]
    return range(int(normal.max()) + 1 if len(normal) else 0)


def _slices(start_s: Floats, fault: Flags, recording: NDArray[np.int8]) -> NDArray[np.int8]:
    """The slice of each normal row, by time within its recording; `_LATE` for rows of the fault window."""
    slices = np.full(len(start_s), _LATE, dtype=np.int8)
    slices[recording == AFTER_END] = _LEFT_OUT
    normal = np.flatnonzero(~fault & (recording != AFTER_END))
    start, of = start_s[normal], recording[normal]
    if not np.all((of[1:] > of[:-1]) | ((of[1:] == of[:-1]) & (start[1:] >= start[:-1]))):
        normal = normal[np.lexsort((start, of))]
    slices[normal] = np.arange(len(normal)) * NULL_SLICES // max(len(normal), 1)
    return slices


def _first_of_kind(parent: Codes, kind: Codes, kinds: int) -> Ints:
    """The rows of children, one per kind and parent, so that repeated calls count once."""
    several = np.bincount(parent)[parent] > 1
    rows = np.flatnonzero(several)
    _, once = np.unique(parent[rows] * np.int64(kinds) + kind[rows], return_index=True)
    return np.concatenate((np.flatnonzero(~several), rows[once]))


def _codes(*columns: Codes) -> tuple[NDArray[np.int32], Ints]:
    """Dense codes of the distinct combinations, in their order, and a row of each."""
    rows = len(columns[0])
    if rows == 0:
        return np.zeros(0, np.int32), np.zeros(0, np.int64)
    code = np.zeros(rows, dtype=np.int64)
    for column in columns:
        code = code * (int(column.max()) + 1) + column
    size = int(code.max()) + 1
    if size > _TABLE_SHARE * rows:
        _, rows_of, of = np.unique(code, return_index=True, return_inverse=True)
        return of.astype(np.int32), rows_of.astype(np.int64)
    seen = np.zeros(size, dtype=np.bool_)
    seen[code] = True
    dense = (np.cumsum(seen, dtype=np.int32) - np.int32(1))[code]
    first = np.empty(int(seen.sum()), dtype=np.int64)
    first[dense] = np.arange(rows)
    return dense, first
