"""Derives the claim that an evidence item supports: pure, at most one claim per item and predicate."""

from __future__ import annotations

from diagnosis_harness.diagnosis.claim import Claim, EvidenceRef, Predicate, Quote
from diagnosis_harness.guards.statement import state_claim
from diagnosis_harness.guards.support import began_earlier, is_normal, objections
from diagnosis_harness.tools.evidence import Direction, EvidenceItem, ItemKind
from diagnosis_harness.tools.invocation import EvidenceRecord

_PLAIN: dict[ItemKind, Predicate] = {
    ItemKind.SIGNAL_CHANGE: Predicate.CHANGED,
    ItemKind.ONSET: Predicate.BEGAN,
    ItemKind.CALL_EDGE: Predicate.CALLS,
    ItemKind.CHANGE_EVENT: Predicate.DEPLOYED,
    ItemKind.SELF_TIME: Predicate.SLOWED,
    ItemKind.EDGE_GAP: Predicate.SLOWED,
    ItemKind.SPAN_ERRORS: Predicate.FAILED,
    ItemKind.PLATFORM_EVENT: Predicate.HAPPENED,
    ItemKind.STATE: Predicate.IN_STATE,
    ItemKind.COUNT: Predicate.COUNTED,
    ItemKind.LOG_PATTERN: Predicate.LOGGED,
    ItemKind.LOG_ORDER: Predicate.BROKE_OFF,
}
_RISES = (Predicate.SLOWED, Predicate.FAILED, Predicate.DROPPED)


def plain_claim(record: EvidenceRecord, item: EvidenceItem) -> Claim | None:
    """The claim that the item supports by itself; None if no claim can state it.

    A move that normal operation shows as well is stated as normal, not as a change. For a move that began
    before the requested time, the claim states when it began.
    """
    predicate = _PLAIN.get(item.kind)
    if item.entity is None or predicate is None:
        return None
    if predicate is Predicate.CHANGED and began_earlier(item):
        predicate = Predicate.BEGAN
    if predicate is Predicate.CHANGED and is_normal(item):
        predicate = Predicate.NORMAL
    if predicate is Predicate.FAILED and "without" in item.attributes:
        predicate = Predicate.DROPPED
    if predicate in _RISES and item.direction is not Direction.UP:
        return None
    return sound_claim(record, item, predicate)


def sound_claim(record: EvidenceRecord, item: EvidenceItem, predicate: Predicate) -> Claim | None:
    """The claim with this predicate, if the item supports it; else None."""
    claim = claim_of(record, item, predicate)
    return None if objections(claim, item) else claim


def claim_of(record: EvidenceRecord, item: EvidenceItem, predicate: Predicate) -> Claim:
    """A claim with this predicate that holds everything the item states, and quotes the item's line.

    For an edge the claim is about the callee, except CALLS, which is about the caller.
    """
    ref = EvidenceRef(record.tool_call_id, item.item_id)
    return state_claim(
        predicate,
        item,
        claim_id=f"{predicate.value.lower()}-{record.tool_call_id}-{item.item_id}",
        refs=(ref,),
        quotes=(Quote(ref, item.line),),
    )
