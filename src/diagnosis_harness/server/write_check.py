"""Checks with a small write whether a store accepts writes."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

from diagnosis_harness.harness.waiting import sleep
from diagnosis_harness.kernel.clock import Clock
from diagnosis_harness.kernel.errors import StoreFailure
from diagnosis_harness.server.store_problems import STORE_PROBLEMS

PERIOD_S = 1.0
"""One write a second is cheap for a database, and fast enough for monitoring."""

LIMIT_S = 1.5
"""Shorter than for users' requests, since monitoring itself has a short timeout."""

LATE = "It did not accept a write in time."


class WriteCheck:
    """Tests a store with a small write, at most one a second and one at a time, however often it is asked.

    Used from one event loop.

    Args:
        write: overwrites a small value; raises `StoreFailure` if it cannot.
    """

    def __init__(self, clock: Clock, write: Callable[[], Awaitable[None]]) -> None:
        self._clock = clock
        self._write = write
        self._began_s = 0.0
        self._tried: asyncio.Task[str | None] | None = None
        self._last: str | None = None

    async def problem(self) -> str | None:
        """Why the store accepts no writes, as a sentence; None if it accepted one within the last second."""
        now_s = self._clock.now_s()
        tried = self._tried
        if tried is None or (tried.done() and now_s - self._began_s >= PERIOD_S):
            self._began_s = now_s
            tried = self._tried = asyncio.ensure_future(self._try())
        left_s = self._began_s + LIMIT_S - now_s
        if not tried.done() and left_s > 0:
            await _wait_until_done(self._clock, left_s, tried)
        return tried.result() if tried.done() else self._last or LATE

    async def _try(self) -> str | None:
        try:
            await self._write()
        except StoreFailure as failure:
            self._last = STORE_PROBLEMS[failure.trouble].title.en
        else:
            self._last = None
        return self._last


async def _wait_until_done(clock: Clock, limit_s: float, tried: asyncio.Task[str | None]) -> None:
    """Wait for a write that is shared with others; it continues if this caller stops waiting."""
    timeout = asyncio.ensure_future(sleep(clock, limit_s))
    try:
        await asyncio.wait((tried, timeout), return_when=asyncio.FIRST_COMPLETED)
    finally:
        timeout.cancel()
        await asyncio.gather(timeout, return_exceptions=True)
