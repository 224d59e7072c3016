"""What a ranking of the run says of a named cause or candidate; whatever it does not say is not published."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import replace

from diagnosis_harness.diagnosis.claim import WHOLE_RECORD, EvidenceRef, FaultKind
from diagnosis_harness.diagnosis.draft import Hypothesis
from diagnosis_harness.tools.evidence import EvidenceItem, EvidenceStatus, ItemKind
from diagnosis_harness.tools.invocation import EvidenceRecord


def ranks(item: EvidenceItem, entity: str, fault_kind: FaultKind, region: str | None) -> bool:
    """Whether this one item ranks this entity for this kind of fault, and this part of it where one is named.

    Kind and part must be of one item: those of two candidates do not make a third.
    """
    if item.kind is not ItemKind.CAUSE_SCORE or item.entity != entity:
        return False
    if item.attributes.get("fault_kind", FaultKind.UNKNOWN) != fault_kind.value:
        return False
    return region is None or item.attributes.get("region") == region


def standing_candidates(
    hypotheses: Iterable[Hypothesis], records: Iterable[EvidenceRecord], *, run_id: str
) -> tuple[Hypothesis, ...]:
    """The candidates that a cited ranking of this run bears, best first, one of each entity.

    Score and part are the ranking's, whatever the agent gave. Evidence for a candidate speaks of it; evidence
    against it speaks of it, or of what the ranking says explains it, or found nothing where it was asked for.
    """
    ready = [record for record in records if record.run_id == run_id and record.projection is not None]
    items = {EvidenceRef(r.tool_call_id, item.item_id): item for r in ready for item in r.items}
    empty = {
        EvidenceRef(r.tool_call_id, WHOLE_RECORD): asked_for(r)
        for r in ready
        if r.evidence is EvidenceStatus.NO_EVIDENCE
    }
    found: dict[str, Hypothesis] = {}
    for each in hypotheses:
        stands = _standing(each, items, empty)
        if stands is not None:
            found.setdefault(stands.entity, stands)
    return tuple(sorted(found.values(), key=lambda each: -each.score))


def asked_for(record: EvidenceRecord) -> frozenset[str]:
    """The entities that a record's scope names."""
    scope = json.loads(record.scope)
    named = scope.get("entities") or [scope.get("entity")]
    return frozenset(name for name in named if isinstance(name, str))


def _standing(
    hypothesis: Hypothesis,
    items: dict[EvidenceRef, EvidenceItem],
    empty: dict[EvidenceRef, frozenset[str]],
) -> Hypothesis | None:
    cited = [(ref, items[ref]) for ref in hypothesis.evidence_for if ref in items]
    named = hypothesis.entity, hypothesis.fault_kind, hypothesis.region
    ranking = next((item for _, item in cited if ranks(item, *named)), None)
    if ranking is None:
        return None
    region = ranking.attributes.get("region")
    others = {hypothesis.entity, ranking.attributes.get("explained_by")} - {None}
    return replace(
        hypothesis,
        score=ranking.score or 0.0,
        region=str(region) if region else None,
        evidence_for=_once(ref for ref, item in cited if _is_about(item, {hypothesis.entity})),
        evidence_against=_once(
            ref
            for ref in hypothesis.evidence_against
            if (ref in items and _is_about(items[ref], others)) or hypothesis.entity in empty.get(ref, ())
        ),
    )


def _once(refs: Iterable[EvidenceRef]) -> tuple[EvidenceRef, ...]:
    return tuple(dict.fromkeys(refs))


def _is_about(item: EvidenceItem, entities: Iterable[object]) -> bool:
    return any(entity in (item.entity, item.attributes.get("owner")) for entity in entities)
