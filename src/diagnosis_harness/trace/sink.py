"""The port that takes trace events, and three sinks without dependencies."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Protocol

from diagnosis_harness.trace.event import TraceEvent, TraceName


class TraceSink(Protocol):
    """Takes the events of all runs.

    Events of one run arrive one at a time in the order of `seq`, RUN_FINISHED last; different runs may call
    concurrently. A sink returns quickly and does not raise; its failure never affects the run. If a sink
    raises anyway, only that sink loses the event, and `threading.excepthook` is called.
    """

    def emit(self, event: TraceEvent) -> None:
        """Take one event."""
        ...


class NullSink:
    """Discards every event."""

    def emit(self, event: TraceEvent) -> None:
        """Drop the event."""


class MemorySink:
    """Stores every event, for tests, the command line and the export of a single run."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._events: list[TraceEvent] = []

    def emit(self, event: TraceEvent) -> None:
        """Store the event."""
        with self._lock:
            self._events.append(event)

    def events(self, run_id: str | None = None) -> tuple[TraceEvent, ...]:
        """The events so far, in order of arrival; with a run id, only those of that run."""
        with self._lock:
            return tuple(event for event in self._events if run_id is None or event.run_id == run_id)

    def events_named(self, name: TraceName) -> tuple[TraceEvent, ...]:
        """The events with this name."""
        return tuple(event for event in self.events() if event.name is name)


class FanOutSink:
    """Passes every event to several sinks, in the order given.

    If one raises, the others still get the event; then the first error is raised.
    """

    def __init__(self, sinks: Sequence[TraceSink]) -> None:
        self._sinks = tuple(sinks)

    def emit(self, event: TraceEvent) -> None:
        """Pass the event to every sink."""
        failed: BaseException | None = None
        for sink in self._sinks:
            try:
                sink.emit(event)
            except BaseException as error:  # noqa: BLE001 - raised below, when every sink has had the event
                failed = failed or error
        if failed is not None:
            raise failed
