"""Restores the parts of a run document: claims, causes, records and the report's material.

The inverse of `report.document` and `report.compose`, as far as a document stores their input. Pure.
"""

from __future__ import annotations

from diagnosis_harness.diagnosis.claim import Claim
from diagnosis_harness.diagnosis.draft import Cause, DiagnosisDraft, Hypothesis
from diagnosis_harness.diagnosis.missing import MissingInfo
from diagnosis_harness.kernel.canonical import canonical_json
from diagnosis_harness.kernel.errors import ContractViolation, JsonInvalid, RunDocumentInvalid
from diagnosis_harness.kernel.json_fields import any_object_at
from diagnosis_harness.kernel.json_value import JsonValue
from diagnosis_harness.kernel.strict_json import json_errors_as, parse_json
from diagnosis_harness.release.result import ReleaseContent
from diagnosis_harness.report.document import MISSING, ClaimEntry, RecordEntry, Report, RunDocument
from diagnosis_harness.report.material import ReportMaterial
from diagnosis_harness.report.ranking_entry import set_aside_of
from diagnosis_harness.report.restore_inquiry import inquiry_of
from diagnosis_harness.report.window import read_instant, window_of
from diagnosis_harness.toolbox.ports import FileNote
from diagnosis_harness.tools.evidence import InvocationStatus
from diagnosis_harness.tools.invocation import ErrorCode, EvidenceRecord
from diagnosis_harness.tools.stored import StoredFindings


def draft_of(report: Report) -> DiagnosisDraft:
    """The published claims, causes and candidates as a draft that guards can check.

    Raises:
        RunDocumentInvalid: a time or window in it is malformed.
    """
    causes = tuple(
        Cause(
            entity=cause.entity,
            fault_kind=cause.fault_kind,
            claim_ids=cause.claim_ids,
            region=cause.region,
            score=cause.score,
            level=cause.level,
            scope=cause.scope,
            disproof=cause.disproof,
        )
        for cause in report.causes
    )
    hypotheses = tuple(
        Hypothesis(
            entity=candidate.entity,
            fault_kind=candidate.fault_kind,
            score=candidate.score,
            evidence_for=candidate.evidence_for,
            evidence_against=candidate.evidence_against,
            region=candidate.region,
        )
        for candidate in report.candidates
    )
    return DiagnosisDraft(
        conclusion=causes,
        claims=tuple(_claim(entry, f"report.claims[{place}]") for place, entry in enumerate(report.claims)),
        hypotheses=hypotheses,
        missing_info=tuple(MissingInfo(each) for each in report.missing_info if each in MISSING),
        missing_names=report.missing_names,
        set_aside=set_aside_of(report.rankings),
        window=window_of(report.window, "report.window"),
    )


def _claim(entry: ClaimEntry, place: str) -> Claim:
    return Claim(
        claim_id=entry.claim_id,
        predicate=entry.predicate,
        entity=entry.entity,
        refs=entry.refs,
        quotes=entry.quotes,
        affected=entry.affected,
        signal=entry.signal,
        value=entry.value,
        baseline=entry.baseline,
        unit=entry.unit,
        direction=entry.direction,
        window=window_of(entry.window, f"{place}.window"),
        onset_s=None if entry.onset_at is None else read_instant(entry.onset_at, f"{place}.onset_at"),
    )


def arguments_of(entry: RecordEntry, place: str) -> dict[str, JsonValue]:
    """The arguments of a call, by name.

    Raises:
        RunDocumentInvalid: the scope is not the canonical JSON of an object.
    """
    path = f"{place}.scope"
    with json_errors_as(RunDocumentInvalid):
        arguments = any_object_at(parse_json(entry.scope, place=path), path)
        if canonical_json(arguments).decode() != entry.scope:
            raise JsonInvalid(path, "canonical JSON", "another form of it")
    return arguments


def restore_record(
    entry: RecordEntry, place: str, *, run_id: str, found: StoredFindings | None
) -> EvidenceRecord:
    """The record that the document writes, with the findings read from its stored bytes.

    Raises:
        RunDocumentInvalid: no valid record has these fields.
    """
    started_s = read_instant(entry.started_at, f"{place}.started_at")
    ready = entry.status is InvocationStatus.READY
    try:
        return EvidenceRecord(
            key=f"saved:{run_id}:{entry.tool_call_id}",
            run_id=run_id,
            tool_call_id=entry.tool_call_id,
            tool_name=entry.tool,
            scope=entry.scope,
            caller=entry.caller,
            started_s=started_s,
            invocation=entry.status,
            evidence=entry.evidence_status,
            projection=found.projection if found and ready else None,
            digest=entry.digest,
            finished_s=None if entry.duration_s is None else started_s + entry.duration_s,
            error_code=None if entry.error_code is None else ErrorCode(entry.error_code),
        )
    except (ContractViolation, ValueError) as error:
        raise RunDocumentInvalid(place, str(error)) from None


def material_of(
    document: RunDocument,
    draft: DiagnosisDraft,
    records: tuple[EvidenceRecord, ...],
    *,
    has_baseline: bool,
    has_onset: bool,
) -> ReportMaterial:
    """The material of the report; the two flags are not in the document and affect only its next steps."""
    coverage = document.report.coverage
    called = dict.fromkeys(record.tool for record in document.records)
    return ReportMaterial(
        language=document.run.language,
        release=document.release,
        state=document.run.state,
        limit_s=document.run.limit_s,
        content=ReleaseContent(
            causes=draft.conclusion,
            confidence=tuple(cause.confidence or 0.0 for cause in document.report.causes),
            claims=draft.claims,
            hypotheses=draft.hypotheses,
            missing_info=draft.missing_info,
            missing_names=draft.missing_names,
            set_aside=draft.set_aside,
            window=draft.window,
        ),
        records=records,
        tools=(*coverage.never_asked, *called),
        files=tuple(
            FileNote(each.name, each.role, 0, each.note)
            for each in (*coverage.not_used, *coverage.not_compared)
        ),
        has_baseline=has_baseline,
        has_onset=has_onset,
        inquiry=inquiry_of(document, records),
    )
