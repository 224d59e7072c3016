"""The largest allowed answer, for measuring the cost of its release."""

from __future__ import annotations

from dataclasses import replace

from tests.support.inquiries import inquiry

from diagnosis_harness.diagnosis.claim import Claim, EvidenceRef
from diagnosis_harness.diagnosis.draft import DiagnosisDraft
from diagnosis_harness.diagnosis.inquiry import Inquiry
from diagnosis_harness.diagnosis.progress import ProgressSnapshot
from diagnosis_harness.testing.evidence import change_claim, change_item, ready_record
from diagnosis_harness.tools.evidence import EvidenceItem
from diagnosis_harness.tools.invocation import EvidenceRecord

ITEMS = 32
"""Items of each record."""
_ALIKE = 4
"""Items that support one claim or fact; further references of a claim are to the items of its neighbour."""


def large_answer(
    *, claims: int, refs: int, wording: int = 0, facts: int = 0
) -> tuple[DiagnosisDraft, ProgressSnapshot]:
    """A draft of so many claims, each with so many references, and what the run had learnt before.

    No two claims or facts are of the same entity, signal or numbers, or have the same wording.

    Args:
        wording: characters of each own sentence, which is grounded as far as it goes; none for 0.
        facts: facts of the run, each about another item than any claim.
    """
    drawn = [_claim(f"k{place}", place, refs=refs, wording=wording, of=claims) for place in range(claims)]
    both = claims + facts
    known = [_claim(f"f{place}", place, refs=1, wording=wording, of=both) for place in range(claims, both)]
    return DiagnosisDraft((), tuple(drawn)), ProgressSnapshot(_records(_ALIKE * both), tuple(known))


def large_inquiry() -> Inquiry:
    """A question in a system that has every entity of such an answer."""
    return inquiry(also_known=[_entity(number) for number in range(1_000)])


def _claim(claim_id: str, number: int, *, refs: int, wording: int, of: int) -> Claim:
    item = _item(_ALIKE * number)
    sentence = f"{item.signal} of {item.entity} rose to {item.value:.3g} s from {item.baseline:.3g} s; "
    own = (sentence * (1 + wording // len(sentence)))[:wording] or None
    cited = tuple(
        EvidenceRef(f"t{1 + place // ITEMS}", f"i{place % ITEMS}")
        for place in ((_ALIKE * number + further) % (_ALIKE * of) for further in range(refs))
    )
    return replace(change_claim(item), claim_id=claim_id, refs=cited, quotes=(), wording=own)


def _records(items: int) -> tuple[EvidenceRecord, ...]:
    return tuple(
        ready_record(
            *map(_item, range(first, min(first + ITEMS, items))), tool_call_id=f"t{1 + first // ITEMS}"
        )
        for first in range(0, items, ITEMS)
    )


def _item(place: int) -> EvidenceItem:
    number = place // _ALIKE
    signal, value, baseline = f"latency_p{number}", 3.2 + number / 100, 0.21 + number / 1000
    return replace(
        change_item(f"i{place % ITEMS}", _entity(number)),
        line=f"{_entity(number)} {signal} rose from {baseline:.4g} s to {value:.4g} s",
        signal=signal,
        value=value,
        baseline=baseline,
        score=20.0 + number,
    )


def _entity(number: int) -> str:
    return f"service-{number}"
