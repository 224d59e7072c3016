"""Formats times and windows for people, in UTC."""

from __future__ import annotations

from diagnosis_harness.kernel.names import plain
from diagnosis_harness.kernel.window import TimeWindow, utc_text

SOUGHT_MAX = 80
"""Characters of a searched text that a sentence shows; the record has all of it."""


def display_time(time_s: float) -> str:
    """`2024-01-01 14:05 UTC`; seconds and milliseconds only if they are not zero."""
    return f"{_clock(utc_text(time_s))} UTC"


def span(window: TimeWindow) -> tuple[str, str]:
    """Both ends, with the date once if they are on one day: `2024-01-01 14:05`, `14:20 UTC`."""
    start, end = _clock(utc_text(window.start_s)), _clock(utc_text(window.end_s))
    if start[:10] == end[:10]:
        end = end[11:]
    return start, f"{end} UTC"


def escape_line(text: str) -> str:
    """Escape a text on its own line; for a name inside a sentence use `kernel.names.display_name`."""
    return plain(text)


def _clock(iso: str) -> str:
    text = iso.removesuffix("Z").replace("T", " ")
    return text.removesuffix(":00")
