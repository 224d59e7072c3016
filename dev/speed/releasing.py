"""Measures the cost between the end of a run and its report, for the largest allowed answer."""

from __future__ import annotations

import time
from statistics import median

from dev.speed.figure import Figure
from tests.support.inquiries import inquiry
from tests.support.large_answer import large_answer

from diagnosis_harness.diagnosis.answer_size import CLAIMS_MAX, REFS_MAX, WORDING_MAX
from diagnosis_harness.guards.evidence_guard import check_draft
from diagnosis_harness.guards.restating import restate_all
from diagnosis_harness.kernel.language import Language
from diagnosis_harness.report.claim_sentence import claim_sentence

TOPIC = "Release"
AT_MOST_MS = 50.0
"""Work on the event loop delays every other run of the process."""


def measure(*, rounds: int) -> list[Figure]:
    """Processor time of one release, for half of the largest answer and for all of it."""
    half_ms, whole_ms = (
        median(_release_ms(claims) for _ in range(rounds)) for claims in (CLAIMS_MAX // 2, CLAIMS_MAX)
    )
    note = f"{CLAIMS_MAX} claims, {REFS_MAX} references each, {WORDING_MAX:,} characters of wordings"
    return [
        Figure(TOPIC, "guards and words over the largest answer", whole_ms, "ms", AT_MOST_MS, note),
        Figure(TOPIC, "  the same over half of it", half_ms, "ms"),
    ]


def _release_ms(claims: int) -> float:
    draft, records = large_answer(claims=claims, refs=REFS_MAX, wording=WORDING_MAX // CLAIMS_MAX)
    asked = inquiry()
    started_s = time.process_time()
    sound = check_draft(draft, records, run_id="r1", inquiry=asked).passed
    for claim in restate_all((c for c in draft.claims if c.claim_id in sound), records, asked):
        claim_sentence(claim, records, Language.EN)
    return (time.process_time() - started_s) * 1e3
