"""Computes how much slower work adds to requests: a cause must be as large as its effect."""

from __future__ import annotations

import numpy as np

from diagnosis_harness.analysis.arrays import Flags, Floats, Ints
from diagnosis_harness.analysis.span_findings import TimeGroups
from diagnosis_harness.analysis.spans import SpanColumns

LEAST_NOTICED = 0.05
"""Share of a request's time below which added time goes unnoticed: requests vary more than that from one
minute
to the next. No other value was tried."""


def shares_of_requests(spans: SpanColumns, fault: Flags, groups: TimeGroups) -> Floats:
    """By group, the time added after the onset as a share of the time of its requests."""
    width = int(spans.operation.max(initial=0)) + 1
    group_of = {
        code: place
        for place, code in enumerate((groups.entity * np.int64(width) + groups.operation).tolist())
    }
    late = np.flatnonzero(fault)
    codes, inverse = np.unique(
        spans.entity[late] * np.int64(width) + spans.operation[late], return_inverse=True
    )
    group = np.array([group_of[code] for code in codes.tolist()], dtype=np.int64)[inverse]
    pairs = np.unique(group * np.int64(max(len(spans), 1)) + _roots(spans)[late])
    of_pair, root = np.divmod(pairs, max(len(spans), 1))
    total_s = np.bincount(of_pair, weights=spans.duration_s[root], minlength=len(groups.entity))
    added_s = np.maximum(groups.shift.fault_s - groups.shift.baseline_s, 0.0) * groups.shift.fault_count
    share: Floats = np.full(len(total_s), np.inf)
    np.divide(added_s, total_s, out=share, where=total_s > 0)
    return share


def _roots(spans: SpanColumns) -> Ints:
    """For each span the outermost recorded ancestor.

    A span in a cycle of parents, which only a broken recording has, is its own root.
    """
    itself = np.arange(len(spans))
    root = np.where(spans.parent >= 0, spans.parent, itself).astype(np.int64)
    rounds = len(
        spans
    ).bit_length()  # each round doubles the steps upward, of which there are fewer than spans
    for _ in range(rounds):
        above = root[root]
        if np.array_equal(above, root):
            break
        root = above
    settled = spans.parent[root] < 0
    return np.where(settled, root, itself)
