"""Determines from the document alone why the strongest candidate was not concluded. Pure."""

from __future__ import annotations

from diagnosis_harness.diagnosis.draft import Cause, DiagnosisDraft
from diagnosis_harness.guards.semantic_guard import build_case
from diagnosis_harness.guards.semantic_rules import case_objections
from diagnosis_harness.guards.verdict import SemanticReason
from diagnosis_harness.guards.weaknesses import weaknesses
from diagnosis_harness.kernel.errors import RunDocumentInvalid, StoredBytesInvalid
from diagnosis_harness.kernel.language import Language
from diagnosis_harness.report import words
from diagnosis_harness.report.document import RecordEntry, RunDocument
from diagnosis_harness.report.restore import restore_record
from diagnosis_harness.report.restore_inquiry import inquiry_of
from diagnosis_harness.tools.invocation import EvidenceRecord
from diagnosis_harness.tools.stored import read_stored


def objections_to_first(document: RunDocument) -> tuple[SemanticReason, ...]:
    """The objections to concluding the first candidate, by the rules of the guards and the embedded judge.

    Empty if a cause was concluded, nothing is ranked, or the records cannot be read.
    """
    report = document.report
    if report.causes or not report.candidates:
        return ()
    first = report.candidates[0]
    cause = Cause(first.entity, first.fault_kind, (), region=first.region, score=first.score)
    try:
        records = tuple(_record(entry, place, document) for place, entry in enumerate(document.records))
        inquiry = inquiry_of(document, records)
    except (RunDocumentInvalid, StoredBytesInvalid):
        return ()
    case = build_case(DiagnosisDraft(conclusion=(cause,), claims=()), records, inquiry=inquiry)
    judged = case.judged.get(first.entity)
    if judged is None:
        return ()
    return tuple(dict.fromkeys((*case_objections(case), *weaknesses(judged))))


def objection_words(document: RunDocument, language: Language) -> str:
    """`Not concluded: …`, with every reason; empty if there is none."""
    reasons = [words.SEMANTIC_OBJECTIONS[reason].in_(language) for reason in objections_to_first(document)]
    if not reasons:
        return ""
    return words.NOT_CONCLUDED.render(language, reasons=words.SEMICOLON.in_(language).join(reasons))


def _record(entry: RecordEntry, place: int, document: RunDocument) -> EvidenceRecord:
    found = None if entry.stored is None else read_stored(entry.stored.encode())
    return restore_record(entry, f"records[{place}]", run_id=document.run.run_id, found=found)
