"""A span of time on the wall clock, always UTC."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from math import isfinite


@dataclass(frozen=True, slots=True, order=True)
class TimeWindow:
    """A half-open window `[start_s, end_s)` in seconds since the Unix epoch, UTC.

    Raises:
        ValueError: a bound is not finite, or the end lies before the start.
    """

    start_s: float
    end_s: float

    def __post_init__(self) -> None:
        if not (isfinite(self.start_s) and isfinite(self.end_s)):
            raise ValueError("a window needs finite bounds")
        if self.end_s < self.start_s:
            raise ValueError("a window ends at or after its start")

    @property
    def duration_s(self) -> float:
        """Length in seconds, zero or more."""
        return self.end_s - self.start_s

    def contains(self, time_s: float) -> bool:
        """Whether a time lies inside; the end itself does not."""
        return self.start_s <= time_s < self.end_s

    def overlaps(self, other: TimeWindow) -> bool:
        """Whether the two overlap."""
        return self.start_s < other.end_s and other.start_s < self.end_s

    def covers(self, other: TimeWindow) -> bool:
        """Whether the other window lies inside this one."""
        return self.start_s <= other.start_s and other.end_s <= self.end_s

    def __str__(self) -> str:
        return f"{utc_text(self.start_s)} to {utc_text(self.end_s)}"


def utc_text(time_s: float) -> str:
    """A time as ISO 8601 in UTC with a `Z`, to the millisecond, which is dropped when it is zero."""
    rounded = datetime.fromtimestamp(round(time_s, 3), tz=UTC)
    text = rounded.strftime("%Y-%m-%dT%H:%M:%S")
    millis = rounded.microsecond // 1000
    return f"{text}.{millis:03d}Z" if millis else f"{text}Z"


def parse_utc(text: str) -> float:
    """Seconds since the epoch of an ISO 8601 text; a text without a zone is taken as UTC.

    Raises:
        ValueError: the text is not an ISO 8601 date and time.
    """
    parsed = datetime.fromisoformat(text.strip())
    if parsed.tzinfo is None:
        parsed = parsed.replace(tzinfo=UTC)
    return parsed.timestamp()
