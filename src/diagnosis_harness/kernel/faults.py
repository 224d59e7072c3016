"""Describe a foreign error, and report a fault in background code, which has no caller to raise it to."""

from __future__ import annotations

import threading
from collections.abc import Callable

SAID_MAX = 4000
"""Characters of a foreign error's text that are kept: as many as the trace masks before it cuts."""


def error_text(error: BaseException) -> str:
    """What a foreign error says, bounded; empty where it cannot say it.

    Its `__str__` is foreign code: whatever that raises belongs to it, SystemExit, KeyboardInterrupt and
    CancelledError included.
    """
    try:
        text = str.__str__(str(error))  # a plain text, also of a class that is one in part
    except BaseException:  # noqa: BLE001 - the error is being reported, and a second one must not hide it
        return ""
    return text if len(text) <= SAID_MAX else f"{text[: SAID_MAX - 1]}…"


def report_fault(error: BaseException) -> None:
    """Hand a fault to `threading.excepthook`, which prints it unless the program says otherwise.

    The hook is foreign code too. Whatever it raises stays here, and the fault is printed as Python prints
    one: who reports a fault has a run, a timer or a queue to go on with.
    """
    told = threading.ExceptHookArgs((type(error), error, error.__traceback__, threading.current_thread()))
    any(_takes(hook, told) for hook in (threading.excepthook, threading.__excepthook__))


def _takes(hook: Callable[[threading.ExceptHookArgs], object], told: threading.ExceptHookArgs) -> bool:
    try:
        hook(told)
    except BaseException:  # noqa: BLE001 - the next hook tells of the fault; after the last nobody can
        return False
    return True
