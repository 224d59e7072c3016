"""The events of the runs that are under way, kept for each run until it has its answer."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from diagnosis_harness.trace.event import TraceEvent


@dataclass(slots=True)
class _Watched:
    notify: Callable[[TraceEvent], None]
    events: list[TraceEvent] = field(default_factory=list)


class RunEvents:
    """A trace sink. Events of one run arrive one at a time, of several runs from several threads at once."""

    def __init__(self) -> None:
        self._runs: dict[str, _Watched] = {}

    def watch(self, run_id: str, notify: Callable[[TraceEvent], None]) -> None:
        """Keep the run's events from now on; `notify` gets each as well, in the thread that emits it."""
        self._runs[run_id] = _Watched(notify)

    def emit(self, event: TraceEvent) -> None:
        """Keep an event of a watched run; drop any other."""
        watched = self._runs.get(event.run_id)
        if watched is not None:
            watched.events.append(event)
            watched.notify(event)

    def of(self, run_id: str) -> tuple[TraceEvent, ...]:
        """The events of a watched run so far, in order."""
        return tuple(self._runs[run_id].events)

    def forget(self, run_id: str) -> None:
        """Drop the stored events of a run."""
        self._runs.pop(run_id, None)
