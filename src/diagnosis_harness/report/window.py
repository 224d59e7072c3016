"""Writes times and windows of a document, and reads them back."""

from __future__ import annotations

from dataclasses import dataclass

from diagnosis_harness.kernel.errors import RunDocumentInvalid
from diagnosis_harness.kernel.json_fields import instant_at
from diagnosis_harness.kernel.strict_json import json_errors_as
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


def read_instant(text: str, place: str) -> float:
    """Read a time of a document as seconds since the epoch.

    Raises:
        RunDocumentInvalid: it is not a time, or has another form.
    """
    with json_errors_as(RunDocumentInvalid):
        return instant_at(text, place)


def window_of(window: Window | None, place: str) -> TimeWindow | None:
    """The window that the document writes.

    Raises:
        RunDocumentInvalid: a time is malformed, or the end is before the start.
    """
    if window is None:
        return None
    start_s, end_s = read_instant(window.start, f"{place}.start"), read_instant(window.end, f"{place}.end")
    if end_s < start_s:
        raise RunDocumentInvalid(place, "ends before it starts")
    return TimeWindow(start_s, end_s)
