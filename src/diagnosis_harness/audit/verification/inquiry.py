"""Checks the inquiry of a saved run against question, stated onset and inventory records."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC

from diagnosis_harness.application.routed import was_routed
from diagnosis_harness.audit.verification.inventory import inventory_flaws
from diagnosis_harness.audit.verification.result import Check, CheckName, Flaw, FlawCode
from diagnosis_harness.diagnosis.inquiry import Inquiry, OnsetOrigin
from diagnosis_harness.diagnosis.names import KnownNames, NameReading
from diagnosis_harness.diagnosis.question import timestamp_in_question
from diagnosis_harness.diagnosis.question_reading import Background, read_question, shorten_for_matching
from diagnosis_harness.diagnosis.zones import zone_of
from diagnosis_harness.kernel.errors import RunDocumentInvalid
from diagnosis_harness.report.document import RunDocument
from diagnosis_harness.report.inquiry_entry import InquiryEntry, QuestionEntry
from diagnosis_harness.report.restore_inquiry import inquiry_of_entry
from diagnosis_harness.report.version import SCHEMA_VERSION
from diagnosis_harness.report.window import read_instant
from diagnosis_harness.tools.evidence import EvidenceItem, ItemKind
from diagnosis_harness.tools.invocation import EvidenceRecord

_SAME_INSTANT_S = 0.001
"""Times are written to the millisecond."""


def inquiry_check(document: RunDocument, records: Sequence[EvidenceRecord]) -> Check:
    """Whether the inquiry follows from the question, the stated onset and the inventory records."""
    if document.inquiry is None:
        flaws = [Flaw(FlawCode.INQUIRY_MISSING, "inquiry")] if _needs_one(document) else []
        return Check(CheckName.INQUIRY, 0, tuple(flaws))
    try:
        inquiry = inquiry_of_entry(document.inquiry, document.run.question)
        flaws = [
            *_onset_flaws(inquiry, document, records),
            *_record_flaws(inquiry, records),
            *inventory_flaws(inquiry, records, omitted=document.inquiry.inventory.omitted),
            *_unread_flaws(document),
            *_reading_flaws(inquiry, document.inquiry),
        ]
    except RunDocumentInvalid as error:
        flaws = [Flaw(FlawCode.NOT_OF_THE_SCHEMA, error.place, found=error.problem)]
    return Check(CheckName.INQUIRY, 1 + len(document.inquiry.inventory.entities), tuple(flaws))


def _needs_one(document: RunDocument) -> bool:
    report = document.report
    return bool(report.claims or report.causes or report.candidates)


def _onset_flaws(
    inquiry: Inquiry, document: RunDocument, records: Sequence[EvidenceRecord]
) -> Iterator[Flaw]:
    """The first source that states the onset is used, so none before it may have stated one."""
    stated = document.run.onset_at
    asked_s = None if stated is None else read_instant(stated, "run.onset_at")
    onsets = {
        OnsetOrigin.ASKED: asked_s,
        OnsetOrigin.QUESTION: _in_question(inquiry, document.inquiry),
        OnsetOrigin.CARRIED: inquiry.onset_s,  # nothing else in the document shows the previous turn
        OnsetOrigin.SOURCE: _of_the_source(inquiry, records),
        OnsetOrigin.ALERT: inquiry.alert_at_s,
        OnsetOrigin.NOBODY: None,
    }
    origin = inquiry.onset_origin
    if not _is_same(inquiry.onset_s, onsets[origin]):
        yield _flaw("onset_at", inquiry.onset_s, onsets[origin])
    if origin is not OnsetOrigin.ASKED and asked_s is not None:
        yield _flaw("onset_origin", origin, OnsetOrigin.ASKED)
    if origin not in (OnsetOrigin.ASKED, OnsetOrigin.QUESTION) and onsets[OnsetOrigin.QUESTION] is not None:
        yield _flaw("onset_origin", origin, OnsetOrigin.QUESTION)
    if origin is OnsetOrigin.CARRIED and not was_routed(document.trace):  # a command has no previous turn
        yield _flaw("onset_origin", origin, OnsetOrigin.NOBODY)
    if inquiry.carried and not was_routed(document.trace):
        yield _flaw("carried", inquiry.carried, ())
    if origin is OnsetOrigin.NOBODY and inquiry.alert_at_s is not None:
        yield _flaw("onset_origin", origin, OnsetOrigin.ALERT)


def _in_question(inquiry: Inquiry, entry: InquiryEntry | None) -> float | None:
    """The time in the question's words, in the zone that the document names."""
    if entry is None or entry.question is None:
        return timestamp_in_question(inquiry.question, inquiry.inventory.incident)
    zone, asked = zone_of(entry.question.zone) or UTC, shorten_for_matching(inquiry.question)
    return timestamp_in_question(asked, inquiry.inventory.incident, zone)


def _unread_flaws(document: RunDocument) -> Iterator[Flaw]:
    """Only documents of version 3 and before may lack how the question was read."""
    if document.schema_version == SCHEMA_VERSION and document.inquiry and document.inquiry.question is None:
        yield _flaw("question", None, "how the question was read")


def _reading_flaws(inquiry: Inquiry, entry: InquiryEntry) -> Iterator[Flaw]:
    """Read the question again and compare.

    The document's aliases are used, since only the source has others.
    """
    if entry.question is None:
        return
    if zone_of(entry.question.zone) is None:
        yield _flaw("question.zone", entry.question.zone, "no zone of this name")
    if entry.inventory.omitted:
        return
    reads = [*inquiry.reading.names, *filter(None, [inquiry.reading.alert_name])]
    aliases = {each.written: each.name for each in reads if each.how is NameReading.ALIAS and each.name}
    known = KnownNames.of([each.name for each in inquiry.inventory.entities], aliases)
    recorded, zone, origin = inquiry.inventory.incident, inquiry.reading.zone, inquiry.reading.zone_origin
    again = read_question(inquiry.question, Background(known, inquiry.alert_entity, recorded, zone, origin))
    if QuestionEntry.of(again) != entry.question:
        yield _flaw("question", inquiry.reading, again)
    if not set(inquiry.affected) <= {*(each.name for each in reads), *inquiry.carried}:
        yield _flaw("affected", inquiry.affected, "")


def _of_the_source(inquiry: Inquiry, records: Sequence[EvidenceRecord]) -> float | None:
    """The onset that the source states, from a record of the known onsets, else from the inquiry."""
    known = [
        item
        for record in records
        for item in record.items
        if item.kind is ItemKind.ONSET and "method" in item.attributes
    ]
    stated = (item.onset_s for item in known if item.attributes["method"] == "stated")
    return next(stated, None) if known else inquiry.onset_s


def _record_flaws(inquiry: Inquiry, records: Sequence[EvidenceRecord]) -> Iterator[Flaw]:
    items = [item for record in records for item in record.items if item.kind is ItemKind.INVENTORY]
    for item in items:
        attributes = item.attributes
        if attributes.get("telemetry") == "alert":
            yield from _alert_flaws(inquiry, item)


def _alert_flaws(inquiry: Inquiry, alert: EvidenceItem) -> Iterator[Flaw]:
    if alert.entity is not None and alert.entity != inquiry.alert_entity:
        yield _flaw("alert_entity", inquiry.alert_entity, alert.entity)
    if alert.signal is not None and alert.signal != inquiry.alert_signal:
        yield _flaw("alert_signal", inquiry.alert_signal, alert.signal)
    if alert.onset_s is not None and not _is_same(inquiry.alert_at_s, alert.onset_s):
        yield _flaw("alert_at", inquiry.alert_at_s, alert.onset_s)


def _is_same(one: float | None, other: float | None) -> bool:
    if one is None or other is None:
        return one is other
    return abs(one - other) <= _SAME_INSTANT_S


def _flaw(name: str, stated: object, found: object) -> Flaw:
    return Flaw(FlawCode.INQUIRY_DIFFERS, f"inquiry.{name}", str(stated), str(found))
