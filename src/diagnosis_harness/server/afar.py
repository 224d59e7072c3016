"""Calls into an event loop from the threads that a clock calls back in."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress


def in_loop(loop: asyncio.AbstractEventLoop, call: Callable[[], object]) -> Callable[[], None]:
    """A callback for any thread that has the loop make the call; it does nothing once the loop is closed."""

    def ring() -> None:
        with suppress(RuntimeError):
            loop.call_soon_threadsafe(call)

    return ring
