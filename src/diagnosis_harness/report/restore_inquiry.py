"""Restores the inquiry from a run document: as stored, or as far as the rest of the document shows."""

from __future__ import annotations

from collections.abc import Iterable

from diagnosis_harness.diagnosis.inquiry import Inquiry, Inventory, KnownEntity, OnsetOrigin, Telemetry
from diagnosis_harness.diagnosis.question import timestamp_in_question
from diagnosis_harness.diagnosis.question_reading import QuestionReading
from diagnosis_harness.guards.absence_rule import absence_rule
from diagnosis_harness.kernel.errors import RunDocumentInvalid
from diagnosis_harness.kernel.window import TimeWindow
from diagnosis_harness.report.document import RunDocument
from diagnosis_harness.report.inquiry_entry import InquiryEntry
from diagnosis_harness.report.version import READABLE
from diagnosis_harness.report.window import read_instant, window_of
from diagnosis_harness.tools.evidence import EvidenceItem, ItemKind
from diagnosis_harness.tools.invocation import EvidenceRecord


def inquiry_of(document: RunDocument, records: Iterable[EvidenceRecord]) -> Inquiry:
    """The inquiry in the document; without one, that of a run that made no query.

    For a document of version 2, it is reconstructed from question, stated onset and records.

    Raises:
        RunDocumentInvalid: a time or window of the inquiry is malformed.
    """
    entry = document.inquiry
    if entry is not None:
        return inquiry_of_entry(entry, document.run.question)
    return _reconstruct_inquiry(document, records) if document.schema_version == READABLE[0] else Inquiry()


def inquiry_of_entry(entry: InquiryEntry, question: str) -> Inquiry:
    """The inquiry of an entry in a document.

    Raises:
        RunDocumentInvalid: a time or window in it is malformed.
    """
    inventory = entry.inventory
    return Inquiry(
        question=question,
        onset_s=None if entry.onset_at is None else read_instant(entry.onset_at, "inquiry.onset_at"),
        onset_origin=entry.onset_origin,
        affected=entry.affected,
        alert_entity=entry.alert_entity,
        alert_signal=entry.alert_signal,
        alert_at_s=None if entry.alert_at is None else read_instant(entry.alert_at, "inquiry.alert_at"),
        inventory=Inventory(
            entities=tuple(
                KnownEntity(each.name, each.owner, frozenset(each.telemetry)) for each in inventory.entities
            ),
            edges=tuple((each.caller, each.callee) for each in inventory.calls),
            telemetry=frozenset(inventory.telemetry),
            incident=window_of(inventory.incident, "inquiry.inventory.incident"),
            baseline=window_of(inventory.baseline, "inquiry.inventory.baseline"),
        ),
        carried=entry.carried or (),
        reading=QuestionReading() if entry.question is None else entry.question.reading(),
    )


def _reconstruct_inquiry(document: RunDocument, records: Iterable[EvidenceRecord]) -> Inquiry:
    """The inquiry as far as a document of version 2 shows it; a name that is in no item is unknown."""
    records = tuple(records)
    items = [item for record in records for item in record.items]
    inventory_items = [item for item in items if item.kind is ItemKind.INVENTORY]
    alert = next((item for item in inventory_items if item.attributes.get("telemetry") == "alert"), None)
    stated = next((item for item in inventory_items if item.attributes.get("telemetry") == "onset"), None)
    recorded = next(
        (item.window for item in inventory_items if item.attributes.get("recording") == "incident"), None
    )
    run = document.run
    onsets = (
        (_onset_s(run.onset_at), OnsetOrigin.ASKED),
        (timestamp_in_question(run.question, recorded), OnsetOrigin.QUESTION),
        (None if stated is None else stated.onset_s, OnsetOrigin.SOURCE),
        (None if alert is None else alert.onset_s, OnsetOrigin.ALERT),
    )
    onset_s, origin = next((each for each in onsets if each[0] is not None), (None, OnsetOrigin.NOBODY))
    alert_entity = None if alert is None else alert.entity
    named = tuple(item.entity for item in inventory_items if item.attributes.get("mentioned") and item.entity)
    owners = {
        name: item.attributes.get("owner") for item in items for name in (item.entity, item.peer) if name
    }
    kinds = _kinds(inventory_items, records)
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
            incident=recorded or _time_span(records),
        ),
    )


def _kinds(inventory: Iterable[EvidenceItem], records: Iterable[EvidenceRecord]) -> frozenset[Telemetry]:
    """The kinds of telemetry that the inventory names or that a call searched."""
    named = {item.attributes.get("telemetry") for item in inventory}
    looked = {
        rule.telemetry
        for record in records
        if record.projection is not None and record.projection.looked_at > 0
        if (rule := absence_rule(record.tool_name)) is not None
    }
    return frozenset(kind for kind in Telemetry if kind.value in named or kind in looked)


def _time_span(records: Iterable[EvidenceRecord]) -> TimeWindow | None:
    """The time span of a run's calls and findings, used if no inventory states what was recorded."""
    found = [record.projection for record in records if record.projection is not None]
    windows = [each.window for each in found] + [item.window for each in found for item in each.items]
    present = [window for window in windows if window is not None]
    if not present:
        return None
    return TimeWindow(min(each.start_s for each in present), max(each.end_s for each in present))


def _onset_s(onset_at: str | None) -> float | None:
    """The stated onset; None if it is malformed, which the check of the account reports."""
    try:
        return None if onset_at is None else read_instant(onset_at, "run.onset_at")
    except RunDocumentInvalid:
        return None
