"""Detects dead processes: those whose heartbeat has not changed for long under observation. Pure.

Clocks of different processes are never compared. A heartbeat is only checked for having changed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from diagnosis_harness.application.runs.sources import Lane
from diagnosis_harness.application.runs.store import Heartbeat


@dataclass(frozen=True, slots=True)
class Unchanged:
    """A heartbeat, and since when it has had this value by the observer's clock."""

    value: float
    since_s: float


@dataclass(frozen=True, slots=True)
class Observed:
    """What one process has observed of the others.

    Attributes:
        at_s: when it last checked.
        unchanged: the last heartbeat of each process.
        since_s: since when it has checked without a gap.
    """

    at_s: float
    unchanged: Mapping[str, Unchanged] = field(default_factory=dict)
    since_s: float = float("-inf")


NOTHING_OBSERVED = Observed(float("-inf"))


def observe(before: Observed, heartbeats: Mapping[str, Heartbeat], *, now_s: float, gap_s: float) -> Observed:
    """Add one more observation.

    Args:
        gap_s: after a gap of this length, earlier observations no longer count: whatever suspended the
            observer may have suspended the others.
    """
    goes_on = now_s - before.at_s < gap_s
    earlier = before.unchanged if goes_on else {}
    unchanged: dict[str, Unchanged] = {}
    for owner, heartbeat in heartbeats.items():
        if heartbeat.value is not None:
            last = earlier.get(owner)
            is_new = last is None or last.value != heartbeat.value
            unchanged[owner] = Unchanged(heartbeat.value, now_s) if last is None or is_new else last
    return Observed(now_s, unchanged, before.since_s if goes_on else now_s)


def dead(observed: Observed, heartbeats: Mapping[str, Heartbeat], *, after_s: float) -> tuple[str, ...]:
    """Processes that own runs and have been silent for so long, or have no heartbeat at all."""
    return tuple(
        owner
        for owner, heartbeat in heartbeats.items()
        if heartbeat.has_work and (heartbeat.value is None or _silence_s(observed, owner) >= after_s)
    )


def is_served(
    observed: Observed, heartbeats: Mapping[str, Heartbeat], lane: Lane, *, after_s: float
) -> bool | None:
    """Whether another live process takes the runs of a lane. One that does not list its lanes may take any.

    Args:
        after_s: a process that has been silent for so long is dead.

    Returns:
        None if some process takes them, but has not been observed for long enough to know that it is alive.
    """
    takers = [
        owner
        for owner, heartbeat in heartbeats.items()
        if heartbeat.value is not None and (heartbeat.lanes is None or lane in heartbeat.lanes)
    ]
    if takers and observed.at_s - observed.since_s < after_s:
        return None
    return any(_silence_s(observed, owner) < after_s for owner in takers)


def forgettable(
    observed: Observed, heartbeats: Mapping[str, Heartbeat], *, after_s: float
) -> tuple[tuple[str, float], ...]:
    """Processes without runs that have been silent for so long, with their last heartbeats."""
    return tuple(
        (owner, heartbeat.value)
        for owner, heartbeat in heartbeats.items()
        if not heartbeat.has_work and heartbeat.value is not None and _silence_s(observed, owner) >= after_s
    )


def _silence_s(observed: Observed, owner: str) -> float:
    last = observed.unchanged.get(owner)
    return 0.0 if last is None else observed.at_s - last.since_s
