"""What one answer may hold, on both sides of each bound, whoever wrote it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from diagnosis_harness.diagnosis.answer_size import (
    ANSWER_TEXT_MAX,
    CITED_MAX,
    CLAIMS_MAX,
    NAMED_MAX,
    QUOTES_MAX,
    REFS_MAX,
    WORDING_MAX,
    check_size,
)
from diagnosis_harness.diagnosis.claim import Claim, EvidenceRef, FaultKind, Predicate, Quote
from diagnosis_harness.diagnosis.collection import InformationGain
from diagnosis_harness.diagnosis.draft import Cause, DiagnosisDraft, Hypothesis
from diagnosis_harness.diagnosis.policy import AskTools, GiveDraft, PolicyAnswer, WantedCall
from diagnosis_harness.diagnosis.progress import Assessment
from diagnosis_harness.diagnosis.wire import decode_answer, encode_answer
from diagnosis_harness.kernel.errors import MalformedAnswer

REF = EvidenceRef("t1", "i1")
CLAIM = Claim("k1", Predicate.CHANGED, "checkout", (REF,))


def refs(count: int, first: int = 0) -> tuple[EvidenceRef, ...]:
    """So many different references."""
    return tuple(EvidenceRef("t1", f"i{first + place}") for place in range(count))


def claims(count: int, **fields: object) -> tuple[Claim, ...]:
    """So many claims, each with these fields."""
    return tuple(
        replace(CLAIM, claim_id=f"k{place}", **fields)  # type: ignore[arg-type]  # a test names the fields
        for place in range(count)
    )


def draft(*told: Claim, **fields: object) -> GiveDraft:
    """A draft with these claims and parts."""
    return GiveDraft(replace(DiagnosisDraft((), told), **fields))  # type: ignore[arg-type]  # the same


def facts(*told: Claim) -> AskTools:
    """An answer on the way, with these facts."""
    return AskTools((WantedCall("t9", "look", {}),), (Assessment("t1", InformationGain.GAINED, told),))


def spread(count: int) -> tuple[Claim, ...]:
    """Claims that cite so many different items in all, as few to each as it takes."""
    starts = range(0, count, REFS_MAX)
    parts = (refs(min(REFS_MAX, count - at), at) for at in starts)
    return tuple(replace(CLAIM, claim_id=f"k{place}", refs=inner) for place, inner in enumerate(parts))


CANDIDATE = Hypothesis("checkout", FaultKind.CPU, 1.0, (REF,))
AT_THE_BOUND: dict[str, tuple[PolicyAnswer, PolicyAnswer]] = {
    "claims": (draft(*claims(CLAIMS_MAX)), draft(*claims(CLAIMS_MAX + 1))),
    "facts": (facts(*claims(CLAIMS_MAX)), facts(*claims(CLAIMS_MAX + 1))),
    "references of a claim": (
        draft(replace(CLAIM, refs=(REF,) * REFS_MAX)),
        draft(replace(CLAIM, refs=(REF,) * (REFS_MAX + 1))),
    ),
    "references of a fact": (
        facts(replace(CLAIM, refs=refs(REFS_MAX))),
        facts(replace(CLAIM, refs=refs(REFS_MAX + 1))),
    ),
    "quotes of a claim": (
        draft(replace(CLAIM, quotes=(Quote(REF, "x"),) * REFS_MAX)),
        draft(replace(CLAIM, quotes=(Quote(REF, "x"),) * (REFS_MAX + 1))),
    ),
    "different references": (draft(*spread(CITED_MAX)), draft(*spread(CITED_MAX + 1))),
    "wordings": (
        draft(*claims(20, wording="x" * (WORDING_MAX // 20))),
        draft(*claims(20, wording="x" * (WORDING_MAX // 20)), replace(CLAIM, claim_id="k20", wording="x")),
    ),
    "one text": (
        draft(replace(CLAIM, entity="x" * ANSWER_TEXT_MAX)),
        draft(replace(CLAIM, entity="x" * (ANSWER_TEXT_MAX + 1))),
    ),
    "all quotes": (
        draft(*claims(QUOTES_MAX // ANSWER_TEXT_MAX, quotes=(Quote(REF, "x" * ANSWER_TEXT_MAX),))),
        draft(*claims(QUOTES_MAX // ANSWER_TEXT_MAX + 1, quotes=(Quote(REF, "x" * ANSWER_TEXT_MAX),))),
    ),
    "causes": (
        draft(CLAIM, conclusion=(Cause("checkout", FaultKind.CPU, ("k1",)),) * NAMED_MAX),
        draft(CLAIM, conclusion=(Cause("checkout", FaultKind.CPU, ("k1",)),) * (NAMED_MAX + 1)),
    ),
    "claims of a cause": (
        draft(conclusion=(Cause("checkout", FaultKind.CPU, ("k1",) * CLAIMS_MAX),)),
        draft(conclusion=(Cause("checkout", FaultKind.CPU, ("k1",) * (CLAIMS_MAX + 1)),)),
    ),
    "candidates": (
        draft(hypotheses=(CANDIDATE,) * NAMED_MAX),
        draft(hypotheses=(CANDIDATE,) * (NAMED_MAX + 1)),
    ),
    "references for a candidate": (
        draft(hypotheses=(replace(CANDIDATE, evidence_for=refs(REFS_MAX)),)),
        draft(hypotheses=(replace(CANDIDATE, evidence_for=refs(REFS_MAX + 1)),)),
    ),
    "references against a candidate": (
        draft(hypotheses=(replace(CANDIDATE, evidence_against=refs(REFS_MAX)),)),
        draft(hypotheses=(replace(CANDIDATE, evidence_against=refs(REFS_MAX + 1)),)),
    ),
    "missing things": (
        draft(missing_info=("logs",) * NAMED_MAX),
        draft(missing_info=("logs",) * (NAMED_MAX + 1)),
    ),
}


@pytest.mark.parametrize("bound", AT_THE_BOUND)
def test_an_answer_at_a_bound_is_read_and_one_beyond_is_refused(bound: str) -> None:
    """From a library policy as a value, and from an agent as JSON."""
    at, beyond = AT_THE_BOUND[bound]

    check_size(at)
    assert decode_answer(encode_answer(at)) == at
    with pytest.raises(MalformedAnswer, match=r"more than \d+"):
        check_size(beyond)
    with pytest.raises(MalformedAnswer):
        decode_answer(encode_answer(beyond))


def test_an_empty_answer_has_a_size() -> None:
    """No draft at all is the smallest."""
    check_size(GiveDraft(None))
