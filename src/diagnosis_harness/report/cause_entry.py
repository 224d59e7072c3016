"""A released cause in a run document."""

from __future__ import annotations

from dataclasses import dataclass, field

from diagnosis_harness.diagnosis.claim import FaultKind
from diagnosis_harness.diagnosis.draft import CauseLevel, Disproof
from diagnosis_harness.report.version import since


@dataclass(frozen=True, slots=True)
class CauseEntry:
    """A released cause. `confidence`, `level`, `scope` and `disproof` are computed from checks.

    None of them is taken from an agent. A cause of an earlier version has no `disproof`.
    """

    entity: str
    fault_kind: FaultKind
    region: str | None
    score: float | None
    confidence: float | None
    claim_ids: tuple[str, ...]
    level: CauseLevel | None = field(default=None, metadata=since("3"))
    scope: tuple[str, ...] = field(default=(), metadata=since("3"))
    disproof: Disproof | None = field(default=None, metadata=since("4"))
