"""Checks the report of a saved run against its records: runs the guards and composes the report again."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import fields, replace

from diagnosis_harness.application.intent import IntentType
from diagnosis_harness.application.routed import find_routed_intent
from diagnosis_harness.audit.verification.result import Check, CheckName, Flaw, FlawCode, check_of
from diagnosis_harness.diagnosis.claim import Predicate
from diagnosis_harness.diagnosis.draft import Cause, DiagnosisDraft
from diagnosis_harness.diagnosis.inquiry import Inquiry
from diagnosis_harness.diagnosis.missing import MissingInfo
from diagnosis_harness.diagnosis.records import Records
from diagnosis_harness.guards.asked import question_scope
from diagnosis_harness.guards.candidates import standing_candidates
from diagnosis_harness.guards.circumstances import (
    Circumstances,
    standing_missing,
    standing_names,
    standing_window,
)
from diagnosis_harness.guards.evidence_guard import check_draft
from diagnosis_harness.guards.reassurance import reassuring_claims
from diagnosis_harness.guards.restating import restate
from diagnosis_harness.guards.semantic_guard import SemanticCase, build_case
from diagnosis_harness.guards.semantic_rules import case_objections
from diagnosis_harness.guards.verdict import Finding
from diagnosis_harness.release.outcome import ReleaseOutcome
from diagnosis_harness.release.pipeline import answers
from diagnosis_harness.release.standing import confidences, score_causes
from diagnosis_harness.report.claim_sentence import may_stand, render_claim
from diagnosis_harness.report.compose import compose, no_diagnosis
from diagnosis_harness.report.document import MISSING, Coverage, Report, RunDocument
from diagnosis_harness.report.earlier_sentences import in_current_words
from diagnosis_harness.report.inquiry_entry import InquiryEntry
from diagnosis_harness.report.ranking_entry import ranking_entries
from diagnosis_harness.report.restore import material_of
from diagnosis_harness.report.restore_inquiry import inquiry_of
from diagnosis_harness.report.version import READABLE, SCHEMA_VERSION, version_tests_causes
from diagnosis_harness.tools.invocation import EvidenceRecord
from diagnosis_harness.tools.preflight import RefusalCode
from diagnosis_harness.trace.event import TraceName


def guard_checks(
    document: RunDocument, draft: DiagnosisDraft, records: tuple[EvidenceRecord, ...]
) -> Iterator[Check]:
    """Check every published claim and cause with EvidenceGuard, over the rebuilt records."""
    inquiry = inquiry_of(document, records)
    findings = check_draft(draft, records, run_id=document.run.run_id, inquiry=inquiry).findings
    places = {claim.claim_id: f"report.claims[{place}]" for place, claim in enumerate(draft.claims)}
    flaws: dict[CheckName, list[Flaw]] = {}
    for finding in findings:
        flaws.setdefault(check_of(finding.code), []).append(_flaw(finding, places))
    if document.schema_version != READABLE[0]:  # version 2 published claims as the agent gave them
        flaws.setdefault(CheckName.CLAIMS, []).extend(_statement_flaws(draft, records, inquiry))
    flaws.setdefault(CheckName.CLAIMS, []).extend(_name_flaws(document))
    flaws.setdefault(CheckName.CLAIMS, []).extend(_window_flaws(document, draft, records))
    case = _case_of(document, draft, records)
    scored = score_causes(case, draft.claims, records, inquiry=inquiry)
    flaws.setdefault(CheckName.CAUSES, []).extend(_score_flaws(document, case, scored))
    counts = {
        CheckName.REFERENCES: sum(len(claim.refs) for claim in draft.claims),
        CheckName.QUOTES: sum(len(claim.quotes) for claim in draft.claims),
        CheckName.CLAIMS: len(draft.claims),
        CheckName.CAUSES: len(draft.conclusion),
    }
    for name, count in counts.items():
        yield Check(name, count, tuple(flaws.get(name, ())))
    yield Check(CheckName.SENTENCES, len(draft.claims), tuple(_sentence_flaws(document, draft, records)))
    yield Check(CheckName.DISPROOF, len(draft.conclusion), tuple(_disproof_flaws(case, scored)))
    contradictions = tuple(_case_flaws(document, draft, records, case))
    yield Check(CheckName.CASE, len(document.report.rankings), contradictions)


def _flaw(finding: Finding, places: dict[str, str]) -> Flaw:
    ref = finding.ref
    return Flaw(
        code=finding.code,
        place=places.get(finding.claim_id, "report.causes"),
        stated=finding.claim_id,
        found=f"{ref.tool_call_id}/{ref.item_id}" if ref else "",
    )


def _statement_flaws(
    draft: DiagnosisDraft, records: tuple[EvidenceRecord, ...], inquiry: Inquiry
) -> Iterator[Flaw]:
    """A published claim must say exactly what its evidence says, and cite nothing else."""
    by_id, asked = Records(records), question_scope(inquiry, records)
    for number, claim in enumerate(draft.claims):
        again = restate(claim, by_id, asked)
        for field in fields(claim) if again is not None else ():
            stated, found = getattr(claim, field.name), getattr(again, field.name)
            if stated != found:
                place = f"report.claims[{number}].{field.name}"
                yield Flaw(FlawCode.STATEMENT_DIFFERS, place, str(stated), str(found))


def _name_flaws(document: RunDocument) -> Iterator[Flaw]:
    """A run names its claims in their order. Before version 4 they kept the agent's names."""
    for number, entry in enumerate(
        document.report.claims if document.schema_version == SCHEMA_VERSION else ()
    ):
        if entry.claim_id != (due := f"k{number + 1}"):
            place = f"report.claims[{number}].claim_id"
            yield Flaw(FlawCode.CLAIMS_OUT_OF_ORDER, place, entry.claim_id, due)


def _window_flaws(
    document: RunDocument, draft: DiagnosisDraft, records: tuple[EvidenceRecord, ...]
) -> Iterator[Flaw]:
    """The report's window must be that of an item that compares the question's subject with normal."""
    window = draft.window
    looked = {item.window for record in records for item in record.items}
    if window is not None and not (
        window in looked
        and standing_window(window, records, inquiry=inquiry_of(document, records)) is not None
    ):
        yield Flaw(FlawCode.WINDOW_OF_NO_RECORD, "report.window", str(window))


def _case_of(
    document: RunDocument, draft: DiagnosisDraft, records: tuple[EvidenceRecord, ...]
) -> SemanticCase:
    """The case as the guards of the document's version saw it: before version 4 no cause was tested."""
    case = build_case(draft, records, inquiry=inquiry_of(document, records))
    return case if version_tests_causes(document.schema_version) else replace(case, disproofs={})


def _score_flaws(document: RunDocument, case: SemanticCase, scored: Sequence[Cause]) -> Iterator[Flaw]:
    """Score and confidence must be those of the ranking that supports the cause."""
    repaired = any(line.name == TraceName.EVIDENCE_REPAIR for line in document.trace)
    sure = confidences(case, repaired=repaired)
    for number, (entry, computed) in enumerate(zip(document.report.causes, sure, strict=True)):
        if entry.confidence != computed:
            place = f"report.causes[{number}].confidence"
            yield Flaw(FlawCode.SCORE_NOT_CITED, place, str(entry.confidence), str(computed))
    for number, (cause, again) in enumerate(zip(case.conclusion, scored, strict=True)):
        given, due = (cause.level, cause.scope), (again.level, again.scope)
        if given != due and document.schema_version != READABLE[0]:  # causes of version 2 have no level
            yield Flaw(FlawCode.LEVEL_NOT_SUPPORTED, f"report.causes[{number}].level", str(given), str(due))
        if cause.score != again.score:
            place = f"report.causes[{number}].score"
            yield Flaw(FlawCode.SCORE_NOT_CITED, place, str(cause.score), str(again.score))


def _disproof_flaws(case: SemanticCase, scored: Sequence[Cause]) -> Iterator[Flaw]:
    """The queries listed as tests of a cause must match the records, and must not contradict the cause."""
    for number, (cause, again) in enumerate(zip(case.conclusion, scored, strict=True)):
        if cause.disproof != again.disproof:
            place = f"report.causes[{number}].disproof"
            yield Flaw(FlawCode.DISPROOF_DIFFERS, place, str(cause.disproof), str(again.disproof))


def _case_flaws(
    document: RunDocument, draft: DiagnosisDraft, records: tuple[EvidenceRecord, ...], case: SemanticCase
) -> Iterator[Flaw]:
    """Check which rankings count, and the objections that code finds before a judge is asked."""
    inquiry, stated = inquiry_of(document, records), document.report.rankings
    again = ranking_entries(records, inquiry, draft.set_aside)
    if stated != again:
        yield Flaw(FlawCode.RANKINGS_DIFFER, "report.rankings", str(len(stated)), str(len(again)))
    for reason in case_objections(case) if draft.conclusion else ():
        yield Flaw(reason, "report.causes")
    succeeded = document.release.outcome is ReleaseOutcome.SUCCESS
    reassures = any(claim.predicate is Predicate.UNREMARKABLE for claim in draft.claims)
    if reassures and not reassuring_claims(inquiry, draft.claims, records):
        yield Flaw(FlawCode.NOT_IN_THE_TABLE, "report.claims", Predicate.UNREMARKABLE.value, "")
    concluded = draft.conclusion or _other_path(document) is not None
    if succeeded and not concluded and not answers(inquiry, draft.claims, records):
        yield Flaw(FlawCode.NOT_IN_THE_TABLE, "release", ReleaseOutcome.SUCCESS.value, "")
    for each in draft.set_aside:
        if each not in case.set_aside:
            yield Flaw(FlawCode.RANKINGS_DIFFER, "report.rankings", each.reason.value, each.tool_call_id)


def _sentence_flaws(
    document: RunDocument, draft: DiagnosisDraft, records: tuple[EvidenceRecord, ...]
) -> Iterator[Flaw]:
    language, earlier = document.run.language, document.schema_version == READABLE[0]
    for number, (entry, claim) in enumerate(zip(document.report.claims, draft.claims, strict=True)):
        if not may_stand(entry.sentence, claim, records, language, may_word_causes=earlier):
            place = f"report.claims[{number}].sentence"
            again = render_claim(claim, records, language)
            yield Flaw(FlawCode.SENTENCE_DIFFERS, place, entry.sentence, again)


def check_composition(
    document: RunDocument, draft: DiagnosisDraft, records: tuple[EvidenceRecord, ...]
) -> Iterator[Check]:
    """Summary, next steps, coverage and candidates, against the report composed anew from all records.

    Without an inquiry it is unknown whether there was a baseline or a stated onset. That affects only the
    next steps, so those of every combination are accepted.
    """
    report = document.report
    path = _other_path(document)
    again = (
        [no_diagnosis(path, document.run.language)]
        if path is not None
        else [
            compose(material_of(document, draft, records, has_baseline=baseline, has_onset=onset))
            for baseline, onset in _possible_knowledge(document.inquiry)
        ]
    )
    stated = len(report.summary) + len(report.next_checks) + len(report.missing_info)
    flaws = (*_summary_flaws(report, again), *_missing_flaws(document, records))
    yield Check(CheckName.SUMMARY, stated, flaws)
    coverage = tuple(_coverage_flaws(report, again[0]))
    yield Check(CheckName.COVERAGE, len(document.records), coverage)
    candidates = tuple(_candidate_flaws(document, draft, records))
    yield Check(CheckName.CANDIDATES, len(report.candidates), candidates)


def _possible_knowledge(inquiry: InquiryEntry | None) -> Iterable[tuple[bool, bool]]:
    """The possible combinations of whether there was a baseline and a stated onset."""
    if inquiry is None:
        return [(baseline, onset) for baseline in (False, True) for onset in (False, True)]
    return [(inquiry.inventory.baseline is not None, inquiry.onset_at is not None)]


def _other_path(document: RunDocument) -> IntentType | None:
    """The path that answered, if the trace says that the question asked for no diagnosis."""
    if document.release.outcome is not ReleaseOutcome.SUCCESS or document.records:
        return None
    intent = find_routed_intent(document.trace)
    return None if intent is IntentType.DIAGNOSIS else intent


def _summary_flaws(stated: Report, again: Sequence[Report]) -> Iterator[Flaw]:
    # A summary repeats the failure message, which the document holds in its own wording.
    if in_current_words(stated.summary) != in_current_words(again[0].summary):
        there, made = " ".join(stated.summary), " ".join(again[0].summary)
        yield Flaw(FlawCode.SUMMARY_DIFFERS, "report.summary", there, made)
    if all(in_current_words(stated.next_checks) != in_current_words(each.next_checks) for each in again):
        there, made = " ".join(stated.next_checks), " ".join(again[0].next_checks)
        yield Flaw(FlawCode.NEXT_CHECKS_DIFFER, "report.next_checks", there, made)


def _coverage_flaws(stated: Report, again: Report) -> Iterator[Flaw]:
    if stated.onset != again.onset:
        yield Flaw(FlawCode.COVERAGE_DIFFERS, "report.onset", str(stated.onset), str(again.onset))
    for part in fields(Coverage):
        there, made = getattr(stated.coverage, part.name), getattr(again.coverage, part.name)
        if there != made:
            yield Flaw(
                FlawCode.COVERAGE_DIFFERS, f"report.coverage.{part.name}", str(len(there)), str(len(made))
            )


def _missing_flaws(document: RunDocument, records: tuple[EvidenceRecord, ...]) -> Iterator[Flaw]:
    """Everything listed as missing must be missing by the question or an inventory of the run."""
    inquiry = inquiry_of(document, records)
    denied = any(line.text_of("code") == RefusalCode.NOT_AUTHORISED for line in document.trace)
    circumstances = Circumstances(inquiry, records, denied)
    for number, each in enumerate(document.report.missing_info):
        if each in MISSING and not standing_missing([MissingInfo(each)], circumstances):
            yield Flaw(FlawCode.MISSING_OF_NO_RECORD, f"report.missing_info[{number}]", each)
    for number, name in enumerate(document.report.missing_names):
        if not standing_names([name], inquiry):
            yield Flaw(FlawCode.MISSING_OF_NO_RECORD, f"report.missing_names[{number}]", name)


def _candidate_flaws(
    document: RunDocument, draft: DiagnosisDraft, records: tuple[EvidenceRecord, ...]
) -> Iterator[Flaw]:
    """Candidates must hold as published and be in order, and none may be a concluded cause."""
    run_id, concluded = document.run.run_id, {cause.entity for cause in draft.conclusion}
    inquiry = inquiry_of(document, records)
    standing = standing_candidates(draft.hypotheses, records, run_id=run_id, inquiry=inquiry)
    for number, each in enumerate(draft.hypotheses):
        place = f"report.candidates[{number}]"
        if each.entity in concluded:
            yield Flaw(FlawCode.CANDIDATE_CONCLUDED, f"{place}.entity", each.entity)
        if each not in standing:
            yield Flaw(FlawCode.CANDIDATE_NOT_SUPPORTED, place, each.entity)
    left = tuple(each for each in standing if each.entity not in concluded)
    if draft.hypotheses and draft.hypotheses != left:
        places = " ".join(each.entity for each in draft.hypotheses)
        yield Flaw(
            FlawCode.CANDIDATE_NOT_SUPPORTED,
            "report.candidates",
            places,
            " ".join(each.entity for each in left),
        )
