"""What a diagnosis may publish: the release pipeline's result, a success or a fallback."""

from __future__ import annotations

from dataclasses import dataclass

from diagnosis_harness.diagnosis.claim import CONCLUSIONS, Claim
from diagnosis_harness.diagnosis.draft import Cause, Hypothesis, SetAside
from diagnosis_harness.diagnosis.missing import MissingInfo
from diagnosis_harness.guards.verdict import Finding, SemanticReason
from diagnosis_harness.kernel.errors import ContractViolation
from diagnosis_harness.kernel.window import TimeWindow
from diagnosis_harness.release.outcome import FallbackType, ReleaseOutcome


@dataclass(frozen=True, slots=True)
class ReleaseContent:
    """The parts of a diagnosis that passed the guards.

    Attributes:
        causes: only with SUCCESS, and always with SUCCESS if the question asks for a cause.
        confidence: one for each cause, in the same order.
        claims: claims without any objection, in the draft's order, then verified facts that it does not
            repeat; verified facts alone when there is no success.
        hypotheses: candidates, best first; with SUCCESS those that were not concluded.
        missing_names: names of the question that no telemetry knows; shown with what is missing.
        set_aside: with SUCCESS, the rankings of the question that do not count, each with its checked reason.
    """

    causes: tuple[Cause, ...] = ()
    confidence: tuple[float, ...] = ()
    claims: tuple[Claim, ...] = ()
    hypotheses: tuple[Hypothesis, ...] = ()
    missing_info: tuple[MissingInfo, ...] = ()
    missing_names: tuple[str, ...] = ()
    window: TimeWindow | None = None
    set_aside: tuple[SetAside, ...] = ()


NO_CONTENT = ReleaseContent()


@dataclass(frozen=True, slots=True)
class DiagnosisReleaseResult:
    """SUCCESS or FALLBACK only (seed: harness-lifecycle-and-states §9); what failed is an exception.

    Attributes:
        findings: EvidenceGuard's objections that remained.
        reasons: SemanticGuard's, if it did not support the conclusion.
    """

    outcome: ReleaseOutcome
    fallback: FallbackType | None
    content: ReleaseContent = NO_CONTENT
    findings: tuple[Finding, ...] = ()
    reasons: tuple[SemanticReason, ...] = ()

    def __post_init__(self) -> None:
        if self.outcome not in (ReleaseOutcome.SUCCESS, ReleaseOutcome.FALLBACK):
            raise ContractViolation(f"a release result is never {self.outcome}")
        if (self.outcome is ReleaseOutcome.SUCCESS) != (self.fallback is None):
            raise ContractViolation("a fallback, and only a fallback, has a type")
        if len(self.content.confidence) != len(self.content.causes):
            raise ContractViolation("every released cause has a confidence")
        if self.content.causes and self.outcome is not ReleaseOutcome.SUCCESS:
            raise ContractViolation("only a success has causes")
        if self.fallback and any(claim.predicate in CONCLUSIONS for claim in self.content.claims):
            raise ContractViolation("only a success has claims that conclude something")
        if self.outcome is ReleaseOutcome.SUCCESS and not (self.content.causes or self.content.claims):
            raise ContractViolation("a success has a cause, or claims that answer the question")
