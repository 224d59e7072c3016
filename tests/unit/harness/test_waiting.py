"""Waits: they end with the work, with the run, or with their limit, whichever comes first."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any

import pytest

from diagnosis_harness.harness.cancellation import CancellationReason
from diagnosis_harness.harness.context import RunContext
from diagnosis_harness.harness.core import DiagnosisHarnessCore
from diagnosis_harness.harness.lifecycle import RunState
from diagnosis_harness.harness.waiting import WaitLimit, gather_bounded
from diagnosis_harness.kernel.clock import SystemClock
from diagnosis_harness.kernel.errors import ContractViolation, FailureKind, RunAborted, TechnicalFailure
from diagnosis_harness.testing.ids import CountingIds
from diagnosis_harness.testing.runs import AMPLE, Rig


class Endless:
    """Work that never ends by itself; it says when it has begun, and how it was stopped."""

    def __init__(self, *, obeys: bool = True) -> None:
        self.begun = asyncio.Event()
        self.stopped = False
        self.release = asyncio.Event()
        self._obeys = obeys

    async def __call__(self, _: RunContext) -> str:
        """Wait for ever, or until released when it does not obey."""
        self.begun.set()
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            self.stopped = True
            if self._obeys:
                raise
        await self.release.wait()
        return "late"


def spawn(work: Coroutine[Any, Any, str]) -> asyncio.Task[str]:
    """A task of the running loop."""
    return asyncio.get_running_loop().create_task(work)


@pytest.mark.parametrize("obeys", [True, False])
@pytest.mark.parametrize("ending", ["cancel", "deadline", "success", "another thread"])
def test_a_wait_ends_with_the_run(ending: str, obeys: bool) -> None:
    """However the run ends, from whichever thread, and whether or not the work obeys."""
    rig = Rig()
    ctx = rig.run(timeout_s=30)

    async def main() -> Endless:
        work = Endless(obeys=obeys)
        task = spawn(rig.core.wait(ctx, work))
        await work.begun.wait()
        match ending:
            case "cancel":
                rig.core.cancel(ctx, CancellationReason.USER_REQUESTED)
            case "deadline":
                rig.clock.advance(30)
            case "success":
                rig.core.complete_success(ctx)
            case _:
                cancel = threading.Thread(
                    target=rig.core.cancel, args=(ctx, CancellationReason.CLIENT_DISCONNECTED)
                )
                cancel.start()
        with pytest.raises(RunAborted):
            await asyncio.wait_for(task, 5)
        work.release.set()
        return work

    assert asyncio.run(main()).stopped


def test_a_wait_for_a_run_that_has_ended_starts_nothing() -> None:
    """The work is not even called."""
    rig = Rig()
    ctx = rig.run()
    rig.core.complete_success(ctx)
    invoked: list[str] = []

    async def work(_: RunContext) -> None:
        invoked.append("work")

    async def main() -> None:
        with pytest.raises(RunAborted):
            await rig.core.wait(ctx, work)
        with pytest.raises(RunAborted):
            await rig.core.pause(ctx, 1)

    asyncio.run(main())
    assert invoked == []


def test_a_limit_ends_the_wait_and_not_the_run() -> None:
    """TIMEOUT is the wait's own; the run goes on."""
    rig = Rig()
    ctx = rig.run(timeout_s=30)

    async def main() -> None:
        work = Endless()
        task = spawn(rig.core.wait(ctx, work, limit_s=5))
        await work.begun.wait()
        rig.clock.advance(5)
        with pytest.raises(TechnicalFailure, match="no answer within 5 s") as failure:
            await task
        assert failure.value.kind is FailureKind.TIMEOUT
        assert work.stopped

    asyncio.run(main())
    assert ctx.lifecycle.state is RunState.RUNNING


def test_the_deadline_comes_before_a_longer_limit() -> None:
    """Then the run is TIMED_OUT, and no attempt timed out."""
    rig = Rig()
    ctx = rig.run(timeout_s=30)

    async def main() -> None:
        work = Endless()
        task = spawn(rig.core.wait(ctx, work, limit_s=30))
        await work.begun.wait()
        rig.clock.advance(30)
        with pytest.raises(RunAborted, match="TIMED_OUT"):
            await task

    asyncio.run(main())


def test_a_result_that_comes_by_swallowing_the_limit_is_refused() -> None:
    """Work that answers a cancel with a value has not answered in time."""
    rig = Rig()
    ctx = rig.run()

    async def main() -> None:
        begun = asyncio.Event()

        async def swallow(_: RunContext) -> str:
            begun.set()
            try:
                await asyncio.Event().wait()
            except asyncio.CancelledError:
                return "too late"
            return "never"

        task = spawn(rig.core.wait(ctx, swallow, limit_s=5))
        await begun.wait()
        rig.clock.advance(5)
        with pytest.raises(TechnicalFailure):
            await task

    asyncio.run(main())


@pytest.mark.parametrize("limit_s", [0.0, -1.0, float("nan"), float("inf")])
def test_a_limit_is_positive_and_finite(limit_s: float) -> None:
    """A limit of nothing, or of ever, is a mistake."""
    with pytest.raises(ContractViolation):
        WaitLimit(limit_s, TechnicalFailure)


def test_what_the_work_raises_comes_through() -> None:
    """While the run is active, its error is the caller's affair."""
    rig = Rig()
    ctx = rig.run()

    async def raise_broken(_: RunContext) -> None:
        raise KeyError("row")

    async def main() -> None:
        with pytest.raises(KeyError):
            await rig.core.wait(ctx, raise_broken)

    asyncio.run(main())


def test_work_that_cancels_itself_is_a_failure_and_no_cancel_of_the_caller() -> None:
    """A cancelled library call must not look as if the host had cancelled the run's task."""
    rig = Rig()
    ctx = rig.run()

    async def cancel_inside(_: RunContext) -> None:
        raise asyncio.CancelledError

    async def main() -> None:
        with pytest.raises(TechnicalFailure, match="from within") as failure:
            await rig.core.wait(ctx, cancel_inside)
        assert failure.value.kind is FailureKind.CANCELLED

    asyncio.run(main())


def test_a_host_that_cancels_the_waiter_stops_the_work() -> None:
    """The work goes with the task that waits for it, and the cancel comes through."""
    rig = Rig()
    ctx = rig.run()

    async def main() -> Endless:
        work = Endless()
        task = spawn(rig.core.wait(ctx, work))
        await work.begun.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        return work

    assert asyncio.run(main()).stopped
    assert ctx.lifecycle.state is RunState.RUNNING


def test_bookkeeping_goes_on_after_the_end_within_its_own_limit() -> None:
    """A finished run can still be persisted; a store that hangs is left behind."""
    rig = Rig()
    ctx = rig.run()
    rig.core.cancel(ctx, CancellationReason.USER_REQUESTED)

    async def persist(_: RunContext) -> str:
        return "kept"

    async def main() -> None:
        assert await rig.core.finalise(ctx, persist, limit_s=5) == "kept"
        hanging = Endless(obeys=False)
        task = spawn(rig.core.finalise(ctx, hanging, limit_s=5))
        await hanging.begun.wait()
        rig.clock.advance(5)
        with pytest.raises(TechnicalFailure, match="no answer within 5 s"):
            await task
        hanging.release.set()

    asyncio.run(main())


def test_the_system_clock_ends_a_wait_at_the_deadline() -> None:
    """The same without a manual clock: the wait ends when the time has come, and not before."""
    clock = SystemClock()
    core = DiagnosisHarnessCore(clock=clock, ids=CountingIds())

    async def main() -> float:
        ctx = core.start_run(session_id="s", limits=AMPLE, timeout_s=0.05)
        with pytest.raises(RunAborted, match="TIMED_OUT"):
            await core.wait(ctx, Endless())
        return clock.now_s() - ctx.deadline

    assert 0 <= asyncio.run(main()) < 1


def test_a_pause_lasts_as_long_as_the_clock_says() -> None:
    """No pause at all for zero seconds."""
    rig = Rig()
    ctx = rig.run()

    async def main() -> None:
        await rig.core.pause(ctx, 0)
        begun = asyncio.Event()

        async def pausing() -> str:
            begun.set()
            await rig.core.pause(ctx, 3)
            return "over"

        task = spawn(pausing())
        await begun.wait()
        rig.clock.advance(2)
        assert not task.done()
        rig.clock.advance(1)
        assert await task == "over"

    asyncio.run(main())


def test_a_gather_starts_in_order_and_never_more_than_it_may() -> None:
    """Results come in the order of the calls, however they finish."""
    running, most, started = 0, 0, []

    def call(number: int) -> Callable[[], Awaitable[int]]:
        async def run() -> int:
            nonlocal running, most
            started.append(number)
            running += 1
            most = max(most, running)
            for _ in range(5 - number % 5):
                turn = asyncio.get_running_loop().create_future()
                asyncio.get_running_loop().call_soon(turn.set_result, None)
                await turn
            running -= 1
            return number

        return run

    results = asyncio.run(_gather([call(number) for number in range(20)]))
    assert results == started == list(range(20))
    assert most == 3


async def _gather(calls: list[Callable[[], Awaitable[int]]]) -> list[int]:
    return await gather_bounded(calls, parallel_max=3)


def test_a_gather_lets_every_call_settle_before_it_raises() -> None:
    """The first error in the order of the calls is raised, and nothing is left running."""
    settled: list[int] = []

    def call(number: int) -> Callable[[], Awaitable[int]]:
        async def run() -> int:
            settled.append(number)
            if number % 2:
                raise ValueError(str(number))
            return number

        return run

    with pytest.raises(ValueError, match="1"):
        asyncio.run(_gather([call(number) for number in range(6)]))
    assert settled == list(range(6))
