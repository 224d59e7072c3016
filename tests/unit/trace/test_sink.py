"""The sinks that need nothing from outside."""

from __future__ import annotations

from diagnosis_harness.trace.event import TraceEvent, TraceEventStatus, TraceName, TracePhase, bound_payload
from diagnosis_harness.trace.sink import FanOutSink, MemorySink, NullSink


def event(seq: int, run_id: str = "run-1", name: TraceName = TraceName.STATUS) -> TraceEvent:
    """Any event."""
    return TraceEvent(
        seq, run_id, float(seq), name, TracePhase.RUN, TraceEventStatus.STARTED, bound_payload({})
    )


def test_a_memory_sink_keeps_events_in_the_order_of_arrival() -> None:
    """All of them, those of one run, or those of one name."""
    sink = MemorySink()
    first, other, second = event(1), event(1, "run-2"), event(2, name=TraceName.LLM_CALL)
    for one in (first, other, second):
        sink.emit(one)
    assert sink.events() == (first, other, second)
    assert sink.events("run-1") == (first, second)
    assert sink.events_named(TraceName.LLM_CALL) == (second,)


def test_a_fan_out_hands_every_event_to_each_sink() -> None:
    """In the order the sinks were given."""
    one, two = MemorySink(), MemorySink()
    fan = FanOutSink([one, NullSink(), two])
    fan.emit(event(1))
    assert one.events() == two.events() == (event(1),)
