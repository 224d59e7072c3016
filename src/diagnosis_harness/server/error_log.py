"""Log an unexpected error's type and traceback, never its message, which may hold user input."""

from __future__ import annotations

import logging


def log_unexpected_error(logger: logging.Logger, task: str, error: BaseException) -> None:
    """Log the error's type and traceback. `task` names the task that failed and holds no user input."""
    kind = type(error).__name__
    logger.error("%s failed: %s", task, kind, exc_info=RuntimeError(kind).with_traceback(error.__traceback__))
