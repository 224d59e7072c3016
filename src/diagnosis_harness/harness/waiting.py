"""The only code below the adapters that uses the event loop. Every wait ends with the run or earlier."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Generic, TypeAlias, TypeVar

from diagnosis_harness.harness.context import RunContext
from diagnosis_harness.harness.gate import check_active
from diagnosis_harness.harness.numbers import finite, is_finite_number, short_repr
from diagnosis_harness.harness.workers import WorkerPool
from diagnosis_harness.kernel.clock import Clock
from diagnosis_harness.kernel.errors import (
    ContractViolation,
    FailureKind,
    InterruptCarried,
    RunAborted,
    TechnicalFailure,
)

T = TypeVar("T")
T_contra = TypeVar("T_contra", contravariant=True)

_TURNS_TO_OBEY = 5

Operation: TypeAlias = Callable[[RunContext], Awaitable[T]]
"""Work to wait for; it is called with the run's context when it may start."""


@dataclass(frozen=True, slots=True)
class WaitLimit:
    """The limit of one wait besides the run's deadline, and the error to raise when it passes.

    Raises:
        ContractViolation: the limit is not a positive, finite number of seconds.
    """

    limit_s: float
    error: Callable[[str], TechnicalFailure]

    def __post_init__(self) -> None:
        if not (is_finite_number(self.limit_s) and self.limit_s > 0):
            raise ContractViolation(f"a time limit is positive and finite, not {short_repr(self.limit_s)}")

    def arm(self, ctx: RunContext, clock: Clock, wake: Callable[[], None]) -> Callable[[], None] | None:
        """Arm a timer for the limit; None when the deadline comes first."""
        at_s = clock.now_s() + self.limit_s
        return clock.call_at(at_s, wake) if at_s < ctx.deadline else None

    def error_when_passed(self) -> TechnicalFailure:
        """The error of this limit; its kind is TIMEOUT by the maker's promise."""
        return self.error(f"no answer within {self.limit_s:g} s")


@dataclass(frozen=True, slots=True)
class Leftover(Generic[T_contra]):
    """Callbacks for work that outlives its wait.

    Attributes:
        abandoned: called once, if the work continues after the wait.
        returned: called once, from any thread, with a result that came too late and is not used otherwise.
    """

    abandoned: Callable[[], None]
    returned: Callable[[T_contra], None]


async def wait(
    ctx: RunContext,
    operation: Operation[T],
    *,
    clock: Clock,
    limit: WaitLimit | None = None,
    leftover: Callable[[], Leftover[T]] | None = None,
) -> T:
    """Run `operation` and wait for it until it is done, the run has ended or the limit has passed.

    The operation passes its gate itself, at the last point before it starts. Work that is left behind is
    asked to stop and not waited for. A result that arrives with the run's end is discarded.

    Raises:
        RunAborted: the run had ended, or ended meanwhile.
        TechnicalFailure: the limit has passed (what `limit.error` makes), or the work cancelled itself.
        Exception: what the operation raised, while the run was active.
    """
    waker = _Waker()
    task = waker.loop.create_task(_wake_when_done(waker, operation, ctx))
    ctx.lifecycle.listen(waker, waker.wake_from_any_thread)
    disarm = None if limit is None else limit.arm(ctx, clock, waker.wake_from_any_thread)
    try:
        try:
            await waker.woken
        finally:
            ctx.lifecycle.stop_listening(waker)
            if disarm is not None:
                disarm()
        is_in_time = task.done()
        if not is_in_time:
            await _stop(task)
    except asyncio.CancelledError:
        try:
            await _stop(task)  # the waiting task was cancelled by its own host, so the work is too
        finally:
            _leave(task, leftover)  # also where the host cancels a second time
        raise
    try:
        check_active(ctx, clock)
    except RunAborted:
        _leave(task, leftover)
        raise
    if limit is not None and not is_in_time:
        _leave(task, leftover)
        raise limit.error_when_passed()
    return _result(task)


async def run_in_worker(pool: WorkerPool, call: Callable[[], T], leftover: Leftover[T] | None = None) -> T:
    """Run a blocking `call` on a thread of the pool; cancelling this wait does not stop the thread.

    `call` passes the gate itself, inside the thread. A call that has not started when the wait is cancelled
    never does.
    """
    loop = asyncio.get_running_loop()
    answer: asyncio.Future[T] = loop.create_future()

    def run() -> None:
        try:
            result = call()
        except BaseException as error:  # noqa: BLE001 - passed to the waiter, never dropped
            call_on_loop(loop, partial(_fail, answer, _as_exception(error)))
        else:
            if not call_on_loop(loop, partial(_answer, answer, result, leftover)) and leftover is not None:
                leftover.returned(result)

    job = pool.submit(run)
    try:
        return await answer
    except asyncio.CancelledError:
        if pool.leave(job) and leftover is not None:
            leftover.abandoned()
        raise


async def compute(pool: WorkerPool, call: Callable[[], T]) -> T:
    """Make a pure computation on a thread of the pool, or in place if the pool is not open.

    A cancel by the host does not cut it short: it is raised at the host's next wait, so that a run that has
    ended does not lose what it was to publish.
    """
    if not pool.is_open:
        return call()
    computing = asyncio.ensure_future(run_in_worker(pool, call))
    was_cancelled = False
    while not computing.done():
        try:
            await asyncio.wait([computing])
        except asyncio.CancelledError:
            was_cancelled = True
    if was_cancelled and (task := asyncio.current_task()) is not None:
        task.uncancel()  # it counts once, although it is requested again
        task.cancel()
    return computing.result()


async def pause(ctx: RunContext, clock: Clock, delay_s: float) -> None:
    """Wait `delay_s` seconds of the clock, or until the run ends.

    Raises:
        RunAborted: the run had ended, or ended meanwhile.
    """
    delay_s = finite("a pause", delay_s)
    check_active(ctx, clock)
    if delay_s > 0:
        waker = _Waker()
        ctx.lifecycle.listen(waker, waker.wake_from_any_thread)
        disarm = clock.call_at(clock.now_s() + delay_s, waker.wake_from_any_thread)
        try:
            await waker.woken
        finally:
            ctx.lifecycle.stop_listening(waker)
            disarm()
        check_active(ctx, clock)


async def sleep(clock: Clock, delay_s: float) -> None:
    """Wait `delay_s` seconds of the clock, for work of the process rather than of a run."""
    waker = _Waker()
    disarm = clock.call_at(clock.now_s() + delay_s, waker.wake_from_any_thread)
    try:
        await waker.woken
    finally:
        disarm()


async def wait_after_end(ctx: RunContext, operation: Operation[T], *, clock: Clock, limit: WaitLimit) -> T:
    """Wait for bookkeeping, which has its own limit: neither the run's end nor a cancel cuts it short.

    Raises:
        TechnicalFailure: the limit has passed (what `limit.error` makes).
        Exception: what the operation raised.
        CancelledError: the host cancelled the waiting task; raised when the bookkeeping is done.
    """
    waker = _Waker()
    task = waker.loop.create_task(_wake_when_done(waker, operation, ctx))
    disarm = clock.call_at(clock.now_s() + limit.limit_s, waker.wake_from_any_thread)
    cancelled: asyncio.CancelledError | None = None
    try:
        while not waker.woken.done():
            try:
                await asyncio.shield(waker.woken)
            except asyncio.CancelledError as error:
                cancelled = cancelled or error
    finally:
        disarm()
    if not task.done():
        task.cancel()
        _leave(task, None)
    if cancelled is not None:
        if task.done() and not task.cancelled():
            task.exception()  # retrieved, so that asyncio does not warn; the cancel wins
        raise cancelled
    if not task.done():
        raise limit.error_when_passed()
    return _result(task)


@dataclass(frozen=True, slots=True)
class WaitLane:
    """Calls with a bound of their own besides the common one: at most `parallel_max` of `name`."""

    name: str
    parallel_max: int


async def gather_bounded(
    calls: Sequence[Callable[[], Awaitable[T]]], *, parallel_max: int, lanes: Sequence[WaitLane] = ()
) -> list[T]:
    """Make all calls, started in order, at most `parallel_max` at a time; results in the order of the calls.

    `lanes` holds the lane of each call, or nothing; who waits for a lane keeps no other lane waiting. Every
    call settles, also when another raises; then the first error, in the order of the calls, is raised.
    """
    if len(calls) == 1:
        return [await calls[0]()]
    slots = asyncio.Semaphore(parallel_max)
    of_each = lanes or [WaitLane("", parallel_max)] * len(calls)
    lane_slots = {lane.name: asyncio.Semaphore(lane.parallel_max) for lane in of_each}

    async def one(call: Callable[[], Awaitable[T]], lane: WaitLane) -> T:
        async with lane_slots[lane.name], slots:
            try:
                return await call()
            except (KeyboardInterrupt, SystemExit) as error:
                raise InterruptCarried(error) from None

    outcomes = await asyncio.gather(
        *(one(call, lane) for call, lane in zip(calls, of_each, strict=True)), return_exceptions=True
    )
    results: list[T] = []
    for outcome in outcomes:
        if isinstance(outcome, BaseException):
            raise outcome.raised if isinstance(outcome, InterruptCarried) else outcome
        results.append(outcome)
    return results


class _Waker:
    """Wakes one waiter once, from the work itself or from any thread."""

    __slots__ = ("loop", "woken")

    def __init__(self) -> None:
        self.loop = asyncio.get_running_loop()
        self.woken: asyncio.Future[None] = self.loop.create_future()

    def wake(self, _: object = None) -> None:
        """Wake the waiter, from the loop's own thread."""
        if not self.woken.done():
            self.woken.set_result(None)

    def wake_from_any_thread(self) -> None:
        """Wake the waiter, from any thread."""
        call_on_loop(self.loop, self.wake)


async def _wake_when_done(waker: _Waker, operation: Operation[T], ctx: RunContext) -> T:
    """Run the work and wake its waiter; a task's done-callback would cost another turn of the loop."""
    try:
        return await operation(ctx)
    except (KeyboardInterrupt, SystemExit) as error:
        raise InterruptCarried(error) from None
    finally:
        waker.wake()


def _result(task: asyncio.Future[T]) -> T:
    """The result or error of a finished task. A cancel from within is a failure, not one by the host."""
    if task.cancelled():
        raise TechnicalFailure("the work was cancelled from within", kind=FailureKind.CANCELLED)
    error = task.exception()
    if isinstance(error, InterruptCarried):
        raise error.raised
    if error is not None and not isinstance(error, Exception):
        raise _as_exception(error)  # raised here unchanged, it would look like a cancel by the host
    return task.result()


async def _stop(task: asyncio.Task[T]) -> None:
    """Ask a task to stop and give it a few turns of the loop to do so."""
    task.cancel()
    for _ in range(_TURNS_TO_OBEY):
        await asyncio.sleep(0)
        if task.done():
            return


def _leave(task: asyncio.Future[T], leftover: Callable[[], Leftover[T]] | None) -> None:
    """Stop waiting for a task; its result is discarded, now or when it arrives."""
    left = None if leftover is None else leftover()
    if task.done():
        _refuse(left, task)
        return
    if left is not None:
        left.abandoned()
    task.add_done_callback(partial(_refuse, left))


def _refuse(left: Leftover[T] | None, task: asyncio.Future[T]) -> None:
    if task.cancelled() or task.exception() is not None:
        return
    if left is not None:
        left.returned(task.result())


def call_on_loop(loop: asyncio.AbstractEventLoop, call: Callable[[], object]) -> bool:
    """Schedule a call on an event loop, from any thread; False when the loop is closed."""
    try:
        loop.call_soon_threadsafe(call)
    except RuntimeError:
        return False
    return True


def _answer(answer: asyncio.Future[T], result: T, leftover: Leftover[T] | None) -> None:
    if not answer.done():
        answer.set_result(result)
    elif leftover is not None:
        leftover.returned(result)


def _as_exception(error: BaseException) -> Exception:
    """A form of the error that another task can raise without ending a thread or a loop."""
    if isinstance(error, Exception) and not isinstance(error, StopIteration):
        return error
    carried = RuntimeError(f"the call raised {type(error).__name__}")
    carried.__cause__ = error
    return carried


def _fail(answer: asyncio.Future[T], error: Exception) -> None:
    if not answer.done():
        answer.set_exception(error)
