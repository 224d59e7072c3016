"""What a release costs: linear in what an answer may hold, counted in calls and not in seconds."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import replace
from types import FrameType

import pytest
from tests.support.large_answer import large_answer, large_inquiry

from diagnosis_harness.diagnosis.answer_size import CLAIMS_MAX, REFS_MAX, WORDING_MAX, check_size
from diagnosis_harness.diagnosis.policy import GiveDraft
from diagnosis_harness.guards.evidence_guard import check_draft
from diagnosis_harness.guards.restating import restate_all
from diagnosis_harness.kernel.language import Language
from diagnosis_harness.release.pipeline import FACTS_MAX, facts_beyond
from diagnosis_harness.report.claim_sentence import claim_sentence

OWN = WORDING_MAX // CLAIMS_MAX
"""Characters of each wording, were all of the largest answer equally long."""


@pytest.fixture(autouse=True, scope="module")
def compile_patterns() -> None:
    """What is compiled once in a process counts as no work of a release."""
    release_of(2, 1, wording=40)()
    facts_of(2, wording=40)()


def calls_of(work: Callable[[], None]) -> int:
    """How many Python functions a piece of work calls."""
    count = 0

    def count_call(frame: FrameType, event: str, argument: object) -> None:
        del frame, argument
        nonlocal count
        count += event == "call"

    sys.setprofile(count_call)
    try:
        work()
    finally:
        sys.setprofile(None)
    return count


def release_of(claims: int, refs: int, *, wording: int = OWN) -> Callable[[], None]:
    """The release of an answer of so many claims with so many references each."""
    draft, learnt = large_answer(claims=claims, refs=refs, wording=wording)
    check_size(GiveDraft(draft))
    asked, records = large_inquiry(), learnt.records

    def work() -> None:
        sound = check_draft(draft, records, run_id="r1", inquiry=asked)
        kept = restate_all((c for c in draft.claims if c.claim_id in sound.passed), records, asked)
        assert len(kept) == claims
        for claim in kept:
            claim_sentence(claim, records, Language.EN)

    return work


def test_twice_the_claims_cost_twice_the_work() -> None:
    """And not four times."""
    half, whole = (calls_of(release_of(count, REFS_MAX)) for count in (CLAIMS_MAX // 2, CLAIMS_MAX))

    assert whole < 2.2 * half


def test_a_reference_costs_no_reading_of_the_wording() -> None:
    """A wording is read against the one item whose words the claim holds, however many are cited."""
    one, many = (calls_of(release_of(CLAIMS_MAX, count)) for count in (1, REFS_MAX))

    assert many < 2.0 * one


def test_the_largest_answer_costs_what_a_person_does_not_notice() -> None:
    """A function call of the guards takes less than a microsecond: some tens of milliseconds in all."""
    assert calls_of(release_of(CLAIMS_MAX, REFS_MAX, wording=WORDING_MAX // CLAIMS_MAX)) < 100_000


def facts_of(count: int, *, wording: int) -> Callable[[], None]:
    """The publication of so many facts of a run, each with a wording of so many characters."""
    _, learnt = large_answer(claims=0, refs=1, wording=wording, facts=count)
    asked = large_inquiry()

    def work() -> None:
        assert len(facts_beyond((), learnt, run_id="r1", inquiry=asked)) == count

    return work


def test_wordings_of_facts_are_read_up_to_the_bound_of_one_answer() -> None:
    """A run takes facts from many answers; what is beyond the bound is published in the product's words."""
    own = 400  # ten such wordings fill the bound
    few = WORDING_MAX // own

    every = calls_of(facts_of(FACTS_MAX, wording=own)) - calls_of(facts_of(FACTS_MAX, wording=0))
    first = calls_of(facts_of(few, wording=own)) - calls_of(facts_of(few, wording=0))

    assert 0 < first <= every < 1.5 * first


@pytest.mark.parametrize("times", [1, REFS_MAX])
def test_the_same_reference_many_times_is_published_once(times: int) -> None:
    """Twenty marks of one number are no twenty pieces of evidence."""
    draft, learnt = large_answer(claims=1, refs=1)
    (claim,) = draft.claims

    kept = restate_all((replace(claim, refs=claim.refs * times),), learnt.records, large_inquiry())

    assert [each.refs for each in kept] == [claim.refs]
