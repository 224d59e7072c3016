"""Routing: attempts, their end, and what the router sees of the session."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.support.scripted_router import DIAGNOSIS, ScriptedRouter

from diagnosis_harness.application.intent import IntentType
from diagnosis_harness.application.router import (
    HISTORY_SIZE_BYTES,
    TURN_SIZE_BYTES,
    TURNS_MAX,
    Routing,
    trim_history,
)
from diagnosis_harness.application.routing import RoutingDecision, RoutingReason, RoutingTurn
from diagnosis_harness.harness.context import RunContext
from diagnosis_harness.harness.lifecycle import RunState
from diagnosis_harness.harness.retry import RETRYABLE
from diagnosis_harness.kernel.errors import (
    FailureKind,
    LlmFailure,
    MalformedAnswer,
    RouterUnavailable,
    RunAborted,
)
from diagnosis_harness.llm.role import RoleBoundary
from diagnosis_harness.testing.runs import Rig, limits
from diagnosis_harness.trace.event import TraceEventStatus, TraceName

NEVER = sorted(set(FailureKind) - RETRYABLE)
turns = st.builds(RoutingTurn, st.text(max_size=400), st.sampled_from(IntentType))


@dataclass
class Routed:
    """A scripted router behind the real boundary, in one run."""

    router: ScriptedRouter
    rig: Rig = field(default_factory=Rig)

    def route(self, ctx: RunContext | None = None, history: tuple[RoutingTurn, ...] = ()) -> RoutingDecision:
        """The decision on some question."""
        routing = Routing(self.rig.core, RoleBoundary(self.rig.core), self.router)
        return asyncio.run(routing.route(ctx or self.rig.run(), "why?", history))

    def statuses(self, name: TraceName) -> list[TraceEventStatus]:
        """How the events of one name went."""
        return [event.status for event in self.rig.sink.events_named(name)]


def test_the_paths_have_the_names_of_the_seed() -> None:
    """They are in stored runs and streams: a change would break both."""
    assert [path.value for path in IntentType] == ["SYSTEM_CHAT", "KNOWLEDGE_QUERY", "DIAGNOSIS"]


def test_the_reasons_keep_their_names() -> None:
    """They are in stored traces."""
    assert {reason.value for reason in RoutingReason} == {
        "ASKS_FOR_CAUSE", "ASKS_TO_INVESTIGATE", "ASKS_FOR_STATE", "NAMES_SYMPTOM", "NAMES_TIME",
        "NAMES_SUBJECT", "PASTED_OUTPUT", "NAMES_DOCUMENT", "ASKS_ABOUT_PAST", "ASKS_HOW_TO", "ASKS_MEANING",
        "ASKS_WHO", "ASKS_FOR_SETTING", "ASKS_FOR_FACT", "ASKS_ABOUT_SYSTEM", "OUT_OF_SCOPE",
        "ADDRESSES_SYSTEM", "GREETING", "FOLLOWS_BEFORE", "NOTHING_RECOGNISED", "LLM_JUDGED",
        "NOTHING_TO_DIAGNOSE",
    }  # fmt: skip


@pytest.mark.parametrize("kind", sorted(RETRYABLE))
def test_a_failure_that_passes_costs_a_second_attempt(kind: FailureKind) -> None:
    """The second answer is the decision; one failed and one successful attempt are in the trace."""
    routed = Routed(ScriptedRouter(LlmFailure("away", kind=kind), DIAGNOSIS))

    assert routed.route() == DIAGNOSIS
    assert routed.statuses(TraceName.ROUTING_ATTEMPT) == [
        TraceEventStatus.FAILED,
        TraceEventStatus.SUCCEEDED,
    ]


@pytest.mark.parametrize("kind", sorted(RETRYABLE))
def test_after_two_failed_attempts_no_path_is_known(kind: FailureKind) -> None:
    """There is no third attempt, and no path is guessed."""
    routed = Routed(ScriptedRouter(LlmFailure("away", kind=kind), LlmFailure("away", kind=kind), DIAGNOSIS))

    with pytest.raises(RouterUnavailable) as raised:
        routed.route()

    assert raised.value.kind is kind
    assert len(routed.router.histories) == 2
    assert routed.statuses(TraceName.ROUTING_DECISION) == [TraceEventStatus.FAILED]


@pytest.mark.parametrize("kind", NEVER)
def test_other_failures_are_final(kind: FailureKind) -> None:
    """One attempt, and no path is known."""
    routed = Routed(ScriptedRouter(LlmFailure("no", kind=kind), DIAGNOSIS))

    with pytest.raises(RouterUnavailable):
        routed.route()

    assert len(routed.router.histories) == 1


def test_an_answer_that_names_no_path_is_not_asked_for_again() -> None:
    """Invalid output is final, and the trace says that it was."""
    routed = Routed(ScriptedRouter(MalformedAnswer("no such path"), DIAGNOSIS))

    with pytest.raises(RouterUnavailable) as raised:
        routed.route()

    assert raised.value.kind is FailureKind.INVALID_OUTPUT
    assert len(routed.router.histories) == 1
    assert routed.statuses(TraceName.ROUTING_DECISION) == [TraceEventStatus.FAILED]


def test_a_spent_budget_ends_the_run_and_not_the_router() -> None:
    """The second attempt costs a call of its own; without one the run is over."""
    routed = Routed(ScriptedRouter(LlmFailure("away", kind=FailureKind.TRANSPORT), DIAGNOSIS))
    ctx = routed.rig.run(limits=limits(llm_calls=1))

    with pytest.raises(RunAborted):
        routed.route(ctx)

    assert ctx.lifecycle.state is RunState.BUDGET_EXHAUSTED
    assert routed.statuses(TraceName.ROUTING_DECISION) == []


def test_a_bug_in_a_router_is_not_taken_for_its_absence() -> None:
    """An unexpected error propagates unchanged."""
    routed = Routed(ScriptedRouter(ZeroDivisionError()))

    with pytest.raises(ZeroDivisionError):
        routed.route()


def test_the_router_sees_a_bounded_history() -> None:
    """Of a long session only the latest questions."""
    session = tuple(RoutingTurn(f"question {place}", IntentType.DIAGNOSIS) for place in range(50))
    routed = Routed(ScriptedRouter(DIAGNOSIS))

    routed.route(history=session)

    assert routed.router.histories == [session[-TURNS_MAX:]]


@given(st.lists(turns, max_size=20))
def test_a_history_stays_within_its_bounds(session: list[RoutingTurn]) -> None:
    """In count, in bytes of each question, and in bytes of all."""
    sizes = [len(turn.question.encode("utf-8", "surrogatepass")) for turn in trim_history(session)]

    assert len(sizes) <= TURNS_MAX
    assert all(size <= TURN_SIZE_BYTES for size in sizes)
    assert sum(sizes) <= HISTORY_SIZE_BYTES


@given(st.lists(turns, max_size=20))
def test_a_history_is_the_end_of_the_session(session: list[RoutingTurn]) -> None:
    """In order and without a gap; a question is whole or its beginning."""
    kept = trim_history(session)

    latest = session[len(session) - len(kept) :]
    assert all(whole.question.startswith(cut.question) for whole, cut in zip(latest, kept, strict=True))
    assert [turn.intent for turn in latest] == [turn.intent for turn in kept]


def test_a_question_is_cut_between_two_characters() -> None:
    """A character of three bytes does not fit into the last two."""
    (turn,) = trim_history([RoutingTurn("慢" * 5, IntentType.DIAGNOSIS)], turn_size_bytes=11)

    assert turn.question == "慢" * 3


def test_a_turn_that_does_not_fit_hides_those_before_it() -> None:
    """A history with a hole would be read as one without."""
    session = [RoutingTurn(text, IntentType.DIAGNOSIS) for text in ("a", "b" * 9, "c")]

    assert trim_history(session, size_bytes=5) == (session[2],)
