"""Callbacks that are called once each, when one thing happens once, and whose faults stay their own."""

from __future__ import annotations

from collections.abc import Callable
from threading import RLock

from diagnosis_harness.harness.journal import RunJournal
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
        """Keep a callback under its ticket; False when it is too late, and the caller calls it."""
        with self._lock:
            if self._callbacks is None:
                return False
            self._callbacks[ticket] = callback
            return True

    def remove(self, ticket: object) -> None:
        """Take a callback out again; one that has been handed out, or taken out before, is left alone."""
        with self._lock:
            if self._callbacks is not None:
                self._callbacks.pop(ticket, None)

    def close(self) -> tuple[Callable[[], None], ...]:
        """Take no more, and hand out what was kept, in order. A second close hands out nothing."""
        with self._lock:
            kept, self._callbacks = self._callbacks, None
        return tuple(kept.values()) if kept else ()


def call_contained(callback: Callable[[], None], journal: RunJournal) -> None:
    """Call one; whatever it raises is recorded in the trace (CALLBACK_FAILED) and goes no further.

    That holds for CancelledError, SystemExit and KeyboardInterrupt too: they are the callback's own, and who
    ends a run for a reason must not be kept from telling the others.
    """
    try:
        callback()
    except BaseException as error:  # noqa: BLE001 - a resource's fault is recorded; the others must still be told
        journal.emit(
            TraceName.CALLBACK_FAILED,
            TracePhase.RUN,
            TraceEventStatus.FAILED,
            {"error": type(error).__name__, "message": _message(error)},
        )


def _message(error: BaseException) -> str:
    try:
        return str(error)
    except Exception:  # noqa: BLE001 - an error may not even be able to say what it is
        return ""
