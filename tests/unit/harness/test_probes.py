"""The probes that today's agent frameworks fail, each with its exact count."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable
from functools import partial

import pytest

from diagnosis_harness.harness.context import RunContext
from diagnosis_harness.harness.lease import ToolLease
from diagnosis_harness.harness.lifecycle import RunState
from diagnosis_harness.harness.waiting import gather_bounded
from diagnosis_harness.kernel.errors import FailureKind, RunAborted, ToolFailure
from diagnosis_harness.testing.runs import Rig, limits
from diagnosis_harness.trace.event import TraceName


def test_a_tool_that_always_fails_runs_as_often_as_its_limit() -> None:
    """Limit 3: it runs 3 times, not once more."""
    rig = Rig()
    ctx = rig.run(limits=limits(tool_calls=3))
    ran: list[int] = []

    async def failing(_: RunContext) -> str:
        ran.append(1)
        raise ToolFailure("always", kind=FailureKind.UNAVAILABLE)

    async def main() -> None:
        for number in range(60):
            lease = rig.core.start_tool_call(ctx, "metrics", f"call-{number}")
            with pytest.raises(ToolFailure):
                await rig.core.call_tool(ctx, lease, failing)

    with pytest.raises(RunAborted, match="BUDGET_EXHAUSTED"):
        asyncio.run(main())
    assert (len(ran), ctx.budget.usage().tool_calls) == (3, 3)


@pytest.mark.parametrize("workers", [2, 4, 8])
def test_workers_that_share_a_limit_never_run_more_than_it(workers: int) -> None:
    """Tasks, each with many tools to call, one limit of 9 between them: 9 bodies run."""
    rig = Rig()
    ctx = rig.run(limits=limits(tool_calls=9))
    ran: list[str] = []

    async def tool(name: str, _: RunContext) -> None:
        turn = asyncio.get_running_loop().create_future()
        asyncio.get_running_loop().call_soon(turn.set_result, None)
        ran.append(name)
        await turn

    async def worker(name: str) -> None:
        for number in range(10):
            await rig.core.invoke_tool(ctx, name, f"{name}-{number}", partial(tool, name))

    async def main() -> list[BaseException | None]:
        return await asyncio.gather(*(worker(f"w{n}") for n in range(workers)), return_exceptions=True)

    endings = asyncio.run(main())
    assert len(ran) == 9
    assert all(isinstance(ending, RunAborted) for ending in endings)


def test_eight_threads_that_share_a_limit_never_run_more_than_it() -> None:
    """The same from eight threads, each with a loop of its own."""
    rig = Rig()
    ctx = rig.run(limits=limits(tool_calls=9))
    ran: list[int] = []
    together = threading.Barrier(8)

    async def tool(_: RunContext) -> None:
        ran.append(threading.get_ident())

    async def calls(number: int) -> None:
        for call in range(10):
            await rig.core.invoke_tool(ctx, "metrics", f"{number}-{call}", tool)

    def worker(number: int) -> None:
        together.wait(5)
        with pytest.raises(RunAborted):
            asyncio.run(calls(number))

    threads = [threading.Thread(target=worker, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(5)
    assert len(ran) == 9


def test_one_reply_that_asks_for_800_tools_runs_the_20_it_may_in_order() -> None:
    """The 20 results are kept; then the first call over the limit ends the run, and 780 never begin."""
    rig = Rig()
    ctx = rig.run(limits=limits(tool_calls=20))
    started: list[str] = []
    running = most = 0

    async def tool(call_id: str, _: RunContext) -> str:
        nonlocal running, most
        started.append(call_id)
        running += 1
        most = max(most, running)
        turn = asyncio.get_running_loop().create_future()
        asyncio.get_running_loop().call_soon(turn.set_result, None)
        await turn
        running -= 1
        return f"rows of {call_id}"

    def call(lease: ToolLease) -> Callable[[], Awaitable[str]]:
        return lambda: rig.core.call_tool(ctx, lease, partial(tool, lease.tool_call_id))

    asked = [(f"tool-{number % 7}", f"call-{number}") for number in range(800)]

    async def main() -> list[str]:
        leases = rig.core.admit_tool_calls(ctx, asked)
        results = await gather_bounded([call(lease) for lease in leases], parallel_max=4)
        assert ctx.lifecycle.state is RunState.RUNNING
        with pytest.raises(RunAborted, match="BUDGET_EXHAUSTED"):
            rig.core.start_tool_call(ctx, *asked[len(leases)])
        return results

    results = asyncio.run(main())
    assert started == [f"call-{number}" for number in range(20)]
    assert results == [f"rows of call-{number}" for number in range(20)]
    assert (most, ctx.budget.usage().tool_calls) == (4, 20)


def test_a_blocking_tool_that_ignores_its_time_out_lands_nothing() -> None:
    """The caller hears TIMEOUT on time and goes on; what the thread returns later is refused."""
    rig = Rig()
    ctx = rig.run()
    inside, go_on = threading.Event(), threading.Event()
    landed: list[str] = []

    def slow(_: RunContext) -> str:
        inside.set()
        go_on.wait(5)
        return "late rows"

    async def boundary() -> None:
        lease = rig.core.start_tool_call(ctx, "metrics", "call-1")
        landed.append(await rig.core.call_blocking_tool(ctx, lease, slow, limit_s=1))

    async def main() -> None:
        loop = asyncio.get_running_loop()
        task = loop.create_task(boundary())
        await loop.run_in_executor(None, inside.wait, 5)
        rig.clock.advance(1)
        with pytest.raises(ToolFailure) as failure:
            await task
        assert failure.value.kind is FailureKind.TIMEOUT
        assert len(rig.sink.events_named(TraceName.TOOL_ABANDONED)) == 1
        refused = asyncio.Event()
        go_on.set()
        while not rig.sink.events_named(TraceName.LATE_RESULT_REFUSED):
            loop.call_later(0.001, refused.set)
            await refused.wait()
            refused.clear()

    asyncio.run(main())
    assert landed == []
    assert ctx.lifecycle.state is RunState.RUNNING
    assert ctx.budget.open_calls().in_flight == ()
