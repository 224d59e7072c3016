"""From an evidence item to the claim that it bears: pure, one claim at most per item and predicate."""

from __future__ import annotations

from diagnosis_harness.diagnosis.claim import Claim, EvidenceRef, Predicate, Quote
from diagnosis_harness.tools.evidence import Direction, EvidenceItem, ItemKind
from diagnosis_harness.tools.invocation import EvidenceRecord

_PLAIN: dict[ItemKind, Predicate] = {
    ItemKind.SIGNAL_CHANGE: Predicate.CHANGED,
    ItemKind.SPAN_ERRORS: Predicate.CHANGED,
    ItemKind.ONSET: Predicate.BEGAN,
    ItemKind.CALL_EDGE: Predicate.CALLS,
    ItemKind.CHANGE_EVENT: Predicate.DEPLOYED,
}


def plain_claim(record: EvidenceRecord, item: EvidenceItem) -> Claim | None:
    """What the item says by itself; None where it says nothing that a claim can state."""
    if item.entity is None:
        return None
    if item.kind in (ItemKind.SELF_TIME, ItemKind.EDGE_GAP):
        slower = item.direction is Direction.UP
        return claim_of(record, item, Predicate.SLOWED) if slower else None
    predicate = _PLAIN.get(item.kind)
    if predicate is None or (predicate is Predicate.BEGAN and item.onset_s is None):
        return None
    if predicate is Predicate.CHANGED and item.direction is Direction.FLAT:
        return None
    return claim_of(record, item, predicate)


def claim_of(record: EvidenceRecord, item: EvidenceItem, predicate: Predicate) -> Claim:
    """A claim of this predicate with everything that the item states, and the item's line as its quote.

    For an edge the claim is about the callee, except CALLS, which is about the caller.
    """
    ref = EvidenceRef(record.tool_call_id, item.item_id)
    about = item.entity or ""
    is_call = predicate is Predicate.CALLS
    entity = item.peer or about if is_call else about
    has_second = predicate is Predicate.CAUSED or item.kind is ItemKind.EDGE_GAP
    affected = about if is_call else item.peer if has_second else None
    numbers = predicate not in (Predicate.CAUSED, Predicate.CALLS, Predicate.DEPLOYED)
    return Claim(
        claim_id=f"{predicate.value.lower()}-{record.tool_call_id}-{item.item_id}",
        predicate=predicate,
        entity=entity,
        affected=affected,
        refs=(ref,),
        quotes=(Quote(ref, item.line),),
        signal=item.signal if numbers else None,
        value=item.value if numbers else None,
        baseline=item.baseline if numbers else None,
        unit=item.unit if numbers else None,
        direction=item.direction if numbers and predicate is not Predicate.BEGAN else None,
        window=item.window if numbers and predicate is not Predicate.BEGAN else None,
        onset_s=item.onset_s if predicate in (Predicate.BEGAN, Predicate.DEPLOYED) else None,
    )
