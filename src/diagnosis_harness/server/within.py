"""Waiting with a limit by the clock that was handed over, in the event loop of the server."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from contextlib import suppress
from typing import Any, TypeVar

from diagnosis_harness.harness.waiting import sleep
from diagnosis_harness.kernel.clock import Clock

T = TypeVar("T")


async def within(clock: Clock, limit_s: float, work: Coroutine[Any, Any, T]) -> T:
    """What the work brings; it is cancelled at the limit, and when whoever waits is.

    Raises:
        TimeoutError: it did not come in time.
        Exception: what the work raised.
    """
    task = asyncio.ensure_future(work)
    bell = asyncio.ensure_future(sleep(clock, limit_s))
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
