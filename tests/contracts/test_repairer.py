"""Every repairer keeps the one contract; a repairer that breaks it is caught."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tests.support.repairer_contract import CHECKS, Check, MakeRepairer

from diagnosis_harness.diagnosis.claim import EvidenceRef
from diagnosis_harness.diagnosis.draft import DiagnosisDraft
from diagnosis_harness.kernel.errors import FailureKind, LlmFailure, MalformedAnswer
from diagnosis_harness.players.embedded.repairer import EmbeddedRepairer
from diagnosis_harness.testing.evidence import change_claim
from diagnosis_harness.testing.scripted_policy import ScriptedRepairer

REPAIRERS: dict[str, MakeRepairer] = {
    "embedded": EmbeddedRepairer,
    "scripted to give up": lambda: ScriptedRepairer(lambda draft: draft),
    "failing": lambda: ScriptedRepairer(LlmFailure("away", kind=FailureKind.UNAVAILABLE)),
    "malformed": lambda: ScriptedRepairer(MalformedAnswer("no JSON")),
}


@pytest.mark.parametrize("make", REPAIRERS.values(), ids=REPAIRERS)
@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
def test_a_repairer_keeps_the_contract(check: Check, make: MakeRepairer) -> None:
    """One check against one repairer."""
    check(make)


def _counting() -> MakeRepairer:
    """Every second proposal of any repairer is empty."""
    asked: list[DiagnosisDraft] = []

    def repair(draft: DiagnosisDraft) -> DiagnosisDraft:
        asked.append(draft)
        return draft if len(asked) % 2 else DiagnosisDraft((), ())

    return lambda: ScriptedRepairer(repair)


BROKEN: dict[str, MakeRepairer] = {
    "raises an untyped error": lambda: ScriptedRepairer(KeyError("payment")),
    "gives no draft": lambda: ScriptedRepairer(lambda draft: None),  # type: ignore[arg-type,return-value]  # what it must not
    "adds a claim": lambda: ScriptedRepairer(
        lambda draft: replace(draft, claims=(*draft.claims, change_claim(claim_id="new")))
    ),
    "changes a number": lambda: ScriptedRepairer(
        lambda draft: replace(draft, claims=tuple(replace(claim, value=1.0) for claim in draft.claims))
    ),
    "cites what is not there": lambda: ScriptedRepairer(
        lambda draft: replace(
            draft,
            claims=tuple(
                replace(claim, refs=(EvidenceRef("t99", "i1"),), quotes=()) for claim in draft.claims
            ),
        )
    ),
    "drops a sound claim": lambda: ScriptedRepairer(lambda draft: replace(draft, claims=draft.claims[1:])),
    "repairs by what came before": _counting(),
}


@pytest.mark.parametrize("make", BROKEN.values(), ids=BROKEN)
def test_a_repairer_that_breaks_the_contract_is_caught(make: MakeRepairer) -> None:
    """One check or another objects to each of the usual faults."""

    def objects(check: Check) -> bool:
        try:
            check(make)
        except (AssertionError, KeyError, AttributeError):
            return True
        return False

    assert any(objects(check) for check in CHECKS)
