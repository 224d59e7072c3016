"""From a run document back to what it was made of: claims, causes, records and the material of its report.

The inverse of `release.document` and `release.report`, as far as a document holds its own origin. Pure.
"""

from __future__ import annotations

import json
from collections.abc import Iterable

from diagnosis_harness.diagnosis.claim import Claim
from diagnosis_harness.diagnosis.draft import Cause, DiagnosisDraft, Hypothesis
from diagnosis_harness.diagnosis.inquiry import Inquiry, Inventory, KnownEntity, OnsetOrigin, Telemetry
from diagnosis_harness.diagnosis.question import asked_instant
from diagnosis_harness.guards.absence_rule import absence_rule
from diagnosis_harness.kernel.canonical import canonical_json
from diagnosis_harness.kernel.errors import ContractViolation, RunDocumentInvalid
from diagnosis_harness.kernel.json_value import JsonValue
from diagnosis_harness.kernel.window import TimeWindow, parse_utc, utc_text
from diagnosis_harness.release.document import ClaimEntry, RecordEntry, Report, RunDocument, Window
from diagnosis_harness.release.material import ReportMaterial
from diagnosis_harness.toolbox.ports import FileNote
from diagnosis_harness.tools.evidence import EvidenceItem, InvocationStatus, ItemKind
from diagnosis_harness.tools.invocation import ErrorCode, EvidenceRecord
from diagnosis_harness.tools.stored import StoredFindings


def instant(text: str, place: str) -> float:
    """Seconds since the epoch of an instant as the document writes it.

    Raises:
        RunDocumentInvalid: it is not one, or written otherwise.
    """
    try:
        time_s = parse_utc(text)
        written = utc_text(time_s)
    except (ValueError, OverflowError):
        raise RunDocumentInvalid(place, "not an instant") from None
    if written != text:
        raise RunDocumentInvalid(place, "not an instant as it is written, in UTC to the millisecond")
    return time_s


def window_of(window: Window | None, place: str) -> TimeWindow | None:
    """The window that the document writes.

    Raises:
        RunDocumentInvalid: an end is no instant, or the end lies before the start.
    """
    if window is None:
        return None
    start_s, end_s = instant(window.start, f"{place}.start"), instant(window.end, f"{place}.end")
    if end_s < start_s:
        raise RunDocumentInvalid(place, "ends before it starts")
    return TimeWindow(start_s, end_s)


def draft_of(report: Report) -> DiagnosisDraft:
    """The published claims, causes and candidates as a draft that guards can check.

    Raises:
        RunDocumentInvalid: an instant or window in it is none.
    """
    causes = tuple(
        Cause(
            entity=cause.entity,
            fault_kind=cause.fault_kind,
            claim_ids=cause.claim_ids,
            region=cause.region,
            score=cause.score,
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
        missing_info=report.missing_info,
        missing_names=report.missing_names,
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
        onset_s=None if entry.onset_at is None else instant(entry.onset_at, f"{place}.onset_at"),
    )


def arguments_of(entry: RecordEntry, place: str) -> dict[str, JsonValue]:
    """What the call asked for, by argument.

    Raises:
        RunDocumentInvalid: the scope is not the canonical JSON of an object.
    """
    try:
        held: JsonValue = json.loads(entry.scope)
        is_canonical = canonical_json(held).decode() == entry.scope
    except (ValueError, RecursionError):
        raise RunDocumentInvalid(f"{place}.scope", "not JSON") from None
    if not isinstance(held, dict) or not is_canonical:
        raise RunDocumentInvalid(f"{place}.scope", "not the canonical JSON of an object")
    return held


def record_of(entry: RecordEntry, place: str, *, run_id: str, found: StoredFindings | None) -> EvidenceRecord:
    """The record that the document writes, with the findings read from its stored bytes.

    Raises:
        RunDocumentInvalid: no record can stand so.
    """
    started_s = instant(entry.started_at, f"{place}.started_at")
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


def inquiry_of(document: RunDocument, records: Iterable[EvidenceRecord]) -> Inquiry:
    """What the run was asked, as far as the question, the stated onset and the inventory records tell.

    A name that no item of the run holds is not known.
    """
    records = tuple(records)
    items = [item for record in records for item in record.items]
    held = [item for item in items if item.kind is ItemKind.INVENTORY]
    alert = next((item for item in held if item.attributes.get("telemetry") == "alert"), None)
    stated = next((item for item in held if item.attributes.get("telemetry") == "onset"), None)
    recorded = next((item.window for item in held if item.attributes.get("recording") == "incident"), None)
    run = document.run
    said = (
        (_stated(run.onset_at), OnsetOrigin.ASKED),
        (asked_instant(run.question, recorded), OnsetOrigin.QUESTION),
        (None if stated is None else stated.onset_s, OnsetOrigin.SOURCE),
        (None if alert is None else alert.onset_s, OnsetOrigin.ALERT),
    )
    onset_s, origin = next((each for each in said if each[0] is not None), (None, OnsetOrigin.NOBODY))
    alert_entity = None if alert is None else alert.entity
    named = tuple(item.entity for item in held if item.attributes.get("mentioned") and item.entity)
    owners = {
        name: item.attributes.get("owner") for item in items for name in (item.entity, item.peer) if name
    }
    kinds = _kinds(held, records)
    return Inquiry(
        question=run.question,
        onset_s=onset_s,
        onset_origin=origin,
        affected=named or (() if alert_entity is None else (alert_entity,)),
        alert_entity=alert_entity,
        alert_signal=None if alert is None else alert.signal,
        alert_at_s=None if alert is None else alert.onset_s,
        inventory=Inventory(
            entities=tuple(
                KnownEntity(name, owner if isinstance(owner, str) and owner != name else None, kinds)
                for name, owner in sorted(owners.items())
            ),
            telemetry=kinds,
            incident=recorded or _looked_through(records),
        ),
    )


def _kinds(inventory: Iterable[EvidenceItem], records: Iterable[EvidenceRecord]) -> frozenset[Telemetry]:
    """The kinds of telemetry that the inventory names, or that some call looked through."""
    named = {item.attributes.get("telemetry") for item in inventory}
    looked = {
        rule.telemetry
        for record in records
        if record.projection is not None and record.projection.looked_at > 0
        if (rule := absence_rule(record.tool_name)) is not None
    }
    return frozenset(kind for kind in Telemetry if kind.value in named or kind in looked)


def _looked_through(records: Iterable[EvidenceRecord]) -> TimeWindow | None:
    """The time that a run's calls and findings speak of, where no inventory says what was recorded."""
    found = [record.projection for record in records if record.projection is not None]
    windows = [each.window for each in found] + [item.window for each in found for item in each.items]
    held = [window for window in windows if window is not None]
    if not held:
        return None
    return TimeWindow(min(each.start_s for each in held), max(each.end_s for each in held))


def _stated(onset_at: str | None) -> float | None:
    """The stated onset; None where it is no instant, which the account of the run objects to."""
    try:
        return None if onset_at is None else instant(onset_at, "run.onset_at")
    except RunDocumentInvalid:
        return None


def material_of(
    document: RunDocument,
    draft: DiagnosisDraft,
    records: tuple[EvidenceRecord, ...],
    *,
    has_baseline: bool,
    has_onset: bool,
) -> ReportMaterial:
    """What the report was made of; the two flags are not in the document and change its next steps only."""
    coverage = document.report.coverage
    called = dict.fromkeys(record.tool for record in document.records)
    return ReportMaterial(
        language=document.run.language,
        release=document.release,
        state=document.run.state,
        limit_s=document.run.limit_s,
        conclusion=draft.conclusion,
        confidence=tuple(cause.confidence or 0.0 for cause in document.report.causes),
        claims=draft.claims,
        hypotheses=draft.hypotheses,
        missing_info=draft.missing_info,
        missing_names=draft.missing_names,
        window=draft.window,
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
