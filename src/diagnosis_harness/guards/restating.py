"""Turns a supported claim into the published one: what its evidence states, and the references to it."""

from __future__ import annotations

from collections.abc import Iterable

from diagnosis_harness.diagnosis.claim import Claim, Predicate, Quote
from diagnosis_harness.diagnosis.inquiry import Inquiry
from diagnosis_harness.diagnosis.records import Records
from diagnosis_harness.guards.absence import state_absence
from diagnosis_harness.guards.asked import QuestionScope, question_scope
from diagnosis_harness.guards.statement import state_claim
from diagnosis_harness.guards.support import objections, time_objections
from diagnosis_harness.tools.evidence import EvidenceItem
from diagnosis_harness.tools.invocation import EvidenceRecord


def restate(claim: Claim, records: Records, asked: QuestionScope) -> Claim | None:
    """The claim as published; None if nothing that it cites supports it.

    Every field comes from the first cited item that supports the claim, by the rules under which it was
    accepted: items of another question are skipped. References are kept, without duplicates, if they
    support the published content. A quote keeps its reference, and its text becomes the whole line, so that
    no qualifying part can be cut off.
    """
    if claim.predicate is Predicate.ABSENT:
        return state_absence(claim, records, asked.inquiry, asked.onset_s)
    cited = [(ref, item, records[ref.tool_call_id]) for ref, item in records.items_cited(claim)]
    supporting = next((item for _, item, record in cited if _supports(claim, item, record, asked)), None)
    if supporting is None:
        return None
    first = state_claim(claim.predicate, supporting, claim_id=claim.claim_id, refs=claim.refs)
    kept = {ref: item for ref, item, record in cited if _supports(first, item, record, asked)}
    quoted = dict.fromkeys(quote.ref for quote in claim.quotes if quote.ref in kept)
    return state_claim(
        claim.predicate,
        supporting,
        claim_id=claim.claim_id,
        refs=tuple(kept),
        quotes=tuple(Quote(ref, kept[ref].line) for ref in quoted),
        wording=claim.wording,
    )


def restate_all(
    claims: Iterable[Claim], records: Iterable[EvidenceRecord], inquiry: Inquiry
) -> tuple[Claim, ...]:
    """The claims as published, in their order, without those that nothing supports."""
    available = Records(records)
    asked = question_scope(inquiry, available)
    found = (restate(claim, available, asked) for claim in claims)
    return tuple(claim for claim in found if claim is not None)


def _supports(claim: Claim, item: EvidenceItem, record: EvidenceRecord, asked: QuestionScope) -> bool:
    if objections(claim, item) or time_objections(claim, item, asked.inquiry, asked.onset_s):
        return False
    return asked.may_support(claim, record, item)
