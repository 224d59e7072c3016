"""A claim is data: code renders its sentence, and code checks every part of it against what it cites."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType

from diagnosis_harness.diagnosis.predicate_rule import Predicate as Predicate  # noqa: PLC0414 - re-exported, since users of claims need it
from diagnosis_harness.kernel.window import TimeWindow
from diagnosis_harness.tools.evidence import Direction


class Looked(StrEnum):
    """What was searched to establish an absence: the unit of the claim's `value`."""

    LOG_LINES = "log lines"
    CHANGES = "changes"
    SPANS = "spans"
    SERIES = "metric series"


CONCLUSIONS = frozenset({Predicate.CAUSED, Predicate.AFFECTED, Predicate.INDEPENDENT, Predicate.UNREMARKABLE})
"""Predicates that name or exonerate a cause, or state that there is none: published only with a success."""


class FaultKind(StrEnum):
    """What kind of fault a cause is, as far as the evidence shows; for its proof see `guards.levels`."""

    CPU = "CPU"
    MEMORY = "MEMORY"
    LEAK = "LEAK"  # memory that is never released
    SATURATION = "SATURATION"  # a pool, a queue, a disk, threads: something other than CPU and memory is full
    LOCK = "LOCK"  # work waits for a lock that other work holds
    CRASH = "CRASH"  # a process ends, or is moved to another machine
    CONFIGURATION = "CONFIGURATION"  # a setting, an image, a certificate or a permission is wrong
    CODE = "CODE"  # the program itself fails
    NETWORK = "NETWORK"
    ERRORS = "ERRORS"  # it fails for an unknown reason
    LATENCY = "LATENCY"  # it is slow for an unknown reason
    TRAFFIC = "TRAFFIC"
    DEPENDENCY = "DEPENDENCY"  # a store or outside provider, with no further detail
    UNKNOWN = "UNKNOWN"


BROADER: Mapping[FaultKind, FaultKind] = MappingProxyType(
    {
        FaultKind.LEAK: FaultKind.MEMORY,
        FaultKind.LOCK: FaultKind.ERRORS,
        FaultKind.CRASH: FaultKind.ERRORS,
        FaultKind.CONFIGURATION: FaultKind.ERRORS,
        FaultKind.CODE: FaultKind.ERRORS,
    }
)
"""The broader kind that covered each kind before it was split off; a label with the broader kind means
both."""


WHOLE_RECORD = "*"
"""The item id that refers to a whole record; the only way to cite a record without items."""


@dataclass(frozen=True, slots=True, order=True)
class EvidenceRef:
    """Points at one item of one record of this run, or with `WHOLE_RECORD` at the record."""

    tool_call_id: str
    item_id: str


@dataclass(frozen=True, slots=True)
class Quote:
    """A verbatim part of the cited item's line."""

    ref: EvidenceRef
    text: str


@dataclass(frozen=True, slots=True)
class Claim:
    """One checkable statement.

    `value` and `baseline` are in `unit`. `affected` is the second entity of CAUSED and CALLS. `wording` is
    the agent's own sentence; it is shown only when it is grounded token by token in what the claim cites.
    In a published ABSENT claim `value` and `unit` say how much was searched, and of what (`Looked`).
    """

    claim_id: str
    predicate: Predicate
    entity: str
    refs: tuple[EvidenceRef, ...]
    quotes: tuple[Quote, ...] = ()
    affected: str | None = None
    signal: str | None = None
    value: float | None = None
    baseline: float | None = None
    unit: str | None = None
    direction: Direction | None = None
    window: TimeWindow | None = None
    onset_s: float | None = None
    wording: str | None = None
