"""Ports of the stores of runs, their logs and their evidence. Adapters implement them.

Every failure is a `StoreFailure`. All writes of a run are fenced by its owner: they change nothing once the
run has ended or belongs to another process.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from diagnosis_harness.application.intent import IntentType
from diagnosis_harness.application.runs.evidence_archive import RecordReader
from diagnosis_harness.application.runs.request import RunRequest
from diagnosis_harness.application.runs.row import CancelRequest, RunEnding, RunRow, RunStatus
from diagnosis_harness.application.runs.sources import Lane, SourceBacklog, lane_of
from diagnosis_harness.harness.context import RunContext
from diagnosis_harness.kernel.json_value import JsonValue
from diagnosis_harness.release.outcome import ReleaseOutcome
from diagnosis_harness.trace.event import TraceEvent


class RunStore(Protocol):
    """Writes the row of a run while this process works on it."""

    async def begin(self, ctx: RunContext, request: RunRequest, *, owner: str, at_s: float) -> bool:
        """Make the row RUNNING and this process its owner: a new row, or a QUEUED one that is claimed.

        Returns:
            False if the run was already claimed, cancelled or ended: this process must not work on it.

        Raises:
            TooManyRuns: it is a new row, and one more than its caller may have (`unfinished_max`).
        """
        ...

    async def record_intent(self, ctx: RunContext, intent: IntentType) -> None:
        """Record the intent.

        Raises:
            StoreFailure: also if this process no longer owns the run (REJECTED).
        """
        ...

    async def finish(self, ctx: RunContext, ending: RunEnding) -> bool:
        """Write the end if the row is still RUNNING and owned by this process; the first end is kept.

        Returns:
            False if the row has another end.
        """
        ...


class RunLog(Protocol):
    """The durable trace of runs. Its trace sink takes events; they are written in batches, in order."""

    def open(self, ctx: RunContext) -> None:
        """Start to write the events of this run, now that its row exists. Until then they are buffered."""
        ...

    async def flush(self, ctx: RunContext) -> None:
        """Return when all events of the run emitted so far are written.

        Raises:
            StoreFailure: they cannot be written, or this process no longer owns the row.
        """
        ...

    def close(self, ctx: RunContext) -> None:
        """Forget the run and drop its unwritten events."""
        ...


class RunFeed(Protocol):
    """Publishes what this process has written to the logs of its runs, after the commit."""

    def on_written(self, listener: Callable[[str, Sequence[TraceEvent]], None]) -> Callable[[], None]:
        """Register `listener(run_id, events)` for each commit, on the event loop; it must be quick.

        Returns:
            A function that unsubscribes the listener.
        """
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class RunQuery:
    """A filter for runs. None, or an empty tuple, does not filter.

    Attributes:
        asked_by: name of a caller.
        asked_by_any: names of callers.
        before: `next` of the previous page.
    """

    asked_by: str | None = None
    asked_by_any: tuple[str, ...] = ()
    session_id: str | None = None
    status: RunStatus | None = None
    outcome: ReleaseOutcome | None = None
    intent: IntentType | None = None
    submitted_from_s: float | None = None
    submitted_before_s: float | None = None
    before: str | None = None
    limit: int = 50


@dataclass(frozen=True, slots=True)
class RunPage:
    """Runs, the latest first, and the start of the next page; None on the last page."""

    rows: tuple[RunRow, ...]
    next: str | None


@dataclass(frozen=True, slots=True)
class Submitted:
    """The run of a submission, and whether the submission created it."""

    row: RunRow
    is_new: bool


class RunArchive(RecordReader, Protocol):
    """Submits, reads and cancels runs, whichever process owns them."""

    async def submit(self, request: RunRequest) -> Submitted:
        """Insert a QUEUED row, or join the unfinished run of the same fingerprint or run id.

        Raises:
            TooManyRuns: it is a new row, and one more than its caller may have (`unfinished_max`).
        """
        ...

    async def run(self, run_id: str) -> RunRow | None:
        """The row of a run, or None."""
        ...

    async def runs(self, query: RunQuery) -> RunPage:
        """A page of runs, the latest submission first.

        Raises:
            InvalidInput: `before` was not returned by an earlier page.
        """
        ...

    async def count_unfinished(self, asked_by: str) -> int:
        """How many runs of a caller are QUEUED or RUNNING."""
        ...

    async def of_fingerprint(self, fingerprint: str) -> tuple[RunRow, ...]:
        """The unfinished runs that a submission of this fingerprint joins.

        A run whose alert was resolved is no longer joined (`AlertInbox`).
        """
        ...

    async def events(self, run_id: str, *, after_seq: int = 0, limit: int = 500) -> tuple[TraceEvent, ...]:
        """The run's written events after `after_seq`, in order."""
        ...

    async def attempts(self, run_id: str) -> tuple[JsonValue, ...]:
        """The run's retry attempts, in order, as JSON objects."""
        ...

    async def request_cancel(self, run_id: str, cancel: CancelRequest) -> RunRow | None:
        """Record the first request for a run. A QUEUED run is cancelled and its log closed at once.

        Returns:
            The row afterwards; None if there is no such run.
        """
        ...

    async def expire(self, run_id: str, *, at_s: float, is_served: bool) -> bool:
        """End a run that did not start in time and close its log, if it is still QUEUED.

        Args:
            is_served: whether some process has its source; if so, only room was missing.

        Returns:
            Whether this call ended it.
        """
        ...


@dataclass(frozen=True, slots=True)
class Heartbeat:
    """The last heartbeat of a process.

    Attributes:
        value: differs from one heartbeat to the next; None if there was none, or the process signed off.
        has_work: whether it owns a RUNNING or unclosed run.
        lanes: the runs that it takes; None if it did not list them, as older programs do not.
    """

    value: float | None
    has_work: bool
    lanes: frozenset[Lane] | None = None


@dataclass(frozen=True, slots=True)
class QueuedRun:
    """A QUEUED run, and the source it needs."""

    run_id: str
    source: str | None
    identity: str | None

    @property
    def lane(self) -> Lane:
        """The part of the queue that it waits in."""
        return lane_of(self.source, self.identity)


class RunRecovery(Protocol):
    """Heartbeats, cancellation requests, and the runs that processes leave behind."""

    async def record_heartbeat(
        self, owner: str, *, at_s: float, lanes: Collection[Lane] | None = None
    ) -> None:
        """Record that this process incarnation is alive, and which runs it takes.

        Others only check whether `at_s` has changed; they never compare it with their clocks.
        """
        ...

    async def sign_off(self, owner: str) -> None:
        """Record that the process stops in an orderly way; runs that it still owns count as orphaned."""
        ...

    async def cancel_requests(self, owner: str) -> tuple[tuple[str, CancelRequest], ...]:
        """Requests to cancel RUNNING runs of this process that it has not answered, the oldest first."""
        ...

    async def answer_cancel_request(self, run_id: str, answer: JsonValue) -> None:
        """Store the owner's answer to a cancellation request; the first answer is kept."""
        ...

    async def running(self, owner: str) -> tuple[str, ...]:
        """The RUNNING runs of a process, and those that ended and are not closed."""
        ...

    async def heartbeats(self) -> Mapping[str, Heartbeat]:
        """The last heartbeat of every process that has one or owns a RUNNING or unclosed run."""
        ...

    async def forget(self, owner: str, *, value: float) -> None:
        """Delete a heartbeat if it is still the last one and its process owns no RUNNING or unclosed run."""
        ...

    async def abandon(self, run_id: str, *, owner: str, at_s: float) -> bool:
        """End a run whose process is dead or has lost it, in one transaction.

        A RUNNING row becomes FAILED / INTERNAL_FAILURE (with the termination of RUN_ENDED, if that is in its
        log), its PROJECTING records become ERROR / ABANDONED, and RUN_ENDED (if missing) and RUN_FINISHED are
        written after its last event. A row that had ended and was not closed gets its RUN_FINISHED. If two
        processes abandon a run at the same time, it ends once.

        Returns:
            Whether this call changed anything.
        """
        ...

    async def waiting(
        self, *, submitted_before_s: float, without: Collection[SourceBacklog] = (), limit: int = 100
    ) -> Sequence[QueuedRun]:
        """QUEUED runs submitted before that time that need none of these sources, the oldest first."""
        ...

    async def overdue(self, *, at_s: float, limit: int = 100) -> Sequence[QueuedRun]:
        """QUEUED runs that should have started by then, the oldest first."""
        ...

    async def backlog(self) -> Sequence[SourceBacklog]:
        """How many runs are QUEUED for each source."""
        ...
