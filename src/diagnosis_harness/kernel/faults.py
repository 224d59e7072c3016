"""Report a fault in background code, which has no caller to raise it to."""

from __future__ import annotations

import threading


def report_fault(error: BaseException) -> None:
    """Hand a fault to `threading.excepthook`, which prints it unless the program says otherwise."""
    arguments = (type(error), error, error.__traceback__, threading.current_thread())
    threading.excepthook(threading.ExceptHookArgs(arguments))
