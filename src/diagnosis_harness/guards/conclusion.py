"""Checks that a conclusion, and the claims that name or rule out a cause, are supported by what they cite."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from diagnosis_harness.diagnosis.claim import Claim, EvidenceRef, Predicate
from diagnosis_harness.diagnosis.draft import Cause, DiagnosisDraft
from diagnosis_harness.diagnosis.records import Records
from diagnosis_harness.guards.asked import QuestionScope
from diagnosis_harness.guards.rankings import ranks
from diagnosis_harness.guards.support import is_direct, objections
from diagnosis_harness.guards.verdict import Finding, FindingCode
from diagnosis_harness.tools.evidence import EvidenceItem


@dataclass(frozen=True, slots=True)
class _RunRecords:
    """The records of a run by id, and the scope of the question that they must match."""

    records: Records
    asked: QuestionScope


def conclusion_claim_findings(draft: DiagnosisDraft, records: Records) -> Iterator[Finding]:
    """Objections to claims that contradict the rest of the draft: duplicate ids and undrawn conclusions.

    A claim may name an entity as the cause, or as affected but not the cause, only if the draft concludes
    the same, since only conclusions are judged.
    """
    ids = Counter(claim.claim_id for claim in draft.claims)
    concluded = {cause.entity for cause in draft.conclusion}
    hit = {
        claim.affected
        for claim in draft.claims
        if claim.predicate is Predicate.CAUSED and claim.entity in concluded
    } - concluded
    for claim in draft.claims:
        if ids[claim.claim_id] > 1:
            yield Finding(FindingCode.CLAIM_ID_TWICE, claim.claim_id)
        if claim.predicate is Predicate.CAUSED and claim.entity not in concluded:
            yield Finding(FindingCode.NOT_CONCLUDED, claim.claim_id)
        if claim.predicate is Predicate.UNREMARKABLE and concluded:
            yield Finding(FindingCode.NOT_CONCLUDED, claim.claim_id)
        if claim.predicate is Predicate.INDEPENDENT and not {claim.entity, claim.affected} <= concluded:
            yield Finding(FindingCode.NOT_CONCLUDED, claim.claim_id)
        if claim.predicate is Predicate.AFFECTED and hit.isdisjoint(_entity_and_service(claim, records)):
            yield Finding(FindingCode.NOT_CONCLUDED, claim.claim_id)


def cause_findings(
    draft: DiagnosisDraft,
    passed: frozenset[str],
    records: Records,
    *,
    asked: QuestionScope,
) -> Iterator[Finding]:
    """Objections to the causes of a draft, given its supported claims."""
    named: set[str] = set()
    for cause in draft.conclusion:
        if cause.entity in named:
            yield Finding(FindingCode.CAUSE_TWICE, _fault_and_region(cause))
        named.add(cause.entity)
        yield from _cause_findings(cause, draft, passed, _RunRecords(records, asked))


def is_ranked(cause: Cause, draft: DiagnosisDraft, records: Records, *, asked: QuestionScope) -> bool:
    """Whether a single cited ranking of the question names a cause with its fault kind and part."""
    return any(_ranks(item, cause) for item in _ranking_items(cause, draft, _RunRecords(records, asked)))


def supports(cause: Cause, claim: Claim, records: Records) -> bool:
    """Whether a claim is about a concluded cause or a part of it."""
    return cause.entity in _entity_and_service(claim, records)


def _cause_findings(
    cause: Cause, draft: DiagnosisDraft, passed: frozenset[str], recorded: _RunRecords
) -> Iterator[Finding]:
    """Check that a cause has a supported CAUSED claim and a supported claim with direct evidence."""
    place = _fault_and_region(cause)
    by_id = {claim.claim_id: claim for claim in draft.claims}
    standing = [by_id[claim_id] for claim_id in cause.claim_ids if claim_id in passed]
    caused = [c for c in standing if c.predicate is Predicate.CAUSED and c.entity == cause.entity]
    if not caused or not by_id.keys() >= set(cause.claim_ids):
        yield Finding(FindingCode.CAUSE_WITHOUT_CLAIM, place)
        return
    if any(not supports(cause, claim, recorded.records) for claim in standing):
        yield Finding(FindingCode.SUPPORT_OF_ANOTHER, place)
    ranked = list(_ranking_items(cause, draft, recorded))
    if not any(_ranks(item, cause) for item in ranked):
        of_kind = any(ranks(item, cause.entity, cause.fault_kind, None) for item in ranked)
        code = FindingCode.REGION_NOT_SUPPORTED if of_kind else FindingCode.FAULT_KIND_NOT_SUPPORTED
        yield Finding(code, place)
    if any(_is_elsewhere(claim, recorded) for claim in standing):
        yield Finding(FindingCode.OF_ANOTHER_QUESTION, place)
    if not any(_is_direct(claim, cause, recorded) for claim in standing):
        yield Finding(FindingCode.CAUSE_WITHOUT_DIRECT_EVIDENCE, place)


def _fault_and_region(cause: Cause) -> str:
    return cause.claim_ids[0] if cause.claim_ids else cause.entity


def _ranking_items(cause: Cause, draft: DiagnosisDraft, recorded: _RunRecords) -> Iterator[EvidenceItem]:
    """The items of rankings about the question that are cited by claims that name a cause."""
    for claim in draft.claims:
        if claim.claim_id in cause.claim_ids and claim.predicate is Predicate.CAUSED:
            for ref, item in recorded.records.items_cited(claim):
                if recorded.asked.is_ranking_of_it(recorded.records[ref.tool_call_id]):
                    yield item


def _ranks(item: EvidenceItem, cause: Cause) -> bool:
    return ranks(item, cause.entity, cause.fault_kind, cause.region)


def _supporting_items(claim: Claim, records: Records) -> Iterator[EvidenceItem]:
    return (item for _, item in records.items_cited(claim) if not objections(claim, item))


def _entity_and_service(claim: Claim, records: Records) -> set[object]:
    """The claim's entity, and the service it belongs to according to the supporting items."""
    owners = {item.attributes.get("owner") for item in _supporting_items(claim, records)}
    return {claim.entity} | (owners - {None})


def _is_direct(claim: Claim, cause: Cause, recorded: _RunRecords) -> bool:
    """Whether a direct observation of the cause, or of a part of it, at its time supports the claim."""
    return any(
        cause.entity in (item.entity, item.attributes.get("owner"))
        and recorded.asked.is_at_its_time(recorded.records[ref.tool_call_id], item)
        for ref, item in _observations(claim, recorded)
    )


def _is_elsewhere(claim: Claim, recorded: _RunRecords) -> bool:
    """Whether all observations that support the claim are from another time than the question's."""
    found = list(_observations(claim, recorded))
    return bool(found) and not any(
        recorded.asked.is_at_its_time(recorded.records[ref.tool_call_id], item) for ref, item in found
    )


def _observations(claim: Claim, recorded: _RunRecords) -> Iterator[tuple[EvidenceRef, EvidenceItem]]:
    """The observations that support the claim."""
    return (
        (ref, item)
        for ref, item in recorded.records.items_cited(claim)
        if is_direct(item) and not objections(claim, item)
    )
