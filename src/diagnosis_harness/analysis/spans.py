"""Derives from spans: self time, time between the ends of calls, failures, and broken call patterns.

Everything works on columns; a span's parent is a row number. Times are in seconds.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from diagnosis_harness.analysis.arrays import Codes, Flags, Floats, Ints

SD_FLOOR = 0.2  # of log1p(ms): even steady operations vary by a fifth from one minute to the next
VARIANCE_FLOOR = 0.03  # variance of a mean between windows, which no number of spans averages away
COUNT_CAP = 30  # spans of one window are not independent; more of them add little certainty
LEAST_SPANS = 3  # minimum spans of a group on either side


@dataclass(frozen=True, slots=True)
class SpanColumns:
    """Spans as plain columns; entity and operation are codes, `parent` is a row or -1.

    `client` marks spans that send a request, None if kinds are unknown; `peer` is the code of the entity
    that a span names as its callee, or -1.
    """

    parent: Codes
    entity: Codes
    operation: Codes
    start_s: Floats
    duration_s: Floats
    error: Flags | None
    client: Flags | None = None
    peer: Codes | None = None

    def __len__(self) -> int:
        return len(self.parent)


@dataclass(frozen=True, slots=True)
class Calls:
    """Calls across entities, by the rows of their client spans.

    For a call that its callee did not record, `callee_row` is the client span itself, and all of its time
    counts as the call's: whether it passed in the callee or on the way is unknown.
    """

    callee_row: Codes
    caller_row: Codes
    callee: Codes
    gap_s: Floats

    @property
    def answered(self) -> Flags:
        """Which of them the callee recorded too."""
        return np.not_equal(self.callee_row, self.caller_row)


@dataclass(frozen=True, slots=True)
class GroupShift:
    """Per group: how its mean of log1p(ms) differs between baseline and fault; arrays of equal length.

    `z` is 0 if either side has fewer than `LEAST_SPANS`. Means are geometric, in seconds.
    """

    z: Floats
    baseline_s: Floats
    fault_s: Floats
    baseline_count: Ints
    fault_count: Ints


def self_time(spans: SpanColumns) -> Floats:
    """Each span's duration minus the time that its children together cover, never below 0.

    Children may overlap one another and extend beyond their parent; only time inside the parent counts, once.
    """
    child = np.flatnonzero(spans.parent >= 0)
    if len(child) == 0:
        return spans.duration_s.copy()
    parent = spans.parent[child]
    room = spans.duration_s[parent]
    offset = spans.start_s[child] - spans.start_s[parent]
    # The child's clock may differ: its span is moved inside the parent if it would fit.
    foreign = spans.entity[child] != spans.entity[parent]
    offset = np.where(foreign, np.clip(offset, 0.0, np.maximum(room - spans.duration_s[child], 0.0)), offset)
    begin = np.maximum(offset, 0.0)
    end = np.maximum(np.minimum(offset + spans.duration_s[child], room), begin)
    total = np.bincount(parent, weights=_newly_covered(parent, begin, end), minlength=len(spans))
    return np.maximum(spans.duration_s - total, 0.0)


def calls_between(spans: SpanColumns) -> Calls:
    """Calls whose caller's span is a pure client span, with the time that neither side explains.

    A client span is marked as one, or has exactly one child, of another entity, and either lies inside a
    span of its own entity or has its child's operation name. Its time beyond its child passed on the way or
    in queues at either end. A client span without a child is a call to the entity it names. Only durations
    are compared, so clock differences do no harm.
    """
    row = np.arange(len(spans))
    child = np.flatnonzero(spans.parent >= 0)
    children = np.bincount(spans.parent[child], minlength=len(spans))
    above = np.where(spans.parent >= 0, spans.parent, row)
    inside_own = (spans.parent >= 0) & (spans.entity[above] == spans.entity)
    crosses = child[spans.entity[child] != spans.entity[spans.parent[child]]]
    caller = spans.parent[crosses]
    sends = inside_own[caller] | (spans.operation[caller] == spans.operation[crosses])
    if spans.client is not None:
        sends |= spans.client[caller]
    client = (children[caller] == 1) & sends
    callee_row, caller_row = crosses[client], caller[client]
    gap = np.maximum(spans.duration_s[caller_row] - spans.duration_s[callee_row], 0.0)
    alone = _calls_without_callee(spans, children)
    return Calls(
        np.concatenate((callee_row, alone)),
        np.concatenate((caller_row, alone)),
        np.concatenate((spans.entity[callee_row], alone if spans.peer is None else spans.peer[alone])),
        np.concatenate((gap, spans.duration_s[alone])),
    )


def _calls_without_callee(spans: SpanColumns, children: Ints) -> Ints:
    """Rows of spans without a child that name another entity as their callee."""
    if spans.peer is None:
        return np.zeros(0, np.int64)
    return np.flatnonzero((children == 0) & (spans.peer >= 0) & (spans.peer != spans.entity))


def crossings(spans: SpanColumns) -> tuple[Ints, Codes]:
    """All calls across entities, client span or not: rows of callees, and of their callers."""
    child = np.flatnonzero(spans.parent >= 0)
    across = child[spans.entity[child] != spans.entity[spans.parent[child]]]
    return across, spans.parent[across]


def log_ms(duration_s: Floats) -> Floats:
    """log1p of milliseconds: compares ratios for long spans, and differences below a millisecond."""
    return np.log1p(np.maximum(duration_s, 0.0) * 1_000.0)


@dataclass(frozen=True, slots=True)
class GroupMoments:
    """Count, sum and sum of squares for each group (row) and part of the rows (column).

    `total` and `square` use the distance from the group's own mean, so that no digits are lost.
    """

    count: Ints
    mean: Floats
    total: Floats
    square: Floats

    def of(self, parts: Sequence[int]) -> tuple[Ints, Floats, Floats]:
        """Count, mean and standard deviation of each group over some of the parts."""
        chosen = list(parts)
        count = self.count[:, chosen].sum(axis=1)
        n = np.maximum(count, 1)
        away = self.total[:, chosen].sum(axis=1) / n
        variance = np.maximum(self.square[:, chosen].sum(axis=1) / n - away**2, 0.0)
        return count, np.where(count > 0, self.mean + away, 0.0), np.sqrt(variance)


def moments_of(group: Codes, value: Floats, part: Codes, *, groups: int, parts: int) -> GroupMoments:
    """The moments of each group in each part, computed in one pass for all later comparisons."""
    shape = (groups, parts)
    cell = group * np.int64(parts) + part
    count = np.bincount(cell, minlength=groups * parts).reshape(shape).astype(np.int64)
    mean = np.bincount(group, weights=value, minlength=groups) / np.maximum(count.sum(axis=1), 1)
    away = value - mean[group]
    total = np.asarray(np.bincount(cell, weights=away, minlength=groups * parts), dtype=np.float64)
    square = np.asarray(np.bincount(cell, weights=away**2, minlength=groups * parts), dtype=np.float64)
    return GroupMoments(count, mean, total.reshape(shape), square.reshape(shape))


def shift_between(moments: GroupMoments, *, normal: Sequence[int], late: Sequence[int]) -> GroupShift:
    """How each group differs between two sets of parts.

    z = (mean F - mean B) / sqrt(sd² / n + 0.03), of log1p(ms), sd of the baseline and at least 0.2, n of
    the fault window and at most 30.
    """
    count_b, mean_b, sd_b = moments.of(normal)
    count_f, mean_f, _ = moments.of(late)
    sd = np.maximum(sd_b, SD_FLOOR)
    # With a small baseline its own mean is uncertain too.
    noise = sd**2 / np.clip(count_f, 1, COUNT_CAP) + sd**2 / np.clip(count_b, 1, COUNT_CAP) + VARIANCE_FLOOR
    enough = (count_b >= LEAST_SPANS) & (count_f >= LEAST_SPANS)
    z = np.where(enough, (mean_f - mean_b) / np.sqrt(noise), 0.0)
    return GroupShift(z, np.expm1(mean_b) / 1_000.0, np.expm1(mean_f) / 1_000.0, count_b, count_f)


@dataclass(frozen=True, slots=True)
class ShareShift:
    """Per group: how a share (of failing spans, of spans that make a call) differs; 0 if unknown."""

    z: Floats
    baseline: Floats
    fault: Floats
    baseline_count: Ints
    fault_count: Ints


def share_shift(hits_b: Ints, count_b: Ints, hits_f: Ints, count_f: Ints) -> ShareShift:
    """Observed minus expected over sqrt(n p (1 - p) (1 + n/N) + 1); a single odd span is no finding.

    n is capped because spans of one window are not independent; this also keeps a busy group from
    dominating.
    """
    share_b = hits_b / np.maximum(count_b, 1)
    share_f = hits_f / np.maximum(count_f, 1)
    expected = np.clip((hits_b + 0.5) / (count_b + 1.0), 0.02, 0.98)
    n = np.minimum(count_f, 10 * COUNT_CAP).astype(np.float64)
    noise = n * expected * (1 - expected) * (1 + n / np.maximum(np.minimum(count_b, 10 * COUNT_CAP), 1)) + 1.0
    enough = (count_b >= LEAST_SPANS) & (count_f >= LEAST_SPANS)
    z = np.where(enough, n * (share_f - share_b) / np.sqrt(noise), 0.0)
    return ShareShift(z, share_b, share_f, count_b.astype(np.int64), count_f.astype(np.int64))


def _newly_covered(parent: Codes, begin: Floats, end: Floats) -> Floats:
    """What each interval adds to those of its parent that begin before it.

    An only child adds its own length.
    """
    covered = end - begin
    several = np.flatnonzero(np.bincount(parent)[parent] > 1)
    if len(several):
        order = several[np.lexsort((begin[several], parent[several]))]
        covered[order] = _newly_covered_in_order(parent[order], begin[order], end[order])
    return covered


def _newly_covered_in_order(parent: Codes, begin: Floats, end: Floats) -> Floats:
    """The same, sorted by parent, then begin."""
    first = np.append(True, np.diff(parent) != 0)
    segment = np.cumsum(first) - 1
    lift = float(end.max()) + 1.0  # later segments are lifted, so that one running maximum serves all
    reached = np.maximum.accumulate(end + segment * lift) - segment * lift
    before = np.where(first, 0.0, np.append(0.0, reached[:-1]))
    return np.maximum(end - np.maximum(begin, before), 0.0)
