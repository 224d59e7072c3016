"""The stored records of a published document, read from the JSON without any code of the product."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from diagnosis_harness.kernel.window import parse_utc

Json = Mapping[str, Any]
SAME_S = 0.0011
"""Documents write milliseconds."""
KIND_OF_TOOL = {
    "search_logs": "logs",
    "list_changes": "changes",
    "find_changed_signals": "metrics",
    "inspect_signal": "metrics",
    "compare_spans": "spans",
    "walk_topology": "topology",
    "rank_causes": "metrics",
}
"""The kind of telemetry that a tool reads."""


@dataclass(frozen=True, slots=True)
class Span:
    """A span of time."""

    start_s: float
    end_s: float


def span_of(value: Any) -> Span | None:  # noqa: ANN401 - JSON, as it comes
    """A window as a document or a record writes it."""
    if isinstance(value, Mapping):
        return Span(parse_utc(value["start"]), parse_utc(value["end"]))
    return Span(parse_utc(value[0]), parse_utc(value[1])) if value else None


@dataclass(frozen=True, slots=True)
class Item:
    """One stored item."""

    held: Json

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - JSON, as it comes
        return self.held.get(name)

    @property
    def more(self) -> Json:
        """Its further values."""
        found: Json = self.held.get("attributes", {})
        return found

    @property
    def owner(self) -> str | None:
        """The service that its entity is a part of, if it says so."""
        found: str | None = self.more.get("owner")
        return found

    @property
    def span(self) -> Span | None:
        """The time that it is about."""
        return span_of(self.held.get("window"))

    @property
    def onset_s(self) -> float | None:
        """When it began."""
        at = self.held.get("onset")
        return None if at is None else parse_utc(at)

    @property
    def as_normal(self) -> bool:
        """Whether more than one in twenty windows of normal operation moved at least as far."""
        if self.held.get("direction") == "FLAT":
            return True
        as_far, of = self.more.get("as_far"), self.more.get("normal_windows")
        return isinstance(as_far, int) and isinstance(of, int) and of > 0 and as_far > 0.05 * of


@dataclass(frozen=True, slots=True)
class Record:
    """One stored tool call."""

    call: str
    tool: str
    scope: Json
    status: str | None
    looked_at: int
    omitted: int
    span: Span | None
    items: Mapping[str, Item]


def records_of(document: Json) -> dict[str, Record]:
    """Every record of a document by its tool call id."""
    found = {}
    for entry in document["records"]:
        stored: Json = json.loads(entry["stored"] or '{"items": [], "looked_at": 0}')
        found[entry["tool_call_id"]] = Record(
            call=entry["tool_call_id"],
            tool=entry["tool"],
            scope=json.loads(entry["scope"] or "{}"),
            status=entry["evidence_status"],
            looked_at=stored["looked_at"],
            omitted=stored.get("omitted", 0),
            span=span_of(stored.get("window")),
            items={each["item_id"]: Item(each) for each in stored["items"]},
        )
    return found


def items_cited_by(
    refs: Sequence[Json], records: Mapping[str, Record]
) -> Iterator[tuple[Json, Record | None, Item | None]]:
    """Each reference with the record and the item that it points at."""
    for ref in refs:
        record = records.get(ref["tool_call_id"])
        yield ref, record, record.items.get(ref["item_id"]) if record else None
