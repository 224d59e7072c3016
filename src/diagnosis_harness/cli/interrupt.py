"""Ctrl+C: the first cancels the run, the second leaves at once."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Callable, Coroutine
from contextlib import suppress
from typing import TypeVar

from diagnosis_harness.cli.stopping import CANCELLED, leave

T = TypeVar("T")


def run_interruptible(
    work: Callable[[], Coroutine[object, object, T]],
    *,
    on_first: Callable[[], None],
    on_second: Callable[[], None],
) -> T:
    """Run `work` on a new event loop.

    The first SIGINT calls `on_first`, on the loop's thread, and `work` goes on to its own end. The second
    calls `on_second` and ends the process with 130, whatever threads are still at work. Afterwards SIGINT is
    handled as before.
    """
    before = signal.getsignal(signal.SIGINT)
    try:
        return asyncio.run(_guarded(work, on_first, on_second))
    finally:
        signal.signal(signal.SIGINT, before)  # the loop puts Python's own there instead


async def _guarded(
    work: Callable[[], Coroutine[object, object, T]],
    on_first: Callable[[], None],
    on_second: Callable[[], None],
) -> T:
    loop = asyncio.get_running_loop()

    def again() -> None:
        on_second()
        leave(CANCELLED)

    def first() -> None:
        loop.add_signal_handler(signal.SIGINT, again)
        on_first()

    # Where the platform has no such handlers, Ctrl+C raises KeyboardInterrupt and ends the command.
    with suppress(NotImplementedError):
        loop.add_signal_handler(signal.SIGINT, first)
    return await work()
