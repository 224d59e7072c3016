"""Who charges what: calls and tokens through the whole path, from a role through the meter to a provider."""

from __future__ import annotations

import asyncio

import pytest

from diagnosis_harness.harness.budget import TokenUsage
from diagnosis_harness.harness.cancellation import CancellationReason
from diagnosis_harness.harness.context import RunContext
from diagnosis_harness.harness.lease import LLM_CALL
from diagnosis_harness.harness.retry import RetryRole
from diagnosis_harness.kernel.errors import FailureKind, LlmFailure, RunAborted
from diagnosis_harness.llm.messages import (
    ChatMessage,
    ChatReply,
    ChatRequest,
    ChatRole,
    estimate_input_tokens,
)
from diagnosis_harness.llm.metered import MeteredChatModel
from diagnosis_harness.llm.role import RoleBoundary
from diagnosis_harness.testing.llm import FakeChatModel, says
from diagnosis_harness.testing.runs import Rig, limits
from diagnosis_harness.trace.event import TraceEventStatus, TraceName

REQUEST = ChatRequest(messages=(ChatMessage(ChatRole.USER, "why?"),), max_output_tokens=100)
DOWN = LlmFailure("503", kind=FailureKind.UNAVAILABLE)


def play(
    rig: Rig,
    ctx: RunContext,
    provider: FakeChatModel,
    *,
    role: RetryRole = RetryRole.ROUTER,
    requests: int = 1,
) -> str:
    """The answer of a player that sends `requests` metered requests and reports the last one's tokens."""
    model = MeteredChatModel(rig.core, provider)

    async def ask(ctx: RunContext) -> tuple[str, TokenUsage | None]:
        replies = [await model.complete(ctx, REQUEST) for _ in range(requests)]
        return replies[-1].text, replies[-1].usage

    return asyncio.run(RoleBoundary(rig.core).play(ctx, role, ask))


def charges(ctx: RunContext) -> tuple[int, int, int, int]:
    """The run's llm calls, input tokens, output tokens, and calls whose usage is estimated."""
    usage = ctx.budget.usage()
    return usage.llm_calls, usage.input_tokens, usage.output_tokens, usage.estimated_llm_calls


def llm_calls(rig: Rig) -> list[TraceEventStatus]:
    """The statuses of the trace's LLM_CALL events."""
    return [event.status for event in rig.sink.events_named(TraceName.LLM_CALL)]


def test_one_request_in_a_role_costs_one_call_and_its_tokens_once() -> None:
    """The player reports the tokens as well; they are charged once all the same."""
    rig, provider = Rig(), FakeChatModel([says("DIAGNOSIS", input_tokens=100, output_tokens=7)])
    ctx = rig.run()

    assert play(rig, ctx, provider) == "DIAGNOSIS"

    assert charges(ctx) == (1, 100, 7, 0)
    assert len(provider.attempts) == 1
    assert llm_calls(rig) == [TraceEventStatus.SUCCEEDED]
    assert len(rig.sink.events_named(TraceName.ROUTING_ATTEMPT)) == 1
    assert ctx.budget.open_calls().begun == 1


def test_a_retry_costs_two_calls() -> None:
    """The failed request is charged its reservation, the successful one what it reports."""
    rig, provider = Rig(), FakeChatModel([DOWN, says("DIAGNOSIS", input_tokens=100, output_tokens=7)])
    ctx = rig.run()

    play(rig, ctx, provider)

    assert charges(ctx) == (2, estimate_input_tokens(REQUEST) + 100, 100 + 7, 1)
    assert len(provider.attempts) == 2
    assert llm_calls(rig) == [TraceEventStatus.FAILED, TraceEventStatus.SUCCEEDED]
    assert ctx.budget.open_calls().begun == 2


def test_a_failure_of_a_role_without_retry_costs_one_call() -> None:
    """The failed attempt adds no token of its own to the reservation that the meter charges."""
    rig, provider = Rig(), FakeChatModel([DOWN, says("never")])
    ctx = rig.run()

    with pytest.raises(LlmFailure, match="503"):
        play(rig, ctx, provider, role=RetryRole.EVIDENCE_REPAIR)

    assert charges(ctx) == (1, estimate_input_tokens(REQUEST), 100, 1)
    assert len(provider.attempts) == 1
    assert llm_calls(rig) == [TraceEventStatus.FAILED]
    assert ctx.budget.open_calls().in_flight == ()


def test_every_further_request_of_an_attempt_costs_a_call_of_its_own() -> None:
    """A player that asks three times cannot hide two of them behind one attempt."""
    rig, provider = Rig(), FakeChatModel([says("a"), says("b"), says("c")])
    ctx = rig.run()

    play(rig, ctx, provider, requests=3)

    assert charges(ctx) == (3, 30, 15, 0)
    assert ctx.budget.open_calls().begun == 3


def test_the_last_call_of_a_budget_can_be_a_request_and_a_second_one_ends_the_run() -> None:
    """The request takes over the attempt's call, so a limit of one call allows exactly one request."""
    rig = Rig()
    ctx = rig.run(limits=limits(llm_calls=1))
    play(rig, ctx, FakeChatModel([says("DIAGNOSIS")]))
    assert charges(ctx) == (1, 10, 5, 0)

    greedy = rig.run(limits=limits(llm_calls=1))
    provider = FakeChatModel([says("a"), says("never")])
    with pytest.raises(RunAborted, match="BUDGET_EXHAUSTED"):
        play(rig, greedy, provider, requests=2)
    assert charges(greedy) == (1, 10, 5, 0)
    assert len(provider.attempts) == 1


def test_a_request_in_a_role_still_reserves_its_tokens() -> None:
    """A request that cannot fit is never sent, though its call is paid for."""
    rig, provider = Rig(), FakeChatModel([says("never")])

    with pytest.raises(RunAborted, match="BUDGET_EXHAUSTED"):
        play(rig, rig.run(limits=limits(output_tokens=99)), provider)

    assert provider.attempts == []


def test_a_reply_without_usage_is_charged_its_reservation_once() -> None:
    """Neither the meter nor the attempt takes unknown usage for zero, and only the meter charges it."""
    rig = Rig()
    ctx = rig.run()

    play(rig, ctx, FakeChatModel([ChatReply(text="DIAGNOSIS")]))

    assert charges(ctx) == (1, estimate_input_tokens(REQUEST), 100, 1)


@pytest.mark.parametrize(("reported", "charged"), [((0, 0), (1, 0, 0, 0)), ((40, 2), (1, 40, 2, 0))])
def test_a_player_without_a_meter_costs_one_call_and_what_it_reports(
    reported: tuple[int, int], charged: tuple[int, int, int, int]
) -> None:
    """The embedded player reports no tokens; one with a client of its own reports what it took."""
    rig = Rig()
    ctx = rig.run()

    async def answer(ctx: RunContext) -> tuple[str, TokenUsage | None]:
        return "DIAGNOSIS", TokenUsage(*reported)

    asyncio.run(RoleBoundary(rig.core).play(ctx, RetryRole.ROUTER, answer))

    assert charges(ctx) == charged
    assert llm_calls(rig) == []


def test_a_cancel_during_a_request_counts_one_call_in_flight() -> None:
    """Attempt and request are one call, also in the answer to a cancel."""
    rig = Rig()
    ctx = rig.run()
    in_flight = []

    async def cancel(ctx: RunContext) -> None:
        in_flight.append(rig.core.cancel(ctx, CancellationReason.USER_REQUESTED).in_flight)

    with pytest.raises(RunAborted, match="USER_REQUESTED"):
        play(rig, ctx, FakeChatModel([says("too late")], before=cancel))

    assert in_flight == [(LLM_CALL,)]
    assert charges(ctx) == (1, 10, 5, 0)
