"""A release is a success or a fallback; nothing else can be built."""

from __future__ import annotations

from itertools import product

import pytest

from diagnosis_harness.diagnosis.claim import FaultKind
from diagnosis_harness.diagnosis.draft import Cause
from diagnosis_harness.kernel.errors import ContractViolation
from diagnosis_harness.release.outcome import FallbackType, ReleaseOutcome
from diagnosis_harness.release.result import DiagnosisReleaseResult, ReleaseContent
from diagnosis_harness.testing.evidence import cause_claim, cause_item, change_claim, change_item

CAUSES = (Cause("payment", FaultKind.CPU, ("k0",)),)
LEGAL = {
    (ReleaseOutcome.SUCCESS, None, CAUSES),
    *((ReleaseOutcome.FALLBACK, each, ()) for each in FallbackType),
}


@pytest.mark.parametrize(
    ("outcome", "fallback", "causes"), list(product(ReleaseOutcome, [None, *FallbackType], [(), CAUSES]))
)
def test_only_success_with_causes_and_fallback_with_a_type_can_be_built(
    outcome: ReleaseOutcome, fallback: FallbackType | None, causes: tuple[Cause, ...]
) -> None:
    """FAILED and CANCELLED come from the application's exception path, never from here."""
    content = ReleaseContent(causes=causes, confidence=(0.5,) * len(causes))
    if (outcome, fallback, causes) in LEGAL:
        result = DiagnosisReleaseResult(outcome, fallback, content)
        assert (result.outcome, result.fallback, result.content.causes) == (outcome, fallback, causes)
        return
    with pytest.raises(ContractViolation):
        DiagnosisReleaseResult(outcome, fallback, content)


def test_a_fallback_holds_no_claim_that_concludes_something() -> None:
    """Such a claim would be numbered and counted, and then not be published."""
    seen = change_claim(change_item("i1", "payment"))
    concluded = cause_claim(cause_item(), tool_call_id="t2")
    kind = FallbackType.SEMANTIC_UNSUPPORTED

    assert DiagnosisReleaseResult(ReleaseOutcome.FALLBACK, kind, ReleaseContent(claims=(seen,))).fallback
    with pytest.raises(ContractViolation, match="conclude"):
        DiagnosisReleaseResult(ReleaseOutcome.FALLBACK, kind, ReleaseContent(claims=(seen, concluded)))
