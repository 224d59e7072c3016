"""Which processes are dead: whose beat stood still for long while one process looked. Pure.

No two clocks are compared, and a beat is no time: it only differs from the one before it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from diagnosis_harness.application.runs.sources import Lane
from diagnosis_harness.application.runs.store import Beat


@dataclass(frozen=True, slots=True)
class Still:
    """A beat that is as it was: since when, by the clock of who looks."""

    value: float
    since_s: float


@dataclass(frozen=True, slots=True)
class Seen:
    """What one process saw of the others' beats, when it looked last, and since when without a pause."""

    at_s: float
    still: Mapping[str, Still] = field(default_factory=dict)
    since_s: float = float("-inf")


NOTHING_SEEN = Seen(float("-inf"))


def seen(before: Seen, beats: Mapping[str, Beat], *, now_s: float, gap_s: float) -> Seen:
    """What is seen with one more look.

    Args:
        gap_s: after a pause as long as this between two looks nothing counts that was seen before it: who
            stood still may have stood still with the one who looks.
    """
    goes_on = now_s - before.at_s < gap_s
    earlier = before.still if goes_on else {}
    still: dict[str, Still] = {}
    for owner, beat in beats.items():
        if beat.value is not None:
            held = earlier.get(owner)
            still[owner] = Still(beat.value, now_s) if held is None or held.value != beat.value else held
    return Seen(now_s, still, before.since_s if goes_on else now_s)


def dead(seen: Seen, beats: Mapping[str, Beat], *, after_s: float) -> tuple[str, ...]:
    """Processes with work that have stood still for so long, or have no beat at all: those at once."""
    return tuple(
        owner
        for owner, beat in beats.items()
        if beat.has_work and (beat.value is None or _silence_s(seen, owner) >= after_s)
    )


def is_served(seen: Seen, beats: Mapping[str, Beat], lane: Lane, *, after_s: float) -> bool | None:
    """Whether another process that lives takes the runs of a lane. One that does not say what it takes may.

    Args:
        after_s: one that has stood still for so long does not live.

    Returns:
        None where some process says so, and nobody has looked for long enough to know that it lives.
    """
    takers = [
        owner
        for owner, beat in beats.items()
        if beat.value is not None and (beat.lanes is None or lane in beat.lanes)
    ]
    if takers and seen.at_s - seen.since_s < after_s:
        return None
    return any(_silence_s(seen, owner) < after_s for owner in takers)


def forgettable(seen: Seen, beats: Mapping[str, Beat], *, after_s: float) -> tuple[tuple[str, float], ...]:
    """Processes without work that have stood still for so long, with what they said last."""
    return tuple(
        (owner, beat.value)
        for owner, beat in beats.items()
        if not beat.has_work and beat.value is not None and _silence_s(seen, owner) >= after_s
    )


def _silence_s(seen: Seen, owner: str) -> float:
    still = seen.still.get(owner)
    return 0.0 if still is None else seen.at_s - still.since_s
