"""The results of guards: findings about claims, and verdicts."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from diagnosis_harness.diagnosis.claim import EvidenceRef


class FindingCode(StrEnum):
    """Why a claim is not supported, or why a reference is invalid."""

    NO_REFS = "NO_REFS"
    REF_UNKNOWN = "REF_UNKNOWN"  # no such record in this run
    REF_NOT_READY = "REF_NOT_READY"
    REF_ERROR = "REF_ERROR"
    ITEM_UNKNOWN = "ITEM_UNKNOWN"
    EMPTY_SUPPORTS_ONLY_ABSENCE = "EMPTY_SUPPORTS_ONLY_ABSENCE"
    ABSENCE_NEEDS_EMPTY = "ABSENCE_NEEDS_EMPTY"
    ABSENCE_OUT_OF_SCOPE = "ABSENCE_OUT_OF_SCOPE"
    NOTHING_LOOKED_AT = "NOTHING_LOOKED_AT"  # the source has no telemetry of that kind
    NAME_NOT_KNOWN = "NAME_NOT_KNOWN"  # no telemetry of that kind knows this name
    QUOTE_NOT_CITED = "QUOTE_NOT_CITED"
    QUOTE_NOT_VERBATIM = "QUOTE_NOT_VERBATIM"
    PREDICATE_NOT_SUPPORTED = "PREDICATE_NOT_BORNE"
    ENTITY_NOT_SUPPORTED = "ENTITY_NOT_BORNE"
    AFFECTED_NOT_SUPPORTED = "AFFECTED_NOT_BORNE"
    SIGNAL_NOT_SUPPORTED = "SIGNAL_NOT_BORNE"
    VALUE_NOT_SUPPORTED = "VALUE_NOT_BORNE"
    BASELINE_NOT_SUPPORTED = "BASELINE_NOT_BORNE"
    DIRECTION_NOT_SUPPORTED = "DIRECTION_NOT_BORNE"
    WINDOW_NOT_SUPPORTED = "WINDOW_NOT_BORNE"
    ONSET_NOT_SUPPORTED = "ONSET_NOT_BORNE"
    NOT_OF_INCIDENT = "NOT_OF_INCIDENT"  # observed at another time than the question's
    CAUSE_WITHOUT_CLAIM = "CAUSE_WITHOUT_CLAIM"  # a concluded cause without a supported CAUSED claim
    CAUSE_WITHOUT_DIRECT_EVIDENCE = "CAUSE_WITHOUT_DIRECT_EVIDENCE"  # only a ranking supports it
    FAULT_KIND_NOT_SUPPORTED = "FAULT_KIND_NOT_BORNE"
    REGION_NOT_SUPPORTED = "REGION_NOT_BORNE"
    UNIT_WITHOUT_NUMBER = "UNIT_WITHOUT_NUMBER"
    CLAIM_ID_TWICE = "CLAIM_ID_TWICE"  # two claims have one id, so it is unclear which one a cause rests on
    CAUSE_TWICE = "CAUSE_TWICE"
    OF_ANOTHER_QUESTION = "OF_ANOTHER_QUESTION"  # its evidence has another time or affected entity
    NOT_CONCLUDED = "NOT_CONCLUDED"  # it names a cause or affected entity that the draft does not conclude
    SUPPORT_OF_ANOTHER = "SUPPORT_OF_ANOTHER"  # a cause rests on a claim about something else


@dataclass(frozen=True, slots=True)
class Finding:
    """One objection: its code, the claim or concluded entity it concerns, and the reference."""

    code: FindingCode
    claim_id: str
    ref: EvidenceRef | None = None


@dataclass(frozen=True, slots=True)
class EvidenceVerdict:
    """The result of EvidenceGuard: objections, and the ids of the claims without any."""

    findings: tuple[Finding, ...]
    passed: frozenset[str]
    repaired: bool = False
    """Whether this is the verdict on a repaired draft."""

    @property
    def valid(self) -> bool:
        """Whether there is no objection at all."""
        return not self.findings


class SemanticVerdict(StrEnum):
    """Whether the evidence supports the conclusion. A judge that cannot be reached gives no verdict."""

    SUPPORTED = "SUPPORTED"
    UNSUPPORTED = "UNSUPPORTED"


class SemanticReason(StrEnum):
    """Why a conclusion is not supported."""

    WEAK = "WEAK"  # the evidence differs too little from normal
    HARMLESS_DIRECTION = "HARMLESS_DIRECTION"  # the change is not harmful
    AFTER_ITS_EFFECT = "AFTER_ITS_EFFECT"  # the named cause began later than its effect
    EFFECT_NOT_SEEN = "EFFECT_NOT_SEEN"  # no record shows which of the two began first
    DISPROVED = "DISPROVED"  # the query that tried to disprove it contradicts it
    EXPLAINED_BY_OTHER = "EXPLAINED_BY_OTHER"  # one of its dependencies explains it better
    EFFECT_NORMAL = "EFFECT_NORMAL"  # its effect is known to be normal
    EFFECT_MISFITS = "EFFECT_MISFITS"  # its findings cannot produce the symptom
    ONSET_SEARCHED = "ONSET_SEARCHED"  # only a joint step of several series suggests a time
    NO_PATH = "NO_PATH"  # no recorded call leads from the affected entity to it
    SYMPTOM_ONLY = "SYMPTOM_ONLY"  # only the symptom itself was found
    SCOPE_TOO_WIDE = "SCOPE_TOO_WIDE"  # too many unseen callees may be the cause
    NO_MARGIN = "NO_MARGIN"  # another hypothesis is as good
    NOT_INDEPENDENT = "NOT_INDEPENDENT"  # a second cause that may explain the same as the first
    NOT_RANKED = "NOT_RANKED"  # no ranking of this run about this question names it
    CONTRADICTED = "CONTRADICTED"  # another ranking of this question disagrees and is not set aside
    OF_UNKNOWN_NAME = "OF_UNKNOWN_NAME"  # no telemetry knows the entity in the question
    OVERRULED = "OVERRULED"  # a judge other than the embedded one gave none of the reasons above


@dataclass(frozen=True, slots=True)
class Judgement:
    """A judge's verdict, with the reasons when it is UNSUPPORTED."""

    verdict: SemanticVerdict
    reasons: tuple[SemanticReason, ...] = ()
