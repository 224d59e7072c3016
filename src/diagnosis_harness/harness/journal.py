"""The one writer of a run's trace: numbers its events and hands them to the sink in that order."""

from __future__ import annotations

import threading
from collections.abc import Mapping

from diagnosis_harness.harness.handle import RunHandle
from diagnosis_harness.harness.termination import RunState, RunTermination
from diagnosis_harness.kernel.canonical import JsonValue
from diagnosis_harness.kernel.clock import Clock
from diagnosis_harness.trace.event import TraceEvent, TraceEventStatus, TraceName, TracePhase, bounded
from diagnosis_harness.trace.sink import TraceSink


class RunJournal(RunHandle):
    """Orders one run's events, from whichever thread they come.

    It has a lock of its own, so that a slow sink never stands between a run and its cancellation; it is
    never entered while the run's lock is held.
    """

    __slots__ = ("_clock", "_last_seq", "_order", "_run_id", "_sink")

    def __init__(self, run_id: str, *, clock: Clock, sink: TraceSink) -> None:
        self._run_id = run_id
        self._clock = clock
        self._sink = sink
        self._order = threading.RLock()
        self._last_seq = 0

    def emit(
        self,
        name: TraceName,
        phase: TracePhase,
        status: TraceEventStatus,
        payload: Mapping[str, JsonValue],
    ) -> None:
        """Write one event; the payload is bounded here."""
        small = bounded(payload)
        with self._order:
            self._last_seq += 1
            self._sink.emit(
                TraceEvent(
                    seq=self._last_seq,
                    run_id=self._run_id,
                    at_s=self._clock.now_s(),
                    name=name,
                    phase=phase,
                    status=status,
                    payload=small,
                )
            )

    def run_ended(self, termination: RunTermination) -> None:
        """Write the run's one termination (RUN_ENDED)."""
        succeeded = termination.state is RunState.SUCCESS
        self.emit(
            TraceName.RUN_ENDED,
            TracePhase.RUN,
            TraceEventStatus.SUCCEEDED if succeeded else TraceEventStatus.FAILED,
            {
                "state": termination.state.value,
                "reason": None if termination.reason is None else termination.reason.value,
                "at_s": termination.at_s,
                "detail": termination.detail,
            },
        )
