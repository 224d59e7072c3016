"""Collects the reports about each object of a platform, by kind, and decides whether each still lasts."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from diagnosis_harness.analysis.platform_event import (
    CATALOGUE,
    EventKind,
    EventRule,
    EventStanding,
    Severity,
    is_leaving,
    is_working,
    kinds_ended,
    kinds_in_state,
    kinds_of,
)

RETRY_S = 300.0
"""The longest back-off pause of Kubernetes; a trouble not repeated for longer has ended."""
ONE_TROUBLE_S = 3_600.0
"""Older reports belong to a different trouble than the current one."""


@dataclass(frozen=True, slots=True)
class EventReport:
    """One event as the platform reports it: something happened `count` times from `first_s` to `last_s`."""

    entity: str
    reason: str | None
    message: str
    count: int
    first_s: float
    last_s: float


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The state of one object at one time."""

    entity: str
    time_s: float
    message: str


@dataclass(frozen=True, slots=True)
class Occurrence:
    """All reports of one kind about one object.

    Attributes:
        count: number of times; 0 if only a snapshot shows it.
        last_s: when it was last reported or observed.
        reason, text: from the latest report, otherwise from the snapshot.
    """

    entity: str
    kind: EventKind
    count: int
    first_s: float
    last_s: float
    standing: EventStanding
    reason: str | None
    text: str

    @property
    def rule(self) -> EventRule:
        """The rule of its kind."""
        return CATALOGUE[self.kind]


@dataclass(frozen=True, slots=True)
class _Seen:
    """Observations of one kind at one object: its reports, the latest snapshot, and what ended it."""

    entity: str
    kind: EventKind
    reports: tuple[EventReport, ...]
    states: tuple[Snapshot, ...]
    ends_s: tuple[float, ...]

    @property
    def showing(self) -> list[Snapshot]:
        """The rows of the snapshot that show it."""
        return [one for one in self.states if self.kind in kinds_in_state(one.message)]

    def standing(self, end_s: float) -> EventStanding:
        """Whether it still lasts at the end of the recording.

        The latest snapshot of the object decides, then an event that ends it, then whether it was repeated.
        """
        reported_s = max((one.last_s for one in self.reports), default=None)
        seen_s = max((one.time_s for one in self.showing), default=None)
        last_s = max(at_s for at_s in (reported_s, seen_s) if at_s is not None)
        if any(is_leaving(one.message) and one.time_s >= last_s for one in self.states):
            return EventStanding.OVER
        if seen_s is not None and seen_s == last_s:
            # A snapshot of a working container still reports how it last ended.
            works = all(is_working(one.message) for one in self.states)
            return EventStanding.OVER if works else EventStanding.CURRENT
        pause_s = self.usual_pause_s()
        if any(at_s >= last_s for at_s in self.ends_s):
            return EventStanding.OVER
        if any(is_working(one.message) and one.time_s - last_s > pause_s for one in self.states):
            return EventStanding.OVER
        if CATALOGUE[self.kind].lasts or end_s - last_s <= max(RETRY_S, 2.0 * pause_s):
            return EventStanding.CURRENT
        return EventStanding.OVER

    def usual_pause_s(self) -> float:
        """The usual pause between two reports; it is not over before that has passed."""
        count = sum(one.count for one in self.reports)
        if count < 2:
            return 0.0
        last_s = max(one.last_s for one in self.reports)
        return (last_s - min(one.first_s for one in self.reports)) / (count - 1)

    def occurrence(self, end_s: float) -> Occurrence:
        """Combine all observations into one value."""
        showing, newest = self.showing, max(self.reports, key=lambda one: one.last_s, default=None)
        times = [one.time_s for one in showing]
        return Occurrence(
            self.entity,
            self.kind,
            sum(one.count for one in self.reports),
            min([one.first_s for one in self.reports] + times),
            max([one.last_s for one in self.reports] + times),
            self.standing(end_s),
            None if newest is None else newest.reason,
            newest.message if newest is not None else showing[0].message,
        )


def occurrences(
    reports: Iterable[EventReport], snapshots: Iterable[Snapshot], *, end_s: float
) -> tuple[Occurrence, ...]:
    """The reports by object and kind: lasting ones first, then faults before symptoms, then by time.

    `end_s` is the end of the recording.
    """
    every, known = list(reports), tuple(snapshots)
    latest = _latest(known)
    by_key: dict[tuple[str, EventKind], list[EventReport]] = {}
    ends: dict[tuple[str, EventKind], list[float]] = {}
    for report in every:
        for kind in kinds_of(report.reason, report.message):
            by_key.setdefault((report.entity, kind), []).append(report)
        for kind in kinds_ended(f"{report.reason}: {report.message}"):
            ends.setdefault((report.entity, kind), []).append(report.last_s)
    for one in known:
        if one not in latest[one.entity]:  # shown only by an earlier snapshot: treat it as reported then
            for kind in kinds_in_state(one.message):
                seen = EventReport(one.entity, None, one.message, 0, one.time_s, one.time_s)
                by_key.setdefault((one.entity, kind), []).append(seen)
    for entity, states in latest.items():
        for kind in {kind for one in states for kind in kinds_in_state(one.message)}:
            by_key.setdefault((entity, kind), [])
    found = [
        _Seen(
            entity, kind, tuple(each), latest.get(entity, ()), tuple(ends.get((entity, kind), ()))
        ).occurrence(end_s)
        for (entity, kind), each in by_key.items()
    ]
    current = {(one.entity, one.kind) for one in found if one.standing is EventStanding.CURRENT}
    return tuple(sorted((_keep_current(one, current, end_s) for one in found), key=_order))


def _latest(snapshots: Iterable[Snapshot]) -> dict[str, tuple[Snapshot, ...]]:
    """The rows of the latest snapshot of each object: one file may hold several snapshots."""
    found: dict[str, tuple[Snapshot, ...]] = {}
    for one in snapshots:
        known = found.get(one.entity, ())
        if not known or one.time_s > known[0].time_s:
            found[one.entity] = (one,)
        elif one.time_s == known[0].time_s:
            found[one.entity] = (*known, one)
    return found


def _keep_current(one: Occurrence, current: set[tuple[str, EventKind]], end_s: float) -> Occurrence:
    """The occurrence, updated by the kind that keeps it current, if both belong to the same trouble."""
    keeper = one.rule.held_by
    if keeper is None or (one.entity, keeper) not in current or end_s - one.last_s > ONE_TROUBLE_S:
        return one
    return replace(one, standing=EventStanding.CURRENT)


def _order(one: Occurrence) -> tuple[bool, int, int, float, str]:
    return (
        one.standing is not EventStanding.CURRENT,
        list(Severity).index(one.rule.severity),
        list(EventKind).index(one.kind),
        -one.last_s,
        one.entity,
    )
