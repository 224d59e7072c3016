"""A conclusion, and every claim that names or acquits a cause, rests on its own claims and one ranking."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tests.support.inquiries import inquiry

from diagnosis_harness.diagnosis.claim import Claim, EvidenceRef, FaultKind, Predicate
from diagnosis_harness.diagnosis.draft import Cause, DiagnosisDraft
from diagnosis_harness.guards.evidence_guard import check_draft
from diagnosis_harness.guards.verdict import FindingCode
from diagnosis_harness.testing.evidence import (
    ONSET_S,
    cause_claim,
    cause_item,
    change_claim,
    change_item,
    ready_record,
)
from diagnosis_harness.tools.evidence import EvidenceItem

FIRST = replace(cause_item("c1", "payment"), attributes={"fault_kind": "CPU", "region": "pod-1"})
SECOND = replace(cause_item("c2", "cart"), attributes={"fault_kind": "MEMORY", "region": "heap"})
INSTANCE = replace(
    change_item("i2", "payment-1"), attributes={"bad": True, "kind": "latency", "owner": "payment"}
)
SEEN = change_item("i1", "payment")
VICTIM = change_item("i3", "checkout")
CART = change_item("i4", "cart")
RECORDS = (
    ready_record(SEEN, INSTANCE, VICTIM, CART),
    ready_record(FIRST, SECOND, tool_call_id="t2", tool_name="rank_causes"),
)
CAUSED = cause_claim(FIRST, tool_call_id="t2")


def claim_for(item: EvidenceItem, claim_id: str) -> Claim:
    """The claim that an item of the first record supports."""
    return change_claim(item, claim_id=claim_id)


def draft(*claims: Claim, cause: Cause | None = None) -> DiagnosisDraft:
    """A draft on payment, with these claims beside the two that it needs."""
    named = cause or Cause("payment", FaultKind.CPU, ("k0", "k1"))
    return DiagnosisDraft((named,), (CAUSED, claim_for(SEEN, "k1"), *claims))


def codes(changed: DiagnosisDraft) -> list[FindingCode]:
    """Findings on a draft, as codes."""
    return [
        finding.code for finding in check_draft(changed, RECORDS, run_id="r1", inquiry=inquiry()).findings
    ]


def test_the_affected_entity_may_be_named_beside_its_cause() -> None:
    """The ranking names the affected entity, and a harm of that entity is cited."""
    hit = replace(claim_for(VICTIM, "k2"), predicate=Predicate.AFFECTED)

    assert codes(draft(hit)) == []
    assert codes(replace(draft(hit), conclusion=())) == [FindingCode.NOT_CONCLUDED] * 2


@pytest.mark.parametrize("item", [SEEN, CART])
def test_no_other_entity_is_cleared(item: EvidenceItem) -> None:
    """Neither the cause itself, nor an entity of which the ranking does not say that it is hit."""
    acquitted = replace(claim_for(item, "k2"), predicate=Predicate.AFFECTED)

    assert codes(draft(acquitted)) == [FindingCode.NOT_CONCLUDED]


def test_what_got_better_is_not_affected() -> None:
    """A move that is no harm supports no AFFECTED."""
    calm = replace(VICTIM, attributes={"bad": False, "kind": "latency"})
    hit = replace(claim_for(VICTIM, "k2"), predicate=Predicate.AFFECTED)
    records = (ready_record(SEEN, INSTANCE, calm, CART), RECORDS[1])

    found = check_draft(draft(hit), records, run_id="r1", inquiry=inquiry()).findings

    assert FindingCode.PREDICATE_NOT_SUPPORTED in [finding.code for finding in found]


def test_a_second_cause_has_no_way_in_among_the_claims() -> None:
    """A ranking names several candidates; to claim one of them is to conclude it."""
    other = cause_claim(SECOND, tool_call_id="t2", claim_id="k2")

    assert codes(draft(other)) == [FindingCode.NOT_CONCLUDED]


def test_kind_and_region_are_of_one_ranking_item_of_the_cause_itself() -> None:
    """Another candidate's ranking, cited as well, lends neither."""
    both = replace(CAUSED, refs=(*CAUSED.refs, EvidenceRef("t2", "c2")))
    lent = Cause("payment", FaultKind.MEMORY, ("k0", "k1"))
    part = Cause("payment", FaultKind.CPU, ("k0", "k1"), region="heap")

    assert codes(DiagnosisDraft((lent,), (both, claim_for(SEEN, "k1")))) == [
        FindingCode.FAULT_KIND_NOT_SUPPORTED
    ]
    assert codes(DiagnosisDraft((part,), (both, claim_for(SEEN, "k1")))) == [FindingCode.REGION_NOT_SUPPORTED]
    assert codes(draft(cause=replace(part, region="pod-1"))) == []


def test_an_instance_counts_for_its_service() -> None:
    """What was observed of a part of the cause is direct evidence about it."""
    changed = DiagnosisDraft(
        (Cause("payment", FaultKind.CPU, ("k0", "k2")),), (CAUSED, claim_for(INSTANCE, "k2"))
    )

    assert codes(changed) == []


def test_a_cause_rests_on_nothing_that_was_said_of_another() -> None:
    """A true claim about somebody else is no support."""
    lent = Cause("payment", FaultKind.CPU, ("k0", "k1", "k2"))

    assert codes(draft(claim_for(CART, "k2"), cause=lent)) == [FindingCode.SUPPORT_OF_ANOTHER]


def test_two_claims_of_one_id_both_fall() -> None:
    """Nobody could tell which of them a cause rests on."""
    verdict = check_draft(draft(claim_for(CART, "k1")), RECORDS, run_id="r1", inquiry=inquiry())

    assert verdict.passed == frozenset({"k0"})
    assert [finding.code for finding in verdict.findings].count(FindingCode.CLAIM_ID_TWICE) == 2


def test_a_cause_is_named_once() -> None:
    """The same entity as two causes would count twice."""
    changed = draft()

    assert codes(replace(changed, conclusion=changed.conclusion * 2)) == [FindingCode.CAUSE_TWICE]


def test_a_cause_rests_on_nothing_that_was_observed_at_another_time() -> None:
    """An older trouble of it is a fact, with its window, and no reason for what was asked about."""
    older = f'{{"onset":{ONSET_S - 7200.0}}}'
    then = ready_record(change_item("i9", "payment"), tool_call_id="t9", scope=older)
    old = change_claim(change_item("i9", "payment"), tool_call_id="t9", claim_id="k9")
    hit = ready_record(change_item("i8", "checkout"), tool_call_id="t8", scope=older)
    records = (*RECORDS, then, hit)

    def codes_of(changed: DiagnosisDraft) -> list[FindingCode]:
        findings = check_draft(changed, records, run_id="r1", inquiry=inquiry()).findings
        return [finding.code for finding in findings]

    acquitted = replace(
        change_claim(change_item("i8", "checkout"), tool_call_id="t8", claim_id="k8"),
        predicate=Predicate.AFFECTED,
    )

    assert codes_of(draft(old)) == []
    assert codes_of(draft(old, cause=Cause("payment", FaultKind.CPU, ("k0", "k1", "k9")))) == [
        FindingCode.OF_ANOTHER_QUESTION
    ]
    assert codes_of(draft(old, cause=Cause("payment", FaultKind.CPU, ("k0", "k9")))) == [
        FindingCode.OF_ANOTHER_QUESTION,
        FindingCode.CAUSE_WITHOUT_DIRECT_EVIDENCE,
    ]
    assert codes_of(draft(acquitted)) == [FindingCode.OF_ANOTHER_QUESTION]
