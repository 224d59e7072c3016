"""Checks that every part of every claim is contained in what it cites. Pure; the rules of DESIGN §7.

A claim is supported if a single cited item supports all its parts; a correct number of another entity does
not count. Only a record that searched that scope and window and found nothing supports an absence.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from diagnosis_harness.diagnosis.claim import WHOLE_RECORD, Claim, EvidenceRef, Predicate
from diagnosis_harness.diagnosis.draft import DiagnosisDraft
from diagnosis_harness.diagnosis.inquiry import Inquiry
from diagnosis_harness.diagnosis.records import Records
from diagnosis_harness.guards.absence import absence_findings
from diagnosis_harness.guards.asked import QuestionScope, question_scope
from diagnosis_harness.guards.conclusion import cause_findings, conclusion_claim_findings
from diagnosis_harness.guards.quotation import is_verbatim
from diagnosis_harness.guards.restating import restate
from diagnosis_harness.guards.support import objections, time_objections
from diagnosis_harness.guards.verdict import EvidenceVerdict, Finding, FindingCode
from diagnosis_harness.guards.wording import WordingFinding, wording_objections
from diagnosis_harness.tools.evidence import EvidenceStatus, InvocationStatus
from diagnosis_harness.tools.invocation import EvidenceRecord


def check_draft(
    draft: DiagnosisDraft, records: Iterable[EvidenceRecord], *, run_id: str, inquiry: Inquiry
) -> EvidenceVerdict:
    """Check every claim and every concluded cause against the records of this run and its question."""
    available = Records.of_run(records, run_id)
    asked = question_scope(inquiry, available)
    findings: list[Finding] = []
    for claim in draft.claims:
        findings.extend(_claim_findings(claim, available, asked, inquiry))
    findings.extend(conclusion_claim_findings(draft, available))
    failed = {finding.claim_id for finding in findings}
    passed = frozenset(claim.claim_id for claim in draft.claims if claim.claim_id not in failed)
    findings.extend(cause_findings(draft, passed, available, asked=asked))
    return EvidenceVerdict(tuple(findings), passed)


@dataclass(frozen=True, slots=True)
class RefusedClaim:
    """A claim that no cited evidence supports, with at least one finding that gives the reason."""

    claim: Claim
    findings: tuple[Finding, ...]


@dataclass(frozen=True, slots=True)
class RefusedWording:
    """An agent's own sentence about a supported claim, with the reason why it is not shown."""

    claim_id: str
    wording: str
    findings: tuple[WordingFinding, ...]


@dataclass(frozen=True, slots=True)
class CheckedClaims:
    """The result of checking claims; each list keeps their order.

    Attributes:
        standing: the supported claims as published: every field states what the evidence states, and a
            wording is kept only if every word of it is grounded in that evidence.
    """

    standing: tuple[Claim, ...]
    refused: tuple[RefusedClaim, ...] = ()
    refused_wordings: tuple[RefusedWording, ...] = ()


def check_claims(
    claims: Iterable[Claim], records: Iterable[EvidenceRecord], *, run_id: str, inquiry: Inquiry
) -> CheckedClaims:
    """Return the supported claims as they may be published, and why the others are refused."""
    available = Records.of_run(records, run_id)
    asked = question_scope(inquiry, available)
    standing: list[Claim] = []
    refused: list[RefusedClaim] = []
    wordings: list[RefusedWording] = []
    for claim in claims:
        findings = _claim_findings(claim, available, asked, inquiry)
        published = None if findings else restate(claim, available, asked)
        if published is None:
            codes = findings or [Finding(FindingCode.PREDICATE_NOT_SUPPORTED, claim.claim_id)]
            refused.append(RefusedClaim(claim, tuple(codes)))
            continue
        if published.wording is not None:
            supporting = [item for _, item in available.items_cited(published)][:1]
            if ungrounded := wording_objections(published.wording, published, supporting):
                wordings.append(RefusedWording(claim.claim_id, published.wording, ungrounded))
                published = replace(published, wording=None)
        standing.append(published)
    return CheckedClaims(tuple(standing), tuple(refused), tuple(wordings))


def with_sound_refs(
    claims: Iterable[Claim],
    records: Iterable[EvidenceRecord],
    *,
    run_id: str,
    inquiry: Inquiry,
) -> tuple[Claim, ...]:
    """The claims without their invalid references and the quotes of those; everything else is unchanged.

    Used for a run without a conclusion: invalid references are dropped and the remaining ones decide.
    """
    available = Records.of_run(records, run_id)
    asked = question_scope(inquiry, available)
    kept = []
    for claim in claims:
        sound = [ref for ref in claim.refs if _ref_problem(claim, ref, available) is None]
        refs = tuple(ref for ref in sound if _may_support(claim, ref, available, asked))
        kept.append(replace(claim, refs=refs, quotes=tuple(q for q in claim.quotes if q.ref in refs)))
    return tuple(kept)


def _claim_findings(claim: Claim, records: Records, asked: QuestionScope, inquiry: Inquiry) -> list[Finding]:
    if not claim.refs:
        return [Finding(FindingCode.NO_REFS, claim.claim_id)]
    findings = [
        Finding(code, claim.claim_id, ref)
        for ref in claim.refs
        if (code := _ref_problem(claim, ref, records)) is not None
    ]
    findings += _quote_findings(claim, records)
    if findings:
        return findings
    if claim.predicate is Predicate.ABSENT:
        return absence_findings(claim, records, inquiry, asked.onset_s)
    return _support_findings(claim, records, asked, inquiry)


def _ref_problem(claim: Claim, ref: EvidenceRef, records: Records) -> FindingCode | None:
    record = records.get(ref.tool_call_id)
    if record is None:
        return FindingCode.REF_UNKNOWN
    if record.invocation is InvocationStatus.ERROR:
        return FindingCode.REF_ERROR
    if record.invocation is not InvocationStatus.READY:
        return FindingCode.REF_NOT_READY
    if record.evidence is EvidenceStatus.NO_EVIDENCE:
        absent = claim.predicate is Predicate.ABSENT and ref.item_id == WHOLE_RECORD
        return None if absent else FindingCode.EMPTY_SUPPORTS_ONLY_ABSENCE
    if claim.predicate is Predicate.ABSENT:
        return FindingCode.ABSENCE_NEEDS_EMPTY
    if records.item(ref) is None:
        return FindingCode.ITEM_UNKNOWN
    return None


def _may_support(claim: Claim, ref: EvidenceRef, records: Records, asked: QuestionScope) -> bool:
    """Whether every item of a reference belongs to the question, where the claim must be about it."""
    record = records[ref.tool_call_id]
    return all(asked.may_support(claim, record, item) for item in record.items if item.item_id == ref.item_id)


def _quote_findings(claim: Claim, records: Records) -> list[Finding]:
    lines = {ref: item.line for ref, item in records.items_cited(claim)}
    findings = []
    for quote in claim.quotes:
        if quote.ref not in lines:
            findings.append(Finding(FindingCode.QUOTE_NOT_CITED, claim.claim_id, quote.ref))
        elif not is_verbatim(quote.text, lines[quote.ref]):
            findings.append(Finding(FindingCode.QUOTE_NOT_VERBATIM, claim.claim_id, quote.ref))
    return findings


def _support_findings(
    claim: Claim,
    records: Records,
    asked: QuestionScope,
    inquiry: Inquiry,
) -> list[Finding]:
    """Empty if one cited item supports the claim; otherwise the objections of the closest item."""
    nearest: tuple[FindingCode, ...] | None = None
    nearest_ref: EvidenceRef | None = None
    for ref, item in records.items_cited(claim):
        codes = objections(claim, item) or time_objections(claim, item, inquiry, asked.onset_s)
        if not asked.may_support(claim, records[ref.tool_call_id], item):
            codes = (*codes, FindingCode.OF_ANOTHER_QUESTION)
        if not codes:
            return []
        if nearest is None or _distance(codes) < _distance(nearest):
            nearest, nearest_ref = codes, ref
    codes = nearest or (FindingCode.PREDICATE_NOT_SUPPORTED,)
    return [Finding(code, claim.claim_id, nearest_ref) for code in codes]


def _distance(codes: tuple[FindingCode, ...]) -> tuple[bool, int]:
    """How far an item is from supporting a claim; an item of another kind is furthest."""
    return FindingCode.PREDICATE_NOT_SUPPORTED in codes, len(codes)
