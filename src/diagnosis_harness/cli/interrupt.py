"""Ctrl+C: end a command at once, or cancel its run first."""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager, suppress
from types import FrameType
from typing import Final, NoReturn, TypeVar

CANCELLED: Final = 130
"""The exit code that shells use for Ctrl+C."""

T = TypeVar("T")


@contextmanager
def raise_on_interrupt() -> Iterator[None]:
    """Raise KeyboardInterrupt at the end of the body if there was a SIGINT in it, even if it was lost there.

    Libraries turn the signal into errors of their own (duckdb: `RuntimeError`, an import: `ImportError`), or
    lose it where no exception can be raised. Only the main thread gets signals; elsewhere it does nothing.

    Raises:
        KeyboardInterrupt: there was a SIGINT.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    interrupted = False

    def stop(number: int, frame: FrameType | None) -> None:
        nonlocal interrupted
        interrupted = True
        if callable(before):  # an enclosing handler must also know
            before(number, frame)
        raise KeyboardInterrupt

    before, report_lost = signal.signal(signal.SIGINT, stop), sys.unraisablehook
    # An interrupt raised in a finaliser is lost, and Python would print its traceback.
    sys.unraisablehook = lambda lost: None if interrupted else report_lost(lost)
    try:
        yield
    except Exception as error:
        if interrupted:
            raise KeyboardInterrupt from error
        raise
    finally:
        sys.unraisablehook = report_lost
        signal.signal(signal.SIGINT, before)
    if interrupted:
        raise KeyboardInterrupt


def exit_now(code: int) -> NoReturn:
    """End the process now with this exit code, even if threads are stuck."""
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError):
            if stream is not None:  # the caller may have closed it
                stream.flush()
    os._exit(code)


def run_interruptible(
    work: Callable[[], Coroutine[object, object, T]],
    *,
    on_first: Callable[[], None],
    on_second: Callable[[], None],
) -> T:
    """Run `work` on a new event loop.

    The first SIGINT calls `on_first` on the loop's thread, and `work` continues to its own end. The second
    calls `on_second` and ends the process with 130, even if threads are still running. Afterwards SIGINT is
    handled as before.
    """
    import asyncio

    before = signal.getsignal(signal.SIGINT)
    try:
        return asyncio.run(_run_with_handlers(work, on_first, on_second))
    finally:
        signal.signal(signal.SIGINT, before)  # the loop sets Python's default handler instead


async def _run_with_handlers(
    work: Callable[[], Coroutine[object, object, T]],
    on_first: Callable[[], None],
    on_second: Callable[[], None],
) -> T:
    import asyncio

    loop = asyncio.get_running_loop()

    def second() -> None:
        on_second()
        exit_now(CANCELLED)

    def first() -> None:
        loop.add_signal_handler(signal.SIGINT, second)
        on_first()

    # On platforms without such handlers, Ctrl+C raises KeyboardInterrupt and ends the command.
    with suppress(NotImplementedError):
        loop.add_signal_handler(signal.SIGINT, first)
    return await work()
