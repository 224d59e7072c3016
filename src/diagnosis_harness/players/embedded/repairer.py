"""The embedded EvidenceRepairer: re-anchors claims that another item of the run supports, or drops them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from diagnosis_harness.diagnosis.claim import Claim, EvidenceRef, Quote
from diagnosis_harness.diagnosis.draft import Cause, DiagnosisDraft
from diagnosis_harness.diagnosis.inquiry import Inquiry
from diagnosis_harness.diagnosis.records import Records
from diagnosis_harness.guards.asked import QuestionScope, question_scope
from diagnosis_harness.guards.conclusion import conclusion_claim_findings, is_ranked, supports
from diagnosis_harness.guards.evidence_guard import check_claims
from diagnosis_harness.guards.support import objections
from diagnosis_harness.guards.verdict import Finding
from diagnosis_harness.harness.budget import TokenUsage
from diagnosis_harness.harness.context import RunContext
from diagnosis_harness.tools.invocation import EvidenceRecord


class EmbeddedRepairer:
    """Repairs references from the record alone; never waits, never fails."""

    async def repair(
        self,
        ctx: RunContext,
        draft: DiagnosisDraft,
        findings: Sequence[Finding],
        records: Sequence[EvidenceRecord],
        *,
        inquiry: Inquiry,
    ) -> tuple[DiagnosisDraft, TokenUsage]:
        """The draft with each objectionable claim re-anchored where an item supports it, else dropped."""
        return repair_draft(draft, findings, records, run_id=ctx.run_id, inquiry=inquiry), TokenUsage(0, 0)


def repair_draft(
    draft: DiagnosisDraft,
    findings: Sequence[Finding],
    records: Sequence[EvidenceRecord],
    *,
    run_id: str,
    inquiry: Inquiry,
) -> DiagnosisDraft:
    """The proposal: pure."""
    objected = {finding.claim_id for finding in findings}
    repaired = [
        claim if claim.claim_id not in objected else _repair_claim(claim, records, run_id, inquiry)
        for claim in draft.claims
    ]
    kept: dict[str, Claim] = {}
    for claim in repaired:
        if claim is not None:
            kept.setdefault(claim.claim_id, claim)
    proposal = replace(draft, claims=tuple(kept.values()))
    by_id = Records.of_run(records, run_id)
    left = replace(
        proposal,
        claims=tuple(c for c in proposal.claims if c.claim_id not in _claims_without_cause(proposal, by_id)),
    )
    return replace(left, conclusion=tuple(_causes(left, by_id, question_scope(inquiry, by_id))))


def _claims_without_cause(draft: DiagnosisDraft, records: Records) -> set[str]:
    """Claims that name or exonerate a cause that the draft does not conclude."""
    return {finding.claim_id for finding in conclusion_claim_findings(draft, records)}


def _causes(draft: DiagnosisDraft, records: Records, asked: QuestionScope) -> Iterator[Cause]:
    """The causes whose first claim remains, each with its remaining claims about it."""
    by_id = {claim.claim_id: claim for claim in draft.claims}
    for cause in draft.conclusion:
        own = tuple(
            claim_id
            for claim_id in cause.claim_ids
            if claim_id in by_id and supports(cause, by_id[claim_id], records)
        )
        if own and own[0] == cause.claim_ids[0] and is_ranked(cause, draft, records, asked=asked):
            yield replace(cause, claim_ids=own)


def _repair_claim(
    claim: Claim, records: Sequence[EvidenceRecord], run_id: str, inquiry: Inquiry
) -> Claim | None:
    asked = question_scope(inquiry, records)
    lines = {
        EvidenceRef(record.tool_call_id, item.item_id): item.line
        for record in records
        for item in record.items
        if not objections(claim, item) and asked.may_support(claim, record, item)
    }
    refs = tuple(lines)
    quotes = tuple(Quote(ref, q.text) for q in claim.quotes for ref in refs if q.text in lines[ref])
    repaired = replace(claim, refs=refs or claim.refs, quotes=quotes)
    sound = check_claims((repaired,), records, run_id=run_id, inquiry=inquiry).standing
    return repaired if sound else None
