"""Describe a foreign error, and report a fault in background code, which has no caller to raise it to."""

from __future__ import annotations

import threading
from collections.abc import Callable

ERROR_TEXT_MAX = 4000
"""Characters of a foreign error's text that are kept: as many as the trace masks before it cuts."""


def error_text(error: BaseException) -> str:
    """The text of a foreign error, bounded; empty if its `__str__` fails.

    `__str__` is foreign code, so whatever it raises is ignored, even SystemExit, KeyboardInterrupt and
    CancelledError.
    """
    try:
        text = str.__str__(str(error))  # a plain str, even from a subclass of str
    except BaseException:  # noqa: BLE001 - the error is being reported, and a second one must not hide it
        return ""
    return text if len(text) <= ERROR_TEXT_MAX else f"{text[: ERROR_TEXT_MAX - 1]}…"


def report_fault(error: BaseException) -> None:
    """Pass a fault to `threading.excepthook`, which prints it unless the program has replaced it.

    The hook is foreign code too. If it raises, the fault is printed by Python's own hook instead: the caller
    has a run, a timer or a queue to continue with.
    """
    args = threading.ExceptHookArgs((type(error), error, error.__traceback__, threading.current_thread()))
    if not _call_hook(threading.excepthook, args):
        _call_hook(threading.__excepthook__, args)


def _call_hook(hook: Callable[[threading.ExceptHookArgs], object], args: threading.ExceptHookArgs) -> bool:
    """Whether the hook took the fault without raising."""
    try:
        hook(args)
    except BaseException:  # noqa: BLE001 - the next hook reports the fault; after the last one nothing can
        return False
    return True
