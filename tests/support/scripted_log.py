"""Logs and rows of runs that a test writes by hand, read through the ports that streams use."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from tests.support.rows import a_failure, a_fallback, a_request, a_success

from diagnosis_harness.application.runs.row import RunEnding, RunRow, status_of
from diagnosis_harness.application.status import ChatApplicationStatus
from diagnosis_harness.harness.termination import CancellationReason, RunState
from diagnosis_harness.kernel.errors import FailureKind, StoreFailure
from diagnosis_harness.release.outcome import ReleaseOutcome
from diagnosis_harness.trace.event import TraceEvent, TraceEventStatus, TraceName, TracePhase, bound_payload

Listener = Callable[[str, Sequence[TraceEvent]], None]


def make_ended_row(session_id: str, run_id: str, outcome: ReleaseOutcome) -> RunRow:
    """A row that ended so, closed."""
    request = replace(a_request(run_id), session_id=session_id)
    return RunRow(request=request, status=status_of(outcome), ending=_ending(outcome), is_closed=True)


def _ending(outcome: ReleaseOutcome) -> RunEnding:
    match outcome:
        case ReleaseOutcome.SUCCESS:
            return a_success()
        case ReleaseOutcome.FALLBACK:
            return a_fallback()
        case ReleaseOutcome.FAILED:
            return a_failure(CancellationReason.DEADLINE_EXCEEDED, RunState.TIMED_OUT, outcome)
        case ReleaseOutcome.CANCELLED:
            return a_failure(CancellationReason.USER_REQUESTED, RunState.CANCELLED, outcome)


@dataclass(slots=True)
class ScriptedLog:
    """The written logs and rows of runs: the reading half of a `RunArchive`, and a `RunFeed`.

    Attributes:
        is_away: whether everything that is read fails.
        read: how often a log was read.
    """

    is_away: bool = False
    read: int = 0
    rows: dict[str, RunRow] = field(default_factory=dict)
    logs: dict[str, list[TraceEvent]] = field(default_factory=dict)
    listeners: list[Listener] = field(default_factory=list)
    unnotified: list[tuple[str, tuple[TraceEvent, ...]]] = field(default_factory=list)

    def on_written(self, listener: Listener) -> Callable[[], None]:
        """Subscribe a listener to what this process writes."""
        self.listeners.append(listener)
        return lambda: self.listeners.remove(listener)

    async def events(self, run_id: str, *, after_seq: int = 0, limit: int = 500) -> tuple[TraceEvent, ...]:
        """The written events after a place."""
        self._there()
        self.read += 1
        return tuple(self.logs.get(run_id, ())[after_seq : after_seq + limit])

    async def run(self, run_id: str) -> RunRow | None:
        """The row."""
        self._there()
        return self.rows.get(run_id)

    def _there(self) -> None:
        if self.is_away:
            raise StoreFailure("away", kind=FailureKind.UNAVAILABLE)

    # ------------------------------------------------------------------ the writing hand

    def write(
        self, run_id: str, names: Sequence[TraceName], *, notified: bool, at_once: bool = True
    ) -> tuple[TraceEvent, ...]:
        """Write events, as this process (listeners are called at once or later) or as another one."""
        log = self.logs.setdefault(run_id, [])
        written = tuple(an_event(run_id, len(log) + place, name) for place, name in enumerate(names, start=1))
        log.extend(written)
        if notified and written:
            self.unnotified.append((run_id, written))
            if at_once:
                self.tell()
        return written

    def tell(self) -> None:
        """Call the listeners with all events that they have not had."""
        unnotified, self.unnotified = self.unnotified, []
        for run_id, events in unnotified:
            for listener in self.listeners:
                listener(run_id, events)

    def finish(self, run_id: str, outcome: ReleaseOutcome, *, session_id: str, notified: bool) -> RunRow:
        """End a run: its row, and then RUN_FINISHED."""
        row = self.rows[run_id] = make_ended_row(session_id, run_id, outcome)
        self.write(run_id, (TraceName.RUN_FINISHED,), notified=notified)
        return row


def an_event(run_id: str, seq: int, name: TraceName) -> TraceEvent:
    """An event with a payload that its name asks for."""
    payload: dict[str, str] = {}
    if name is TraceName.STATUS:
        payload = {"stage": ChatApplicationStatus.DIAGNOSIS_RUNNING.value}
    return TraceEvent(
        seq, run_id, float(seq), name, TracePhase.RUN, TraceEventStatus.SUCCEEDED, bound_payload(payload)
    )
