"""The report of a saved run against its records: guards anew, and the report composed anew."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import fields

from diagnosis_harness.application.verification import Check, CheckName, Flaw, FlawCode, check_of
from diagnosis_harness.diagnosis.claim import WHOLE_RECORD, EvidenceRef, FaultKind, Predicate
from diagnosis_harness.diagnosis.draft import DiagnosisDraft
from diagnosis_harness.guards.evidence_guard import check_draft
from diagnosis_harness.guards.verdict import Finding
from diagnosis_harness.kernel.json_value import Scalar
from diagnosis_harness.release.document import Coverage, Report, RunDocument
from diagnosis_harness.release.outcome import ReleaseOutcome
from diagnosis_harness.release.report import compose
from diagnosis_harness.release.restored import material_of
from diagnosis_harness.release.said import may_stand
from diagnosis_harness.release.sentence import sentence
from diagnosis_harness.tools.evidence import ItemKind
from diagnosis_harness.tools.invocation import EvidenceRecord


def guard_checks(
    document: RunDocument, draft: DiagnosisDraft, records: tuple[EvidenceRecord, ...]
) -> Iterator[Check]:
    """Every published claim and cause through EvidenceGuard, over the records built anew."""
    findings = check_draft(draft, records, run_id=document.run.run_id).findings
    places = {claim.claim_id: f"report.claims[{place}]" for place, claim in enumerate(draft.claims)}
    flaws: dict[CheckName, list[Flaw]] = {}
    for finding in findings:
        flaws.setdefault(check_of(finding.code), []).append(_flaw(finding, places))
    flaws.setdefault(CheckName.CLAIMS, []).extend(_claim_flaws(document, draft, records))
    flaws.setdefault(CheckName.CAUSES, []).extend(_cause_flaws(draft, records))
    counts = {
        CheckName.REFERENCES: sum(len(claim.refs) for claim in draft.claims),
        CheckName.QUOTES: sum(len(claim.quotes) for claim in draft.claims),
        CheckName.CLAIMS: len(draft.claims),
        CheckName.CAUSES: len(draft.conclusion),
    }
    for name, count in counts.items():
        yield Check(name, count, tuple(flaws.get(name, ())))
    yield Check(CheckName.SENTENCES, len(draft.claims), tuple(_sentence_flaws(document, draft, records)))


def _flaw(finding: Finding, places: dict[str, str]) -> Flaw:
    ref = finding.ref
    return Flaw(
        code=finding.code,
        place=places.get(finding.claim_id, "report.causes"),
        stated=finding.claim_id,
        found=f"{ref.tool_call_id}/{ref.item_id}" if ref else "",
    )


def _claim_flaws(
    document: RunDocument, draft: DiagnosisDraft, records: tuple[EvidenceRecord, ...]
) -> Iterator[Flaw]:
    seen: set[str] = set()
    concluding = document.release.outcome is ReleaseOutcome.SUCCESS
    for number, claim in enumerate(draft.claims):
        place = f"report.claims[{number}]"
        if claim.claim_id in seen:
            yield Flaw(FlawCode.CLAIM_TWICE, f"{place}.claim_id", claim.claim_id)
        seen.add(claim.claim_id)
        if not concluding and claim.predicate in (Predicate.CAUSED, Predicate.AFFECTED):
            yield Flaw(FlawCode.CONCLUSION_WITHOUT_SUCCESS, f"{place}.predicate", claim.predicate.value)
    looked = {record.projection.window for record in records if record.projection}
    looked |= {item.window for record in records for item in record.items}
    if draft.window is not None and draft.window not in looked:
        yield Flaw(FlawCode.WINDOW_OF_NO_RECORD, "report.window", str(draft.window))


def _cause_flaws(draft: DiagnosisDraft, records: tuple[EvidenceRecord, ...]) -> Iterator[Flaw]:
    """A cause's score is a number like any other: a ranking that its claims cite must state it."""
    cited = {claim.claim_id: claim.refs for claim in draft.claims}
    for number, cause in enumerate(draft.conclusion):
        refs = {ref for claim_id in cause.claim_ids for ref in cited.get(claim_id, ())}
        scores = {score for score, _, _ in _ranked(cause.entity, refs, records)}
        if cause.score is not None and cause.score not in scores:
            yield Flaw(FlawCode.SCORE_NOT_CITED, f"report.causes[{number}].score", str(cause.score))


def _sentence_flaws(
    document: RunDocument, draft: DiagnosisDraft, records: tuple[EvidenceRecord, ...]
) -> Iterator[Flaw]:
    language = document.run.language
    for number, (entry, claim) in enumerate(zip(document.report.claims, draft.claims, strict=True)):
        if not may_stand(entry.sentence, claim, records, language):
            place = f"report.claims[{number}].sentence"
            yield Flaw(FlawCode.SENTENCE_DIFFERS, place, entry.sentence, sentence(claim, language))


def composed_checks(
    document: RunDocument, draft: DiagnosisDraft, records: tuple[EvidenceRecord, ...]
) -> Iterator[Check]:
    """Summary, next steps, coverage and candidates, against the report composed anew from all records.

    Whether there was a baseline or a stated onset is not in the document; it changes the next steps alone, so
    those of any combination will do.
    """
    report = document.report
    again = [
        compose(material_of(document, draft, records, has_baseline=baseline, has_onset=onset))
        for baseline in (False, True)
        for onset in (False, True)
    ]
    stated = len(report.summary) + len(report.next_checks)
    yield Check(CheckName.SUMMARY, stated, tuple(_summary_flaws(report, again)))
    coverage = tuple(_coverage_flaws(report.coverage, again[0].coverage))
    yield Check(CheckName.COVERAGE, len(document.records), coverage)
    candidates = tuple(_candidate_flaws(report, draft, records))
    yield Check(CheckName.CANDIDATES, len(report.candidates), candidates)


def _summary_flaws(stated: Report, again: Sequence[Report]) -> Iterator[Flaw]:
    if stated.summary != again[0].summary:
        there, made = " ".join(stated.summary), " ".join(again[0].summary)
        yield Flaw(FlawCode.SUMMARY_DIFFERS, "report.summary", there, made)
    if all(stated.next_checks != each.next_checks for each in again):
        there, made = " ".join(stated.next_checks), " ".join(again[0].next_checks)
        yield Flaw(FlawCode.NEXT_CHECKS_DIFFER, "report.next_checks", there, made)


def _coverage_flaws(stated: Coverage, again: Coverage) -> Iterator[Flaw]:
    for part in fields(Coverage):
        there, made = getattr(stated, part.name), getattr(again, part.name)
        if there != made:
            yield Flaw(
                FlawCode.COVERAGE_DIFFERS, f"report.coverage.{part.name}", str(len(there)), str(len(made))
            )


def _candidate_flaws(
    report: Report, draft: DiagnosisDraft, records: tuple[EvidenceRecord, ...]
) -> Iterator[Flaw]:
    citable = {EvidenceRef(r.tool_call_id, WHOLE_RECORD) for r in records if r.projection}
    citable |= {EvidenceRef(r.tool_call_id, item.item_id) for r in records for item in r.items}
    concluded = {cause.entity for cause in draft.conclusion}
    for number, each in enumerate(report.candidates):
        place = f"report.candidates[{number}]"
        for ref in (*each.evidence_for, *each.evidence_against):
            if ref not in citable:
                yield Flaw(FlawCode.CANDIDATE_REF_UNKNOWN, place, f"{ref.tool_call_id}/{ref.item_id}")
        if each.entity in concluded:
            yield Flaw(FlawCode.CANDIDATE_CONCLUDED, f"{place}.entity", each.entity)
        ranked = _ranked(each.entity, set(each.evidence_for), records)
        if (each.score, each.fault_kind, each.region) not in ranked:
            yield Flaw(FlawCode.CANDIDATE_NOT_RANKED, place, each.entity)


def _ranked(
    entity: str, refs: set[EvidenceRef], records: tuple[EvidenceRecord, ...]
) -> set[tuple[float, str, Scalar]]:
    """Score, kind of fault and region that cited rankings state of an entity; no score is written zero."""
    return {
        (
            item.score or 0.0,
            str(item.attributes.get("fault_kind", FaultKind.UNKNOWN)),
            item.attributes.get("region") or None,
        )
        for record in records
        for item in record.items
        if item.kind is ItemKind.CAUSE_SCORE
        and item.entity == entity
        and EvidenceRef(record.tool_call_id, item.item_id) in refs
    }
