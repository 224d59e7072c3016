"""Whether every part of every claim is in what it cites. Pure; the rules of DESIGN §7.

A claim stands when one single cited item bears it in all its parts: the right number on the wrong entity
finds no bearer. Absence is borne by a record that looked in that scope and window and found nothing, and by
nothing else.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from diagnosis_harness.diagnosis.claim import WHOLE_RECORD, Claim, EvidenceRef, Predicate
from diagnosis_harness.diagnosis.draft import Cause, DiagnosisDraft
from diagnosis_harness.guards.absence import absence_findings
from diagnosis_harness.guards.bearing import DIRECT_KINDS, objections
from diagnosis_harness.guards.verdict import EvidenceVerdict, Finding, FindingCode
from diagnosis_harness.tools.evidence import EvidenceItem, EvidenceStatus, InvocationStatus, ItemKind
from diagnosis_harness.tools.invocation import EvidenceRecord


def check_draft(draft: DiagnosisDraft, records: Iterable[EvidenceRecord], *, run_id: str) -> EvidenceVerdict:
    """Check every claim and every concluded cause against the records of this run."""
    by_id = {record.tool_call_id: record for record in records if record.run_id == run_id}
    findings: list[Finding] = []
    for claim in draft.claims:
        findings.extend(_claim_findings(claim, by_id))
    failed = {finding.claim_id for finding in findings}
    passed = frozenset(claim.claim_id for claim in draft.claims if claim.claim_id not in failed)
    for cause in draft.conclusion:
        findings.extend(_cause_findings(cause, draft, passed, by_id))
    return EvidenceVerdict(tuple(findings), passed)


def check_claims(
    claims: Iterable[Claim], records: Iterable[EvidenceRecord], *, run_id: str
) -> tuple[Claim, ...]:
    """The claims that stand, in order: what an end without a conclusion may still show."""
    by_id = {record.tool_call_id: record for record in records if record.run_id == run_id}
    return tuple(claim for claim in claims if not _claim_findings(claim, by_id))


def with_sound_refs(
    claims: Iterable[Claim], records: Iterable[EvidenceRecord], *, run_id: str
) -> tuple[Claim, ...]:
    """The claims less the references that do not hold, and the quotes of those; content stays as it is.

    For an end without a conclusion: there invalid references are dropped, and the rest decides.
    """
    by_id = {record.tool_call_id: record for record in records if record.run_id == run_id}
    kept = []
    for claim in claims:
        refs = tuple(ref for ref in claim.refs if _ref_problem(claim, ref, by_id) is None)
        kept.append(replace(claim, refs=refs, quotes=tuple(q for q in claim.quotes if q.ref in refs)))
    return tuple(kept)


def cited_items(
    claim: Claim, records: Mapping[str, EvidenceRecord]
) -> tuple[tuple[EvidenceRef, EvidenceItem], ...]:
    """The items a claim cites that exist, with their references."""
    found: list[tuple[EvidenceRef, EvidenceItem]] = []
    for ref in claim.refs:
        record = records.get(ref.tool_call_id)
        items = record.items if record else ()
        found.extend((ref, item) for item in items if item.item_id == ref.item_id)
    return tuple(found)


def _claim_findings(claim: Claim, records: Mapping[str, EvidenceRecord]) -> list[Finding]:
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
        return absence_findings(claim, records)
    return _bearing_findings(claim, records)


def _ref_problem(claim: Claim, ref: EvidenceRef, records: Mapping[str, EvidenceRecord]) -> FindingCode | None:
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
    if all(item.item_id != ref.item_id for item in record.items):
        return FindingCode.ITEM_UNKNOWN
    return None


def _quote_findings(claim: Claim, records: Mapping[str, EvidenceRecord]) -> list[Finding]:
    lines = {ref: item.line for ref, item in cited_items(claim, records)}
    findings = []
    for quote in claim.quotes:
        if quote.ref not in lines:
            findings.append(Finding(FindingCode.QUOTE_NOT_CITED, claim.claim_id, quote.ref))
        elif not quote.text.strip() or quote.text not in lines[quote.ref]:
            findings.append(Finding(FindingCode.QUOTE_NOT_VERBATIM, claim.claim_id, quote.ref))
    return findings


def _bearing_findings(claim: Claim, records: Mapping[str, EvidenceRecord]) -> list[Finding]:
    """No finding when one cited item bears the claim; else the objections of the item that comes nearest."""
    nearest: tuple[FindingCode, ...] | None = None
    nearest_ref: EvidenceRef | None = None
    for ref, item in cited_items(claim, records):
        codes = objections(claim, item)
        if not codes:
            return []
        if nearest is None or len(codes) < len(nearest):
            nearest, nearest_ref = codes, ref
    codes = nearest or (FindingCode.PREDICATE_NOT_BORNE,)
    return [Finding(code, claim.claim_id, nearest_ref) for code in codes]


def _cause_findings(
    cause: Cause, draft: DiagnosisDraft, passed: frozenset[str], records: Mapping[str, EvidenceRecord]
) -> list[Finding]:
    """A cause needs a standing CAUSED claim, and a standing claim that rests on direct evidence about it."""
    by_id = {claim.claim_id: claim for claim in draft.claims}
    standing = [by_id[claim_id] for claim_id in cause.claim_ids if claim_id in passed]
    place = cause.claim_ids[0] if cause.claim_ids else cause.entity
    if not by_id.keys() >= set(cause.claim_ids):
        return [Finding(FindingCode.CAUSE_WITHOUT_CLAIM, place)]
    caused = [c for c in standing if c.predicate is Predicate.CAUSED and c.entity == cause.entity]
    if not caused:
        return [Finding(FindingCode.CAUSE_WITHOUT_CLAIM, place)]
    ranked = [item for claim in caused for _, item in cited_items(claim, records)]
    findings = []
    if not any(_bears_kind(cause, item) for item in ranked):
        findings.append(Finding(FindingCode.FAULT_KIND_NOT_BORNE, place))
    if cause.region is not None and all(item.attributes.get("region") != cause.region for item in ranked):
        findings.append(Finding(FindingCode.REGION_NOT_BORNE, place))
    direct = any(
        item.kind in DIRECT_KINDS and cause.entity in (item.entity, item.attributes.get("owner"))
        for claim in standing
        if claim.predicate is not Predicate.CAUSED and claim.entity == cause.entity
        for _, item in cited_items(claim, records)
    )
    if not direct:
        findings.append(Finding(FindingCode.CAUSE_WITHOUT_DIRECT_EVIDENCE, place))
    return findings


def _bears_kind(cause: Cause, item: EvidenceItem) -> bool:
    return item.kind is ItemKind.CAUSE_SCORE and item.attributes.get("fault_kind") == cause.fault_kind.value
