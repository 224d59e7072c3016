"""Parts of drafts, made from records as an agent would make them: truthful until something alters them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from dev.lying.chosen.liar import Records

from diagnosis_harness.diagnosis.claim import WHOLE_RECORD, Claim, EvidenceRef, FaultKind, Predicate, Quote
from diagnosis_harness.diagnosis.draft import Cause, DiagnosisDraft, Hypothesis
from diagnosis_harness.diagnosis.item_forms import is_observed_trouble
from diagnosis_harness.tools.evidence import Direction, EvidenceItem, EvidenceStatus, ItemKind
from diagnosis_harness.tools.invocation import EvidenceRecord

_NUMBERLESS = (Predicate.CAUSED, Predicate.CALLS, Predicate.DEPLOYED, Predicate.BEGAN)
_DATED = (Predicate.BEGAN, Predicate.DEPLOYED, Predicate.IN_STATE)
_PLAIN = {
    ItemKind.SIGNAL_CHANGE: Predicate.CHANGED,
    ItemKind.ONSET: Predicate.BEGAN,
    ItemKind.CALL_EDGE: Predicate.CALLS,
    ItemKind.CHANGE_EVENT: Predicate.DEPLOYED,
    ItemKind.SELF_TIME: Predicate.SLOWED,
    ItemKind.EDGE_GAP: Predicate.SLOWED,
    ItemKind.SPAN_ERRORS: Predicate.FAILED,
    ItemKind.STATE: Predicate.IN_STATE,
}


@dataclass(frozen=True, slots=True)
class Held:
    """An item with its record."""

    record: EvidenceRecord
    item: EvidenceItem

    @property
    def ref(self) -> EvidenceRef:
        """A reference to it."""
        return EvidenceRef(self.record.tool_call_id, self.item.item_id)

    @property
    def normal(self) -> bool:
        """Whether it moves as far in normal operation."""
        if self.item.direction is Direction.FLAT:
            return True
        as_far, of = self.item.attributes.get("as_far"), self.item.attributes.get("normal_windows")
        return isinstance(as_far, int) and isinstance(of, int) and as_far > 0.05 * of


def items_of_kinds(records: Iterable[EvidenceRecord], *kinds: ItemKind) -> list[Held]:
    """Every item of these kinds; of all kinds if none is given."""
    return [Held(r, item) for r in records for item in r.items if not kinds or item.kind in kinds]


def of_call(records: Records, call: str) -> list[EvidenceRecord]:
    """The record of a call."""
    return [record for record in records if record.tool_call_id == call]


def ranking(records: Records, call: str | None = None) -> list[Held]:
    """The ranking that a call returned, or the last one."""
    found = [
        r for r in records if r.tool_name == "rank_causes" and r.items and call in (None, r.tool_call_id)
    ]
    return items_of_kinds(found[-1:], ItemKind.CAUSE_SCORE)


def scope_of(record: EvidenceRecord) -> dict[str, object]:
    """The query."""
    scope: dict[str, object] = json.loads(record.scope)
    return scope


def claim_of(one: Held, predicate: Predicate, claim_id: str | None = None) -> Claim:
    """Everything in the item, as a claim of this predicate."""
    item = one.item
    about = item.entity or ""
    calls = predicate is Predicate.CALLS
    numbers = predicate not in _NUMBERLESS
    second = None
    if predicate is Predicate.DROPPED:
        second = str(item.attributes.get("without"))
    elif predicate is Predicate.IN_STATE:
        second = None if item.attributes.get("state") is None else str(item.attributes["state"])
    elif predicate is Predicate.CAUSED or item.kind in (ItemKind.EDGE_GAP, ItemKind.SPAN_ERRORS):
        second = item.peer
    return Claim(
        claim_id or f"{predicate.value}-{one.record.tool_call_id}-{item.item_id}",
        predicate,
        (item.peer or about) if calls else about,
        (one.ref,),
        (Quote(one.ref, item.line),),
        affected=about if calls else second,
        signal=item.signal if numbers or predicate in (Predicate.BEGAN, Predicate.DEPLOYED) else None,
        value=item.value if numbers else None,
        baseline=item.baseline if numbers else None,
        unit=item.unit if numbers else None,
        direction=item.direction if numbers else None,
        window=item.window if numbers else None,
        onset_s=item.onset_s if predicate in _DATED else None,
    )


def plain(one: Held) -> Claim | None:
    """The claim that the item alone supports."""
    item, predicate = one.item, _PLAIN.get(one.item.kind)
    if item.entity is None or predicate is None:
        return None
    if predicate is Predicate.CHANGED and one.normal:
        predicate = Predicate.NORMAL
    if predicate is Predicate.FAILED and "without" in item.attributes:
        predicate = Predicate.DROPPED
    if (
        predicate in (Predicate.FAILED, Predicate.DROPPED, Predicate.SLOWED)
        and item.direction is not Direction.UP
    ):
        return None
    if item.kind is ItemKind.ONSET and item.attributes.get("method") != "estimated":
        return None
    return claim_of(one, predicate)


def harms(records: Records, service: str) -> list[Held]:
    """Harmful observations of a service or a part of it."""
    moves = (ItemKind.SIGNAL_CHANGE, ItemKind.SELF_TIME, ItemKind.EDGE_GAP, ItemKind.SPAN_ERRORS)
    return [
        one
        for one in items_of_kinds(records, *moves, ItemKind.STATE)
        if service in (one.item.entity, one.item.attributes.get("owner"))
        and not one.normal
        and (
            bool(one.item.attributes.get("bad"))
            or one.item.direction is Direction.UP
            or is_observed_trouble(one.item)
        )
    ]


def concluding(top: Held, records: Records, *, most: int = 3, effects: bool = True) -> DiagnosisDraft:
    """A draft that concludes a ranked candidate, with observations of it and of the affected entity."""
    item = top.item
    caused = claim_of(top, Predicate.CAUSED)
    own = [claim for one in harms(records, item.entity or "") if (claim := plain(one)) is not None][:most]
    claims = [caused, *own]
    if effects and item.peer and item.peer != item.entity:
        hit = [one for one in harms(records, item.peer) if one.item.kind is ItemKind.SIGNAL_CHANGE]
        claims += [claim_of(one, Predicate.AFFECTED) for one in hit[:1]]
    region = item.attributes.get("region")
    cause = Cause(
        item.entity or "",
        FaultKind(str(item.attributes.get("fault_kind", "UNKNOWN"))),
        (caused.claim_id, *(claim.claim_id for claim in own)),
        str(region) if region else None,
        item.score,
    )
    others = ranking(records, top.record.tool_call_id)
    return DiagnosisDraft(
        (cause,),
        tuple({claim.claim_id: claim for claim in claims}.values()),
        tuple(hypothesis(one, records) for one in others[:5]),
        window=item.window,
    )


def hypothesis(one: Held, records: Records) -> Hypothesis:
    """A ranked candidate as a hypothesis."""
    item = one.item
    region = item.attributes.get("region")
    return Hypothesis(
        item.entity or "",
        FaultKind(str(item.attributes.get("fault_kind", "UNKNOWN"))),
        item.score or 0.0,
        (one.ref, *(each.ref for each in harms(records, item.entity or "")[:2])),
        region=str(region) if region else None,
    )


def empties(records: Records) -> list[EvidenceRecord]:
    """Records that found nothing."""
    return [record for record in records if record.evidence is EvidenceStatus.NO_EVIDENCE]


def absence(record: EvidenceRecord, entity: str, claim_id: str = "absent") -> Claim:
    """That a record found nothing of an entity."""
    scope = scope_of(record)
    sought = scope.get("text") or scope.get("signal")
    return Claim(
        claim_id,
        Predicate.ABSENT,
        entity,
        (EvidenceRef(record.tool_call_id, WHOLE_RECORD),),
        signal=None if sought is None else str(sought),
    )


def plus(draft: DiagnosisDraft, *claims: Claim) -> DiagnosisDraft:
    """The draft with additional claims; claim ids that are taken get a suffix."""
    taken = {claim.claim_id for claim in draft.claims}
    more = [
        replace(c, claim_id=f"{c.claim_id}-{n}") if c.claim_id in taken else c for n, c in enumerate(claims)
    ]
    return replace(draft, claims=(*draft.claims, *more))


def instead(draft: DiagnosisDraft, old: Claim, new: Claim) -> DiagnosisDraft:
    """The draft with one claim altered."""
    return replace(draft, claims=tuple(new if claim == old else claim for claim in draft.claims))


def of_predicate(draft: DiagnosisDraft, *predicates: Predicate) -> Iterator[Claim]:
    """Its claims of these predicates."""
    return (claim for claim in draft.claims if claim.predicate in predicates)
