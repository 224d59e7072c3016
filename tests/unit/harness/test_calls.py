"""Controlled calls: the charge of every ending, and what becomes of work that outlives its wait."""

from __future__ import annotations

import asyncio
import threading

import pytest

from diagnosis_harness.harness.cancellation import CancellationReason
from diagnosis_harness.harness.context import RunContext
from diagnosis_harness.harness.core import DiagnosisHarnessCore
from diagnosis_harness.harness.lease import LeasePhase, TokenUsage
from diagnosis_harness.harness.lifecycle import RunState
from diagnosis_harness.harness.workers import WorkerPool
from diagnosis_harness.kernel.errors import FailureKind, LlmFailure, RunAborted, ToolFailure
from diagnosis_harness.testing.clock import ManualClock
from diagnosis_harness.testing.ids import CountingIds
from diagnosis_harness.testing.runs import AMPLE, Rig
from diagnosis_harness.trace.event import TraceName
from diagnosis_harness.trace.sink import MemorySink

RESERVED = TokenUsage(100, 50)


def test_an_llm_call_that_fails_is_charged_its_reservation() -> None:
    """Nobody knows what the provider counted; it was not nothing."""
    rig = Rig()
    ctx = rig.run()

    async def raise_broken(_: RunContext) -> str:
        raise LlmFailure("reset", kind=FailureKind.TRANSPORT)

    async def main() -> None:
        with pytest.raises(LlmFailure):
            await rig.core.call_llm(ctx, raise_broken, usage_of=lambda _: None, reserve=RESERVED)

    asyncio.run(main())
    usage = ctx.budget.usage()
    assert (usage.input_tokens, usage.output_tokens, usage.estimated_llm_calls) == (100, 50, 1)
    assert ctx.budget.open_calls().in_flight == ()


def test_an_llm_call_that_is_refused_at_the_gate_costs_nothing() -> None:
    """It never began."""
    rig = Rig()
    ctx = rig.run()
    rig.core.cancel(ctx, CancellationReason.USER_REQUESTED)

    async def main() -> None:
        with pytest.raises(RunAborted):
            await rig.core.call_llm(ctx, _never, usage_of=lambda _: None, reserve=RESERVED)

    asyncio.run(main())
    assert ctx.budget.usage().llm_calls == 0


async def _never(_: RunContext) -> str:
    pytest.fail("the operation was called")


def test_a_discarded_reply_is_charged_what_it_reports() -> None:
    """Its content goes nowhere; its tokens were spent."""
    rig = Rig()
    ctx = rig.run()

    async def llm(ctx: RunContext) -> str:
        rig.core.cancel(ctx, CancellationReason.USER_REQUESTED)
        return "reply"

    async def main() -> None:
        with pytest.raises(RunAborted):
            await rig.core.call_llm(ctx, llm, usage_of=lambda _: TokenUsage(7, 3), reserve=RESERVED)

    asyncio.run(main())
    usage = ctx.budget.usage()
    assert (usage.total_tokens, usage.estimated_llm_calls) == (10, 0)
    assert len(rig.sink.events_named(TraceName.LATE_RESULT_REFUSED)) == 1


def test_an_llm_call_has_a_limit_of_its_own() -> None:
    """LlmFailure TIMEOUT, charged its reservation; the run goes on."""
    rig = Rig()
    ctx = rig.run()

    async def main() -> None:
        begun = asyncio.Event()

        async def slow(_: RunContext) -> str:
            begun.set()
            await asyncio.Event().wait()
            return "never"

        task = asyncio.get_running_loop().create_task(
            rig.core.call_llm(ctx, slow, usage_of=lambda _: None, reserve=RESERVED, limit_s=5)
        )
        await begun.wait()
        rig.clock.advance(5)
        with pytest.raises(LlmFailure) as failure:
            await task
        assert failure.value.kind is FailureKind.TIMEOUT

    asyncio.run(main())
    assert ctx.budget.usage().total_tokens == 150
    assert ctx.lifecycle.state is RunState.RUNNING


def test_a_tool_call_that_fails_stays_charged_and_its_lease_is_closed() -> None:
    """The backend was reached."""
    rig = Rig()
    ctx = rig.run()

    async def raise_broken(_: RunContext) -> str:
        raise ToolFailure("backend down")

    async def main() -> None:
        lease = rig.core.start_tool_call(ctx, "metrics", "call-1")
        with pytest.raises(ToolFailure, match="backend down"):
            await rig.core.call_tool(ctx, lease, raise_broken)
        assert lease.phase is LeasePhase.CLOSED

    asyncio.run(main())
    assert ctx.budget.usage().tool_calls == 1


def test_a_tool_call_that_could_not_begin_gives_its_lease_back() -> None:
    """The run ended between admission and start."""
    rig = Rig()
    ctx = rig.run()

    async def main() -> None:
        leases = rig.core.admit_tool_calls(ctx, [("a", "1"), ("b", "2")])
        rig.core.cancel(ctx, CancellationReason.USER_REQUESTED)
        with pytest.raises(RunAborted):
            await rig.core.call_tool(ctx, leases[0], _never)
        with pytest.raises(RunAborted):
            await rig.core.call_blocking_tool(ctx, leases[1], lambda _: pytest.fail("the tool was called"))

    asyncio.run(main())
    assert ctx.budget.usage().tool_calls == 0
    assert ctx.budget.open_calls().waiting == ()


def test_an_async_tool_that_swallows_its_cancel_is_abandoned_and_its_result_refused() -> None:
    """The wait ends at once; what comes later is in the trace and goes nowhere; the lease closes then."""
    rig = Rig()
    ctx = rig.run()

    async def main() -> None:
        begun, release, over = asyncio.Event(), asyncio.Event(), asyncio.Event()

        async def stubborn(_: RunContext) -> str:
            begun.set()
            try:
                await asyncio.Event().wait()
            except asyncio.CancelledError:
                await release.wait()
            over.set()
            return "late rows"

        lease = rig.core.start_tool_call(ctx, "metrics", "call-1")
        task = asyncio.get_running_loop().create_task(rig.core.call_tool(ctx, lease, stubborn))
        await begun.wait()
        rig.core.cancel(ctx, CancellationReason.USER_REQUESTED)
        with pytest.raises(RunAborted):
            await task
        assert len(rig.sink.events_named(TraceName.TOOL_ABANDONED)) == 1
        assert rig.sink.events_named(TraceName.LATE_RESULT_REFUSED) == ()
        assert [call.name for call in ctx.budget.open_calls().in_flight] == ["metrics"]
        release.set()
        await over.wait()

    asyncio.run(main())
    assert len(rig.sink.events_named(TraceName.LATE_RESULT_REFUSED)) == 1
    assert ctx.budget.open_calls().in_flight == ()


def test_an_async_tool_that_obeys_is_not_abandoned() -> None:
    """Also when its own clean-up takes a few turns of the loop, and also when the host cancels its task."""
    rig = Rig()
    ctx = rig.run()

    async def main() -> None:
        begun = asyncio.Event()

        async def polite(_: RunContext) -> str:
            try:
                begun.set()
                await asyncio.Event().wait()
            finally:
                turn = asyncio.get_running_loop().create_future()
                asyncio.get_running_loop().call_soon(turn.set_result, None)
                await turn
            return "never"

        lease = rig.core.start_tool_call(ctx, "metrics", "call-1")
        task = asyncio.get_running_loop().create_task(rig.core.call_tool(ctx, lease, polite, limit_s=5))
        await begun.wait()
        rig.clock.advance(5)
        with pytest.raises(ToolFailure) as failure:
            await task
        assert (failure.value.kind, failure.value.code) == (FailureKind.TIMEOUT, "TIMEOUT")
        begun.clear()
        again = rig.core.start_tool_call(ctx, "metrics", "call-2")
        task = asyncio.get_running_loop().create_task(rig.core.call_tool(ctx, again, polite))
        await begun.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(main())
    assert rig.sink.events_named(TraceName.TOOL_ABANDONED) == ()


def test_a_blocking_tool_that_outlives_the_run_is_abandoned_and_its_result_refused() -> None:
    """The wait ends at cancel; the thread's result is refused when it comes, even after the loop has gone."""
    rig = Rig()
    ctx = rig.run()
    inside, go_on, left = threading.Event(), threading.Event(), threading.Event()

    def tool(_: RunContext) -> str:
        inside.set()
        go_on.wait(5)
        return "late rows"

    async def main() -> None:
        loop = asyncio.get_running_loop()
        lease = rig.core.start_tool_call(ctx, "metrics", "call-1")
        task = loop.create_task(rig.core.call_blocking_tool(ctx, lease, tool))
        await loop.run_in_executor(None, inside.wait, 5)
        rig.core.cancel(ctx, CancellationReason.USER_REQUESTED)
        with pytest.raises(RunAborted):
            await task

    asyncio.run(main())
    (abandoned,) = rig.sink.events_named(TraceName.TOOL_ABANDONED)
    assert abandoned.payload == {"tool_name": "metrics", "tool_call_id": "call-1"}
    assert rig.sink.events_named(TraceName.LATE_RESULT_REFUSED) == ()
    rig.core._workers.submit(left.set)
    go_on.set()
    assert left.wait(5)
    _until(lambda: bool(rig.sink.events_named(TraceName.LATE_RESULT_REFUSED)))
    assert ctx.budget.open_calls().in_flight == ()


def _until(holds: object) -> None:
    """Give another thread its turns until something holds, or fail."""
    assert callable(holds)
    pause = threading.Event()
    for _ in range(5000):
        if holds():
            return
        pause.wait(0.001)
    pytest.fail("it never came")


@pytest.mark.parametrize("error", [StopIteration(), SystemExit(1), KeyboardInterrupt()])
def test_a_blocking_tool_cannot_end_the_thread_or_the_loop_of_others(error: BaseException) -> None:
    """What Python reads as "stop the iteration" or "stop the process" reaches the caller as an error."""
    rig = Rig()
    ctx = rig.run()

    def exiting(_: RunContext) -> str:
        raise error

    async def main() -> None:
        for call_id in ("call-1", "call-2"):
            lease = rig.core.start_tool_call(ctx, "metrics", call_id)
            with pytest.raises(RuntimeError, match=type(error).__name__):
                await rig.core.call_blocking_tool(ctx, lease, exiting)

    asyncio.run(main())
    assert ctx.budget.open_calls().in_flight == ()


def test_a_queued_blocking_tool_never_starts_after_a_cancel() -> None:
    """With one thread busy the second call waits in the queue, and the cancel takes it out."""
    clock, sink = ManualClock(), MemorySink()
    core = DiagnosisHarnessCore(clock=clock, ids=CountingIds(), sink=sink, workers=WorkerPool(threads_max=1))
    ctx = core.start_run(session_id="s", limits=AMPLE, timeout_s=60)
    inside, go_on = threading.Event(), threading.Event()
    started: list[str] = []

    def first(_: RunContext) -> None:
        started.append("first")
        inside.set()
        go_on.wait(5)

    def second(_: RunContext) -> None:
        started.append("second")

    async def main() -> None:
        loop = asyncio.get_running_loop()
        leases = core.admit_tool_calls(ctx, [("a", "1"), ("b", "2")])
        tasks = [
            loop.create_task(core.call_blocking_tool(ctx, lease, tool))
            for lease, tool in zip(leases, (first, second), strict=True)
        ]
        await loop.run_in_executor(None, inside.wait, 5)
        answer = core.cancel(ctx, CancellationReason.USER_REQUESTED)
        assert [call.name for call in answer.never_started] == ["b"]
        for task in tasks:
            with pytest.raises(RunAborted):
                await task

    asyncio.run(main())
    go_on.set()
    assert started == ["first"]
    usage = ctx.budget.usage()
    assert dict(usage.tool_calls_by_tool) == {"a": 1}
