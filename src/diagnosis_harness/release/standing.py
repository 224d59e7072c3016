"""What of a draft may be published beside its claims, and under which names: no agent's word."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from diagnosis_harness.diagnosis.claim import Claim
from diagnosis_harness.diagnosis.draft import Cause, DiagnosisDraft, Hypothesis
from diagnosis_harness.diagnosis.inquiry import Inquiry
from diagnosis_harness.guards.candidates import standing_candidates
from diagnosis_harness.guards.circumstances import standing_missing, standing_window
from diagnosis_harness.guards.conclusion import ranking_of
from diagnosis_harness.guards.confidence import confidence_of
from diagnosis_harness.kernel.window import TimeWindow
from diagnosis_harness.tools.invocation import EvidenceRecord


@dataclass(frozen=True, slots=True)
class Standing:
    """The parts of a draft that its records bear, claims and conclusion apart."""

    hypotheses: tuple[Hypothesis, ...] = ()
    missing_info: tuple[str, ...] = ()
    window: TimeWindow | None = None


def standing_of(
    draft: DiagnosisDraft | None,
    records: Iterable[EvidenceRecord],
    *,
    run_id: str,
    inquiry: Inquiry,  # noqa: ARG001 - the rules about the question follow
) -> Standing:
    """What stands of a draft; nothing of none."""
    if draft is None:
        return Standing()
    held = tuple(records)
    return Standing(
        hypotheses=standing_candidates(draft.hypotheses, held, run_id=run_id),
        missing_info=standing_missing(draft.missing_info, held, run_id=run_id),
        window=standing_window(draft.window, held, run_id=run_id),
    )


def scored(draft: DiagnosisDraft, records: Iterable[EvidenceRecord]) -> tuple[Cause, ...]:
    """The causes of a draft that passed the guards, each with the score of the ranking that bears it."""
    by_id = {record.tool_call_id: record for record in records}
    rankings = [(cause, ranking_of(cause, draft, by_id)) for cause in draft.conclusion]
    return tuple(replace(cause, score=item.score if item else None) for cause, item in rankings)


def confidences(
    causes: Sequence[Cause], draft: DiagnosisDraft, records: Iterable[EvidenceRecord], *, repaired: bool
) -> tuple[float, ...]:
    """The confidence of each released cause; `draft` is the one that they were concluded in."""
    by_id = {record.tool_call_id: record for record in records}
    rankings = [ranking_of(cause, draft, by_id) for cause in draft.conclusion[: len(causes)]]
    return tuple(confidence_of(item, repaired=repaired) if item else 0.0 for item in rankings)


def numbered(
    claims: Sequence[Claim], causes: Sequence[Cause] = ()
) -> tuple[tuple[Claim, ...], tuple[Cause, ...]]:
    """Claims named `k1`, `k2`, … in reading order, and causes that name them so.

    An agent's own names are free text, and those of its draft and of its assessments may be the same. Causes
    rest on the first of two claims of one name.
    """
    names: dict[str, str] = {}
    for place, claim in enumerate(claims, start=1):
        names.setdefault(claim.claim_id, f"k{place}")
    renamed = tuple(replace(claim, claim_id=f"k{place}") for place, claim in enumerate(claims, start=1))
    return renamed, tuple(
        replace(cause, claim_ids=tuple(dict.fromkeys(names[each] for each in cause.claim_ids)))
        for cause in causes
    )
