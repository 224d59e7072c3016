"""Evidence as values: items, records, and the two statuses of a tool call.

A record cannot be built in an illegal state: PROJECTING has no evidence status, READY has EVIDENCE_FOUND or
NO_EVIDENCE, ERROR has ERROR (seed: harness-lifecycle-and-states §7).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from types import MappingProxyType
from typing import Final

from diagnosis_harness.kernel.errors import ContractViolation
from diagnosis_harness.kernel.json_value import JsonValue, Scalar
from diagnosis_harness.kernel.window import TimeWindow, utc_text


class InvocationStatus(StrEnum):
    """One tool call's canonical record. Only READY may be cited."""

    PROJECTING = "PROJECTING"
    READY = "READY"
    ERROR = "ERROR"


class EvidenceStatus(StrEnum):
    """What the call objectively found."""

    EVIDENCE_FOUND = "EVIDENCE_FOUND"
    NO_EVIDENCE = "NO_EVIDENCE"
    ERROR = "ERROR"


class Direction(StrEnum):
    """The direction in which a value moved from its baseline."""

    UP = "UP"
    DOWN = "DOWN"
    FLAT = "FLAT"


class ItemKind(StrEnum):
    """What an evidence item is about; players and guards decide by it, never by the text."""

    INVENTORY = "INVENTORY"  # what the source holds
    SIGNAL_CHANGE = "SIGNAL_CHANGE"  # a signal against its baseline
    ONSET = "ONSET"  # when a signal, or the incident, began to differ
    SELF_TIME = "SELF_TIME"  # time inside an entity's own spans
    EDGE_GAP = "EDGE_GAP"  # time between a caller's span and its callee's
    SPAN_ERRORS = "SPAN_ERRORS"  # share of failing spans
    CALL_EDGE = "CALL_EDGE"  # who calls whom
    CAUSE_SCORE = "CAUSE_SCORE"  # one candidate of a ranking, with its parts
    OVERVIEW = "OVERVIEW"  # that nothing unusual was found in anything that was looked at
    LOG_LINES = "LOG_LINES"  # matching log lines
    LOG_PATTERN = "LOG_PATTERN"  # how often lines of one pattern are written
    LOG_ORDER = "LOG_ORDER"  # how often one line is followed by another
    CHANGE_EVENT = "CHANGE_EVENT"  # a deploy, flag or configuration change
    PLATFORM_EVENT = "PLATFORM_EVENT"  # what a platform reported of an object, and whether it still lasts
    STATE = "STATE"  # what an attribute of an entity is: see `EvidenceItem`
    COUNT = "COUNT"  # how many of something an entity has, or had, in a window: see `EvidenceItem`


SERIES_ENDED: Final = ("all series", "ended while others go on")
"""Attribute and state of an entity of which nothing is measured any more, while others are."""
LIMIT_HELD: Final = "rose to its limit and stays there"
"""State of a series that rose to a limit, which stands beside it as its value, and stays at exactly that."""


@dataclass(frozen=True, slots=True)
class EvidenceItem:
    """One small, typed finding.

    STATE and COUNT are for facts of your own tools, whatever they are about. A STATE names the attribute in
    `signal` and gives what it is as a number in `value` and `unit`, or else as text in the attribute `state`;
    both only for `LIMIT_HELD`. `window` is when it was seen, `onset_s` since when it holds. A COUNT names in
    `signal` what is counted and gives the whole number in `value`, without a unit, and in `baseline` how many
    are normal, where known.

    Attributes:
        item_id: unique inside its record.
        line: one human-readable English line, the only text that may be quoted. It states entity, numbers and
            units of the typed values, and nothing that the typed values do not hold.
        entity: whom it is about; for EDGE_GAP and CALL_EDGE the callee.
        peer: the other entity, for an edge the caller; for CAUSE_SCORE the affected entity; for a LOG_PATTERN
            that names its entity as failing, who wrote it.
        value, baseline: in `unit`; the value in the window against normal.
        window: what the item speaks of.
        onset_s: when the change began, if the tool knows it.
        score: strength in the tool's own scale, larger is stronger; comparable inside one record only.
        points: a thinned series for a small plot, oldest first; None if a value is missing.
        attributes: further typed values, by name.
        source_rows: rows of source data behind the item.
    """

    item_id: str
    kind: ItemKind
    line: str
    entity: str | None = None
    peer: str | None = None
    signal: str | None = None
    value: float | None = None
    baseline: float | None = None
    unit: str | None = None
    direction: Direction | None = None
    window: TimeWindow | None = None
    onset_s: float | None = None
    score: float | None = None
    points: tuple[float | None, ...] = ()
    attributes: Mapping[str, Scalar] = field(default_factory=dict)
    source_rows: int = 0

    def __post_init__(self) -> None:
        if not self.item_id or not self.line or "\n" in self.line:
            raise ContractViolation("an evidence item has an id and exactly one line")
        object.__setattr__(self, "attributes", MappingProxyType(dict(self.attributes)))

    def number(self, name: str) -> float:
        """The attribute of this name as a number; 0 where it is absent or no number."""
        value = self.attributes.get(name)
        return float(value) if isinstance(value, int | float) else 0.0

    def as_json(self) -> dict[str, JsonValue]:
        """The item in the form for canonical JSON: absent values are left out, windows are UTC text."""
        content: dict[str, JsonValue] = {"item_id": self.item_id, "kind": self.kind.value, "line": self.line}
        for name in ("entity", "peer", "signal", "value", "baseline", "unit", "score"):
            if (got := getattr(self, name)) is not None:
                content[name] = got
        if self.direction is not None:
            content["direction"] = self.direction.value
        if self.window is not None:
            content["window"] = [utc_text(self.window.start_s), utc_text(self.window.end_s)]
        if self.onset_s is not None:
            content["onset"] = utc_text(self.onset_s)
        if self.points:
            content["points"] = list(self.points)
        if self.attributes:
            content["attributes"] = dict(self.attributes)
        if self.source_rows:
            content["source_rows"] = self.source_rows
        return content
