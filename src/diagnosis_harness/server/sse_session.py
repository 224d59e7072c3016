"""One client's event stream as a value: which events may be sent, in which order, and what is refused.

Pure: it sends nothing and waits for nothing. The owner of the connection asks for a step, sends the step's
events in order, and keeps its session. Its state is the connection's, never the run's (seed:
harness-lifecycle-and-states §11):

    NEW --metadata--> OPEN --status--> OPEN --content, done--> TERMINAL
                       OPEN --failure, done(FAILED)--> TERMINAL
    NEW, OPEN --disconnect or send failure--> DISCONNECTED

A connection that watches a run may also receive events of its log (`report_trace_event`). A client that
reconnects continues where it was cut off (`resume_session`): it already has its metadata.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum

from diagnosis_harness.application.runs.row import RUN_CANCELLED, SERVICE_STOPPED, RunRow
from diagnosis_harness.application.status import ChatApplicationStatus
from diagnosis_harness.harness.termination import CancellationReason, RunState, RunTermination
from diagnosis_harness.kernel.errors import ContractViolation
from diagnosis_harness.kernel.json_value import JsonValue
from diagnosis_harness.release.outcome import ReleaseOutcome
from diagnosis_harness.server.problems import PROBLEMS, ProblemKind
from diagnosis_harness.trace.event import TraceEvent

SERVICE_STOPPING = "SERVICE_STOPPING"
"""Code of a failure that the run did not cause: the service stopped, so asking again helps."""


class SseState(StrEnum):
    """The state of one connection."""

    NEW = "NEW"
    OPEN = "OPEN"
    TERMINAL = "TERMINAL"
    DISCONNECTED = "DISCONNECTED"

    @property
    def is_closed(self) -> bool:
        """Whether nothing more may be sent."""
        return self in (SseState.TERMINAL, SseState.DISCONNECTED)


@dataclass(frozen=True, slots=True)
class RunIds:
    """Session and run; every result must carry the pair that metadata carried."""

    session_id: str
    run_id: str


@dataclass(frozen=True, slots=True)
class Metadata:
    """The first event: names the run of this stream."""

    ids: RunIds


@dataclass(frozen=True, slots=True)
class Status:
    """The stage of the run, for the user."""

    stage: ChatApplicationStatus


@dataclass(frozen=True, slots=True)
class Traced:
    """Any other event of the run's log, unchanged; for clients that asked for the trace."""

    event: TraceEvent


@dataclass(frozen=True, slots=True)
class Content:
    """The released answer as JSON; a fallback is content as well."""

    ids: RunIds
    body: JsonValue


@dataclass(frozen=True, slots=True)
class Failure:
    """Why there is no answer: a code for programs, a sentence for people, and how the run ended."""

    ids: RunIds
    code: str
    message: str
    state: RunState


@dataclass(frozen=True, slots=True)
class Done:
    """The last event. Never CANCELLED, which is stored but not shown to clients (§11)."""

    outcome: ReleaseOutcome

    def __post_init__(self) -> None:
        if self.outcome is ReleaseOutcome.CANCELLED:
            raise ContractViolation("CANCELLED is not a public outcome")


SseEvent = Metadata | Status | Traced | Content | Failure | Done


class SendRefusal(StrEnum):
    """Why a step was refused; the session is unchanged then."""

    NOT_OPEN = "NOT_OPEN"  # metadata has not been sent
    ALREADY_OPEN = "ALREADY_OPEN"  # metadata is sent once
    LATE = "LATE"  # TERMINAL or DISCONNECTED
    OTHER_RUN = "OTHER_RUN"  # ids differ from those of metadata
    NOT_PUBLIC = "NOT_PUBLIC"  # an outcome that this event cannot end with


@dataclass(frozen=True, slots=True)
class SseSession:
    """One connection.

    Attributes:
        ids: those of metadata, once it was sent.
        starts_run: whether the run was started by this connection; only then does losing it cancel the run.
    """

    starts_run: bool
    state: SseState = SseState.NEW
    ids: RunIds | None = None

    def __post_init__(self) -> None:
        if self.ids is None and self.state in (SseState.OPEN, SseState.TERMINAL):
            raise ContractViolation(f"a session that is {self.state} has sent its metadata")
        if self.ids is not None and self.state is SseState.NEW:
            raise ContractViolation("a new session has sent nothing")


@dataclass(frozen=True, slots=True)
class SseStep:
    """The result of one request.

    Attributes:
        session: the connection afterwards.
        events: to be sent now, in this order. refusal: why nothing was done; `events` is empty then. cancel:
            the reason for which to cancel the run; None if it continues.
    """

    session: SseSession
    events: tuple[SseEvent, ...] = ()
    refusal: SendRefusal | None = None
    cancel: CancellationReason | None = None


def open_session(session: SseSession, ids: RunIds) -> SseStep:
    """The run has started: metadata."""
    if session.state is SseState.NEW:
        return SseStep(replace(session, state=SseState.OPEN, ids=ids), (Metadata(ids),))
    late = session.state.is_closed
    return SseStep(session, refusal=SendRefusal.LATE if late else SendRefusal.ALREADY_OPEN)


def resume_session(session: SseSession, ids: RunIds) -> SseStep:
    """The client reconnects and already has the metadata: nothing is sent twice."""
    step = open_session(session, ids)
    return step if step.refusal else replace(step, events=())


def report_stage(session: SseSession, stage: ChatApplicationStatus) -> SseStep:
    """The run is in another stage."""
    if refusal := _not_open(session):
        return SseStep(session, refusal=refusal)
    return SseStep(session, (Status(stage),))


def report_trace_event(session: SseSession, event: TraceEvent) -> SseStep:
    """Another event of the run's log."""
    if refusal := _not_open(session):
        return SseStep(session, refusal=refusal)
    if session.ids is None or event.run_id != session.ids.run_id:
        return SseStep(session, refusal=SendRefusal.OTHER_RUN)
    return SseStep(session, (Traced(event),))


def finish_with_answer(session: SseSession, content: Content, outcome: ReleaseOutcome) -> SseStep:
    """The released content and `done`, which carries SUCCESS or FALLBACK; the session is over."""
    allowed = outcome in (ReleaseOutcome.SUCCESS, ReleaseOutcome.FALLBACK)
    return _terminate(session, content, outcome if allowed else None)


def finish_with_failure(session: SseSession, failure: Failure) -> SseStep:
    """There is no answer: the failure and `done(FAILED)`; the session is over."""
    return _terminate(session, failure, ReleaseOutcome.FAILED)


def finish_with_cancellation(
    session: SseSession, ids: RunIds, termination: RunTermination, message: str
) -> SseStep:
    """The run was cancelled.

    By its user, while the client is still there: failure RUN_CANCELLED, then `done(FAILED)`; what is stored
    stays CANCELLED. Because its client is gone: nobody is left to send to, so the connection counts as lost.

    Raises:
        ContractViolation: the run was not cancelled.
    """
    if termination.state is not RunState.CANCELLED:
        raise ContractViolation(f"the run is {termination.state}, not cancelled")
    if termination.reason is CancellationReason.CLIENT_DISCONNECTED and session.starts_run:
        return _disconnect(session)
    return finish_with_failure(session, Failure(ids, RUN_CANCELLED, message, RunState.CANCELLED))


def finish_by_row(session: SseSession, row: RunRow) -> SseStep:
    """The closing events of a run, from its row.

    Raises:
        ContractViolation: the run has not ended.
    """
    ending = row.ending
    if ending is None:
        raise ContractViolation("the run has not ended")
    ids = RunIds(row.request.session_id, row.run_id)
    if ending.failure is None:
        return finish_with_answer(session, Content(ids, ending.answer), ending.outcome)
    if ending.termination.detail == SERVICE_STOPPED:
        message = PROBLEMS[ProblemKind.SERVICE_STOPPING].title.in_(row.request.language)
        return finish_with_failure(session, Failure(ids, SERVICE_STOPPING, message, ending.state))
    if ending.outcome is ReleaseOutcome.CANCELLED:
        return finish_with_cancellation(session, ids, ending.termination, ending.failure.message)
    return finish_with_failure(
        session, Failure(ids, ending.failure.code, ending.failure.message, ending.state)
    )


def disconnect_session(session: SseSession) -> SseStep:
    """The client went away, or an event could not be sent.

    This cancels the run if this connection started it and the run may still be in progress; after TERMINAL,
    or if the connection was already lost, it changes nothing.
    """
    step = _disconnect(session)
    if step.refusal is None and session.starts_run:
        return replace(step, cancel=CancellationReason.CLIENT_DISCONNECTED)
    return step


def _disconnect(session: SseSession) -> SseStep:
    if session.state.is_closed:
        return SseStep(session, refusal=SendRefusal.LATE)
    return SseStep(replace(session, state=SseState.DISCONNECTED))


def _terminate(session: SseSession, result: Content | Failure, outcome: ReleaseOutcome | None) -> SseStep:
    if refusal := _not_open(session):
        return SseStep(session, refusal=refusal)
    if result.ids != session.ids:
        return SseStep(session, refusal=SendRefusal.OTHER_RUN)
    if outcome is None:
        return SseStep(session, refusal=SendRefusal.NOT_PUBLIC)
    return SseStep(replace(session, state=SseState.TERMINAL), (result, Done(outcome)))


def _not_open(session: SseSession) -> SendRefusal | None:
    if session.state is SseState.OPEN:
        return None
    return SendRefusal.LATE if session.state.is_closed else SendRefusal.NOT_OPEN
