"""What a question says of when: pure, and nothing is guessed."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta

from diagnosis_harness.kernel.window import TimeWindow, parse_utc

_FULL = re.compile(r"\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}(?::\d{2})?(?:Z|[+-]\d{2}:\d{2})?")
_CLOCK = re.compile(r"(?<![\d:.])([01]?\d|2[0-3]):([0-5]\d)(?::([0-5]\d))?(?![\d:])")


def asked_instant(question: str, recorded: TimeWindow | None) -> float | None:
    """The one instant of the recording that a question names, UTC; None without one, or with several.

    A clock time without a date is the instant of that time in the recording, where there is just one.
    """
    if recorded is None:
        return None
    full = [_parsed(text) for text in _FULL.findall(question)]
    named = {at for at in full if at is not None and recorded.contains(at)}
    if not full:
        clocks = [tuple(int(part or 0) for part in found) for found in _CLOCK.findall(question)]
        named = {at for clock in clocks for at in _occurrences(clock, recorded)}
    return next(iter(named)) if len(named) == 1 else None


def _parsed(text: str) -> float | None:
    try:
        return parse_utc(text)
    except ValueError:
        return None


def _occurrences(clock: tuple[int, ...], recorded: TimeWindow) -> list[float]:
    """The instants of a clock time inside the recording; few, since only its days are tried."""
    hour, minute, second = clock
    day = datetime.fromtimestamp(recorded.start_s, tz=UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    days = range(min(int(recorded.duration_s // 86_400) + 2, 40))
    instants = (day + timedelta(days=n, hours=hour, minutes=minute, seconds=second) for n in days)
    return [at.timestamp() for at in instants if recorded.contains(at.timestamp())]
