"""Instants, windows and names as people read them; all instants in UTC."""

from __future__ import annotations

from diagnosis_harness.kernel.window import TimeWindow, utc_text

# Invisible characters that can reorder or hide what stands around them in a line of text.
_BIDI = frozenset("\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")


def instant(time_s: float) -> str:
    """`2024-01-01 14:05 UTC`; seconds and milliseconds only where they are not zero."""
    return f"{_clock(utc_text(time_s))} UTC"


def span(window: TimeWindow) -> tuple[str, str]:
    """Both ends; the date stands once where both are on one day: `2024-01-01 14:05`, `14:20 UTC`."""
    start, end = _clock(utc_text(window.start_s)), _clock(utc_text(window.end_s))
    if start[:10] == end[:10]:
        end = end[11:]
    return start, f"{end} UTC"


def shown(name: str) -> str:
    """A name from data, safe inside a line: what is invisible or reorders it stands as its code point."""
    return "".join(f"\\u{ord(c):04x}" if c in _BIDI or not (c.isprintable() or c == " ") else c for c in name)


def _clock(iso: str) -> str:
    text = iso.removesuffix("Z").replace("T", " ")
    return text.removesuffix(":00")
