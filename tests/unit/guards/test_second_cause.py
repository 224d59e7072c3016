"""What code holds against a second cause of a draft."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tests.support.inquiries import inquiry

from diagnosis_harness.diagnosis.claim import Claim, EvidenceRef, FaultKind, Predicate
from diagnosis_harness.diagnosis.draft import Cause, DiagnosisDraft
from diagnosis_harness.guards.evidence_guard import check_draft
from diagnosis_harness.guards.semantic_guard import build_case
from diagnosis_harness.guards.semantic_rules import case_objections
from diagnosis_harness.guards.verdict import FindingCode, SemanticReason
from diagnosis_harness.kernel.json_value import Scalar
from diagnosis_harness.testing.evidence import (
    cause_claim,
    cause_item,
    change_claim,
    change_item,
    ready_record,
)
from diagnosis_harness.tools.evidence import EvidenceItem
from diagnosis_harness.tools.invocation import EvidenceRecord

FIRST, BESIDE = cause_item("c1", "payment"), replace(cause_item("c2", "cart"), score=3.0)
SEEN = (change_item("i1", "payment"), change_item("i2", "cart"))
FACTS = ready_record(*SEEN, tool_call_id="t1")
CLAIMS = (
    replace(cause_claim(FIRST, tool_call_id="t2"), claim_id="k0"),
    replace(change_claim(SEEN[0]), claim_id="k1"),
    replace(cause_claim(BESIDE, tool_call_id="t2"), claim_id="k2"),
    replace(change_claim(SEEN[1]), claim_id="k3"),
)
CAUSES = (Cause("payment", FaultKind.CPU, ("k0", "k1")), Cause("cart", FaultKind.CPU, ("k2", "k3")))
SAYS_SO = Claim(
    "k4", Predicate.INDEPENDENT, "cart", (EvidenceRef("t2", "c2"),), affected="payment"
)  # no other number or time is said


def ranking(independent_of: str | None, first: EvidenceItem = FIRST) -> EvidenceRecord:
    """A ranking of both, whose second item says what it is independent of."""
    named: dict[str, Scalar] = {} if independent_of is None else {"independent_of": independent_of}
    second = replace(BESIDE, attributes={**BESIDE.attributes, **named})
    return ready_record(first, second, tool_call_id="t2", tool_name="rank_causes")


@pytest.mark.parametrize("independent_of", ["payment", "catalog", None])
def test_a_second_cause_is_one_that_the_ranking_calls_independent_of_the_first(
    independent_of: str | None,
) -> None:
    """The second-best explanation of the same trouble is no second cause, whatever a draft concludes."""
    draft = DiagnosisDraft(CAUSES, CLAIMS)

    objections = case_objections(build_case(draft, (FACTS, ranking(independent_of)), inquiry=inquiry()))

    assert objections == (() if independent_of == "payment" else (SemanticReason.NOT_INDEPENDENT,))


def test_a_second_cause_without_the_first_is_refused() -> None:
    """What is said to be independent of the first does not stand for it."""
    draft = DiagnosisDraft(CAUSES[1:], CLAIMS[2:])

    objections = case_objections(build_case(draft, (FACTS, ranking("payment")), inquiry=inquiry()))

    assert objections == (SemanticReason.NO_MARGIN,)


@pytest.mark.parametrize(
    ("claim", "concluded", "code"),
    [
        (SAYS_SO, 2, None),
        (replace(SAYS_SO, affected="catalog"), 2, FindingCode.AFFECTED_NOT_SUPPORTED),
        (replace(SAYS_SO, affected=None), 2, FindingCode.AFFECTED_NOT_SUPPORTED),
        (replace(SAYS_SO, entity="payment"), 2, FindingCode.ENTITY_NOT_SUPPORTED),
        (replace(SAYS_SO, refs=(EvidenceRef("t2", "c1"),)), 2, FindingCode.PREDICATE_NOT_SUPPORTED),
        (SAYS_SO, 1, FindingCode.NOT_CONCLUDED),
    ],
)
def test_that_two_are_independent_is_a_claim_of_its_own(
    claim: Claim, concluded: int, code: FindingCode | None
) -> None:
    """It names both, rests on the ranking that says so, and is said where both are concluded."""
    draft = DiagnosisDraft(CAUSES[:concluded], (*CLAIMS[: 2 * concluded], claim))

    verdict = check_draft(draft, (FACTS, ranking("payment")), run_id="r1", inquiry=inquiry())

    found = {finding.code for finding in verdict.findings if finding.claim_id == "k4"}
    assert code in found if code else not found


def alone(first: EvidenceItem, *others: EvidenceItem, tool_call_id: str = "t3") -> EvidenceRecord:
    """Another ranking of the same question."""
    return ready_record(first, *others, tool_call_id=tool_call_id, tool_name="rank_causes")


def beside(item: EvidenceItem, first: EvidenceItem) -> EvidenceItem:
    """A candidate that its ranking calls independent of the first."""
    return replace(item, attributes={**item.attributes, "independent_of": first.entity})


ONLY_FIRST = alone(FIRST, tool_call_id="t2")
MEMORY = replace(BESIDE, attributes={**BESIDE.attributes, "fault_kind": "MEMORY"})


@pytest.mark.parametrize(
    ("records", "is_agreed"),
    [
        ((ONLY_FIRST, alone(BESIDE)), False),
        ((ONLY_FIRST, alone(BESIDE, FIRST)), False),
        ((ranking("payment"), alone(BESIDE, FIRST)), False),
        ((ranking("payment"), alone(FIRST, BESIDE)), False),
        ((ranking("payment"), alone(FIRST, beside(MEMORY, FIRST))), False),
        ((ranking("payment"), alone(beside(cause_item("c3", "catalog"), FIRST))), False),
        ((ranking("payment"), alone(BESIDE, beside(FIRST, BESIDE))), True),
        ((ranking("payment"), alone(BESIDE)), True),
        ((ranking("payment"), alone(FIRST)), True),
    ],
)
def test_each_ranking_agrees_with_both_causes(
    records: tuple[EvidenceRecord, ...], *, is_agreed: bool
) -> None:
    """Two rankings that disagree do not add up to two causes: one calls them independent, none denies it."""
    draft = DiagnosisDraft(CAUSES, CLAIMS)

    for order in (records, records[::-1]):
        found = case_objections(build_case(draft, (FACTS, *order), inquiry=inquiry()))
        assert (found == ()) is is_agreed
        assert is_agreed or found in {(SemanticReason.CONTRADICTED,), (SemanticReason.NOT_INDEPENDENT,)}
