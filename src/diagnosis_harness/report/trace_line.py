"""One line of a run's trace in the document: the event as data, and as a short text for people."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from diagnosis_harness.report.version import since
from diagnosis_harness.trace.event import TraceEventStatus, TraceName, TracePhase


@dataclass(frozen=True, slots=True)
class TraceLine:
    """One event of the run's trace.

    Attributes:
        text: the event in short, for people, rendered from `data` (`report.timeline.in_short`). It is shown
        and never parsed, since an agent chooses some of its words. data: the event's payload, bounded and
        masked as it was traced (`trace.event.bound_payload`). None in a document of version 2, which kept
        only the text.
    """

    at: str
    name: TraceName
    phase: TracePhase
    status: TraceEventStatus
    text: str
    data: Mapping[str, object] | None = field(default=None, metadata=since("3"))

    def text_of(self, name: str) -> str | None:
        """One text of the payload; None if it is missing or no data was stored."""
        value = None if self.data is None else self.data.get(name)
        return value if isinstance(value, str) else None
