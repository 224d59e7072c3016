"""Groups of spans and what normal operation does by itself."""

from __future__ import annotations

import numpy as np

from diagnosis_harness.analysis.span_findings import (
    call_failure_groups,
    call_pattern_groups,
    failure_groups,
    self_time_groups,
)
from diagnosis_harness.analysis.spans import SpanColumns, calls_between

TRACES = 400
NORMAL = 300  # traces before onset


def traces(*, without_call: float = 0.0, own: float = 0.0, lost: float = 0.0) -> SpanColumns:
    """Server, client, callee in each trace; shares of faults after trace `NORMAL`.

    `without_call`: the server stops before its call; `own`: the callee fails, and so its callers; `lost`: the
    call fails although the callee does not.
    """
    rng = np.random.default_rng(7)
    rows: list[tuple[int, int, int, float, float, bool]] = []
    for trace in range(TRACES):
        late, start, at = trace >= NORMAL, 10.0 * trace, len(rows)
        broke = bool(late and rng.random() < own)
        gone = bool(late and rng.random() < lost)
        rows.append((-1, 0, 0, start, 0.3, broke or gone))
        if late and rng.random() < without_call:
            continue
        rows.append((at, 0, 1, start, 0.2, broke or gone))
        rows.append((at + 1, 1, 2, start, 0.1, broke))
    parent, entity, operation, start_s, duration_s, error = (np.array(c) for c in zip(*rows, strict=True))
    return SpanColumns(parent, entity, operation, start_s, duration_s, error)


def late(spans: SpanColumns) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    """Rows after onset."""
    return np.asarray(spans.start_s >= 10.0 * NORMAL, dtype=np.bool_)


def one_recording(spans: SpanColumns) -> np.ndarray[tuple[int], np.dtype[np.int8]]:
    """All rows are the incident's."""
    return np.zeros(len(spans), dtype=np.int8)


def test_a_failure_is_charged_to_where_it_starts() -> None:
    """The callee fails by itself; its callers only pass it on."""
    spans = traces(own=0.4)
    found = failure_groups(spans, calls_between(spans), late(spans), one_recording(spans))
    assert found is not None
    by_entity = dict(zip(found.entity.tolist(), found.shift.z.tolist(), strict=True))
    assert by_entity[1] > 5
    assert by_entity[0] < 1


def test_a_call_that_fails_on_the_way_is_charged_to_the_call() -> None:
    """The caller's client span failed, the callee's span did not."""
    spans = traces(lost=0.4)
    found = call_failure_groups(spans, calls_between(spans), late(spans), one_recording(spans))
    assert found is not None
    assert (found.entity[0], found.child_entity[0]) == (0, 1)
    assert found.shift.z[0] > 5


def test_an_early_return_shows_as_a_call_no_longer_made() -> None:
    """No error anywhere, no slower span: only the pattern is broken."""
    spans = traces(without_call=0.5)
    found = call_pattern_groups(spans, late(spans), one_recording(spans))
    assert found is not None
    place = int(np.argmin(found.shift.z))
    assert found.shift.z[place] < -5
    assert (found.entity[place], found.operation[place], found.child_operation[place]) == (0, 0, 1)


def test_a_client_that_calls_another_callee_has_lost_no_call() -> None:
    """One client operation serves two callees; after the onset most requests ask the other one."""
    rows: list[tuple[int, int, int, float, float, bool]] = []
    for trace in range(TRACES):
        other = trace % 10 == 0 if trace < NORMAL else trace % 10 != 0
        start, at = 10.0 * trace, len(rows)
        rows.append((-1, 0, 0, start, 0.3, False))
        rows.append((at, 0, 1, start, 0.2, False))
        rows.append((at + 1, 2 if other else 1, 3 if other else 2, start, 0.1, False))
    spans = SpanColumns(*(np.array(column) for column in zip(*rows, strict=True)))
    found = call_pattern_groups(spans, late(spans), one_recording(spans))
    assert found is not None
    assert np.abs(found.shift.z[found.operation == 1]).max() < 1


def test_stopping_because_a_callee_failed_breaks_no_pattern() -> None:
    """Parents with a failing child are left out."""
    spans = traces(own=0.4)
    found = call_pattern_groups(spans, late(spans), one_recording(spans))
    assert found is not None
    assert np.abs(found.shift.z).max() < 1


def test_normal_operation_stays_below_what_a_fault_reaches() -> None:
    """The null is learnt from slices before onset."""
    spans = traces()
    slow = np.where(late(spans) & (spans.entity == 1), 2.0, 0.1)
    found = self_time_groups(spans, slow, late(spans), one_recording(spans))
    assert len(found.null) == 8
    assert found.null.max() < 3 < found.shift.z.max()


def test_sources_that_do_not_tell_errors_give_none() -> None:
    """Nothing is made of what is not known."""
    spans = traces()
    mute = SpanColumns(spans.parent, spans.entity, spans.operation, spans.start_s, spans.duration_s, None)
    assert failure_groups(mute, calls_between(mute), late(mute), one_recording(mute)) is None


def test_no_spans_at_all_are_not_groups() -> None:
    """An empty table is an answer, not an error."""
    empty = np.zeros(0, dtype=np.int64)
    spans = SpanColumns(empty, empty, empty, np.zeros(0), np.zeros(0), None)
    found = self_time_groups(spans, np.zeros(0), np.zeros(0, dtype=np.bool_), np.zeros(0, dtype=np.int8))
    assert len(found.entity) == 0
    assert call_pattern_groups(spans, np.zeros(0, dtype=np.bool_), np.zeros(0, dtype=np.int8)) is None
