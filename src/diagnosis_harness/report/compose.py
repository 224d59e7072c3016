"""Composes the report from what passed the guards. Pure, without decisions of its own."""

from __future__ import annotations

from collections.abc import Sequence

from diagnosis_harness.diagnosis.claim import (
    CONCLUSIONS,
    WHOLE_RECORD,
    Claim,
    EvidenceRef,
    FaultKind,
    Predicate,
)
from diagnosis_harness.diagnosis.draft import Cause, Disproof, DisproofResult
from diagnosis_harness.kernel.language import Language, Text
from diagnosis_harness.kernel.names import display_name
from diagnosis_harness.release.outcome import ReleaseOutcome
from diagnosis_harness.report import words
from diagnosis_harness.report.answer import answer_sentences
from diagnosis_harness.report.cause_entry import CauseEntry
from diagnosis_harness.report.change_words import change_sentences
from diagnosis_harness.report.claim_sentence import claim_sentence
from diagnosis_harness.report.document import Asked, Candidate, ClaimEntry, Coverage, NotUsed, Report
from diagnosis_harness.report.material import ReportMaterial
from diagnosis_harness.report.next_checks import next_checks
from diagnosis_harness.report.onset import onset_used
from diagnosis_harness.report.opening import reading_sentences, time_sentences, unknown_sentences
from diagnosis_harness.report.ranking_entry import ranking_entries
from diagnosis_harness.report.window import Window
from diagnosis_harness.toolbox.ports import FileNote
from diagnosis_harness.tools.evidence import EvidenceStatus
from diagnosis_harness.tools.invocation import EvidenceRecord

# Kinds of telemetry that no tool compares with normal operation, and the tool that shows them.
_NOT_COMPARED = {"logs": "search_logs", "changes": "list_changes"}
_COMPARES = {"compare_logs": "logs", "weigh_changes": "changes"}
"""Tools that compare what others of the same role only search; one that found nothing counts too."""


def compose(material: ReportMaterial) -> Report:
    """The report of one run.

    Raises:
        ContractViolation: a claim cites nothing, or a cause rests on a claim that did not pass.
    """
    language = material.language
    coverage = cover(material.records, tools=material.tools, files=material.files, language=language)
    candidates = _candidates(material)
    sure: Sequence[float | None] = material.content.confidence or [None] * len(material.content.causes)
    return Report(
        summary=(
            *unknown_sentences(material.inquiry, language),
            *answer_sentences(
                material.inquiry,
                material.content.causes,
                [
                    each
                    for each in material.content.claims
                    if _may_be_published(each, material.release.outcome)
                ],
                records=material.records,
                language=language,
            ),
            *_reassurance(material, language),
            *_summary(material, language),
            *change_sentences(material.records, material.inquiry, language),
            *time_sentences(material.inquiry, language),
            *reading_sentences(material.inquiry, language),
        ),
        causes=tuple(
            CauseEntry(
                entity=cause.entity,
                fault_kind=cause.fault_kind,
                region=cause.region,
                score=cause.score,
                confidence=confidence,
                claim_ids=cause.claim_ids,
                level=cause.level,
                scope=cause.scope,
                disproof=cause.disproof,
            )
            for cause, confidence in zip(material.content.causes, sure, strict=True)
        ),
        claims=tuple(
            ClaimEntry.of(claim, sentence=claim_sentence(claim, material.records, material.language))
            for claim in material.content.claims
            if _may_be_published(claim, material.release.outcome)
        ),
        candidates=candidates,
        window=Window.of(material.content.window),
        onset=onset_used(material.inquiry, material.records),
        coverage=coverage,
        missing_info=material.content.missing_info,
        missing_names=material.content.missing_names,
        rankings=ranking_entries(material.records, material.inquiry, material.content.set_aside),
        next_checks=next_checks(material, candidates=candidates, coverage=coverage, language=language),
    )


def conclusion_of(report: Report, outcome: ReleaseOutcome, language: Language) -> str | None:
    """The sentence that names the first cause or answers another form; None if nothing was released."""
    if report.causes:
        return _cause_sentences(report.causes, language)[0]
    return next(iter(report.summary), None) if outcome is ReleaseOutcome.SUCCESS else None


def no_diagnosis(path: str, language: Language) -> Report:
    """The report of a run that was answered on another path, with a text."""
    return Report(
        summary=(words.NO_DIAGNOSIS.render(language, path=path),),
        causes=(),
        claims=(),
        candidates=(),
        window=None,
        onset=None,
        coverage=Coverage(asked=(), empty=(), failed=(), never_asked=(), not_used=(), not_compared=()),
        missing_info=(),
        missing_names=(),
        next_checks=(),
    )


def _has_compared(record: EvidenceRecord) -> bool:
    found = record.projection
    return record.tool_name in _COMPARES and found is not None and found.looked_at > 0


def cover(
    records: Sequence[EvidenceRecord], *, tools: Sequence[str], files: Sequence[FileNote], language: Language
) -> Coverage:
    """What was examined and what was not; every record is in exactly one of asked, empty and failed."""

    def having(status: EvidenceStatus) -> tuple[Asked, ...]:
        return tuple(_call_entry(record) for record in records if record.evidence is status)

    called = {record.tool_name for record in records}
    found = {record.tool_name for record in records if record.evidence is EvidenceStatus.EVIDENCE_FOUND}
    compared = {_COMPARES[record.tool_name] for record in records if _has_compared(record)}
    seen = {role for role, tool in _NOT_COMPARED.items() if tool in found}
    return Coverage(
        asked=having(EvidenceStatus.EVIDENCE_FOUND),
        empty=having(EvidenceStatus.NO_EVIDENCE),
        failed=having(EvidenceStatus.ERROR),
        never_asked=tuple(tool for tool in tools if tool not in called),
        not_used=tuple(
            NotUsed(
                name=note.file,
                role=note.role,
                note=words.UNSEARCHED.in_(language) if note.role in _NOT_COMPARED else note.note,
            )
            for note in files
            if note.role is None or (note.role in _NOT_COMPARED and note.role not in seen | compared)
        ),
        not_compared=tuple(
            NotUsed(name=note.file, role=note.role, note=words.SEARCHED[note.role].in_(language))
            for note in files
            if note.role is not None and note.role in seen - compared
        ),
    )


def fault_words(fault_kind: FaultKind, region: str | None, *, language: Language) -> str:
    """A kind of fault, with the affected part of the entity if known."""
    fault = words.FAULT[fault_kind].in_(language)
    return (
        fault
        if region is None
        else words.FAULT_IN_REGION.render(language, fault=fault, region=display_name(region))
    )


def _may_be_published(claim: Claim, outcome: ReleaseOutcome) -> bool:
    """Claims of causes and of affected entities are conclusions: they are published with a success only.

    A release keeps to that by itself. A saved run that verifying composes again may not.
    """
    return outcome is ReleaseOutcome.SUCCESS or claim.predicate not in CONCLUSIONS


def _call_entry(record: EvidenceRecord) -> Asked:
    return Asked(
        tool_call_id=record.tool_call_id,
        tool=record.tool_name,
        scope=record.scope,
        window=Window.of(record.projection.window) if record.projection else None,
        evidence_status=record.evidence,
        items=len(record.items),
        error_code=record.error_code,
    )


def _candidates(material: ReportMaterial) -> tuple[Candidate, ...]:
    """Unproven candidates whose evidence is in the document; a failure has none."""
    if material.release.outcome not in (ReleaseOutcome.SUCCESS, ReleaseOutcome.FALLBACK):
        return ()
    citable = {EvidenceRef(r.tool_call_id, WHOLE_RECORD) for r in material.records if r.projection}
    citable |= {EvidenceRef(r.tool_call_id, item.item_id) for r in material.records for item in r.items}
    concluded = {cause.entity for cause in material.content.causes}
    return tuple(
        Candidate(
            entity=hypothesis.entity,
            fault_kind=hypothesis.fault_kind,
            region=hypothesis.region,
            score=hypothesis.score,
            evidence_for=tuple(ref for ref in hypothesis.evidence_for if ref in citable),
            evidence_against=tuple(ref for ref in hypothesis.evidence_against if ref in citable),
        )
        for hypothesis in material.content.hypotheses
        if hypothesis.entity not in concluded and citable.intersection(hypothesis.evidence_for)
    )


def _summary(material: ReportMaterial, language: Language) -> tuple[str, ...]:
    release = material.release
    if release.outcome is ReleaseOutcome.SUCCESS and material.content.causes:
        causes = material.content.causes
        named = zip(causes, _cause_sentences(causes, language), strict=True)
        return tuple(
            each for cause, sentence in named for each in (sentence, *_disproof_sentences(cause, language))
        )
    if release.outcome is ReleaseOutcome.SUCCESS:  # a question that does not ask for a cause
        return (words.VERIFIED_COUNT.render(language, count=len(material.content.claims)),)
    first = (
        words.FALLBACK[release.fallback_type].in_(language)
        if release.fallback_type
        else words.OUTCOME[release.outcome].in_(language)
    )
    sentences = [
        first,
        release.failure or "",
        "" if release.failure else words.RUN_STATE[material.state].in_(language),
        words.STOP_REASON[release.stop_reason].in_(language) if release.stop_reason else "",
    ]
    if release.outcome is ReleaseOutcome.FALLBACK:
        published = sum(1 for claim in material.content.claims if _may_be_published(claim, release.outcome))
        sentences.append(words.VERIFIED_COUNT.render(language, count=published))
    else:
        kept = sum(1 for record in material.records if record.projection)
        sentences.append(words.KEPT_COUNT.render(language, count=kept))
    return tuple(each for each in sentences if each)


def _reassurance(material: ReportMaterial, language: Language) -> tuple[str, ...]:
    """The sentence that nothing unusual was found, if that is the answer."""
    sound = any(claim.predicate is Predicate.UNREMARKABLE for claim in material.content.claims)
    released = material.release.outcome is ReleaseOutcome.SUCCESS
    return (words.NOTHING_UNUSUAL.in_(language),) if sound and released else ()


def _cause_sentences(causes: Sequence[Cause | CauseEntry], language: Language) -> tuple[str, ...]:
    sentences = [
        conclusion_words(cause, first=place == 0).render(
            language,
            entity=display_name(cause.entity),
            fault=fault_words(cause.fault_kind, cause.region, language=language),
            unseen=words.AND.in_(language).join(map(display_name, cause.scope)),
        )
        for place, cause in enumerate(causes)
    ]
    return tuple(
        words.INDEPENDENTLY.render(language, first=display_name(causes[0].entity), said=each)
        if place and causes[place].level is not None  # of a document of version 2 nothing says so
        else each
        for place, each in enumerate(sentences)
    )


def _disproof_sentences(cause: Cause, language: Language) -> tuple[str, ...]:
    """What was asked to disprove a cause; none for that of a document of an earlier version."""
    return () if cause.disproof is None else (disproof_sentence(cause.disproof, language),)


def disproof_sentence(disproof: Disproof, language: Language) -> str:
    """The result, with the entities that were examined or, if it was not tested, those that were not."""
    untested = disproof.result is DisproofResult.NOT_TESTED
    names = [each.entity for each in disproof.challenges if not untested or each.tool_call_id is None]
    text = words.DISPROOF[disproof.result] if names else words.NOBODY_TO_LOOK_AT
    return text.render(language, entities=words.AND.in_(language).join(map(display_name, names)))


def conclusion_words(cause: Cause | CauseEntry, *, first: bool) -> Text:
    """The sentence of a cause, which claims only its level."""
    if cause.scope:
        return words.SCOPED if cause.scope != (cause.entity,) else words.SCOPED_UNNAMED
    if cause.level is None:  # of a document of version 2
        return words.CAUSE if first else words.ALSO_CAUSE
    return words.CONCLUDED[cause.level]
