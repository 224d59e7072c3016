"""Checks what a draft states besides its claims: missing information, unknown names, and the time window."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from diagnosis_harness.diagnosis.inquiry import Inquiry, Telemetry
from diagnosis_harness.diagnosis.missing import MissingInfo
from diagnosis_harness.guards.asked import COMPARING_KINDS, question_scope
from diagnosis_harness.guards.incident_time import is_same_window
from diagnosis_harness.kernel.window import TimeWindow
from diagnosis_harness.tools.evidence import ItemKind
from diagnosis_harness.tools.invocation import EvidenceRecord

_KINDS = {
    MissingInfo.METRICS: Telemetry.METRICS,
    MissingInfo.SPANS: Telemetry.SPANS,
    MissingInfo.LOGS: Telemetry.LOGS,
    MissingInfo.CHANGES: Telemetry.CHANGES,
    MissingInfo.TOPOLOGY: Telemetry.TOPOLOGY,
}
_NAME = re.compile(r"[^\W\d_][\w.\-/:@]{0,127}")
_IDENTIFIER = re.compile(r"\d|\w[.\-_/]\w")
_SERVICE = re.compile(
    r"(?<![\w.\-/:@])[A-Za-z][\w.]*(?:-[\w.]+)*-(?:(?:service|svc|server|api|db|cache|queue|worker|gateway|proxy|pod)"
    r"|[A-Za-z]*\d\w*)(?![\w\-/:@])",
    re.ASCII,
)
"""A name written in the form of services and instances: `moon-service`, `moon-7d9f`."""


@dataclass(frozen=True, slots=True)
class Circumstances:
    """What a run had available, used to check what a draft reports as missing.

    Attributes:
        records: of this run.
        denied: whether a tool was refused because the caller is not allowed to use it.
    """

    inquiry: Inquiry
    records: tuple[EvidenceRecord, ...]
    denied: bool = False


def standing_missing(missing: Iterable[str], circumstances: Circumstances) -> tuple[MissingInfo, ...]:
    """The reports of missing information in a draft that are true.

    The set is closed: anything else that an agent writes is dropped.
    """
    known = (each for each in missing if isinstance(each, MissingInfo))
    return tuple(each for each in dict.fromkeys(known) if _is_missing(each, circumstances))


def standing_names(names: Iterable[str], inquiry: Inquiry) -> tuple[str, ...]:
    """The names that a draft reports as unknown, if the question uses them as names and they are unknown.

    A plain word counts as a name only if the question quotes it or calls it a service.
    """
    return tuple(
        name
        for name in dict.fromkeys(names)
        if name in inquiry.reading.unknown
        or (_NAME.fullmatch(name) and _is_named(name, inquiry.question) and not _is_known(name, inquiry))
    )


def unknown_services(inquiry: Inquiry) -> tuple[str, ...]:
    """Unknown names in a question that appear in place of a service or look like one."""
    written = [found[0] for found in _SERVICE.finditer(inquiry.question)]
    read = {each.written for each in inquiry.reading.inexact_names if each.name is not None}
    names = (*inquiry.reading.unknown, *(name for name in written if name not in read))
    return standing_names(names, inquiry)


def _is_named(name: str, question: str) -> bool:
    alone = rf"(?<![\w.\-/:@]){re.escape(name)}(?![\w\-/:@])"
    if _IDENTIFIER.search(name) and name[-1] != ".":
        return re.search(alone, question, re.ASCII) is not None
    called = rf"[`'\"“‘「『]{re.escape(name)}[`'\"”’」』]|(?<![\w.\-/:@]){re.escape(name)}\s?服务"
    return re.search(called, question, re.ASCII) is not None


def _is_known(name: str, inquiry: Inquiry) -> bool:
    """Whether the name is known under any word separator: `order_service` equals `order-service`."""
    inventory = inquiry.inventory
    known = {each for entity in inventory.entities for each in (entity.name, entity.owner) if each}
    return _join(name) in {_join(each) for each in known}


def _join(name: str) -> str:
    return re.sub(r"[-_./]+", " ", name.casefold())


def _is_missing(each: MissingInfo, circumstances: Circumstances) -> bool:
    inquiry, records = circumstances.inquiry, circumstances.records
    inventory = inquiry.inventory
    match each:
        case MissingInfo.ENTITY:
            return not inquiry.affected
        case MissingInfo.TIME:
            return inquiry.onset_s is None
        case MissingInfo.PERMISSION:
            return circumstances.denied
        case MissingInfo.SOURCE:
            return not inventory.telemetry and not records
        case MissingInfo.INCIDENT:
            return _is_listed(each, records) or (bool(inventory.telemetry) and inventory.incident is None)
        case MissingInfo.BASELINE:
            return _is_listed(each, records) or (bool(inventory.telemetry) and inventory.baseline is None)
        case _:
            # Without an inventory of the source only a record can show that it is missing.
            is_absent = bool(inventory.telemetry) and _KINDS[each] not in inventory.telemetry
            return _is_listed(each, records) or is_absent


def _is_listed(each: MissingInfo, records: Iterable[EvidenceRecord]) -> bool:
    """Whether an inventory of the run reports it as missing."""
    return any(
        item.kind is ItemKind.INVENTORY and item.attributes.get("missing") == each
        for record in records
        for item in record.items
    )


def standing_window(
    window: TimeWindow | None, records: Iterable[EvidenceRecord], *, inquiry: Inquiry
) -> TimeWindow | None:
    """The window of an item that compares the question's time with normal, if the draft's window equals it.

    None for any other window: that of a recording, of another incident, or of another run.
    """
    if window is None:
        return None
    available = tuple(records)
    asked = question_scope(inquiry, available)
    for record in available:
        for item in record.items:
            if (
                item.kind not in COMPARING_KINDS
                or item.window is None
                or not is_same_window(window, item.window)
            ):
                continue
            if asked.is_at_its_time(record, item):
                return item.window
    return None
