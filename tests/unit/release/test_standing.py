"""What is published carries no name and no number of an agent's own."""

from __future__ import annotations

from dataclasses import replace

from tests.support.inquiries import inquiry
from tests.support.judged import causes_of

from diagnosis_harness.diagnosis.claim import FaultKind
from diagnosis_harness.diagnosis.draft import Cause, DiagnosisDraft
from diagnosis_harness.release.result import NO_CONTENT
from diagnosis_harness.release.standing import number_claims, standing_of
from diagnosis_harness.testing.evidence import (
    cause_claim,
    cause_item,
    change_claim,
    change_item,
    ready_record,
)

RECORDS = (
    ready_record(change_item("i1", "payment")),
    ready_record(cause_item(), tool_call_id="t2", tool_name="rank_causes"),
)
CLAIMS = (cause_claim(cause_item(), tool_call_id="t2"), change_claim(change_item("i1", "payment")))


def test_a_cause_has_the_score_of_its_ranking() -> None:
    """Not the one that an agent gives, be it a number or not."""
    cause = Cause("payment", FaultKind.CPU, ("k0", "k1"), score=float("inf"))

    assert [
        each.score for each in causes_of(DiagnosisDraft((cause,), CLAIMS), RECORDS, inquiry=inquiry())
    ] == [9.0]


def test_claims_are_named_by_their_place() -> None:
    """An agent's names are free text; two of one name, of draft and assessment, stay two."""
    claims = (replace(CLAIMS[0], claim_id="restart payment"), CLAIMS[1], CLAIMS[1])
    cause = Cause("payment", FaultKind.CPU, ("restart payment", CLAIMS[1].claim_id))

    renamed, causes = number_claims(claims, (cause,))

    assert [claim.claim_id for claim in renamed] == ["k1", "k2", "k3"]
    assert causes[0].claim_ids == ("k1", "k2")


def test_nothing_is_published_without_a_draft() -> None:
    """An end without a draft says nothing beside its facts."""
    assert standing_of(None, RECORDS, run_id="r1", inquiry=inquiry()) == NO_CONTENT
