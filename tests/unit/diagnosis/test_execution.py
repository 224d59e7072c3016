"""The loop ends in one of two shapes."""

from __future__ import annotations

import pytest

from diagnosis_harness.diagnosis.collection import DiagnosisStopReason
from diagnosis_harness.diagnosis.draft import DiagnosisDraft
from diagnosis_harness.diagnosis.execution import DiagnosisAgentExecution
from diagnosis_harness.diagnosis.progress import ProgressSnapshot
from diagnosis_harness.kernel.errors import ContractViolation

DRAFT = DiagnosisDraft(conclusion=(), claims=())


@pytest.mark.parametrize("reason", [None, *DiagnosisStopReason])
@pytest.mark.parametrize("draft", [None, DRAFT])
def test_an_execution_has_either_a_draft_or_a_stop_reason(
    draft: DiagnosisDraft | None, reason: DiagnosisStopReason | None
) -> None:
    """Completed, or stopped for any of the reasons; with both, or with neither, it cannot be built."""
    if (draft is None) != (reason is None):
        execution = DiagnosisAgentExecution(ProgressSnapshot(), draft=draft, stop_reason=reason)
        assert (execution.draft, execution.stop_reason) == (draft, reason)
        return
    with pytest.raises(ContractViolation, match="either a draft or a stop reason"):
        DiagnosisAgentExecution(ProgressSnapshot(), draft=draft, stop_reason=reason)
