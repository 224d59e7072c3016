"""Where runs, their logs and their evidence are kept, as the application sees it. Adapters implement it.

Whatever does not work raises `StoreFailure`, and nothing else. All writes of a run are fenced by its owner:
they change nothing once the run has ended or belongs to another process.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from diagnosis_harness.application.intent import IntentType
from diagnosis_harness.application.runs.request import RunRequest
from diagnosis_harness.application.runs.row import CancelWish, RunEnding, RunRow, RunStatus
from diagnosis_harness.application.runs.sources import Lane, SourceBacklog, lane_of
from diagnosis_harness.kernel.json_value import JsonValue
from diagnosis_harness.release.outcome import ReleaseOutcome
from diagnosis_harness.tools.invocation import EvidenceRecord
from diagnosis_harness.trace.event import TraceEvent

if TYPE_CHECKING:
    from diagnosis_harness.harness.context import RunContext


class RunStore(Protocol):
    """Writes the row of a run that goes on."""

    async def begin(self, ctx: RunContext, request: RunRequest, *, owner: str, at_s: float) -> bool:
        """Make the row RUNNING and this process its owner: a new row, or a QUEUED one that is claimed.

        Returns:
            False when the run has been claimed, cancelled or ended before: it must not be worked on.

        Raises:
            TooManyRuns: it is a new row, and one more than its caller may have (`unfinished_max`).
        """
        ...

    async def routed(self, ctx: RunContext, intent: IntentType) -> None:
        """Record the intent.

        Raises:
            StoreFailure: also when the run is not this process's any more (REJECTED).
        """
        ...

    async def finish(self, ctx: RunContext, ending: RunEnding) -> bool:
        """Write the end, if the row is still RUNNING and this process's; the first end stands.

        Returns:
            False when another end stands; that one is then the truth.
        """
        ...


class RunLog(Protocol):
    """The durable trace of runs. Events come in by its trace sink and are written in batches, in order."""

    def open(self, ctx: RunContext) -> None:
        """Let the events of this run be written: its row stands. Until then they are held."""
        ...

    async def flush(self, ctx: RunContext) -> None:
        """Return when every event of the run that was emitted so far is written.

        Raises:
            StoreFailure: they cannot be written, or the row is not this process's any more.
        """
        ...

    def close(self, ctx: RunContext) -> None:
        """Forget the run; what is not written is dropped."""
        ...


class RunFeed(Protocol):
    """Tells what this process has written to the logs of its runs: event first, stream from the log."""

    def on_written(self, listener: Callable[[str, Sequence[TraceEvent]], None]) -> Callable[[], None]:
        """Have `listener(run_id, events)` called after each commit, on the event loop; it is quick.

        Returns:
            A function that takes the listener out again.
        """
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class RunQuery:
    """Which runs are wanted. None asks for nothing.

    Attributes:
        asked_by: name of a caller.
        asked_by_any: names of callers; empty asks for nothing.
        before: `next` of the page before.
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
    """Runs, the latest first, and where the next page begins; None when there is none."""

    rows: tuple[RunRow, ...]
    next: str | None


@dataclass(frozen=True, slots=True)
class Submitted:
    """What became of a submission: the run it stands for, and whether it is a new one."""

    row: RunRow
    is_new: bool


class RunArchive(Protocol):
    """Takes in what is queued, and reads every run, of whichever process."""

    async def submit(self, request: RunRequest) -> Submitted:
        """Keep a QUEUED row. An unfinished run of the same fingerprint, or of the same run id, is joined.

        Raises:
            TooManyRuns: it is a new row, and one more than its caller may have (`unfinished_max`).
        """
        ...

    async def run(self, run_id: str) -> RunRow | None:
        """The row of a run, or None."""
        ...

    async def runs(self, query: RunQuery) -> RunPage:
        """A page of runs, by submission, the latest first.

        Raises:
            InvalidInput: `before` is no mark of a page.
        """
        ...

    async def unfinished(self, asked_by: str) -> int:
        """How many runs of a caller are QUEUED or RUNNING."""
        ...

    async def of_fingerprint(self, fingerprint: str) -> tuple[RunRow, ...]:
        """The unfinished runs that a submission of this fingerprint joins.

        One whose alert was said to be resolved is joined no more (`AlertInbox`).
        """
        ...

    async def events(self, run_id: str, *, after_seq: int = 0, limit: int = 500) -> tuple[TraceEvent, ...]:
        """The run's written events after a place, in order."""
        ...

    async def records(self, run_id: str) -> tuple[EvidenceRecord, ...]:
        """The run's canonical records, in the order in which they began."""
        ...

    async def attempts(self, run_id: str) -> tuple[JsonValue, ...]:
        """The run's retry attempts, in order, as JSON objects."""
        ...

    async def wish_cancel(self, run_id: str, wish: CancelWish) -> RunRow | None:
        """Keep the wish, the first one; a QUEUED run is cancelled by it at once, log and all.

        Returns:
            The row as it stands then; None when there is no such run.
        """
        ...

    async def expire(self, run_id: str, *, at_s: float, is_served: bool) -> bool:
        """End a run that did not begin in time, if it is QUEUED still, log and all.

        Args:
            is_served: whether some process has its source, so that there was no room; else nobody could
                work on it, and its end says that.

        Returns:
            Whether this call ended it.
        """
        ...


@dataclass(frozen=True, slots=True)
class Beat:
    """What a process said last of itself.

    Attributes:
        value: differs from beat to beat; None where it never beat, or has left.
        has_work: whether it owns a RUNNING or unclosed run.
        lanes: the runs that it takes; None where it did not say, as an older program does not.
    """

    value: float | None
    has_work: bool
    lanes: frozenset[Lane] | None = None


@dataclass(frozen=True, slots=True)
class Waiting:
    """A QUEUED run, and what it looks into."""

    run_id: str
    source: str | None
    identity: str | None

    @property
    def lane(self) -> Lane:
        """The part of the queue that it waits in."""
        return lane_of(self.source, self.identity)


class RunCare(Protocol):
    """What the processes know of each other, and what one may do for another that died."""

    async def beat(self, owner: str, *, at_s: float, lanes: Collection[Lane] | None = None) -> None:
        """Say that this process incarnation lives, and which runs it takes.

        Of the value only that it changes is looked at, by anybody.
        """
        ...

    async def left(self, owner: str) -> None:
        """Say that it goes, in an orderly way."""
        ...

    async def wishes(self, owner: str) -> tuple[tuple[str, CancelWish], ...]:
        """Cancels that were asked for of runs that this process owns, and that it has not answered."""
        ...

    async def answer_wish(self, run_id: str, answer: JsonValue) -> None:
        """Keep what the owner said to a cancel."""
        ...

    async def running(self, owner: str) -> tuple[str, ...]:
        """The RUNNING runs of a process, and those that ended and are not closed."""
        ...

    async def beats(self) -> Mapping[str, Beat]:
        """What every process said last, of those that beat or own a RUNNING or unclosed run."""
        ...

    async def forget(self, owner: str, *, value: float) -> None:
        """Take out what a process said last, if it is still that and it owns no RUNNING or unclosed run."""
        ...

    async def give_up(self, run_id: str, *, owner: str, at_s: float) -> bool:
        """End a run of a process that is dead, or that has lost it: all of it or nothing.

        A RUNNING row becomes FAILED / INTERNAL_FAILURE (where RUN_ENDED stands in its log, the row takes that
        termination), its PROJECTING records ERROR / ABANDONED, and RUN_ENDED (where it is missing) and
        RUN_FINISHED are written after its last event. A row that had ended and was not closed gets its
        RUN_FINISHED. A run that another process ends at the same time ends once.

        Returns:
            Whether this call changed anything.
        """
        ...

    async def waiting(
        self, *, submitted_before_s: float, without: Collection[SourceBacklog] = (), limit: int = 100
    ) -> Sequence[Waiting]:
        """QUEUED runs that have waited so long and look into none of these sources, the oldest first."""
        ...

    async def overdue(self, *, at_s: float, limit: int = 100) -> Sequence[Waiting]:
        """QUEUED runs that should have begun by then, the oldest first."""
        ...

    async def backlog(self) -> Sequence[SourceBacklog]:
        """How many runs are QUEUED, source by source."""
        ...
