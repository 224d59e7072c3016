"""One client's stream: exactly the drawn moves, the order of events, and what is refused."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule
from tests.support.scripted_log import make_ended_row

from diagnosis_harness.application.runs.row import RUN_CANCELLED
from diagnosis_harness.application.status import ChatApplicationStatus as Stage
from diagnosis_harness.harness.termination import CancellationReason as Reason
from diagnosis_harness.harness.termination import RunState, RunTermination
from diagnosis_harness.kernel.errors import ContractViolation
from diagnosis_harness.release.outcome import ReleaseOutcome
from diagnosis_harness.server.sse_session import (
    Content,
    Done,
    Failure,
    Metadata,
    RunIds,
    SendRefusal,
    SseEvent,
    SseSession,
    SseState,
    SseStep,
    Status,
    Traced,
    disconnect_session,
    finish_by_row,
    finish_with_answer,
    finish_with_cancellation,
    finish_with_failure,
    open_session,
    report_stage,
    report_trace_event,
    resume_session,
)
from diagnosis_harness.trace.event import TraceEvent, TraceEventStatus, TraceName, TracePhase

OURS, OTHER = RunIds("s1", "r1"), RunIds("s1", "r2")
NEW = SseSession(starts_run=True)
OPEN = open_session(NEW, OURS).session
CONTENT = Content(OURS, {"summary": ["no conclusion"]})
FAILURE = Failure(OURS, "DEADLINE_EXCEEDED", "The time given was over.", RunState.TIMED_OUT)
BY_USER = RunTermination(RunState.CANCELLED, Reason.USER_REQUESTED, 1.0)
CLIENT_GONE = RunTermination(RunState.CANCELLED, Reason.CLIENT_DISCONNECTED, 1.0)
LOGGED = TraceEvent(
    4, OURS.run_id, 1.0, TraceName.LLM_CALL, TracePhase.AGENT, TraceEventStatus.STARTED, {"attempt": 1}
)
SESSIONS = {
    SseState.NEW: NEW,
    SseState.OPEN: OPEN,
    SseState.TERMINAL: finish_with_failure(OPEN, FAILURE).session,
    SseState.DISCONNECTED: disconnect_session(OPEN).session,
}
MOVES = {
    (SseState.NEW, "opened"): SseState.OPEN,
    (SseState.NEW, "resumed"): SseState.OPEN,
    (SseState.NEW, "disconnected"): SseState.DISCONNECTED,
    (SseState.OPEN, "status"): SseState.OPEN,
    (SseState.OPEN, "traced"): SseState.OPEN,
    (SseState.OPEN, "answered"): SseState.TERMINAL,
    (SseState.OPEN, "failed"): SseState.TERMINAL,
    (SseState.OPEN, "disconnected"): SseState.DISCONNECTED,
}


def step(session: SseSession, request: str) -> SseStep:
    """One request of the caller, by name."""
    match request:
        case "opened":
            return open_session(session, OURS)
        case "resumed":
            return resume_session(session, OURS)
        case "traced":
            return report_trace_event(session, LOGGED)
        case "status":
            return report_stage(session, Stage.DIAGNOSIS_RUNNING)
        case "answered":
            return finish_with_answer(session, CONTENT, ReleaseOutcome.FALLBACK)
        case "failed":
            return finish_with_failure(session, FAILURE)
        case _:
            return disconnect_session(session)


@pytest.mark.parametrize("state", SseState)
@pytest.mark.parametrize(
    "request_", ["opened", "resumed", "status", "traced", "answered", "failed", "disconnected"]
)
def test_the_moves_are_those_that_are_drawn(state: SseState, request_: str) -> None:
    """Every other one is refused, sends nothing and leaves the session as it is."""
    session = SESSIONS[state]
    assert session.state is state

    came = step(session, request_)

    if (state, request_) in MOVES:
        assert (came.session.state, came.refusal) == (MOVES[state, request_], None)
    else:
        assert came.refusal is not None
        assert came == SseStep(session, refusal=came.refusal)


@pytest.mark.parametrize("state", [SseState.TERMINAL, SseState.DISCONNECTED])
@pytest.mark.parametrize("request_", ["opened", "resumed", "status", "traced", "answered", "failed"])
def test_what_comes_late_is_refused_as_late(state: SseState, request_: str) -> None:
    """A late result is distinguished from one that came too early."""
    assert step(SESSIONS[state], request_).refusal is SendRefusal.LATE


@pytest.mark.parametrize("ids", [OTHER, RunIds("s2", "r1")])
def test_a_result_of_another_run_is_refused(ids: RunIds) -> None:
    """Session id and run id both have to be those of metadata; the stream stays open for the right one."""
    for came in (
        finish_with_answer(OPEN, replace(CONTENT, ids=ids), ReleaseOutcome.SUCCESS),
        finish_with_failure(OPEN, replace(FAILURE, ids=ids)),
        finish_with_cancellation(OPEN, ids, BY_USER, "Cancelled."),
    ):
        assert came == SseStep(OPEN, refusal=SendRefusal.OTHER_RUN)


def test_an_event_of_another_run_is_refused() -> None:
    """Its log is not this stream's."""
    other = replace(LOGGED, run_id=OTHER.run_id)

    assert report_trace_event(OPEN, other) == SseStep(OPEN, refusal=SendRefusal.OTHER_RUN)
    assert report_trace_event(OPEN, LOGGED).events == (Traced(LOGGED),)


def test_a_client_that_comes_again_gets_no_second_metadata() -> None:
    """It had it, with the ids that every result is still held against."""
    came = resume_session(NEW, OURS)

    assert (came.events, came.session) == ((), OPEN)


@pytest.mark.parametrize("outcome", ReleaseOutcome)
def test_a_row_is_reported_as_it_ended(outcome: ReleaseOutcome) -> None:
    """Content with SUCCESS and FALLBACK; the others are a failure, also what is stored as CANCELLED."""
    row = make_ended_row(OURS.session_id, OURS.run_id, outcome)

    frames = finish_by_row(OPEN, row)

    result, done = frames.events
    has_content = outcome in (ReleaseOutcome.SUCCESS, ReleaseOutcome.FALLBACK)
    assert done == Done(outcome if has_content else ReleaseOutcome.FAILED)
    assert isinstance(result, Content if has_content else Failure)
    assert frames.session.state is SseState.TERMINAL


def test_a_row_of_another_run_is_not_shown() -> None:
    """Neither its session nor its run may differ from metadata."""
    for ids in (OTHER, RunIds("s2", "r1")):
        row = make_ended_row(ids.session_id, ids.run_id, ReleaseOutcome.SUCCESS)
        assert finish_by_row(OPEN, row) == SseStep(OPEN, refusal=SendRefusal.OTHER_RUN)


@pytest.mark.parametrize("outcome", [ReleaseOutcome.SUCCESS, ReleaseOutcome.FALLBACK])
def test_content_is_followed_by_its_outcome(outcome: ReleaseOutcome) -> None:
    """Both at once: no other event can come between."""
    assert finish_with_answer(OPEN, CONTENT, outcome).events == (CONTENT, Done(outcome))


@pytest.mark.parametrize("outcome", [ReleaseOutcome.FAILED, ReleaseOutcome.CANCELLED])
def test_content_cannot_end_in_a_failure(outcome: ReleaseOutcome) -> None:
    """Nothing is sent; a session means that there is a failure to describe."""
    assert finish_with_answer(OPEN, CONTENT, outcome) == SseStep(OPEN, refusal=SendRefusal.NOT_PUBLIC)


def test_a_failure_is_followed_by_failed() -> None:
    """The one outcome that a stream without content has."""
    assert finish_with_failure(OPEN, FAILURE).events == (FAILURE, Done(ReleaseOutcome.FAILED))


def test_cancelled_is_not_a_public_outcome() -> None:
    """The event itself cannot be made."""
    with pytest.raises(ContractViolation, match="not a public outcome"):
        Done(ReleaseOutcome.CANCELLED)


def test_a_user_who_cancels_and_stays_is_notified() -> None:
    """The failure says that the run was cancelled; `done` says FAILED, since CANCELLED is never sent."""
    came = finish_with_cancellation(OPEN, OURS, BY_USER, "Cancelled by you.")

    failure = Failure(OURS, RUN_CANCELLED, "Cancelled by you.", RunState.CANCELLED)
    assert came.events == (failure, Done(ReleaseOutcome.FAILED))
    assert (came.session.state, came.cancel) == (SseState.TERMINAL, None)


def test_no_client_is_notified_of_a_cancel_by_a_lost_client() -> None:
    """There is no reliable receiver: no failure, no `done`."""
    came = finish_with_cancellation(OPEN, OURS, CLIENT_GONE, "Cancelled.")

    assert came.events == ()
    assert came.session.state is SseState.DISCONNECTED


def test_a_watcher_learns_that_the_chat_client_disappeared() -> None:
    """It is connected still, and waits for an end."""
    watching = open_session(SseSession(starts_run=False), OURS).session

    assert finish_with_cancellation(watching, OURS, CLIENT_GONE, "Cancelled.").events[-1] == Done(
        ReleaseOutcome.FAILED
    )


def test_only_a_cancelled_run_can_be_reported_as_cancelled() -> None:
    """Another end has other words."""
    with pytest.raises(ContractViolation, match="not cancelled"):
        finish_with_cancellation(OPEN, OURS, RunTermination(RunState.SUCCESS, None, 1.0), "")


@pytest.mark.parametrize("starts_run", [True, False])
@pytest.mark.parametrize("has_begun", [True, False])
def test_losing_the_client_cancels_the_run_it_started(starts_run: bool, has_begun: bool) -> None:
    """A watcher of a background run may come and go."""
    session = SseSession(starts_run=starts_run)
    session = open_session(session, OURS).session if has_begun else session

    assert disconnect_session(session).cancel == (Reason.CLIENT_DISCONNECTED if starts_run else None)


@pytest.mark.parametrize("state", [SseState.TERMINAL, SseState.DISCONNECTED])
def test_a_client_is_lost_once(state: SseState) -> None:
    """After the end, or a second time, there is nothing to cancel."""
    assert disconnect_session(SESSIONS[state]).cancel is None


@pytest.mark.parametrize(
    ("state", "ids"),
    [(SseState.OPEN, None), (SseState.TERMINAL, None), (SseState.NEW, OURS)],
)
def test_a_session_that_cannot_be_is_not_made(state: SseState, ids: RunIds | None) -> None:
    """Metadata has been sent exactly when it left NEW towards OPEN."""
    with pytest.raises(ContractViolation):
        SseSession(starts_run=True, state=state, ids=ids)


class Streams(RuleBasedStateMachine):
    """Any order of requests, right or wrong: what a client receives is the beginning of a good stream."""

    def __init__(self) -> None:
        super().__init__()
        self.session = SseSession(starts_run=True)
        self.sent: list[SseEvent] = []
        self.cancels = 0

    def take(self, came: SseStep) -> None:
        """Do as the server would: send the events, keep the session."""
        if self.session.state.is_closed:
            assert came.session == self.session
            assert came.events == ()
        self.session = came.session
        self.sent += came.events
        self.cancels += came.cancel is not None

    @rule(ids=st.sampled_from([OURS, OTHER]))
    def open(self, ids: RunIds) -> None:
        """The run has started, perhaps twice."""
        self.take(open_session(self.session, ids))

    @rule(ids=st.sampled_from([OURS, OTHER]))
    def resume(self, ids: RunIds) -> None:
        """The client comes again; for the one that is there already this is wrong."""
        if self.session.state is not SseState.NEW:
            self.take(resume_session(self.session, ids))

    @rule(run_id=st.sampled_from([OURS.run_id, OTHER.run_id]))
    def trace(self, run_id: str) -> None:
        """Another event, perhaps of another run."""
        self.take(report_trace_event(self.session, replace(LOGGED, run_id=run_id)))

    @rule(outcome=st.sampled_from(ReleaseOutcome), ids=st.sampled_from([OURS, OTHER]))
    def end(self, outcome: ReleaseOutcome, ids: RunIds) -> None:
        """The row, perhaps of another run, and perhaps a second time."""
        self.take(finish_by_row(self.session, make_ended_row(ids.session_id, ids.run_id, outcome)))

    @rule(stage=st.sampled_from(Stage))
    def tell(self, stage: Stage) -> None:
        """A stage."""
        self.take(report_stage(self.session, stage))

    @rule(ids=st.sampled_from([OURS, OTHER]), outcome=st.sampled_from(ReleaseOutcome))
    def answer(self, ids: RunIds, outcome: ReleaseOutcome) -> None:
        """Content, perhaps of another run or with an outcome that it cannot have."""
        self.take(finish_with_answer(self.session, replace(CONTENT, ids=ids), outcome))

    @rule(ids=st.sampled_from([OURS, OTHER]))
    def fail(self, ids: RunIds) -> None:
        """A failure."""
        self.take(finish_with_failure(self.session, replace(FAILURE, ids=ids)))

    @rule(ids=st.sampled_from([OURS, OTHER]), termination=st.sampled_from([BY_USER, CLIENT_GONE]))
    def cancel(self, ids: RunIds, termination: RunTermination) -> None:
        """The run was cancelled."""
        self.take(finish_with_cancellation(self.session, ids, termination, "Cancelled."))

    @rule()
    def lose(self) -> None:
        """The client goes away."""
        self.take(disconnect_session(self.session))

    @invariant()
    def what_was_sent_is_in_order(self) -> None:
        """metadata, status*, content or failure, done: each in its place, all of one run."""
        kinds = [type(event) for event in self.sent]
        assert kinds[:1] in ([], [Metadata])
        body = kinds[1:]
        while body[:1] in ([Status], [Traced]):
            del body[0]
        assert body in ([], [Content, Done], [Failure, Done])
        results = [kind for kind in kinds if kind in (Content, Failure)]
        assert (len(results), kinds.count(Done)) in ((0, 0), (1, 1))
        runs = {event.ids for event in self.sent if isinstance(event, (Metadata, Content, Failure))}
        assert len(runs) <= 1
        match self.sent[-2:]:
            case [Content(), Done(outcome)]:
                assert outcome in (ReleaseOutcome.SUCCESS, ReleaseOutcome.FALLBACK)
            case [Failure(), Done(outcome)]:
                assert outcome is ReleaseOutcome.FAILED

    @invariant()
    def the_state_agrees_with_what_was_sent(self) -> None:
        """TERMINAL exactly after `done`; at most one cancel, and none after it."""
        is_done = bool(self.sent) and isinstance(self.sent[-1], Done)
        assert is_done == (self.session.state is SseState.TERMINAL)
        assert self.cancels <= (self.session.state is SseState.DISCONNECTED)


TestStreams = Streams.TestCase
