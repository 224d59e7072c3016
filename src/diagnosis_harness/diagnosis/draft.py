"""What the agent concludes when it stops: a draft, never published unchecked."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from diagnosis_harness.diagnosis.claim import Claim, EvidenceRef, FaultKind
from diagnosis_harness.diagnosis.missing import MissingInfo
from diagnosis_harness.kernel.window import TimeWindow


class CauseLevel(StrEnum):
    """How far a conclusion goes."""

    LOCALISED = "LOCALISED"  # it starts here
    EXPLAINED = "EXPLAINED"  # and what happened here is shown by evidence of its own origin
    TRIGGER = "TRIGGER"  # and something that was done here before fits in place and time


class DisproofResult(StrEnum):
    """What came of the queries that would have contradicted a cause."""

    HELD = "HELD"  # all were asked, and nothing in their answers contradicts the cause
    DISPROVED = "DISPROVED"  # an answer contradicts the cause, so that no such cause is released
    NOT_TESTED = "NOT_TESTED"  # one was not asked, or not answered in full


@dataclass(frozen=True, slots=True)
class Challenge:
    """One entity that is looked at to disprove a cause.

    `tool_call_id` is the call that looked at it alone and in full, None where none did; `looked_at` counts
    the series, spans or lines of it that were compared.
    """

    entity: str
    tool_call_id: str | None = None
    looked_at: int = 0


@dataclass(frozen=True, slots=True)
class Disproof:
    """What was asked to disprove a cause, and what came of it."""

    result: DisproofResult
    challenges: tuple[Challenge, ...] = ()


@dataclass(frozen=True, slots=True)
class Cause:
    """A named cause. `region` is the part of the entity where known: an operation, an edge, a resource.

    `level` and `scope` are computed when it is released (`guards.levels`) and stand in no draft: `scope` is
    what else it may start in, since too little is recorded of it; the entity itself where no name is known.
    So is `disproof` (`guards.disproof`); documents of earlier versions have none.
    """

    entity: str
    fault_kind: FaultKind
    claim_ids: tuple[str, ...]
    """The claims that support it; the CAUSED claim first."""
    region: str | None = None
    score: float | None = None
    level: CauseLevel | None = None
    scope: tuple[str, ...] = ()
    disproof: Disproof | None = None


@dataclass(frozen=True, slots=True)
class Hypothesis:
    """A candidate that may not be proved. Evidence for and against it is given as references."""

    entity: str
    fault_kind: FaultKind
    score: float
    evidence_for: tuple[EvidenceRef, ...]
    evidence_against: tuple[EvidenceRef, ...] = ()
    region: str | None = None


class SetAsideReason(StrEnum):
    """Why a ranking of the same question does not count; code checks by the records that it holds."""

    FEWER_KINDS = "FEWER_KINDS"  # it weighed fewer kinds of telemetry than one that is kept
    NOTHING_WRONG = "NOTHING_WRONG"  # by its own strength nothing is beyond what normal operation shows
    AT_THE_ALERT = "AT_THE_ALERT"  # it uses the alert's time, one that is kept the earlier onset


@dataclass(frozen=True, slots=True)
class SetAside:
    """A ranking of the run that disagrees with the conclusion, and why it does not count."""

    tool_call_id: str
    reason: SetAsideReason


@dataclass(frozen=True, slots=True)
class DiagnosisDraft:
    """The result of a policy.

    Attributes:
        conclusion: the causes, first the strongest; empty when the policy concludes nothing.
        claims: all claims, in the order in which a reader should meet them.
        hypotheses: ranked candidates, best first, the concluded ones among them.
        missing_info: what was needed and missing.
        missing_names: names of the question that no telemetry knows; they stand beside what is missing.
        window: what the draft speaks of.
        set_aside: rankings of the same question that name another cause, each with its reason.
    """

    conclusion: tuple[Cause, ...]
    claims: tuple[Claim, ...]
    hypotheses: tuple[Hypothesis, ...] = ()
    missing_info: tuple[MissingInfo, ...] = ()
    window: TimeWindow | None = None
    missing_names: tuple[str, ...] = ()
    set_aside: tuple[SetAside, ...] = ()
