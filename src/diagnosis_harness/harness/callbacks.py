"""Callbacks of an event that happens once; an error in one does not affect the others."""

from __future__ import annotations

from collections.abc import Callable
from threading import RLock

from diagnosis_harness.harness.journal import RunJournal
from diagnosis_harness.kernel.faults import error_text
from diagnosis_harness.trace.event import TraceEventStatus, TraceName, TracePhase


class OnceCallbacks:
    """The list behind `RunLifecycle.on_end` and `RunCancellation.register`.

    `close` is called by the owner while it holds the lock, in one step with the change of state; it hands the
    callbacks out, and the owner calls them after it has let the lock go.
    """

    __slots__ = ("_callbacks", "_lock")

    def __init__(self, lock: RLock) -> None:
        self._lock = lock
        self._callbacks: dict[object, Callable[[], None]] | None = {}

    def add(self, ticket: object, callback: Callable[[], None]) -> bool:
        """Keep a callback under its ticket; False if the event has happened, and the caller must call it."""
        with self._lock:
            if self._callbacks is None:
                return False
            self._callbacks[ticket] = callback
            return True

    def remove(self, ticket: object) -> None:
        """Remove a callback; does nothing if it was handed out or removed before."""
        with self._lock:
            if self._callbacks is not None:
                self._callbacks.pop(ticket, None)

    def close(self) -> tuple[Callable[[], None], ...]:
        """Accept no more, and return the callbacks in order. A second close returns none."""
        with self._lock:
            kept, self._callbacks = self._callbacks, None
        return tuple(kept.values()) if kept else ()


def call_contained(callback: Callable[[], None], journal: RunJournal) -> None:
    """Call one; whatever it raises is recorded in the trace (CALLBACK_FAILED) and not raised.

    That includes CancelledError, SystemExit and KeyboardInterrupt: they belong to the callback, and must not
    stop the others from being called.
    """
    try:
        callback()
    except BaseException as error:  # noqa: BLE001 - the error is recorded, and the others are still called
        journal.emit(
            TraceName.CALLBACK_FAILED,
            TracePhase.RUN,
            TraceEventStatus.FAILED,
            {"error": type(error).__name__, "message": error_text(error)},
        )
