"""A span of time as a document writes it."""

from __future__ import annotations

from dataclasses import dataclass

from diagnosis_harness.kernel.window import TimeWindow, utc_text


@dataclass(frozen=True, slots=True)
class Window:
    """A half-open span of time, both ends ISO 8601 in UTC."""

    start: str
    end: str

    @classmethod
    def of(cls, window: TimeWindow | None) -> Window | None:
        """The window as the document writes it."""
        return None if window is None else cls(start=utc_text(window.start_s), end=utc_text(window.end_s))
