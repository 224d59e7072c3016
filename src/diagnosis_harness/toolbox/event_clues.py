"""Derives clues from platform reports: faults that still last, or that lasted at the onset."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from math import expm1, log1p
from typing import Final

from diagnosis_harness.analysis.clue import NOISE_FLOOR, Clue, Modality
from diagnosis_harness.analysis.platform_event import EventKind, EventStanding, Severity
from diagnosis_harness.analysis.platform_history import Occurrence

HARMLESS_S: Final = 86_400.0
"""A fault that lasted for a day without harm did not start the incident; changes are treated the same way."""
BEGINS_WITHIN_S: Final = 3_600.0
"""How long after the onset a fault may begin, the same as for metrics and lines."""
ONSET_SLACK_S: Final = 60.0
"""An onset is accurate to about a minute."""
_EXCESS: Final[Mapping[Severity, float]] = {Severity.FAULT: 2.0, Severity.SYMPTOM: 0.5, Severity.NOTE: 0.0}
"""What each is worth, in the log units of a clue; total over the severities.

A platform reports a fault in words and not as a number. One is worth a shift of seven times the noise: by
itself enough to be named, and less than what logs or spans of another entity may show. A symptom only adds to
other evidence. No other values were tried."""
SURE_WINDOWS: Final = 12
"""A fault reported by the platform is no coincidence: it counts as twelve normal windows without it."""


def event_clues(events: Iterable[Occurrence], owners: Mapping[str, str], *, onset_s: float) -> list[Clue]:
    """One clue for each service: its worst report, by the order of the kinds."""
    best: dict[str, Occurrence] = {}
    for one in events:
        if one.rule.severity is Severity.NOTE or not is_of_onset(one, onset_s):
            continue
        owner = owners.get(one.entity, one.entity)
        known = best.get(owner)
        if known is None or _order(one) < _order(known):
            best[owner] = one
    return [_clue(owner, one) for owner, one in sorted(best.items())]


def is_of_onset(one: Occurrence, onset_s: float) -> bool:
    """Whether it lasted at the onset or began soon after; one that was over by then is unrelated."""
    over = one.standing is EventStanding.OVER and one.last_s < onset_s - ONSET_SLACK_S
    return not over and onset_s - HARMLESS_S <= one.first_s <= onset_s + BEGINS_WITHIN_S


def first_fault(events: Iterable[Occurrence]) -> Occurrence | None:
    """The earliest reported fault that still lasts; None if all are over."""
    lasting = (
        one for one in events if one.standing is EventStanding.CURRENT and one.rule.severity is Severity.FAULT
    )
    return min(lasting, key=lambda one: (one.first_s, _order(one)), default=None)


def _order(one: Occurrence) -> tuple[int, int, float, str]:
    return (
        list(Severity).index(one.rule.severity),
        list(EventKind).index(one.kind),
        one.first_s,
        one.entity,
    )


def _clue(owner: str, one: Occurrence) -> Clue:
    severity = one.rule.severity
    return Clue(
        owner,
        Modality.STATE,
        expm1(log1p(NOISE_FLOOR) + _EXCESS[severity]),
        NOISE_FLOOR,
        one.kind.value,
        one.rule.fault_kind,
        null_windows=SURE_WINDOWS,
        instance=one.entity if one.entity != owner else None,
        passed_on=severity is not Severity.FAULT,
    )
