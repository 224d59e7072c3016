"""A time limit by the clock that was passed in, on the server's event loop."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Coroutine
from typing import Any, TypeVar

from diagnosis_harness.harness.waiting import sleep
from diagnosis_harness.kernel.clock import Clock
from diagnosis_harness.kernel.errors import DiagnosisHarnessError
from diagnosis_harness.server.error_log import log_unexpected_error

_LOG = logging.getLogger("diagnosis_harness.server")

T = TypeVar("T")


async def with_time_limit(clock: Clock, limit_s: float, work: Coroutine[Any, Any, T]) -> T:
    """Await `work`; cancel it after `limit_s`, or when the caller is cancelled.

    Raises:
        TimeoutError: `work` did not finish in time.
        Exception: what `work` raised in time. An unexpected error that it raises later is logged.
    """
    task = asyncio.ensure_future(work)
    timer = asyncio.ensure_future(sleep(clock, limit_s))
    is_late = True
    try:
        await asyncio.wait((task, timer), return_when=asyncio.FIRST_COMPLETED)
        if task.done():
            is_late = False
            return task.result()
        raise TimeoutError
    finally:
        task.cancel()
        timer.cancel()
        await asyncio.wait((task, timer))
        error = None if task.cancelled() else task.exception()
        if is_late and error is not None and not isinstance(error, DiagnosisHarnessError):
            log_unexpected_error(_LOG, "work past its time limit", error)
