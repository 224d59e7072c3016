"""Checks the inventory of a saved run against what its records say the source contains."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from diagnosis_harness.audit.verification.result import Flaw, FlawCode
from diagnosis_harness.diagnosis.inquiry import Inquiry, Telemetry
from diagnosis_harness.kernel.window import TimeWindow
from diagnosis_harness.tools.evidence import EvidenceItem, ItemKind
from diagnosis_harness.tools.invocation import EvidenceRecord

_SAME_INSTANT_S = 0.001
"""Times are written to the millisecond."""
_COUNTED = frozenset({Telemetry.METRICS, Telemetry.SPANS, Telemetry.LOGS, Telemetry.CHANGES})
"""Kinds that a source either counts or lacks. Owners of instances make a topology without any call."""


def inventory_flaws(inquiry: Inquiry, records: Sequence[EvidenceRecord], *, omitted: int) -> Iterator[Flaw]:
    """Every kind, recording, name, owner and call in a record must also be in the inventory.

    If the document omits nothing, the counts in records must equal the inventory's, and complete lists in
    records must contain everything.
    """
    items = [item for record in records for item in record.items]
    yield from _kind_flaws(inquiry, items)
    yield from _recording_flaws(inquiry, items)
    yield from _name_flaws(inquiry, records)
    yield from _owner_flaws(inquiry, items)
    if not omitted:
        yield from _count_flaws(inquiry, records)
        yield from _call_flaws(inquiry, records)


def _kind_flaws(inquiry: Inquiry, items: Sequence[EvidenceItem]) -> Iterator[Flaw]:
    listed = inquiry.inventory.telemetry
    known = {each.value: each for each in Telemetry}
    for item in items:
        if item.kind is not ItemKind.INVENTORY:
            continue
        there = known.get(str(item.attributes.get("telemetry")))
        if there is not None and there not in listed:
            yield _flaw("inventory.telemetry", None, there)
        missing = known.get(str(item.attributes.get("missing")))
        if missing in _COUNTED and missing in listed:
            yield _flaw("inventory.telemetry", missing, None)


def _recording_flaws(inquiry: Inquiry, items: Sequence[EvidenceItem]) -> Iterator[Flaw]:
    windows = {"incident": inquiry.inventory.incident, "baseline": inquiry.inventory.baseline}
    for item in items:
        name, missing = item.attributes.get("recording"), item.attributes.get("missing")
        if item.kind is not ItemKind.INVENTORY:
            continue
        if isinstance(name, str) and name in windows and not _is_same(windows[name], item.window):
            yield _flaw(f"inventory.{name}", windows[name], item.window)
        for each, window in windows.items():
            if missing == f"{each} recording" and window is not None:
                yield _flaw(f"inventory.{each}", window, None)


def _is_same(one: TimeWindow | None, other: TimeWindow | None) -> bool:
    if one is None or other is None:
        return one is other
    apart_s = max(abs(one.start_s - other.start_s), abs(one.end_s - other.end_s))
    return apart_s <= _SAME_INSTANT_S


def _name_flaws(inquiry: Inquiry, records: Sequence[EvidenceRecord]) -> Iterator[Flaw]:
    """A name in the telemetry must be known; custom tools may have names from elsewhere."""
    known = {name for each in inquiry.inventory.entities for name in (each.name, each.owner)}
    found = (
        item.entity
        for record in records
        for item in record.items
        if item.attributes.get("mentioned") or (record.tool_name in _OF_TELEMETRY and item.kind in _KINDS)
    )
    for name in dict.fromkeys(found):
        if name is not None and name not in known and name != inquiry.alert_entity:
            yield _flaw("inventory.entities", None, name)


_OF_TELEMETRY = frozenset({"find_changed_signals", "inspect_signal", "compare_spans", "rank_causes"})
_KINDS = frozenset({ItemKind.SIGNAL_CHANGE, ItemKind.SELF_TIME, ItemKind.CAUSE_SCORE, ItemKind.SPAN_ERRORS})
"""Items that these tools compute from the telemetry of the entity that they name."""


def _owner_flaws(inquiry: Inquiry, items: Sequence[EvidenceItem]) -> Iterator[Flaw]:
    owners = {each.name: each.owner for each in inquiry.inventory.entities}
    for item in items:
        owner = item.attributes.get("owner")
        if owner is not None and item.entity in owners and owners[item.entity] not in (None, owner):
            yield _flaw("inventory.entities", owners[item.entity], owner)


def _count_flaws(inquiry: Inquiry, records: Sequence[EvidenceRecord]) -> Iterator[Flaw]:
    names, calls = len(inquiry.inventory.entities), len(inquiry.inventory.edges)
    for record in records:
        looked_at = record.projection.looked_at if record.projection else None
        if record.tool_name == "match_entities" and looked_at is not None and looked_at != names:
            yield _flaw("inventory.entities", names, looked_at)
        for item in record.items:
            if item.kind is not ItemKind.INVENTORY or item.value is None:
                continue
            telemetry = item.attributes.get("telemetry")
            if telemetry == "entities" and item.value > names:
                yield _flaw("inventory.entities", names, int(item.value))
            if telemetry == Telemetry.TOPOLOGY.value and item.value != calls:
                yield _flaw("inventory.calls", calls, int(item.value))


def _call_flaws(inquiry: Inquiry, records: Sequence[EvidenceRecord]) -> Iterator[Flaw]:
    """The calls of records must be in the inventory."""
    calls = set(inquiry.inventory.edges)
    for record in records:
        for item in record.items:
            if item.kind is ItemKind.CALL_EDGE and (item.peer, item.entity) not in calls:
                yield _flaw("inventory.calls", None, f"{item.peer} {item.entity}")


def _flaw(name: str, stated: object, found: object) -> Flaw:
    return Flaw(FlawCode.INQUIRY_DIFFERS, f"inquiry.{name}", str(stated), str(found))
