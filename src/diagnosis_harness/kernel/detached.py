"""Run calls that may block, each on a thread that nothing else waits for."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable

from diagnosis_harness.kernel.faults import report_fault

THREADS_MAX = 64
"""More than are expected to block at once; further calls wait in order."""


class DetachedCalls:
    """Starts daemon threads for calls, up to a bound; a thread ends when no call is left."""

    def __init__(self, *, threads_max: int = THREADS_MAX) -> None:
        self._threads_max = threads_max
        self._lock = threading.Lock()
        self._calls: deque[Callable[[], None]] = deque()
        self._active = 0

    def submit(self, call: Callable[[], None]) -> None:
        """Run `call` once, soon. A call that raises is reported and does not affect the others."""
        with self._lock:
            self._calls.append(call)
            if self._active >= self._threads_max:
                return
            self._active += 1
        try:
            threading.Thread(target=self._serve, name="diagnosis-notice", daemon=True).start()
        except RuntimeError:  # the machine has no thread left, or the interpreter is about to end
            self._serve()

    def _serve(self) -> None:
        while (call := self._next()) is not None:
            try:
                call()
            except BaseException as error:  # noqa: BLE001 - one caller's fault must not keep the others from being called
                report_fault(error)
            del call  # release what it references before waiting for the next one

    def _next(self) -> Callable[[], None] | None:
        with self._lock:
            if not self._calls:
                self._active -= 1
                return None
            return self._calls.popleft()
