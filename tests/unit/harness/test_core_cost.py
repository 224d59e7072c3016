"""What the core costs, counted in function calls: the hundredth step like the first, and a bounded amount.

Microseconds depend on the machine; `make bench` measures them.
"""

from __future__ import annotations

import asyncio
import itertools
import subprocess
import sys
from collections.abc import Callable, Coroutine
from types import FrameType
from typing import Any

import pytest

from diagnosis_harness.harness.context import RunContext
from diagnosis_harness.harness.core import DiagnosisHarnessCore
from diagnosis_harness.harness.lease import TokenUsage
from diagnosis_harness.kernel.clock import SystemClock
from diagnosis_harness.testing.ids import CountingIds
from diagnosis_harness.testing.runs import limits

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


async def _step_through_gate(core: DiagnosisHarnessCore, ctx: RunContext) -> None:
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


async def _step_through_waits(core: DiagnosisHarnessCore, ctx: RunContext) -> None:
    """The same through the bounded waits, each of which is a task of the event loop."""
    await core.call_llm(ctx, _llm, usage_of=lambda used: used)
    lease = core.start_tool_call(ctx, "metrics", "call")
    await core.call_tool(ctx, lease, _tool)


Step = Callable[[DiagnosisHarnessCore, RunContext], Coroutine[Any, Any, None]]


async def _calls_of_each_step(step: Step, steps: int) -> list[int]:
    """How many functions, of Python or of C, each step of one run calls."""
    counted = 0

    def count(_frame: FrameType, event: str, _arg: object) -> None:
        nonlocal counted
        counted += event in ("call", "c_call")

    core = DiagnosisHarnessCore(clock=SystemClock(), ids=CountingIds())
    try:
        ctx = core.start_run(session_id="s", limits=MANY, timeout_s=3_600)
        marks = [0]
        sys.setprofile(count)
        for _ in range(steps):
            await step(core, ctx)
            marks.append(counted)
        sys.setprofile(None)
        core.complete_success(ctx)
    finally:
        sys.setprofile(None)
        core.close()
    return [after - before for before, after in itertools.pairwise(marks)]


# Counted on CPython 3.11 to 3.13: at most 80 and 219. A quarter more would be a change of design.
@pytest.mark.parametrize(("step", "most"), [(_step_through_gate, 100), (_step_through_waits, 275)])
def test_a_step_makes_a_bounded_number_of_calls_and_the_hundredth_as_many_as_the_tenth(
    step: Step, most: int
) -> None:
    """One llm and one tool call; nothing in the core grows with the steps that are behind a run."""
    calls = asyncio.run(_calls_of_each_step(step, 100))
    assert max(calls[1:]) <= most
    assert max(calls[90:]) <= max(calls[1:20])


def test_a_call_costs_the_same_however_many_others_are_open() -> None:
    """A lease is looked up, never searched for among all that are open."""
    counted = 0

    def count(_frame: FrameType, event: str, _arg: object) -> None:
        nonlocal counted
        counted += event in ("call", "c_call")

    marks = [0]
    with DiagnosisHarnessCore(clock=SystemClock(), ids=CountingIds()) as core:
        ctx = core.start_run(session_id="s", limits=MANY, timeout_s=3_600)
        for number in range(200):
            sys.setprofile(count)
            core.start_llm_call(ctx)
            core.start_tool_call(ctx, "metrics", f"call-{number}")
            sys.setprofile(None)
            marks.append(counted)
    calls = [after - before for before, after in itertools.pairwise(marks)]
    assert max(calls[190:]) <= max(calls[1:20])


def test_the_core_imports_nothing_but_the_standard_library() -> None:
    """An embedder who wants only the core waits for no numeric or network library."""
    program = (
        "import sys; before = set(sys.modules); import diagnosis_harness.harness.core; "
        "print(*{name.partition('.')[0] for name in set(sys.modules) - before})"
    )
    printed = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert set(printed.stdout.split()) - set(sys.stdlib_module_names) == {"diagnosis_harness"}
