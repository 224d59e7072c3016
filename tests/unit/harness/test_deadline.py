"""The deadline: compared before every boundary, kept by the clock itself, and never missed by an instant."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

import pytest

from diagnosis_harness.harness.cancellation import CancellationReason
from diagnosis_harness.harness.context import RunContext
from diagnosis_harness.harness.core import DiagnosisHarnessCore
from diagnosis_harness.harness.lifecycle import RunState
from diagnosis_harness.harness.retry import HarnessRetryExecutor, RetryRole
from diagnosis_harness.kernel.errors import RunAborted
from diagnosis_harness.testing.clock import ManualClock
from diagnosis_harness.testing.ids import CountingIds
from diagnosis_harness.testing.runs import AMPLE, Rig
from diagnosis_harness.trace.event import TraceName
from diagnosis_harness.trace.sink import MemorySink

R, C = RunState, CancellationReason

Work = Callable[[RunContext], Awaitable[str]]


class DeafClock(ManualClock):
    """A clock that never calls back, so that only the comparisons at the gates can notice a deadline."""

    def call_at(self, at_s: float, callback: Callable[[], object]) -> Callable[[], None]:
        """Forget the callback."""
        return lambda: None


class DeafRig:
    """A core on a deaf clock, and a run that ends in 60 seconds."""

    def __init__(self) -> None:
        self.clock = DeafClock()
        self.sink = MemorySink()
        self.core = DiagnosisHarnessCore(clock=self.clock, ids=CountingIds(), sink=self.sink)
        self.ctx = self.core.start_run(session_id="s", limits=AMPLE, timeout_s=60)
        self.lease = self.core.start_tool_call(self.ctx, "early", "call-0")


async def _llm(rig: DeafRig, work: Work) -> object:
    return await rig.core.call_llm(rig.ctx, work, usage_of=lambda _: None)


async def _tool(rig: DeafRig, work: Work) -> object:
    return await rig.core.call_tool(rig.ctx, rig.lease, work)


async def _blocking_tool(rig: DeafRig, work: Work) -> object:
    def block(ctx: RunContext) -> str:
        return asyncio.run(work(ctx))  # type: ignore[arg-type]  # every work of this page is a coroutine

    return await rig.core.call_blocking_tool(rig.ctx, rig.lease, block)


async def _guard(rig: DeafRig, work: Work) -> object:
    return await rig.core.wait(rig.ctx, work)


async def _retry(rig: DeafRig, work: Work) -> object:
    return await HarnessRetryExecutor(rig.core).run(rig.ctx, RetryRole.ROUTER, work)


async def _capacity(rig: DeafRig, work: Work) -> object:
    rig.core.reserve_bytes(rig.ctx, 1)
    return await work(rig.ctx)


async def _admission(rig: DeafRig, work: Work) -> object:
    rig.core.admit_tool_calls(rig.ctx, [("metrics", "call-1")])
    return await work(rig.ctx)


async def _start(rig: DeafRig, work: Work) -> object:
    rig.core.start_tool_call(rig.ctx, "metrics", "call-1")
    return await work(rig.ctx)


BOUNDARIES = [_llm, _tool, _blocking_tool, _guard, _retry, _capacity, _admission, _start]
Boundary = Callable[[DeafRig, Work], Awaitable[object]]


@pytest.mark.parametrize("past_s", [0.0, 1.0])
@pytest.mark.parametrize("boundary", BOUNDARIES)
def test_no_boundary_is_passed_at_or_after_the_deadline(boundary: Boundary, past_s: float) -> None:
    """At the deadline exactly, not only after it, the work is not invoked and the run is TIMED_OUT."""
    rig = DeafRig()
    invoked: list[str] = []

    async def work(_: RunContext) -> str:
        invoked.append("work")
        return "result"

    rig.clock.advance(60 + past_s)

    async def main() -> None:
        await boundary(rig, work)

    with pytest.raises(RunAborted) as refused:
        asyncio.run(main())
    assert invoked == []
    assert (refused.value.state, refused.value.reason) == ("TIMED_OUT", "DEADLINE_EXCEEDED")


@pytest.mark.parametrize("boundary", BOUNDARIES)
def test_every_boundary_is_open_just_before_the_deadline(boundary: Boundary) -> None:
    """The last moment still belongs to the run."""
    rig = DeafRig()

    async def work(_: RunContext) -> str:
        return "result"

    rig.clock.advance(59.999)

    async def main() -> None:
        await boundary(rig, work)

    asyncio.run(main())
    assert rig.ctx.lifecycle.state is R.RUNNING


def test_a_passed_deadline_is_signalled_and_refuses_all_later_work() -> None:
    """DEADLINE_EXCEEDED reaches every resource even without a check: the clock itself ends the run."""
    rig = Rig()
    ctx = rig.run(timeout_s=60)
    reported: list[CancellationReason | None] = []
    ctx.cancellation.register(lambda: reported.append(ctx.cancellation.reason))
    rig.clock.advance(59.999)
    assert reported == []
    rig.clock.advance(0.001)
    assert reported == [C.DEADLINE_EXCEEDED]
    rig.clock.advance(100)
    for refused in (
        lambda: rig.core.check_active(ctx),
        lambda: rig.core.start_llm_call(ctx),
        lambda: rig.core.start_tool_call(ctx, "metrics", "call-1"),
        lambda: rig.core.reserve_bytes(ctx, 1),
    ):
        with pytest.raises(RunAborted, match="TIMED_OUT"):
            refused()
    termination = ctx.lifecycle.termination
    assert termination is not None
    assert termination.at_s == ctx.deadline


def test_a_tool_is_not_invoked_after_the_deadline_and_later_checks_agree() -> None:
    """TIMED_OUT, and the same termination however often one asks."""
    rig = DeafRig()
    invoked: list[str] = []

    async def tool(_: RunContext) -> str:
        invoked.append("tool")
        return "rows"

    rig.clock.advance(60)

    async def main() -> None:
        with pytest.raises(RunAborted):
            await rig.core.call_tool(rig.ctx, rig.lease, tool)

    asyncio.run(main())
    ended = rig.ctx.lifecycle.termination
    for _ in range(3):
        rig.clock.advance(1)
        with pytest.raises(RunAborted, match="TIMED_OUT"):
            rig.core.check_active(rig.ctx)
    assert rig.ctx.lifecycle.termination is ended
    assert invoked == []
    assert rig.ctx.budget.usage().tool_calls == 0


@pytest.mark.parametrize("boundary", [_llm, _tool, _guard, _retry])
def test_a_result_that_returns_after_the_deadline_is_discarded(boundary: Boundary) -> None:
    """The check after the boundary refuses a late result, even if nothing else had noticed the deadline."""
    rig = DeafRig()

    async def slow(_: RunContext) -> str:
        rig.clock.advance(60)
        return "result"

    async def main() -> None:
        await boundary(rig, slow)

    with pytest.raises(RunAborted, match="TIMED_OUT"):
        asyncio.run(main())


@pytest.mark.parametrize("boundary", [_llm, _tool, _guard, _retry])
def test_a_result_that_returns_after_a_cancel_is_discarded(boundary: Boundary) -> None:
    """The work itself sees the cancel and returns all the same; its result goes nowhere."""
    rig = DeafRig()

    async def cancel_inside(ctx: RunContext) -> str:
        rig.core.cancel(ctx, C.USER_REQUESTED)
        return "result"

    async def main() -> None:
        await boundary(rig, cancel_inside)

    with pytest.raises(RunAborted, match="CANCELLED"):
        asyncio.run(main())


def test_a_discarded_tool_result_is_in_the_trace() -> None:
    """LATE_RESULT_REFUSED names the call whose result went nowhere."""
    rig = DeafRig()

    async def slow(_: RunContext) -> str:
        rig.clock.advance(60)
        return "result"

    async def main() -> None:
        with pytest.raises(RunAborted):
            await rig.core.call_tool(rig.ctx, rig.lease, slow)

    asyncio.run(main())
    (event,) = rig.sink.events_named(TraceName.LATE_RESULT_REFUSED)
    assert event.payload == {"tool_name": "early", "tool_call_id": "call-0"}


@pytest.mark.parametrize("past_s", [0.0, 5.0])
def test_success_at_or_after_the_deadline_is_a_time_out(past_s: float) -> None:
    """`complete_success` reports no change, and the run is TIMED_OUT."""
    rig = DeafRig()
    rig.clock.advance(60 + past_s)
    assert not rig.core.complete_success(rig.ctx)
    termination = rig.ctx.lifecycle.termination
    assert termination is not None
    assert (termination.state, termination.reason) == (R.TIMED_OUT, C.DEADLINE_EXCEEDED)


def test_a_deadline_that_has_come_precedes_a_later_cancel_or_failure() -> None:
    """Even without a check: it was the first cause."""
    cancelled, failed = DeafRig(), DeafRig()
    for rig in (cancelled, failed):
        rig.clock.advance(60)
    assert not cancelled.core.cancel(cancelled.ctx, C.USER_REQUESTED).changed
    assert not failed.core.complete_failure(failed.ctx, "late")
    assert cancelled.ctx.lifecycle.state is failed.ctx.lifecycle.state is R.TIMED_OUT


def test_a_run_whose_deadline_is_past_at_its_start_is_over() -> None:
    """It is opened, and ended, and nothing of it is ever started."""
    rig = Rig()
    ctx = rig.core.start_run(session_id="s", limits=AMPLE, deadline_s=rig.clock.now_s() - 1)
    assert ctx.lifecycle.state is R.TIMED_OUT
    with pytest.raises(RunAborted):
        rig.core.start_llm_call(ctx)
