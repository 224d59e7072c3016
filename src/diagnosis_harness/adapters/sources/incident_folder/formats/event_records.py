"""Events as cloud services and tools list them: a time, an object, and what happened in words."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from diagnosis_harness.adapters.sources.incident_folder.formats.reader import (
    EVENT_COLUMNS,
    TOPOLOGY_COLUMNS,
    Cell,
    FileContent,
    FileHead,
    FileReader,
    Record,
    RoleRows,
    epoch_seconds,
    string_at,
)
from diagnosis_harness.adapters.sources.incident_folder.formats.series_names import service_of_pod
from diagnosis_harness.adapters.sources.incident_folder.listing import Role

_TEXT: Final = ("message", "Message", "note")
_OBJECT: Final = (
    "involved_object", "involvedObject", "source_identifier", "SourceIdentifier", "object", "resource",
)  # fmt: skip
_FIRST: Final = ("first_time", "firstTimestamp", "first_seen")
_LAST: Final = ("last_time", "lastTimestamp", "last_seen", "date", "Date", "time", "timestamp", "event_time")
_BAD: Final = frozenset(
    {"warning", "error", "critical", "failure", "failover", "degraded", "outage", "down", "unavailable"}
)
_NOTICE: Final = ("detail", "details", "description", "title")
_PROVIDER: Final = ("component", "service", "product", "source")


def _events_in(document: Record) -> list[Record]:
    """The objects in the lists of a document that are events, or notices of a status page."""
    lists = (values for values in document.values() if isinstance(values, list))
    found = (one for values in lists for one in values if isinstance(one, dict))
    return [event for one in found if (event := one if _is_event(one) else _event_of_notice(one, document))]


def _event_of_notice(one: Record, document: Record) -> Record | None:
    """A notice of a status page as an event; its page names the component if it names none itself."""
    status, text = string_at(one, "status"), string_at(one, *_NOTICE)
    whose = string_at(one, *_PROVIDER) or string_at(document, *_PROVIDER)
    event = {
        "message": text, "object": whose, "reason": status, "severity": status,
        "first_time": string_at(one, "started_at", "created_at"),
        "last_time": string_at(one, "updated_at", "timestamp", "time", "started_at", "created_at"),
    }  # fmt: skip
    return event if status is not None and _is_event(event) else None


def _is_event(one: Record) -> bool:
    text, whose = string_at(one, *_TEXT), string_at(one, *_OBJECT)
    return text is not None and whose is not None and epoch_seconds(string_at(one, *_LAST)) is not None


def _is_list_of_events(head: FileHead) -> bool:
    return bool(_events_in(head.lone))


def _read(content: FileContent) -> Iterable[RoleRows]:
    events = [event for document in content.records() for event in _events_in(document)]
    yield RoleRows(Role.EVENTS, EVENT_COLUMNS, [_row(event) for event in events])
    named = {(string_at(event, *_OBJECT) or "").rpartition("/") for event in events}
    parts = [(pod, service_of_pod(pod), "part_of") for kind, _, pod in sorted(named) if kind == "Pod"]
    if any(pod != service for pod, service, _ in parts):
        yield RoleRows(Role.TOPOLOGY, TOPOLOGY_COLUMNS, [one for one in parts if one[0] != one[1]])


def _row(event: Record) -> tuple[Cell, ...]:
    last = epoch_seconds(string_at(event, *_LAST))
    first = epoch_seconds(string_at(event, *_FIRST))
    categories = event.get("event_categories") or event.get("EventCategories")
    category = str(categories[0]) if isinstance(categories, list) and categories else None
    reason = string_at(event, "reason", "Reason") or category
    whose = _name_in(string_at(event, *_OBJECT) or "")
    kind = (string_at(event, "type", "severity", "level") or category or "").lower()
    count = string_at(event, "count")
    text = f"{reason or 'Event'}: {string_at(event, *_TEXT) or ''}"
    level = "WARN" if kind in _BAD else "INFO"
    number = float(count) if count is not None and count.isdigit() else None
    return last, whose, level, text, reason, number, last if first is None else first, last


def _name_in(reference: str) -> str:
    """The name after a kind, as in `Pod/cart-0`; words joined by ` / ` are one name."""
    return reference if " / " in reference else reference.rpartition("/")[2]


EVENT_READERS: Final = (
    FileReader("event-list", "a list of events with time, object and message", _is_list_of_events, _read),
)
