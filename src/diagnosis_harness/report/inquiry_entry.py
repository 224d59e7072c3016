"""The inquiry in a run document, with which `verify` repeats the guards' comparisons."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass, field

from diagnosis_harness.diagnosis.inquiry import Inquiry, Inventory, OnsetOrigin, Telemetry
from diagnosis_harness.diagnosis.names import NameRead, NameReading
from diagnosis_harness.diagnosis.question import TimeRead
from diagnosis_harness.diagnosis.question_form import FormRead, QuestionForm, Topic
from diagnosis_harness.diagnosis.question_reading import QuestionReading, ZoneOrigin
from diagnosis_harness.kernel.window import utc_text
from diagnosis_harness.report.version import optional
from diagnosis_harness.report.window import Window, read_instant

ENTITIES_MAX = 500
"""A document lists all entities up to this number, which takes some 30 kB of JSON."""


@dataclass(frozen=True, slots=True)
class EntityEntry:
    """An entity of the telemetry, and the kinds of telemetry that mention it."""

    name: str
    owner: str | None
    telemetry: tuple[Telemetry, ...]


@dataclass(frozen=True, slots=True)
class CallEntry:
    """One entity calls another, according to the call graph."""

    caller: str
    callee: str


@dataclass(frozen=True, slots=True)
class InventoryEntry:
    """The content of the source.

    Attributes:
        omitted: number of entities that are left out, of a source with very many; the run mentions none of
        them.
    """

    entities: tuple[EntityEntry, ...]
    calls: tuple[CallEntry, ...]
    telemetry: tuple[Telemetry, ...]
    incident: Window | None
    baseline: Window | None
    omitted: int


@dataclass(frozen=True, slots=True)
class NameEntry:
    """A name in the question or the alert, and how it was read; with `name` None, no telemetry knows it."""

    said: str
    name: str | None
    how: NameReading
    nearest: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class QuestionEntry:
    """How the words of the question were read; see `diagnosis.question_reading`."""

    names: tuple[NameEntry, ...]
    alert_name: NameEntry | None
    zone: str
    zone_origin: ZoneOrigin
    at: str | None
    """When it began, according to the question."""
    until: str | None
    relative: str | None
    unread_times: tuple[str, ...]
    form: QuestionForm
    subject: str | None
    other: str | None = field(default=None, metadata=optional("3"))
    """The second entity of a comparison."""
    topic: Topic | None = field(default=None, metadata=optional("3"))
    """Which recordings are to be shown."""

    @classmethod
    def of(cls, reading: QuestionReading) -> QuestionEntry:
        """The reading as the document writes it."""
        alert = reading.alert_name
        return cls(
            names=tuple(_name_entry(each) for each in reading.names),
            alert_name=None if alert is None else _name_entry(alert),
            zone=reading.zone,
            zone_origin=reading.zone_origin,
            at=_instant(reading.time.at_s),
            until=_instant(reading.time.until_s),
            relative=reading.time.relative,
            unread_times=reading.time.unread,
            form=reading.form.form,
            subject=reading.form.subject,
            other=reading.form.other,
            topic=reading.form.topic,
        )

    def reading(self) -> QuestionReading:
        """The reading that the document writes."""
        alert = self.alert_name
        return QuestionReading(
            names=tuple(_name_read(each) for each in self.names),
            alert_name=None if alert is None else _name_read(alert),
            zone=self.zone,
            zone_origin=self.zone_origin,
            time=TimeRead(
                None if self.at is None else read_instant(self.at, "inquiry.question.at"),
                None if self.until is None else read_instant(self.until, "inquiry.question.until"),
                self.relative,
                self.unread_times,
            ),
            form=FormRead(self.form, self.subject, self.other, self.topic),
        )


def _name_entry(read: NameRead) -> NameEntry:
    return NameEntry(read.written, read.name, read.how, read.nearest)


def _name_read(entry: NameEntry) -> NameRead:
    return NameRead(entry.said, entry.name, entry.how, entry.nearest)


@dataclass(frozen=True, slots=True)
class InquiryEntry:
    """The inquiry of the run; see `diagnosis.inquiry.Inquiry`."""

    onset_at: str | None
    onset_origin: OnsetOrigin
    affected: tuple[str, ...]
    alert_entity: str | None
    alert_signal: str | None
    alert_at: str | None
    inventory: InventoryEntry
    carried: tuple[str, ...] | None = field(default=None, metadata=optional("3"))
    """The affected entities taken over from the previous turn."""
    question: QuestionEntry | None = field(default=None, metadata=optional("3"))
    """None if the program that wrote it only matched names and times exactly as written."""

    @classmethod
    def of(cls, inquiry: Inquiry, *, spoken_of: Collection[str]) -> InquiryEntry:
        """The inquiry as the document writes it.

        For a source with very many entities, it lists those that the run mentions or was asked about, with
        their services and instances, and the calls between them.
        """
        return cls(
            onset_at=_instant(inquiry.onset_s),
            onset_origin=inquiry.onset_origin,
            affected=inquiry.affected,
            alert_entity=inquiry.alert_entity,
            alert_signal=inquiry.alert_signal,
            alert_at=_instant(inquiry.alert_at_s),
            inventory=_inventory(
                inquiry.inventory, {*spoken_of, *inquiry.affected, inquiry.alert_entity} - {None}
            ),
            carried=inquiry.carried or None,
            question=QuestionEntry.of(inquiry.reading),
        )


def _inventory(inventory: Inventory, spoken_of: Collection[str | None]) -> InventoryEntry:
    kept, calls = inventory.entities, inventory.edges
    if len(kept) > ENTITIES_MAX:
        owners = {each.owner for each in kept if each.name in spoken_of} - {None}
        near = owners.union(spoken_of)
        kept = tuple(each for each in kept if not near.isdisjoint((each.name, each.owner)))
        known = {name for each in kept for name in (each.name, each.owner)}
        calls = tuple(edge for edge in calls if known.issuperset(edge))
    return InventoryEntry(
        entities=tuple(EntityEntry(each.name, each.owner, _in_order(each.telemetry)) for each in kept),
        calls=tuple(CallEntry(caller, callee) for caller, callee in calls),
        telemetry=_in_order(inventory.telemetry),
        incident=Window.of(inventory.incident),
        baseline=Window.of(inventory.baseline),
        omitted=len(inventory.entities) - len(kept),
    )


def _in_order(kinds: Iterable[Telemetry]) -> tuple[Telemetry, ...]:
    present = set(kinds)
    return tuple(kind for kind in Telemetry if kind in present)


def _instant(time_s: float | None) -> str | None:
    return None if time_s is None else utc_text(time_s)
