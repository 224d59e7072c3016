"""What the core costs: microseconds for a step, the hundredth like the first, and a quick import."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import time
from collections.abc import Callable, Coroutine
from typing import Any

import pytest

from diagnosis_harness.harness.context import RunContext
from diagnosis_harness.harness.core import DiagnosisHarnessCore
from diagnosis_harness.harness.lease import TokenUsage
from diagnosis_harness.kernel.clock import SystemClock
from diagnosis_harness.testing.ids import CountingIds
from diagnosis_harness.testing.runs import limits

pytestmark = pytest.mark.proof

STEPS = 200  # a round is short, so that some rounds pass undisturbed
ROUNDS = 400
USED = TokenUsage(10, 5)
MANY = limits(
    **dict.fromkeys(
        ["llm_calls", "tool_calls", "tool_calls_per_tool", "input_tokens", "output_tokens", "total_tokens"],
        10**9,
    )
)


async def _llm(_: RunContext) -> TokenUsage:
    return USED


async def _tool(_: RunContext) -> str:
    return "rows"


async def _gated_step(core: DiagnosisHarnessCore, ctx: RunContext) -> None:
    """Gate, start and settle of one llm and one tool call, with the checks before and after each."""
    core.check_active(ctx)
    llm = core.start_llm_call(ctx)
    core.settle_llm_call(ctx, llm, await _llm(ctx))
    core.check_active(ctx)
    tool = core.start_tool_call(ctx, "metrics", "call")
    core.begin_tool_call(ctx, tool)
    await _tool(ctx)
    core.settle_tool_call(ctx, tool)
    core.check_active(ctx)


async def _bounded_step(core: DiagnosisHarnessCore, ctx: RunContext) -> None:
    """The same through the bounded waits, each of which is a task of the event loop."""
    await core.call_llm(ctx, _llm, usage_of=lambda used: used)
    lease = core.start_tool_call(ctx, "metrics", "call")
    await core.call_tool(ctx, lease, _tool)


async def _bare_step(_: DiagnosisHarnessCore, ctx: RunContext) -> None:
    """What asyncio itself takes for two tasks that are waited for."""
    loop = asyncio.get_running_loop()
    await loop.create_task(_llm(ctx))
    await loop.create_task(_tool(ctx))


Step = Callable[[DiagnosisHarnessCore, RunContext], Coroutine[Any, Any, None]]


async def _step_us(step: Step, steps_a_run: int) -> float:
    """CPU microseconds of one step, in runs of so many steps."""
    core = DiagnosisHarnessCore(clock=SystemClock(), ids=CountingIds())
    runs = STEPS // steps_a_run
    begun_s = time.process_time()
    for _ in range(runs):
        ctx = core.start_run(session_id="s", limits=MANY, timeout_s=3_600)
        for _ in range(steps_a_run):
            await step(core, ctx)
        core.complete_success(ctx)
    return (time.process_time() - begun_s) / STEPS * 1e6


def _least_us(measured: dict[str, tuple[Step, int]], rounds: int) -> dict[str, float]:
    """The least of many short rounds, taken in turns: whatever else the machine does can only add."""
    costs: dict[str, float] = dict.fromkeys(measured, float("inf"))
    for _ in range(rounds):
        for name, (step, steps_a_run) in measured.items():
            costs[name] = min(costs[name], asyncio.run(_step_us(step, steps_a_run)))
    return costs


def test_a_step_takes_at_most_20_microseconds_and_stays_flat(scale: float) -> None:
    """Gate, start, settle of one llm and one tool call; the hundredth step costs what the twentieth did."""
    costs = _least_us({"20": (_gated_step, 20), "100": (_gated_step, 100)}, round(ROUNDS * scale))
    assert max(costs.values()) <= 20
    assert costs["100"] <= 1.3 * costs["20"]


def test_a_bounded_step_costs_little_beside_the_tasks_it_needs(scale: float) -> None:
    """Waits that end at cancel or deadline need a task each; all the rest is at most twice that again."""
    costs = _least_us(
        {"bare": (_bare_step, 20), "20": (_bounded_step, 20), "100": (_bounded_step, 100)},
        round(ROUNDS * scale),
    )
    assert costs["20"] <= 3 * costs["bare"]
    assert costs["100"] <= 1.3 * costs["20"]


def test_the_core_takes_no_longer_to_import_than_asyncio_itself() -> None:
    """A ratio within one interpreter, the least of seven: a busy machine slows both."""
    program = (
        "import time; begun = time.process_time(); import asyncio; between = time.process_time(); "
        "import diagnosis_harness.harness.core; "
        "print((time.process_time() - between) / (between - begun))"
    )
    command = [sys.executable, "-c", program]
    ratios = [
        float(subprocess.run(command, capture_output=True, text=True, check=True).stdout) for _ in range(7)
    ]
    assert min(ratios) <= 1
