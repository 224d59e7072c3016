"""The one writer of a run's trace: numbers its events and hands them to the sink in that order."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping

from diagnosis_harness.harness.handle import RunHandle
from diagnosis_harness.harness.termination import RunState, RunTermination
from diagnosis_harness.kernel.clock import Clock
from diagnosis_harness.kernel.faults import report_fault
from diagnosis_harness.kernel.json_value import JsonValue
from diagnosis_harness.trace.event import TraceEvent, TraceEventStatus, TraceName, TracePhase, bound_payload
from diagnosis_harness.trace.sink import TraceSink


class RunJournal(RunHandle):
    """Orders the events of one run from all threads.

    It has its own lock, so that a slow sink never delays a cancellation; it is never taken while the run's
    lock is held.
    """

    __slots__ = ("_clock", "_end", "_is_closed", "_last_seq", "_order", "_run_id", "_sink")

    def __init__(self, run_id: str, *, clock: Clock, sink: TraceSink) -> None:
        self._run_id = run_id
        self._clock = clock
        self._sink = sink
        self._order = threading.RLock()
        self._last_seq = 0
        self._end: RunTermination | None = None
        self._is_closed = False

    def emit(
        self,
        name: TraceName,
        phase: TracePhase,
        status: TraceEventStatus,
        payload: Mapping[str, JsonValue],
    ) -> None:
        """Write one event, after bounding its payload. After RUN_FINISHED, nothing more is written."""
        small = bound_payload(payload)
        with self._order:
            if self._end is not None:
                self.flush_end()
            self._write(name, phase, status, small)

    def run_ended(self, termination: RunTermination) -> None:
        """Note the run's termination. Its event (RUN_ENDED) is written before any later event.

        It is called under the run's lock and writes nothing, so that ending a run does not wait for a sink.
        """
        self._end = termination

    def flush_end(self) -> None:
        """Write RUN_ENDED, if it is due and not written yet."""
        with self._order:
            termination, self._end = self._end, None
            if termination is None:
                return
            succeeded = termination.state is RunState.SUCCESS
            payload: Mapping[str, JsonValue] = {
                "state": termination.state.value,
                "reason": None if termination.reason is None else termination.reason.value,
                "at_s": termination.at_s,
                "detail": termination.detail,
            }
            status = TraceEventStatus.SUCCEEDED if succeeded else TraceEventStatus.FAILED
            self._write(TraceName.RUN_ENDED, TracePhase.RUN, status, bound_payload(payload))

    def hand_off(self, call: Callable[[], None]) -> None:
        """Run `call` on a thread that no other run needs."""
        self._clock.hand_off(call)

    def leave_to_parent(self) -> None:
        """In a fork: only the parent writes the trace, and the copied lock may never be released."""
        self._order = threading.RLock()
        self._is_closed = True

    def _write(
        self, name: TraceName, phase: TracePhase, status: TraceEventStatus, payload: Mapping[str, JsonValue]
    ) -> None:
        if self._is_closed:
            return
        self._last_seq += 1
        self._is_closed = name is TraceName.RUN_FINISHED
        event = TraceEvent(
            seq=self._last_seq,
            run_id=self._run_id,
            at_s=self._clock.now_s(),
            name=name,
            phase=phase,
            status=status,
            payload=payload,
        )
        try:
            self._sink.emit(event)
        except BaseException as error:  # noqa: BLE001 - a fault of a sink never affects the run
            report_fault(error)
