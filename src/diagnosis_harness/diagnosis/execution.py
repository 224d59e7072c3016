"""How the loop ended: with a draft or a controlled stop (seed: harness-lifecycle-and-states §6)."""

from __future__ import annotations

from dataclasses import dataclass

from diagnosis_harness.diagnosis.collection import DiagnosisStopReason
from diagnosis_harness.diagnosis.draft import DiagnosisDraft
from diagnosis_harness.diagnosis.policy import Refused
from diagnosis_harness.diagnosis.progress import ProgressSnapshot
from diagnosis_harness.kernel.errors import ContractViolation


@dataclass(frozen=True, slots=True)
class DiagnosisAgentExecution:
    """Complete with a draft, or a controlled stop with a reason; any other end is a typed exception."""

    snapshot: ProgressSnapshot
    draft: DiagnosisDraft | None = None
    stop_reason: DiagnosisStopReason | None = None
    refused: tuple[Refused, ...] = ()
    """Tool requests that did not become calls."""

    def __post_init__(self) -> None:
        if (self.draft is None) == (self.stop_reason is None):
            raise ContractViolation("an execution has either a draft or a stop reason")
