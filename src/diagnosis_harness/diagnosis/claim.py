"""A claim is data: code renders its sentence, and code checks every part of it against what it cites."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from diagnosis_harness.kernel.window import TimeWindow
from diagnosis_harness.tools.evidence import Direction


class Predicate(StrEnum):
    """What a claim says of its entity."""

    CHANGED = "CHANGED"  # a signal moved from `baseline` to `value`
    BEGAN = "BEGAN"  # a signal, or the incident, began to differ at `onset_s`
    NORMAL = "NORMAL"  # a signal moved no further than it does by itself in normal operation
    FAILED = "FAILED"  # a share of operation `signal` failed; of calls from `affected` where given
    DROPPED = "DROPPED"  # the entity's operation `signal` ended without the call `affected` it usually makes
    CAUSED = "CAUSED"  # the entity is the cause of what `affected` shows
    AFFECTED = "AFFECTED"  # the entity is hit, not the cause
    SATURATED = "SATURATED"  # a resource of the entity ran at its limit
    SLOWED = "SLOWED"  # time inside the entity itself, or on the way to it, rose
    CALLS = "CALLS"  # the entity calls `affected`
    DEPLOYED = "DEPLOYED"  # a change to the entity at `onset_s`
    IN_STATE = "IN_STATE"  # the entity's attribute `signal` was `affected`, a text, or the number `value`
    COUNTED = "COUNTED"  # so many of `signal` were counted of the entity in the window
    ABSENT = "ABSENT"  # nothing was seen in this scope and window; never more than that


OF_A_SIGNAL = frozenset(
    {Predicate.CHANGED, Predicate.BEGAN, Predicate.NORMAL, Predicate.AFFECTED, Predicate.SATURATED}
)
"""What speaks of a signal: `affected` is then the caller that measured it, where one did."""


class Looked(StrEnum):
    """What an absence looked through: the unit of its `value`, which says how much of it."""

    LOG_LINES = "log lines"
    CHANGES = "changes"
    SPANS = "spans"
    SERIES = "metric series"


CONCLUSIONS = frozenset({Predicate.CAUSED, Predicate.AFFECTED})
"""What names or acquits a cause: said with a conclusion that was judged, and never without."""


class FaultKind(StrEnum):
    """What kind of fault a cause is, as far as evidence tells."""

    CPU = "CPU"
    MEMORY = "MEMORY"
    NETWORK = "NETWORK"
    ERRORS = "ERRORS"
    LATENCY = "LATENCY"
    TRAFFIC = "TRAFFIC"
    DEPENDENCY = "DEPENDENCY"
    UNKNOWN = "UNKNOWN"


WHOLE_RECORD = "*"
"""The item id of a reference to a record as a whole: the only way to cite a record that found nothing."""


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
    A published ABSENT holds in `value` and `unit` how much was looked through, and of what (`Looked`).
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
