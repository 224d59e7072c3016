"""Ctrl+C where no run is there to be cancelled: whatever the code makes of the signal, it means stop."""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from types import FrameType
from typing import Final, NoReturn

CANCELLED: Final = 130
"""What shells make of Ctrl+C."""


@contextmanager
def stopped_by_interrupt() -> Iterator[None]:
    """Make every SIGINT of the body end in KeyboardInterrupt, once the body has ended in whatever way.

    Libraries turn the signal into errors of their own (duckdb: `RuntimeError`, an import: `ImportError`), or
    lose it where an exception cannot be raised. Off the main thread, which gets no signals, it does nothing.

    Raises:
        KeyboardInterrupt: there was a SIGINT.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    asked = False

    def stop(number: int, frame: FrameType | None) -> None:
        nonlocal asked
        asked = True
        if callable(before):  # what is around this one must know as well
            before(number, frame)
        raise KeyboardInterrupt

    before, tell_lost = signal.signal(signal.SIGINT, stop), sys.unraisablehook
    # Raised inside a finaliser it gets lost, and would be printed with its traceback.
    sys.unraisablehook = lambda lost: None if asked else tell_lost(lost)
    try:
        yield
    except Exception as error:
        if asked:
            raise KeyboardInterrupt from error
        raise
    finally:
        sys.unraisablehook = tell_lost
        signal.signal(signal.SIGINT, before)
    if asked:
        raise KeyboardInterrupt


def leave(code: int) -> NoReturn:
    """End the process now; threads that are stuck cannot hold it up, and the code is this one."""
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError):
            if stream is not None:  # the caller may have closed it
                stream.flush()
    os._exit(code)
