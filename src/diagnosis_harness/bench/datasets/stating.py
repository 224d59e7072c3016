"""Decides what a question states under a condition, and picks healthy windows."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from statistics import median

from diagnosis_harness.bench.case import ALERT_DELAY_S, HEALTHY, SHIFTS, Condition, MovedSeries
from diagnosis_harness.bench.datasets.folder import PublishedAlert

Points = Sequence[tuple[float, float]]
"""Time and value of one series, by time."""

OF_AN_ALERT = frozenset({Condition.AS_PUBLISHED, Condition.NOTHING, *SHIFTS, *HEALTHY})
"""The conditions of a set that publishes an alert: all but a realistic alert in its place."""

BEFORE_S = 3600.0  # a monitor compares with the previous hour
WIDTH_OF_MEDIAN = 0.05  # a change by less than a twentieth is noise, however quiet the series was
GAP = 1.5  # in steps of the recording; a longer pause ends a continuous part
WORDS_OF_GOOD = (
    "success",
    "availability",
    "hit",
)  # these alert when they fall; all others, when they rise


@dataclass(frozen=True, slots=True)
class Statement:
    """What a folder says about its incident, besides the recording."""

    alert: PublishedAlert | None = None
    onset_s: float | None = None


def state(
    condition: Condition,
    *,
    published: Statement,
    onset_s: float | None = None,
    moved: MovedSeries | None = None,
) -> Statement:
    """What is stated under a condition.

    Args:
        condition: what the asker knows.
        published: what the published task provides to every method.
        onset_s: when it began; of a healthy window, the time that is given as the onset.
        moved: the series that a realistic alert is on.
    """
    match condition:
        case Condition.AS_PUBLISHED:
            return published
        case Condition.NOTHING | Condition.HEALTHY_QUESTION:
            return Statement()
        case Condition.HEALTHY_ONSET:
            return Statement(onset_s=onset_s)
        case Condition.ALERT | Condition.HEALTHY_ALERT:
            time_s = None if onset_s is None else onset_s + ALERT_DELAY_S
            alert = PublishedAlert(time_s=time_s)
            if moved is not None:
                alert = replace(alert, entity=moved.entity, signal=moved.signal, direction=moved.direction)
            return Statement(alert=alert)
        case _:
            return _shift(published, condition.shift_s)


def _shift(published: Statement, shift_s: float) -> Statement:
    """The stated times, moved: the onset, and with it an alert at the same time; else the alert alone."""
    alert, onset_s = published.alert, published.onset_s
    if alert is not None and alert.time_s is not None and onset_s in {None, alert.time_s}:
        alert = replace(alert, time_s=alert.time_s + shift_s)
    return Statement(alert=alert, onset_s=None if onset_s is None else onset_s + shift_s)


def find_moved(entity: str, series: Mapping[str, Points], onset_s: float) -> MovedSeries | None:
    """The symptom series of the entry that moved most in the two minutes after a time; None if none can.

    `series` are by signal and hold symptoms only: latencies, errors, success. The measure is the change of
    the median in widths of the hour before. No label is needed for it, only the time.
    """
    moves = {signal: _move(signal, points, onset_s) for signal, points in series.items()}
    scores = {signal: score for signal, score in moves.items() if score is not None}
    if not scores:
        return None
    signal = max(scores, key=lambda name: (scores[name], name))
    return MovedSeries(entity, signal, "down" if _good(signal) else "up")


def _good(signal: str) -> bool:
    return any(word in signal.lower() for word in WORDS_OF_GOOD)


def _move(signal: str, points: Points, onset_s: float) -> float | None:
    before = [value for time, value in points if onset_s - BEFORE_S <= time <= onset_s]
    after = [value for time, value in points if onset_s < time <= onset_s + ALERT_DELAY_S]
    if len(before) < 2 or not after:  # one point has no width
        return None
    middle = median(before)
    width = median(abs(value - middle) for value in before) + WIDTH_OF_MEDIAN * abs(middle) or 1.0
    change = (median(after) - middle) / width
    return -change if _good(signal) else change


def pick_window(times: Iterable[float], *, rank: int, count: int, samples: int) -> tuple[float, ...] | None:
    """One of `count` parts of a recording, spread evenly over it, each with so many times without a pause.

    None if the recording has no such part.
    """
    ordered = sorted(set(times))
    if len(ordered) < samples:
        return None
    steps = [later - earlier for earlier, later in pairwise(ordered)]
    longest = GAP * median(steps)
    first = rank * (len(ordered) - samples) // max(count, 1)
    starts = [*range(first, len(ordered) - samples + 1), *range(first)]
    for start in starts:
        if all(step <= longest for step in steps[start : start + samples - 1]):
            return tuple(ordered[start : start + samples])
    return None
