"""Callbacks that are called once each, when one thing happens once."""

from __future__ import annotations

from collections.abc import Callable
from threading import RLock


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
