"""After a demo its diagnosis is judged by what was published."""

from __future__ import annotations

import pytest
from tests.support import documents

from diagnosis_harness.cli.demo_verdict import Injected, is_right, usual_injection, verdict_lines
from diagnosis_harness.harness.termination import RunState
from diagnosis_harness.kernel.language import Language
from diagnosis_harness.release.outcome import ReleaseOutcome
from diagnosis_harness.report.document import RunDocument
from diagnosis_harness.simulator.faults import FaultKind, GroundTruth

CHECKOUT = usual_injection(GroundTruth("checkout", FaultKind.CPU, None))
PAYMENT = usual_injection(GroundTruth("payment", FaultKind.SLOW_DEPENDENCY, None))
CART = usual_injection(GroundTruth("cart", FaultKind.CPU, None))
TWO = Injected("two-faults", ("payment", "checkout"))
SOUND = usual_injection(GroundTruth(None, FaultKind.NONE, None))
FAILED = documents.document_of_end(ReleaseOutcome.FAILED, RunState.FAILED)


@pytest.mark.parametrize(
    ("document", "truth", "message"),
    [
        (documents.success(), CHECKOUT, "The diagnosis was right: checkout came first."),
        (documents.success(), TWO, "The diagnosis was right: checkout came first."),
        (documents.success(), PAYMENT, "The diagnosis was wrong: it named checkout."),
        (documents.success(), SOUND, "The diagnosis was wrong: it named checkout."),
        (
            documents.fallback(),
            PAYMENT,
            "The diagnosis reached no conclusion; payment is number 2 of its candidates.",
        ),
        (documents.fallback(), CART, "The diagnosis did not find it."),
        (documents.fallback(), SOUND, "The diagnosis was right: it named no cause."),
        (FAILED, CHECKOUT, "The run gave no answer, so there is nothing to judge."),
        (FAILED, SOUND, "The run gave no answer, so there is nothing to judge."),
    ],
)
def test_the_published_answer_is_compared_with_the_truth(
    document: RunDocument, truth: Injected, message: str
) -> None:
    """Right, wrong, only a candidate, not found, or nothing to judge."""
    assert verdict_lines(document, truth, Language.EN)[1] == message


@pytest.mark.parametrize(
    ("document", "truth", "right"),
    [
        (documents.success(), CHECKOUT, True),
        (documents.success(), TWO, True),
        (documents.success(), PAYMENT, False),
        (documents.success(), SOUND, False),
        (documents.fallback(), PAYMENT, False),
        (documents.fallback(), SOUND, True),
        (documents.document_of_cancel(), SOUND, False),
        (FAILED, SOUND, False),
    ],
)
def test_a_diagnosis_is_right_with_the_injected_cause_first_or_rightly_none(
    document: RunDocument, truth: Injected, right: bool
) -> None:
    """A candidate is not enough, and a run without an answer was not right about anything."""
    assert is_right(document, truth) is right
