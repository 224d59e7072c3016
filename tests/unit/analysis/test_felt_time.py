"""What a slower operation adds to the requests that pass through it."""

from __future__ import annotations

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
