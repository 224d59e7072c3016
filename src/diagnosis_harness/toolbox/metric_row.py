"""The identity of one series of the metric table."""

from __future__ import annotations

from dataclasses import dataclass

from diagnosis_harness.analysis.meaning import SignalMeaning


@dataclass(frozen=True, slots=True)
class MetricRow:
    """One series of the table.

    `caller` is set if the series is about calls: `entity` is then the callee. If the source does not state
    a caller, a signal whose name ends in `_from_a`, where a is an entity too, is about calls from a; so is
    any signal of an entity named `a->b`. `callee` is set if a symptom is named after another entity that
    its own entity calls: it shows trouble passed on by the callee. `rate` means that a counter was turned
    into growth per second.
    """

    entity: str
    signal: str
    unit: str | None
    meaning: SignalMeaning
    owner: str
    caller: str | None = None
    rate: bool = False
    callee: str | None = None
