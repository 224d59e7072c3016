"""What a slower operation adds to the requests that pass through it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from diagnosis_harness.analysis.felt_time import shares_of_requests
from diagnosis_harness.analysis.span_findings import self_time_groups
from diagnosis_harness.analysis.spans import SpanColumns, self_time

TRACES, NORMAL = 40, 30


@pytest.mark.parametrize(("query_s", "share"), [(0.004, 0.003), (0.4, 0.285)])
def test_a_slower_query_counts_as_far_as_requests_feel_it(query_s: float, share: float) -> None:
    """A query of 1 ms takes longer inside requests of a second, of which every other one makes it."""
    rows: list[tuple[int, int, int, float, float]] = []
    for trace in range(TRACES):
        own_s = query_s if trace >= NORMAL else 0.001
        rows.append((-1, 0, 0, 10.0 * trace, 1.0 + own_s))
        if trace % 2:
            rows.append((len(rows) - 1, 1, 1, 10.0 * trace, own_s))
    parent, entity, operation, start_s, duration_s = (np.array(c) for c in zip(*rows, strict=True))
    spans = SpanColumns(parent, entity, operation, start_s, duration_s, None)
    late = spans.start_s >= 10.0 * NORMAL
    groups = self_time_groups(spans, self_time(spans), late, np.zeros(len(spans), np.int8))
    found = dict(zip(groups.entity.tolist(), shares_of_requests(spans, late, groups).tolist(), strict=True))
    assert found[1] == pytest.approx(share, abs=0.005)


@pytest.mark.parametrize("length", [1, 2, 3, 5, 1_000])
def test_a_cycle_of_parents_changes_nothing_for_other_requests(length: int) -> None:
    """A broken recording may name each span as the parent of the next, round and round."""
    cycle = np.roll(np.arange(length), 1)  # the last is the parent of the first
    chain = np.arange(-1, 999)  # 1,000 spans, each below the one before it
    parent = np.concatenate([cycle, np.where(chain >= 0, chain + length, -1), [0]])  # and one below the cycle
    rows = len(parent)
    entity = np.concatenate([np.zeros(length, np.int64), np.ones(1_000, np.int64), [2]])
    duration_s = np.where(np.arange(rows) == length, 8.0, 0.5)  # the request above the chain takes 8 s
    spans = SpanColumns(parent, entity, np.zeros(rows, np.int64), np.zeros(rows), duration_s, None)
    groups = self_time_groups(spans, duration_s, np.ones(rows, np.bool_), np.zeros(rows, np.int8))
    added = replace(
        groups.shift, baseline_s=np.zeros(3), fault_s=np.ones(3), fault_count=np.ones(3, np.int64)
    )
    shares = shares_of_requests(spans, np.ones(rows, np.bool_), replace(groups, shift=added))
    assert shares.tolist() == pytest.approx([1.0 / (0.5 * length), 1.0 / 8.0, 1.0 / 0.5])
