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

    def add(self, callback: Callable[[], None]) -> Callable[[], None] | None:
        """Keep a callback and return what takes it out; None when it is too late, and the caller calls it."""
        ticket = object()
        with self._lock:
            if self._callbacks is None:
                return None
            self._callbacks[ticket] = callback

        def remove() -> None:
            with self._lock:
                if self._callbacks is not None:
                    self._callbacks.pop(ticket, None)

        return remove

    def close(self) -> tuple[Callable[[], None], ...]:
        """Take no more, and hand out what was kept, in order. A second close hands out nothing."""
        with self._lock:
            kept, self._callbacks = self._callbacks, None
        return tuple(kept.values()) if kept else ()
