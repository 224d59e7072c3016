"""Whether one evidence item bears one claim, part by part."""

from __future__ import annotations

from collections.abc import Iterator

from diagnosis_harness.diagnosis.claim import Claim, Predicate
from diagnosis_harness.guards.quantity import convert, states
from diagnosis_harness.guards.verdict import FindingCode
from diagnosis_harness.kernel.window import TimeWindow
from diagnosis_harness.tools.evidence import Direction, EvidenceItem, ItemKind

DIRECT_KINDS = frozenset(
    {ItemKind.SIGNAL_CHANGE, ItemKind.SELF_TIME, ItemKind.EDGE_GAP, ItemKind.SPAN_ERRORS, ItemKind.LOG_LINES}
)
"""Kinds that say something observed of an entity, as a ranking does not."""

_BEARERS: dict[Predicate, frozenset[ItemKind]] = {
    Predicate.CHANGED: frozenset({ItemKind.SIGNAL_CHANGE}),
    Predicate.NORMAL: frozenset({ItemKind.SIGNAL_CHANGE}),
    Predicate.FAILED: frozenset({ItemKind.SPAN_ERRORS}),
    Predicate.DROPPED: frozenset({ItemKind.SPAN_ERRORS}),
    Predicate.AFFECTED: frozenset({ItemKind.SIGNAL_CHANGE}),
    Predicate.SATURATED: frozenset({ItemKind.SIGNAL_CHANGE}),
    Predicate.BEGAN: frozenset({ItemKind.ONSET, ItemKind.SIGNAL_CHANGE}),
    Predicate.SLOWED: frozenset({ItemKind.SELF_TIME, ItemKind.EDGE_GAP}),
    Predicate.CAUSED: frozenset({ItemKind.CAUSE_SCORE}),
    Predicate.CALLS: frozenset({ItemKind.CALL_EDGE}),
    Predicate.DEPLOYED: frozenset({ItemKind.CHANGE_EVENT}),
    Predicate.ABSENT: frozenset(),
}
_HARM: dict[Predicate, Direction] = dict.fromkeys(
    (Predicate.SLOWED, Predicate.SATURATED, Predicate.FAILED, Predicate.DROPPED), Direction.UP
)
_RESOURCES = frozenset({"cpu", "memory"})
NORMAL_SHARE = 0.05
"""A move that more than one window in twenty of normal operation shows as well is no move."""
LIMIT_SHARE = 0.9
"""From this share of a resource on it runs at its limit."""
_SAME_INSTANT_S = 1.0
"""Times are written to the second; two that differ by less say the same."""


def objections(claim: Claim, item: EvidenceItem) -> tuple[FindingCode, ...]:
    """What of the claim the item does not bear; empty when it bears all of it."""
    if item.kind not in _BEARERS[claim.predicate] or not _is_of_the_predicate(claim, item):
        return (FindingCode.PREDICATE_NOT_BORNE,)
    found: list[FindingCode] = []
    if not _bears_entity(claim, item):
        found.append(FindingCode.ENTITY_NOT_BORNE)
    if not _bears_affected(claim, item):
        found.append(FindingCode.AFFECTED_NOT_BORNE)
    if claim.signal is not None and claim.signal != item.signal:
        found.append(FindingCode.SIGNAL_NOT_BORNE)
    found += _number_objections(claim, item)
    if not _bears_direction(claim, item):
        found.append(FindingCode.DIRECTION_NOT_BORNE)
    if not _bears_window(claim.window, item.window):
        found.append(FindingCode.WINDOW_NOT_BORNE)
    if not _bears_onset(claim, item):
        found.append(FindingCode.ONSET_NOT_BORNE)
    return tuple(found)


def _number_objections(claim: Claim, item: EvidenceItem) -> Iterator[FindingCode]:
    if not _bears_number(claim.value, claim.unit, item.value, item.unit):
        yield FindingCode.VALUE_NOT_BORNE
    if not _bears_number(claim.baseline, claim.unit, item.baseline, item.unit):
        yield FindingCode.BASELINE_NOT_BORNE
    if claim.unit is not None and claim.value is None and claim.baseline is None:
        yield FindingCode.UNIT_WITHOUT_NUMBER


def _bears_entity(claim: Claim, item: EvidenceItem) -> bool:
    """The item's own entity; for a call edge the caller; or the service that an instance is a part of."""
    if claim.predicate is Predicate.CALLS:
        return claim.entity == item.peer
    return claim.entity in (item.entity, item.attributes.get("owner"))


def _is_of_the_predicate(claim: Claim, item: EvidenceItem) -> bool:
    """What a predicate asks of its item beyond the kind."""
    match claim.predicate:
        case Predicate.SATURATED:
            return item.attributes.get("kind") in _RESOURCES and _is_at_limit(item)
        case Predicate.AFFECTED:
            return bool(item.attributes.get("bad")) and not is_normal(item)
        case Predicate.NORMAL:
            return is_normal(item)
        case Predicate.BEGAN:
            # An instant that somebody stated is no observation.
            return item.kind is not ItemKind.ONSET or item.attributes.get("method") == "estimated"
        case Predicate.FAILED | Predicate.DROPPED:
            return ("without" in item.attributes) == (claim.predicate is Predicate.DROPPED)
        case _:
            return True


def is_normal(item: EvidenceItem) -> bool:
    """Whether a signal moved no further than its own normal operation shows; unknown is not normal."""
    if item.direction is Direction.FLAT:
        return True
    as_far, windows = item.attributes.get("as_far"), item.attributes.get("normal_windows")
    if not isinstance(as_far, int) or not isinstance(windows, int) or windows < 1:
        return False
    return as_far > NORMAL_SHARE * windows


def _is_at_limit(item: EvidenceItem) -> bool:
    """Whether a share is near the whole; of any other unit nobody says where the limit lies."""
    share = None if item.value is None else convert(item.value, item.unit, "ratio")
    return share is not None and share >= LIMIT_SHARE


def _bears_affected(claim: Claim, item: EvidenceItem) -> bool:
    if claim.predicate is Predicate.CALLS:
        return claim.affected == item.entity
    if claim.predicate is Predicate.DROPPED:
        return claim.affected == item.attributes.get("without")
    if claim.affected is None:
        # Of a way, and of the calls on it, a claim that names one end alone says more than was seen.
        on_a_way = item.kind in (ItemKind.EDGE_GAP, ItemKind.SPAN_ERRORS) and item.peer is not None
        # A ranking that knows of no affected entity speaks of the incident as a whole.
        of_whom = claim.predicate is Predicate.CAUSED and item.peer is not None
        return not of_whom and not on_a_way
    return claim.affected == item.peer


def _bears_number(
    stated: float | None, stated_unit: str | None, exact: float | None, exact_unit: str | None
) -> bool:
    if stated is None:
        return True
    return exact is not None and states(stated, stated_unit, exact, exact_unit)


def _bears_direction(claim: Claim, item: EvidenceItem) -> bool:
    needed = _HARM.get(claim.predicate, claim.direction)
    if needed is None:
        return True
    if claim.direction is not None and claim.direction is not needed:
        return False
    return item.direction is needed


def _bears_window(stated: TimeWindow | None, looked: TimeWindow | None) -> bool:
    if stated is None:
        return True
    if looked is None:
        return False
    near = abs(stated.start_s - looked.start_s) < _SAME_INSTANT_S
    return near and abs(stated.end_s - looked.end_s) < _SAME_INSTANT_S


def _bears_onset(claim: Claim, item: EvidenceItem) -> bool:
    if claim.onset_s is None:
        return claim.predicate is not Predicate.BEGAN
    return item.onset_s is not None and abs(item.onset_s - claim.onset_s) < _SAME_INSTANT_S
