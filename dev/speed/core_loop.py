"""The bare loop on our core: ask a fake llm and run a fake tool, a given number of times."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

from diagnosis_harness.harness.budget import RunBudgetLimits, TokenUsage
from diagnosis_harness.harness.context import RunContext
from diagnosis_harness.harness.core import DiagnosisHarnessCore
from diagnosis_harness.kernel.clock import SystemClock
from diagnosis_harness.kernel.ids import RandomIds

PLENTY = 10**9
LIMITS = RunBudgetLimits(
    llm_calls=PLENTY,
    tool_calls=PLENTY,
    tool_calls_per_tool=PLENTY,
    input_tokens=PLENTY,
    output_tokens=PLENTY,
    total_tokens=PLENTY,
    run_bytes=PLENTY,
)
USAGE = TokenUsage(10, 5)


def system_core() -> DiagnosisHarnessCore:
    """A core with the machine's clock, which discards its trace."""
    return DiagnosisHarnessCore(clock=SystemClock(), ids=RandomIds())


async def complete(ctx: RunContext) -> TokenUsage:
    """The fake llm."""
    del ctx
    return USAGE


async def look(ctx: RunContext) -> str:
    """The trivial tool."""
    del ctx
    return "ok"


def blocking_look(ctx: RunContext) -> str:
    """The trivial tool as a blocking one."""
    del ctx
    return "ok"


async def run_steps(
    core: DiagnosisHarnessCore, steps: int, *, blocking: bool = False, latency_s: float = 0.0
) -> None:
    """One run: `steps` times an llm call and a tool call, then a last llm call."""
    ctx = core.start_run(session_id="bench", limits=LIMITS, timeout_s=3600)

    async def ask(ctx: RunContext) -> TokenUsage:
        if latency_s:
            await asyncio.sleep(latency_s)
        return await complete(ctx)

    for number in range(steps):
        await core.call_llm(ctx, ask, usage_of=lambda usage: usage)
        if blocking:
            lease = core.start_tool_call(ctx, "look", f"t{number}")
            await core.call_blocking_tool(ctx, lease, blocking_look)
        else:
            await core.invoke_tool(ctx, "look", f"t{number}", look)
    await core.call_llm(ctx, ask, usage_of=lambda usage: usage)
    core.complete_success(ctx)


async def run_gated_steps(core: DiagnosisHarnessCore, steps: int) -> None:
    """The same with the gates only: every start and charge, but no limits on waits."""
    ctx = core.start_run(session_id="bench", limits=LIMITS, timeout_s=3600)
    for number in range(steps):
        llm = core.start_llm_call(ctx)
        core.settle_llm_call(ctx, llm, await complete(ctx))
        core.check_active(ctx)
        tool = core.start_tool_call(ctx, "look", f"t{number}")
        core.begin_tool_call(ctx, tool)
        await look(ctx)
        core.settle_tool_call(ctx, tool)
        core.check_active(ctx)
    core.complete_success(ctx)


async def repeat(run: Callable[[], Awaitable[None]], times: int) -> None:
    """Run this many times, one after another."""
    for _ in range(times):
        await run()
