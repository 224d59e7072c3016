"""How a bug is logged: its kind and its place, never its message, which may hold what a person sent."""

from __future__ import annotations

import logging


def log_bug(logger: logging.Logger, what: str, error: BaseException) -> None:
    """Frames and class of an error that nobody foresaw. `what` says where it ended, in words of ours."""
    kind = type(error).__name__
    logger.error("%s failed: %s", what, kind, exc_info=RuntimeError(kind).with_traceback(error.__traceback__))
