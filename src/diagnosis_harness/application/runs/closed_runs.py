"""Reports runs that this process closed without executing them: abandoned or ended in the queue."""

from __future__ import annotations

from collections.abc import Callable

from diagnosis_harness.application.runs.row import RunRow

Listener = Callable[[RunRow], None]


class ClosedRuns:
    """One for each process, in addition to `RunFeed`, which covers the runs that the process executes.

    Listeners are called once for each run, after the commit, in the process that closed it. Used from one
    event loop.
    """

    def __init__(self) -> None:
        self._listeners: list[Listener] = []

    def on_closed(self, listener: Listener) -> Callable[[], None]:
        """Register `listener(row)` for each closed row; it must be quick and never raise.

        Returns:
            A function that unsubscribes the listener.
        """
        self._listeners.append(listener)
        return lambda: self._listeners.remove(listener)

    def notify(self, row: RunRow) -> None:
        """Call the listeners."""
        for listener in tuple(self._listeners):
            listener(row)
