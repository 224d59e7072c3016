"""The journal: one writer of a run's trace, whichever threads it is written from."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

from diagnosis_harness.harness.cancellation import CancellationReason
from diagnosis_harness.testing.runs import Rig
from diagnosis_harness.trace.event import TraceEvent, TraceEventStatus, TraceName, TracePhase


def test_events_are_numbered_without_gaps_and_arrive_in_order() -> None:
    """From four threads at once, and each run on its own."""
    rig = Rig()
    runs = [rig.run(), rig.run()]

    def write(number: int) -> None:
        for _ in range(200):
            rig.core.emit(
                runs[number % 2], TraceName.STATUS, TracePhase.RUN, TraceEventStatus.STARTED, {"by": number}
            )

    with ThreadPoolExecutor(4) as threads:
        list(threads.map(write, range(4)))
    for run in runs:
        assert [event.seq for event in rig.sink.events(run.run_id)] == list(range(1, 401))


def test_an_event_carries_run_time_and_payload() -> None:
    """The clock is the run's, and the payload may be left out."""
    rig = Rig()
    ctx = rig.run()
    rig.clock.advance(5)
    rig.core.emit(ctx, TraceName.RUN_STARTED, TracePhase.RUN, TraceEventStatus.STARTED)
    assert rig.sink.events() == (
        TraceEvent(
            1, "run-1", 1_700_000_005.0, TraceName.RUN_STARTED, TracePhase.RUN, TraceEventStatus.STARTED, {}
        ),
    )


def test_the_end_of_a_run_is_one_event_with_state_reason_time_and_detail() -> None:
    """What the memory knows of the end, the trace knows as well; and events may follow it."""
    rig = Rig()
    ctx = rig.run()
    rig.core.cancel(ctx, CancellationReason.USER_REQUESTED, "Ctrl+C")
    rig.core.emit(ctx, TraceName.RUN_FINISHED, TracePhase.RUN, TraceEventStatus.FAILED)
    ended, finished = rig.sink.events()
    assert ended.name is TraceName.RUN_ENDED
    assert ended.payload == {
        "state": "CANCELLED",
        "reason": "USER_REQUESTED",
        "at_s": rig.clock.now_s(),
        "detail": "Ctrl+C",
    }
    assert finished.seq == 2
