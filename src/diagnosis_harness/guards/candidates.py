"""Collects the unproven candidates of a run from its rankings of the question, not from the draft. Pure."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

from diagnosis_harness.diagnosis.claim import WHOLE_RECORD, EvidenceRef
from diagnosis_harness.diagnosis.draft import Hypothesis
from diagnosis_harness.diagnosis.inquiry import Inquiry
from diagnosis_harness.diagnosis.records import Records
from diagnosis_harness.guards.asked import QuestionScope, question_scope
from diagnosis_harness.guards.harm import is_harm
from diagnosis_harness.guards.rankings import fault_kind_of, rankings_of
from diagnosis_harness.guards.support import is_direct
from diagnosis_harness.tools.evidence import EvidenceItem, EvidenceStatus
from diagnosis_harness.tools.invocation import EvidenceRecord

CANDIDATES = 5
"""Maximum number of candidates shown to a reader."""
EVIDENCE = 3
"""Number of observations cited per candidate, beside its ranking."""


def standing_candidates(
    hypotheses: Iterable[Hypothesis], records: Iterable[EvidenceRecord], *, run_id: str, inquiry: Inquiry
) -> tuple[Hypothesis, ...]:
    """The candidates of the rankings about the question, best first, one per entity.

    Entity, kind, part and score come from the ranking; signals of the candidate that got worse are its
    supporting evidence. The draft contributes only counter-evidence: observations of the candidate or of
    what explains it, and searches for it that found nothing.
    """
    recorded = _RunRecords.of(Records.of_run(records, run_id), inquiry)
    ranked: dict[str, tuple[EvidenceRef, EvidenceItem]] = {}
    for ranking in rankings_of(recorded.records, recorded.asked):
        for item in ranking.items:
            each = (EvidenceRef(ranking.tool_call_id, item.item_id), item)
            known = ranked.get(item.entity or "")
            if item.entity and (known is None or _sort_key(each) < _sort_key(known)):
                ranked[item.entity] = each
    against: dict[str, list[EvidenceRef]] = {}
    for hypothesis in hypotheses:
        against.setdefault(hypothesis.entity, []).extend(hypothesis.evidence_against)
    best = sorted(ranked.values(), key=_sort_key)[:CANDIDATES]
    return tuple(recorded.candidate(ref, item, against.get(item.entity or "", ())) for ref, item in best)


def entities_in_scope(record: EvidenceRecord) -> frozenset[str]:
    """The entities that a record's scope names."""
    several = record.arguments.get("entities")
    named = several if isinstance(several, list) and several else [record.arguments.get("entity")]
    return frozenset(name for name in named if isinstance(name, str))


@dataclass(frozen=True, slots=True)
class _RunRecords:
    """What a run recorded, by reference."""

    records: tuple[EvidenceRecord, ...]
    asked: QuestionScope
    items: Mapping[EvidenceRef, EvidenceItem]
    empty: Mapping[EvidenceRef, frozenset[str]]
    harms: tuple[tuple[EvidenceRef, EvidenceItem], ...]
    """Signals that got worse at the time of the question, strongest first."""

    @classmethod
    def of(cls, records: Iterable[EvidenceRecord], inquiry: Inquiry) -> _RunRecords:
        ready = tuple(record for record in records if record.projection is not None)
        asked = question_scope(inquiry, ready)
        harms = [
            (EvidenceRef(record.tool_call_id, item.item_id), item)
            for record in ready
            for item in record.items
            if is_direct(item) and is_harm(item) and asked.is_at_its_time(record, item)
        ]
        return cls(
            records=ready,
            asked=asked,
            items={EvidenceRef(r.tool_call_id, item.item_id): item for r in ready for item in r.items},
            empty={
                EvidenceRef(r.tool_call_id, WHOLE_RECORD): entities_in_scope(r)
                for r in ready
                if r.evidence is EvidenceStatus.NO_EVIDENCE
            },
            harms=tuple(sorted(harms, key=_sort_key)),
        )

    def candidate(self, ref: EvidenceRef, item: EvidenceItem, against: Iterable[EvidenceRef]) -> Hypothesis:
        entity, explained_by = item.entity or "", item.attributes.get("explained_by")
        region = item.attributes.get("region")
        others = {entity, explained_by} - {None}
        stated = [
            each
            for each in against
            if (each in self.items and _is_about(self.items[each], others))
            or entity in self.empty.get(each, ())
        ]
        return Hypothesis(
            entity=entity,
            fault_kind=fault_kind_of(item),
            score=item.score or 0.0,
            evidence_for=(ref, *self._harms_of({entity})[:EVIDENCE]),
            evidence_against=tuple(dict.fromkeys((*self._harms_of({explained_by} - {None})[:1], *stated))),
            region=str(region) if region else None,
        )

    def _harms_of(self, entities: Collection[object]) -> tuple[EvidenceRef, ...]:
        return tuple(ref for ref, item in self.harms if _is_about(item, entities))


def _sort_key(each: tuple[EvidenceRef, EvidenceItem]) -> tuple[float, float, str, EvidenceRef]:
    """Sort key: strongest first, then by rank, because scores are rounded.

    The order of the calls does not count.
    """
    ref, item = each
    return -(item.score or 0.0), item.number("rank"), item.entity or "", ref


def _is_about(item: EvidenceItem, entities: Iterable[object]) -> bool:
    return any(entity in (item.entity, item.attributes.get("owner")) for entity in entities)
