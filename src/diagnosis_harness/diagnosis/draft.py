"""What the agent concludes when it stops: a draft, never published unchecked."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from diagnosis_harness.diagnosis.claim import Claim, EvidenceRef, FaultKind
from diagnosis_harness.diagnosis.missing import MissingInfo
from diagnosis_harness.kernel.window import TimeWindow


class CauseLevel(StrEnum):
    """How far a conclusion goes."""

    LOCALISED = "LOCALISED"  # the fault starts here
    EXPLAINED = "EXPLAINED"  # and evidence of separate origin shows what happened here
    TRIGGER = "TRIGGER"  # and an earlier change here fits in place and time


class DisproofResult(StrEnum):
    """The result of the queries that could have contradicted a cause."""

    HELD = "HELD"  # all were asked, and nothing in their answers contradicts the cause
    DISPROVED = "DISPROVED"  # an answer contradicts the cause, so that no such cause is released
    NOT_TESTED = "NOT_TESTED"  # at least one was not made, or not answered in full


@dataclass(frozen=True, slots=True)
class Challenge:
    """One entity that is examined to disprove a cause.

    `tool_call_id` is the call that examined it alone and in full, if any; `looked_at` counts its series,
    spans or lines that were compared.
    """

    entity: str
    tool_call_id: str | None = None
    looked_at: int = 0


@dataclass(frozen=True, slots=True)
class Disproof:
    """The queries that tried to disprove a cause, and their result."""

    result: DisproofResult
    challenges: tuple[Challenge, ...] = ()


@dataclass(frozen=True, slots=True)
class Cause:
    """A named cause. `region` is the part of the entity, if known: an operation, an edge or a resource.

    `level`, `scope` (`guards.levels`) and `disproof` (`guards.disproof`) are computed at release, so a draft
    has none. `scope` names where else the fault may start, since too little is recorded there; it is the
    entity itself if no name is known. Documents of earlier versions have no `disproof`.
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
    """A candidate that need not be proved, with references to the evidence for and against it."""

    entity: str
    fault_kind: FaultKind
    score: float
    evidence_for: tuple[EvidenceRef, ...]
    evidence_against: tuple[EvidenceRef, ...] = ()
    region: str | None = None


class SetAsideReason(StrEnum):
    """Why a ranking of the same question does not count; code checks the reason against the records."""

    FEWER_KINDS = "FEWER_KINDS"  # it weighed fewer kinds of telemetry than one that is kept
    NOTHING_WRONG = "NOTHING_WRONG"  # its own strength is within normal operation
    AT_THE_ALERT = "AT_THE_ALERT"  # it uses the alert's time; one that is kept uses the earlier onset


@dataclass(frozen=True, slots=True)
class SetAside:
    """A ranking that disagrees with the conclusion, and why it does not count."""

    tool_call_id: str
    reason: SetAsideReason


@dataclass(frozen=True, slots=True)
class DiagnosisDraft:
    """What a policy concludes.

    Attributes:
        conclusion: the causes, strongest first; empty if the policy concludes nothing.
        claims: all claims, in reading order.
        hypotheses: ranked candidates, best first, the concluded ones among them.
        missing_info: what was needed and missing.
        missing_names: names of the question that no telemetry knows; shown with what is missing.
        window: the period that the draft is about.
        set_aside: rankings of the same question that name another cause, each with its reason.
    """

    conclusion: tuple[Cause, ...]
    claims: tuple[Claim, ...]
    hypotheses: tuple[Hypothesis, ...] = ()
    missing_info: tuple[MissingInfo, ...] = ()
    window: TimeWindow | None = None
    missing_names: tuple[str, ...] = ()
    set_aside: tuple[SetAside, ...] = ()
