"""A core that is closed ends what is open, opens no more, and leaves no thread behind."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable

import pytest

from diagnosis_harness.harness.context import RunContext
from diagnosis_harness.harness.core import DiagnosisHarnessCore
from diagnosis_harness.harness.lifecycle import RunState
from diagnosis_harness.kernel.clock import SystemClock
from diagnosis_harness.kernel.errors import ContractViolation, RunAborted
from diagnosis_harness.testing.clock import ManualClock
from diagnosis_harness.testing.ids import CountingIds
from diagnosis_harness.testing.runs import AMPLE


def test_a_closed_core_leaves_no_thread() -> None:
    """Neither the clock's nor the pool's, after runs that needed both."""
    before = set(threading.enumerate())

    async def work(core: DiagnosisHarnessCore) -> None:
        for number in range(5):
            ctx = core.start_run(session_id="s", limits=AMPLE, timeout_s=3600)
            lease = core.start_tool_call(ctx, "look", f"t{number}")
            await core.call_blocking_tool(ctx, lease, lambda _: None, limit_s=60)
            core.complete_success(ctx)

    with DiagnosisHarnessCore(clock=SystemClock(), ids=CountingIds()) as core:
        asyncio.run(work(core))
        assert set(threading.enumerate()) - before

    for thread in set(threading.enumerate()) - before:
        thread.join(10)
    assert set(threading.enumerate()) <= before


def test_closing_ends_open_runs_and_notifies_their_resources() -> None:
    """Otherwise nothing would end a wait of a closed core at its deadline."""
    core = DiagnosisHarnessCore(clock=SystemClock(), ids=CountingIds())
    reported: list[str] = []

    async def main() -> None:
        ctx = core.start_run(session_id="s", limits=AMPLE, timeout_s=3600)
        ctx.cancellation.register(lambda: reported.append("resource"))
        waiting = asyncio.ensure_future(core.pause(ctx, 3600))
        await asyncio.sleep(0)  # noqa: TID251 - a turn of the loop, no time
        core.close()
        with pytest.raises(RunAborted, match="FAILED"):
            await waiting
        termination = ctx.lifecycle.termination
        assert termination is not None
        assert (termination.state, termination.detail) == (RunState.FAILED, "the core was closed")

    asyncio.run(main())
    assert reported == ["resource"]


def test_a_run_that_has_ended_is_not_ended_again_by_a_close() -> None:
    """And a core that is closed twice is closed."""
    core = DiagnosisHarnessCore(clock=ManualClock(), ids=CountingIds())
    ctx = core.start_run(session_id="s", limits=AMPLE, timeout_s=60)
    core.complete_success(ctx)

    core.close()
    core.close()

    assert ctx.lifecycle.state is RunState.SUCCESS


def test_a_closed_core_opens_no_run() -> None:
    """It says so, before anything of the run exists."""
    core = DiagnosisHarnessCore(clock=ManualClock(), ids=CountingIds())
    core.close()

    with pytest.raises(ContractViolation, match="the core is closed"):
        core.start_run(session_id="s", limits=AMPLE, timeout_s=60)


class ClosingClock(ManualClock):
    """A clock at which, while a run is armed, somebody closes the core."""

    core: DiagnosisHarnessCore

    def call_at(self, at_s: float, callback: Callable[[], object]) -> Callable[[], None]:
        """Close, then arm."""
        self.core.close()
        return super().call_at(at_s, callback)


def test_a_run_that_is_opened_while_the_core_closes_is_ended() -> None:
    """It was not yet open when the close looked: it ends as the others did, and starts nothing."""
    clock = ClosingClock()
    core = clock.core = DiagnosisHarnessCore(clock=clock, ids=CountingIds())

    ctx: RunContext = core.start_run(session_id="s", limits=AMPLE, timeout_s=60)

    assert ctx.lifecycle.state is RunState.FAILED
    with pytest.raises(RunAborted):
        core.start_llm_call(ctx)
