"""Waiting by the clock that was handed over, in the event loop of the server."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from contextlib import suppress
from typing import Any, TypeVar

from diagnosis_harness.kernel.clock import Clock

T = TypeVar("T")


async def pause(clock: Clock, delay_s: float) -> None:
    """Return after so many seconds of the clock."""
    rung = asyncio.Event()
    disarm = clock.call_at(clock.now_s() + delay_s, _in_loop(rung.set))
    try:
        await rung.wait()
    finally:
        disarm()


async def within(clock: Clock, limit_s: float, work: Coroutine[Any, Any, T]) -> T:
    """What the work brings; it is cancelled at the limit, and when whoever waits is.

    Raises:
        TimeoutError: it did not come in time.
        Exception: what the work raised.
    """
    task = asyncio.ensure_future(work)
    bell = asyncio.ensure_future(pause(clock, limit_s))
    try:
        await asyncio.wait((task, bell), return_when=asyncio.FIRST_COMPLETED)
        if task.done():
            return task.result()
        raise TimeoutError
    finally:
        for each in (task, bell):
            each.cancel()
            with suppress(asyncio.CancelledError, Exception):
                await each


def _in_loop(call: Callable[[], object]) -> Callable[[], None]:
    """A callback for any thread that makes the call in this loop; nothing once the loop is closed."""
    loop = asyncio.get_running_loop()

    def ring() -> None:
        with suppress(RuntimeError):  # the loop is closed: nobody waits any more
            loop.call_soon_threadsafe(call)

    return ring
