"""The largest allowed answer, for measuring the cost of its release."""

from __future__ import annotations

from dataclasses import replace

from diagnosis_harness.diagnosis.claim import EvidenceRef
from diagnosis_harness.diagnosis.draft import DiagnosisDraft
from diagnosis_harness.testing.evidence import change_claim, change_item, ready_record
from diagnosis_harness.tools.invocation import EvidenceRecord

ITEMS = 16
_WORDING = "The latency_p90 of checkout rose to 3.2 s from 0.21 s between 22:13 and 22:23"


def large_answer(
    *, claims: int, refs: int, wording: int = 0
) -> tuple[DiagnosisDraft, tuple[EvidenceRecord, ...]]:
    """A draft of so many claims, each of which so many items support, and the records that hold them.

    Args:
        wording: characters of each claim's own sentence, which is grounded as far as it goes; none for 0.
    """
    records = tuple(
        ready_record(*(change_item(f"i{place}") for place in range(ITEMS)), tool_call_id=f"t{number}")
        for number in range(1, 9)
    )
    cited = tuple(EvidenceRef(f"t{1 + place // ITEMS}", f"i{place % ITEMS}") for place in range(refs))
    own = (_WORDING * (1 + wording // len(_WORDING)))[:wording] or None
    claim = replace(change_claim(), refs=cited, quotes=(), wording=own)
    return (
        DiagnosisDraft((), tuple(replace(claim, claim_id=f"k{place}") for place in range(claims))),
        records,
    )
