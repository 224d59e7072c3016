"""Schedule a callback on an event loop from another thread."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress


def callback_on_loop(loop: asyncio.AbstractEventLoop, call: Callable[[], object]) -> Callable[[], None]:
    """A callback for any thread that schedules `call` on the loop, unless the loop is closed."""

    def schedule() -> None:
        with suppress(RuntimeError):  # the loop is closed
            loop.call_soon_threadsafe(call)

    return schedule
