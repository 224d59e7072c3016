"""What every run queue must do, as checks that any queue can be run against.

Each check gets a fresh queue that nobody listens to, closes it, and raises AssertionError where the contract
is broken. Nothing here sleeps: what must not come is looked for when something put later has come.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from functools import partial

from diagnosis_harness.application.runs.queue import RunQueue
from diagnosis_harness.application.runs.sources import ANY_LANE
from diagnosis_harness.kernel.errors import StoreFailure

Check = Callable[[RunQueue], Awaitable[None]]

_LIMIT_S = 30.0


def _expect(*, holds: bool, what: str) -> None:
    if not holds:
        raise AssertionError(what)


class Bench:
    """Work that lasts until it is let go, and that tells what was begun, what is at work and what ended."""

    def __init__(self, *, is_held: bool = False) -> None:
        self.begun: list[str] = []
        self.ended: list[str] = []
        self.most_at_work = 0
        self._is_open = asyncio.Event()
        self._changed = asyncio.Condition()
        if not is_held:
            self.let_go()

    def let_go(self) -> None:
        """Let all work end, that of later deliveries as well."""
        self._is_open.set()

    async def work(self, run_id: str) -> None:
        """Work on one run."""
        self.begun.append(run_id)
        self.most_at_work = max(self.most_at_work, len(self.begun) - len(self.ended))
        await self._tell()
        await self._is_open.wait()
        self.ended.append(run_id)
        await self._tell()

    def has_ended(self, number: int) -> bool:
        """Whether so many deliveries are over."""
        return len(self.ended) >= number

    async def until(self, holds: Callable[[], bool]) -> None:
        """Wait for something to be so.

        Raises:
            AssertionError: it does not come to be so.
        """
        try:
            async with asyncio.timeout(_LIMIT_S), self._changed:
                await self._changed.wait_for(holds)
        except TimeoutError:
            raise AssertionError(f"waited in vain; begun: {self.begun}, ended: {self.ended}") from None

    async def _tell(self) -> None:
        async with self._changed:
            self._changed.notify_all()


async def delivers_in_the_order_of_puts(queue: RunQueue) -> None:
    """What was put before anybody listened and after, first come first served."""
    bench = Bench()
    names = [f"run-{number}" for number in range(5)]
    for name in names[:3]:
        await queue.put(name, ANY_LANE)
    await queue.listen(bench.work, parallel_max=1)
    for name in names[3:]:
        await queue.put(name, ANY_LANE)
    await bench.until(lambda: len(bench.ended) >= len(names))
    await queue.close()
    _expect(holds=bench.begun == names, what="in the order of puts")


async def delivers_an_id_once(queue: RunQueue) -> None:
    """The same id put while it waits and while it is at work changes nothing."""
    bench = Bench(is_held=True)
    await queue.put("run-1", ANY_LANE)
    await queue.put("run-1", ANY_LANE)
    await queue.listen(bench.work, parallel_max=4)
    await bench.until(lambda: "run-1" in bench.begun)
    await queue.put("run-1", ANY_LANE)
    await queue.put("run-2", ANY_LANE)
    await bench.until(lambda: "run-2" in bench.begun)
    bench.let_go()
    await bench.until(lambda: len(bench.ended) >= 2)
    await queue.close()
    _expect(holds=bench.begun == ["run-1", "run-2"], what="an id is delivered once")


async def works_on_no_more_than_there_is_room_for(queue: RunQueue) -> None:
    """At most `parallel_max` at a time, and as many as that."""
    bench = Bench(is_held=True)
    for number in range(6):
        await queue.put(f"run-{number}", ANY_LANE)
    await queue.listen(bench.work, parallel_max=2)
    await bench.until(lambda: len(bench.begun) >= 2)
    bench.let_go()
    await bench.until(lambda: len(bench.ended) >= 6)
    await queue.close()
    _expect(holds=bench.most_at_work == 2, what="two at a time")
    _expect(holds=sorted(bench.begun) == [f"run-{number}" for number in range(6)], what="all of them, once")


async def goes_on_after_work_that_raises(queue: RunQueue) -> None:
    """Work must not raise; if it does, the loop's handler is called and the next run is delivered."""
    reported: list[object] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, context: reported.append(context["exception"]))
    bench = Bench()
    error = RuntimeError("broken work")

    async def work(run_id: str) -> None:
        await bench.work(run_id)
        if run_id == "run-1":
            raise error

    await queue.put("run-1", ANY_LANE)
    await queue.put("run-2", ANY_LANE)
    await queue.listen(work, parallel_max=1)
    await bench.until(lambda: bench.ended == ["run-1", "run-2"])
    await queue.close()
    _expect(holds=reported == [error], what="the error is told")


async def delivers_again_what_was_lost(queue: RunQueue) -> None:
    """A run whose delivery is over is delivered again when it is put again, as often as that."""
    bench = Bench()
    names = ["run-1", "run-2", "run-1", "run-3", "run-1", "run-4"]
    await queue.listen(bench.work, parallel_max=1)
    for number, name in enumerate(names, 1):
        # A delivery is over for sure when the next one has begun.
        await (queue.requeue(name, ANY_LANE) if name in names[: number - 1] else queue.put(name, ANY_LANE))
        await bench.until(partial(bench.has_ended, number))
    await queue.close()
    _expect(holds=bench.begun == names, what="once for each put")


async def leaves_a_waiting_run_where_it_waits(queue: RunQueue) -> None:
    """Put again, a run that waits still neither loses its place nor is delivered twice."""
    bench = Bench()
    for name in ("run-1", "run-2", "run-3"):
        await queue.put(name, ANY_LANE)
    _expect(holds=not await queue.requeue("run-1", ANY_LANE), what="it waits still, so nothing was put")
    _expect(holds=await queue.requeue("run-4", ANY_LANE), what="what was never put was lost, and is put")
    await queue.listen(bench.work, parallel_max=1)
    await bench.until(lambda: "run-4" in bench.ended)
    await queue.close()
    _expect(holds=bench.begun == ["run-1", "run-2", "run-3", "run-4"], what="each once, in its place")


async def takes_nothing_after_it_was_closed(queue: RunQueue) -> None:
    """What is at work goes on, what waits does not begin, and a put is refused with a typed failure."""
    bench = Bench(is_held=True)
    await queue.put("run-1", ANY_LANE)
    await queue.put("run-2", ANY_LANE)
    await queue.listen(bench.work, parallel_max=1)
    await bench.until(lambda: bench.begun == ["run-1"])
    await queue.close()
    await queue.close()
    bench.let_go()
    await bench.until(lambda: "run-1" in bench.ended)
    for put in (queue.put, queue.requeue):
        try:
            await put("run-3", ANY_LANE)
        except StoreFailure:
            continue
        raise AssertionError("a put that goes nowhere is a failure")
    _expect(holds=bench.begun == ["run-1"], what="nothing begins after close")


async def delivers_the_lanes_that_are_listened_to_alone(queue: RunQueue) -> None:
    """What waits in another lane waits on, whenever it was put, and is not lost."""
    bench = Bench()
    for name, lane in (("run-1", "source-a"), ("run-2", "source-b"), ("run-3", ANY_LANE)):
        await queue.put(name, lane)
    await queue.listen(bench.work, parallel_max=4, lanes=("source-b", ANY_LANE))
    await queue.put("run-4", "source-a")
    await queue.put("run-5", "source-b")
    await bench.until(lambda: {"run-2", "run-3", "run-5"} <= set(bench.ended))
    # More of what is listened to: whatever else was to come would have come before it.
    for number in range(6, 12):
        await queue.put(f"run-{number}", "source-b")
    await bench.until(lambda: len(bench.ended) >= 9)
    await queue.close()
    _expect(holds=not {"run-1", "run-4"} & set(bench.begun), what="runs of another lane are not delivered")


async def hands_to_itself_what_it_could_work_on(queue: RunQueue) -> None:
    """Put again by a process that listens, a run of a lane that it does not listen to comes to it, once."""
    bench = Bench()
    await queue.put("run-1", "source-a")
    _expect(holds=not await queue.requeue("run-1", "source-a"), what="it waits, and nobody listens yet")
    await queue.listen(bench.work, parallel_max=1, lanes=(ANY_LANE,))
    _expect(holds=await queue.requeue("run-1", "source-a"), what="it is handed over")
    await bench.until(lambda: "run-1" in bench.ended)
    await queue.put("run-2", ANY_LANE)
    await bench.until(lambda: "run-2" in bench.ended)
    await queue.close()
    _expect(holds=bench.begun == ["run-1", "run-2"], what="once")


async def puts_no_run_again_that_waits_in_its_own_hand(queue: RunQueue) -> None:
    """Where it was handed over and there is no room yet, it waits: nothing is put."""
    bench = Bench(is_held=True)
    await queue.put("run-1", ANY_LANE)
    await queue.listen(bench.work, parallel_max=1, lanes=(ANY_LANE,))
    await bench.until(lambda: bench.begun == ["run-1"])
    _expect(holds=await queue.requeue("run-2", "source-a"), what="it is handed over")
    _expect(holds=not await queue.requeue("run-2", "source-a"), what="it waits already")
    bench.let_go()
    await bench.until(lambda: "run-2" in bench.ended)
    await queue.close()
    _expect(holds=bench.begun == ["run-1", "run-2"], what="each once")


CHECKS: tuple[Check, ...] = (
    delivers_in_the_order_of_puts,
    delivers_an_id_once,
    works_on_no_more_than_there_is_room_for,
    goes_on_after_work_that_raises,
    delivers_again_what_was_lost,
    leaves_a_waiting_run_where_it_waits,
    takes_nothing_after_it_was_closed,
    delivers_the_lanes_that_are_listened_to_alone,
    hands_to_itself_what_it_could_work_on,
    puts_no_run_again_that_waits_in_its_own_hand,
)
