"""The timeline of one run, a pure fold over its events (seed: harness-lifecycle-and-states §13).

It groups the events and gives the result of each phase. It must not be used as a state of the run.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import groupby, pairwise

from diagnosis_harness.trace.event import TraceEventStatus, TraceName, TracePhase


@dataclass(frozen=True, slots=True)
class TimelineEvent:
    """One event, live or from a saved line.

    Attributes:
        at_s: when, in seconds since the epoch, UTC.
        text: its content without the name, shortened; may be empty.
    """

    at_s: float
    name: TraceName
    phase: TracePhase
    status: TraceEventStatus
    text: str = ""


class PhaseVerdict(StrEnum):
    """The overall result of a phase; not how the run ended."""

    DONE = "DONE"
    PARTLY = "PARTLY"  # some of it failed or was refused
    FAILED = "FAILED"
    REFUSED = "REFUSED"
    OPEN = "OPEN"  # it began, and no event reports its end


@dataclass(frozen=True, slots=True)
class PhaseSection:
    """Consecutive events of one phase; never empty."""

    phase: TracePhase
    moments: tuple[TimelineEvent, ...]


@dataclass(frozen=True, slots=True)
class PhaseAccount:
    """The total of one phase over the whole run.

    Attributes:
        moments: how many events belong to it.
        duration_s: the time spent in it; those of all phases add up to the timeline's.
    """

    phase: TracePhase
    moments: int
    duration_s: float
    verdict: PhaseVerdict


@dataclass(frozen=True, slots=True)
class Timeline:
    """The events in order, and the result of each phase in order of first appearance."""

    started_s: float
    duration_s: float
    stretches: tuple[PhaseSection, ...]
    phases: tuple[PhaseAccount, ...]


def fold(events: Iterable[TimelineEvent]) -> Timeline:
    """Build the timeline from a run's events in the order in which they were recorded.

    If the clock went back between two events, no time is added. Without events the timeline is empty.
    """
    ordered = tuple(events)
    spent = dict.fromkeys((event.phase for event in ordered), 0.0)
    for before, after in pairwise(ordered):
        spent[_phase_between(before, after)] += max(after.at_s - before.at_s, 0.0)
    return Timeline(
        started_s=ordered[0].at_s if ordered else 0.0,
        duration_s=sum(spent.values()),
        stretches=tuple(
            PhaseSection(phase, tuple(group)) for phase, group in groupby(ordered, lambda event: event.phase)
        ),
        phases=tuple(_account(phase, ordered, duration_s) for phase, duration_s in spent.items()),
    )


def _phase_between(before: TimelineEvent, after: TimelineEvent) -> TracePhase:
    """The phase to which the time between two events belongs.

    It is the phase whose work the later event reports. An event that only starts something, or one of the run
    itself (which may end while a tool works), reports no work, so the time goes to the earlier phase.
    """
    reports = after.status is not TraceEventStatus.STARTED and after.phase is not TracePhase.RUN
    return after.phase if reports else before.phase


_DECISIVE: dict[TracePhase, frozenset[TraceName]] = {
    TracePhase.RUN: frozenset({TraceName.RUN_ENDED}),
    TracePhase.ROUTING: frozenset({TraceName.ROUTING_DECISION}),
    TracePhase.GUARD: frozenset(
        {
            TraceName.EVIDENCE_GUARD_INITIAL,
            TraceName.EVIDENCE_GUARD_RECHECK,
            TraceName.SEMANTIC_GUARD_DECISION,
        }
    ),
    TracePhase.RELEASE: frozenset({TraceName.RELEASE_DECISION}),
}
"""Phases that have their own end event; the last one decides the result. In all others every report
counts."""

_SILENT = frozenset({TraceEventStatus.STARTED, TraceEventStatus.SKIPPED})
_SINGLE = {
    TraceEventStatus.SUCCEEDED: PhaseVerdict.DONE,
    TraceEventStatus.FAILED: PhaseVerdict.FAILED,
    TraceEventStatus.REJECTED: PhaseVerdict.REFUSED,
}


def _account(phase: TracePhase, events: Sequence[TimelineEvent], duration_s: float) -> PhaseAccount:
    own = [event for event in events if event.phase is phase]
    return PhaseAccount(phase, len(own), duration_s, _verdict(phase, own))


def _verdict(phase: TracePhase, own: Sequence[TimelineEvent]) -> PhaseVerdict:
    reports = [event for event in own if event.status not in _SILENT]
    names = _DECISIVE.get(phase)
    if names is not None:
        reports = [event for event in reports if event.name in names][-1:]
    statuses = {event.status for event in reports}
    if len(statuses) > 1:
        return PhaseVerdict.PARTLY if TraceEventStatus.SUCCEEDED in statuses else PhaseVerdict.FAILED
    return _SINGLE[statuses.pop()] if statuses else PhaseVerdict.OPEN
