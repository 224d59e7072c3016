"""A repair may drop and re-anchor references, and change nothing else."""

from __future__ import annotations

from dataclasses import replace

from tests.support.inquiries import inquiry

from diagnosis_harness.diagnosis.claim import FaultKind
from diagnosis_harness.diagnosis.draft import Cause, DiagnosisDraft
from diagnosis_harness.guards.evidence_guard import check_draft
from diagnosis_harness.guards.evidence_repair import admit_repair
from diagnosis_harness.players.embedded.repairer import repair_draft
from diagnosis_harness.testing.evidence import (
    cause_claim,
    cause_item,
    change_claim,
    change_item,
    ready_record,
)

CART = change_item("i2", "cart")
RECORDS = (
    ready_record(change_item("i1", "payment"), CART),
    ready_record(cause_item(), cause_item("c2", "cart"), tool_call_id="t2", tool_name="rank_causes"),
)
CAUSE = Cause("payment", FaultKind.CPU, ("k0", "k1"))
TRUE = DiagnosisDraft(
    (CAUSE,), (cause_claim(cause_item(), tool_call_id="t2"), change_claim(change_item("i1", "payment")))
)


def repair_embedded(draft: DiagnosisDraft) -> DiagnosisDraft:
    """What is left of a draft after the embedded repair, as far as it is admitted."""
    findings = check_draft(draft, RECORDS, run_id="r1", inquiry=inquiry()).findings
    return admit_repair(
        draft, repair_draft(draft, findings, RECORDS, run_id="r1", inquiry=inquiry()), RECORDS
    )


def test_of_two_claims_of_one_id_one_is_left() -> None:
    """The true one, wherever the false one is."""
    false = replace(TRUE.claims[1], value=4711.0)

    for claims in ((*TRUE.claims, false), (false, *TRUE.claims), (*TRUE.claims, TRUE.claims[1])):
        assert repair_embedded(replace(TRUE, claims=claims)) == TRUE


def test_a_second_cause_among_the_claims_is_dropped() -> None:
    """A ranking supports it, and no conclusion does."""
    other = cause_claim(cause_item("c2", "cart"), tool_call_id="t2", claim_id="k2")

    assert repair_embedded(replace(TRUE, claims=(*TRUE.claims, other))) == TRUE


def test_a_cause_loses_evidence_about_another_entity() -> None:
    """The claim stays, as what it is."""
    lent = change_claim(CART, claim_id="k2")
    draft = replace(
        TRUE, claims=(*TRUE.claims, lent), conclusion=(replace(CAUSE, claim_ids=("k0", "k1", "k2")),)
    )

    assert repair_embedded(draft) == replace(draft, conclusion=(CAUSE,))


def test_a_cause_that_no_ranking_supports_is_dropped() -> None:
    """Beside a true one, and when it is that one over again."""
    for false in (replace(CAUSE, fault_kind=FaultKind.MEMORY), replace(CAUSE, entity="ghost"), CAUSE):
        assert repair_embedded(replace(TRUE, conclusion=(CAUSE, false))).conclusion == (CAUSE,)


def test_a_proposal_adds_no_cause_and_no_support() -> None:
    """Kind and part of a cause are content, and its claims can only become fewer."""
    bolder = replace(CAUSE, fault_kind=FaultKind.MEMORY)
    longer = replace(CAUSE, claim_ids=("k0", "k1", "k2"))

    assert admit_repair(TRUE, replace(TRUE, conclusion=(bolder,)), RECORDS).conclusion == ()
    assert admit_repair(TRUE, replace(TRUE, conclusion=(longer,)), RECORDS).conclusion == (CAUSE,)
