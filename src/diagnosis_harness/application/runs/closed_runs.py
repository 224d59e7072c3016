"""Tells of runs that this process closed without having worked on them: given up, or ended in the queue."""

from __future__ import annotations

from collections.abc import Callable

from diagnosis_harness.application.runs.row import RunRow

Listener = Callable[[RunRow], None]


class ClosedRuns:
    """One of a process, beside `RunFeed`, which tells of the runs that it works on itself.

    A run is told of once, in the process that closed it, when that is kept. Used from one event loop.
    """

    def __init__(self) -> None:
        self._listeners: list[Listener] = []

    def on_closed(self, listener: Listener) -> Callable[[], None]:
        """Have `listener(row)` called for each, with the row as it stands then; it is quick and never raises.

        Returns:
            A function that takes the listener out again.
        """
        self._listeners.append(listener)
        return lambda: self._listeners.remove(listener)

    def tell(self, row: RunRow) -> None:
        """Call the listeners."""
        for listener in tuple(self._listeners):
            listener(row)
