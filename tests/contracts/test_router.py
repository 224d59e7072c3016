"""What every router must do."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import pytest
from tests.support.scripted_router import ScriptedRouter

from diagnosis_harness.application.intent import IntentType
from diagnosis_harness.application.router import IntentRouter, Routing
from diagnosis_harness.application.routing import RoutingDecision, RoutingReason, RoutingTurn
from diagnosis_harness.harness.budget import TokenUsage
from diagnosis_harness.harness.cancellation import CancellationReason
from diagnosis_harness.kernel.errors import RunAborted
from diagnosis_harness.llm.role import RoleBoundary
from diagnosis_harness.players.embedded.router import EmbeddedRouter
from diagnosis_harness.testing.runs import Rig
from diagnosis_harness.trace.event import TraceEventStatus, TraceName, TracePhase

Player = Callable[[], IntentRouter]
PLAYERS = [EmbeddedRouter, ScriptedRouter]
QUESTIONS = ["why is checkout slow?", "支付怎么了", "hello", "", "\x00", "\ud800", "🤷" * 50, "a " * 5_000]

pytestmark = pytest.mark.parametrize("player", PLAYERS, ids=lambda player: player.__name__)


@pytest.mark.parametrize("question", QUESTIONS, ids=range(len(QUESTIONS)))
def test_a_router_names_one_path_and_the_reason(player: Player, question: str) -> None:
    """Both of closed sets, with the tokens that it took."""
    decision, usage = asyncio.run(player().route(Rig().run(), question, ()))

    assert type(decision) is RoutingDecision
    assert type(decision.intent) is IntentType
    assert type(decision.reason) is RoutingReason
    assert all(type(word) is str for word in decision.matched)
    assert type(usage) is TokenUsage


def test_a_router_leaves_the_history_as_it_is(player: Player) -> None:
    """What the caller hands over is the caller's."""
    history = [RoutingTurn("why is cart slow?", IntentType.DIAGNOSIS)]

    asyncio.run(player().route(Rig().run(), "and payment?", history))

    assert history == [RoutingTurn("why is cart slow?", IntentType.DIAGNOSIS)]


def test_a_routed_question_costs_one_llm_call(player: Player) -> None:
    """Whoever plays, the budget means the same."""
    rig = Rig()
    ctx = rig.run()

    asyncio.run(Routing(rig.core, RoleBoundary(rig.core), player()).route(ctx, "why?", ()))

    assert ctx.budget.usage().llm_calls == 1


def test_the_trace_has_the_decision_with_its_reason(player: Player) -> None:
    """One attempt, then one decision that says why."""
    rig = Rig()

    decision = asyncio.run(
        Routing(rig.core, RoleBoundary(rig.core), player()).route(rig.run(), "why is cart slow?", ())
    )

    events = [event for event in rig.sink.events() if event.phase is TracePhase.ROUTING]
    assert [event.name for event in events] == [TraceName.ROUTING_ATTEMPT, TraceName.ROUTING_DECISION]
    assert events[1].status is TraceEventStatus.SUCCEEDED
    assert events[1].payload["intent"] == decision.intent.value
    assert events[1].payload["reason"] == decision.reason.value
    assert events[1].payload["matched"] == decision.matched


def test_a_cancelled_run_is_not_routed(player: Player) -> None:
    """The run's end does not count as a failure of the router, and no decision is traced."""
    rig = Rig()
    ctx = rig.run()
    rig.core.cancel(ctx, CancellationReason.USER_REQUESTED)

    with pytest.raises(RunAborted):
        asyncio.run(Routing(rig.core, RoleBoundary(rig.core), player()).route(ctx, "why?", ()))

    assert all(event.phase is not TracePhase.ROUTING for event in rig.sink.events())
