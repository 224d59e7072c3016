"""The meter: one gate, one charge and one trace event for each request."""

from __future__ import annotations

import asyncio

import pytest

from diagnosis_harness.harness.cancellation import CancellationReason
from diagnosis_harness.harness.context import RunContext
from diagnosis_harness.kernel.errors import FailureKind, LlmFailure, RunAborted
from diagnosis_harness.llm.messages import (
    ChatMessage,
    ChatReply,
    ChatRequest,
    ChatRole,
    TokenUsage,
    estimate_input_tokens,
)
from diagnosis_harness.llm.metered import MeteredChatModel
from diagnosis_harness.testing.llm import FakeChatModel, says
from diagnosis_harness.testing.runs import Rig, limits
from diagnosis_harness.trace.event import TraceEventStatus, TraceName

REQUEST = ChatRequest(messages=(ChatMessage(ChatRole.USER, "why?"),), max_output_tokens=100)
DOWN = LlmFailure("503", kind=FailureKind.UNAVAILABLE)


def ask(rig: Rig, ctx: RunContext, llm: FakeChatModel, times: int = 1) -> list[ChatReply]:
    """The replies of some metered requests, one after the other."""

    async def main() -> list[ChatReply]:
        metered = MeteredChatModel(rig.core, llm)
        return [await metered.complete(ctx, REQUEST) for _ in range(times)]

    return asyncio.run(main())


def test_a_reply_comes_through_and_is_charged_what_it_reports() -> None:
    """The port is asked once, with the run's own context."""
    rig, llm = Rig(), FakeChatModel([says("because", input_tokens=12, output_tokens=3)])
    ctx = rig.run()
    (reply,) = ask(rig, ctx, llm)
    assert reply.text == "because"
    assert [attempt[0] for attempt in llm.attempts] == [ctx]
    usage = ctx.budget.usage()
    assert (usage.llm_calls, usage.input_tokens, usage.output_tokens, usage.is_estimated) == (1, 12, 3, False)


def test_a_reply_without_usage_is_charged_what_the_request_reserved() -> None:
    """Unknown is not zero: the estimate of the input and the longest output."""
    rig, llm = Rig(), FakeChatModel([ChatReply(text="because")])
    ctx = rig.run()
    ask(rig, ctx, llm)
    usage = ctx.budget.usage()
    assert (usage.input_tokens, usage.output_tokens) == (estimate_input_tokens(REQUEST), 100)
    assert usage.is_estimated


def test_a_request_that_cannot_fit_is_refused_before_it_is_sent() -> None:
    """The port never sees it."""
    rig, llm = Rig(), FakeChatModel([says("never")])
    ctx = rig.run(limits=limits(output_tokens=99))
    with pytest.raises(RunAborted, match="BUDGET_EXHAUSTED"):
        ask(rig, ctx, llm)
    assert llm.attempts == []


def test_a_reply_above_the_limit_is_recorded_and_the_next_request_refused() -> None:
    """The fake reports more than it was allowed; input, output and total stay as reported."""
    rig = Rig()
    llm = FakeChatModel([says("long", input_tokens=20, output_tokens=300), says("never")])
    ctx = rig.run(limits=limits(output_tokens=200))
    with pytest.raises(RunAborted, match="BUDGET_EXHAUSTED"):
        ask(rig, ctx, llm, times=2)
    usage = ctx.budget.usage()
    assert (usage.input_tokens, usage.output_tokens, usage.total_tokens) == (20, 300, 320)
    assert len(llm.attempts) == 1


def test_a_failure_is_one_attempt_and_comes_through() -> None:
    """The meter tries nothing again."""
    rig, llm = Rig(), FakeChatModel([DOWN, says("never")])
    with pytest.raises(LlmFailure, match="503"):
        ask(rig, rig.run(), llm)
    assert len(llm.attempts) == 1


def test_every_attempt_is_in_the_trace() -> None:
    """What was used, never what was said."""
    rig, llm = Rig(), FakeChatModel([DOWN, says("because")])
    ctx = rig.run()
    with pytest.raises(LlmFailure):
        ask(rig, ctx, llm)
    ask(rig, ctx, llm)
    failed, succeeded = rig.sink.events_named(TraceName.LLM_CALL)
    assert (failed.status, failed.payload["kind"]) == (TraceEventStatus.FAILED, "UNAVAILABLE")
    assert succeeded.payload == {
        "llm": "fake",
        "finish": "STOP",
        "tool_calls": 0,
        "input_tokens": 10,
        "output_tokens": 5,
    }


@pytest.mark.parametrize("error", [KeyError, AttributeError, GeneratorExit])
def test_an_attempt_that_fails_in_whatever_way_is_settled_and_in_the_trace(
    error: type[BaseException],
) -> None:
    """A client's bug is no typed failure, and costs one attempt like every other."""
    rig = Rig()
    ctx = rig.run()

    class Broken:
        """A client with a bug."""

        async def complete(self, ctx: RunContext, request: ChatRequest) -> ChatReply:
            """Raise it."""
            raise error

    with pytest.raises(error if issubclass(error, Exception) else RuntimeError):
        asyncio.run(MeteredChatModel(rig.core, Broken()).complete(ctx, REQUEST))

    (event,) = rig.sink.events_named(TraceName.LLM_CALL)
    assert event.status is TraceEventStatus.FAILED
    assert ctx.budget.open_calls().in_flight == ()
    assert ctx.budget.usage().is_estimated


def test_a_reply_that_comes_after_a_cancel_is_discarded_and_charged() -> None:
    """The provider was paid; the reply is discarded."""
    rig = Rig()
    ctx = rig.run()

    async def cancel(ctx: RunContext) -> None:
        rig.core.cancel(ctx, CancellationReason.USER_REQUESTED)

    llm = FakeChatModel([says("too late", input_tokens=10, output_tokens=5)], before=cancel)
    with pytest.raises(RunAborted, match="USER_REQUESTED"):
        ask(rig, ctx, llm)
    assert ctx.budget.usage().total_tokens == TokenUsage(10, 5).total_tokens


def test_a_request_has_a_limit_of_its_own() -> None:
    """TIMEOUT of the attempt, which a role may try again."""
    rig = Rig()
    ctx = rig.run()

    async def main() -> None:
        begun = asyncio.Event()

        async def hang(_: RunContext) -> None:
            begun.set()
            await asyncio.Event().wait()

        metered = MeteredChatModel(rig.core, FakeChatModel([says("never")], before=hang))
        request = ChatRequest(messages=REQUEST.messages, timeout_s=3)
        task = asyncio.get_running_loop().create_task(metered.complete(ctx, request))
        await begun.wait()
        rig.clock.advance(3)
        with pytest.raises(LlmFailure) as failure:
            await task
        assert failure.value.kind is FailureKind.TIMEOUT

    asyncio.run(main())
