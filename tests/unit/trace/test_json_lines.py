"""A trace as JSON Lines: reading it back gives an equal trace, and any other file is refused."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from diagnosis_harness.trace.event import TraceEvent, TraceEventStatus, TraceName, TracePhase, bound_payload
from diagnosis_harness.trace.json_lines import event_json, event_of_line, events_of, lines_of

TEXTS = st.text(max_size=20)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=8,
)
EVENTS = st.lists(
    st.builds(
        TraceEvent,
        seq=st.integers(1, 10**6),
        run_id=st.just("run-1"),
        at_s=st.floats(0, 4e9),
        name=st.sampled_from(TraceName),
        phase=st.sampled_from(TracePhase),
        status=st.sampled_from(TraceEventStatus),
        payload=st.dictionaries(TEXTS, VALUES, max_size=4).map(bound_payload),
    ),
    max_size=5,
)
ONE = TraceEvent(
    1,
    "run-1",
    5.0,
    TraceName.STATUS,
    TracePhase.RUN,
    TraceEventStatus.STARTED,
    bound_payload({"stage": "慢\n"}),
)


@given(EVENTS)
def test_a_trace_survives_the_way_through_a_file(events: list[TraceEvent]) -> None:
    """Every field of every event and of its payload, in order; an event is one line whatever it holds."""
    data = lines_of(events)

    assert events_of(data) == tuple(events)
    assert [list(event.payload) for event in events_of(data)] == [list(event.payload) for event in events]
    assert data.count(b"\n") == len(events)


@pytest.mark.parametrize(
    "change",
    [
        {"name": "NO_SUCH_NAME"},
        {"phase": "LUNCH"},
        {"status": "WON"},
        {"seq": "1"},
        {"payload": None},
        {"at_s": None},
    ],
)
def test_what_is_not_an_event_is_refused(change: dict[str, object]) -> None:
    """Names, phases and statuses are closed sets, and every field has its type."""
    fields = {**event_json(ONE), **change}

    with pytest.raises(ValueError):  # noqa: PT011 - the message is for nobody
        event_of_line(json.loads(json.dumps(fields)))


@pytest.mark.parametrize("data", [b"\xff\n", b"{\n", b"[]\n", b"[" * 100_000])
def test_what_is_not_a_trace_is_refused(data: bytes) -> None:
    """Other bytes, half a line, other JSON, JSON to exhaust the reader."""
    with pytest.raises(ValueError):  # noqa: PT011 - the message is for nobody
        events_of(data)
