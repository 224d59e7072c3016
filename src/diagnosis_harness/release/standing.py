"""The parts of a draft besides its claims that may be published; code has checked each of them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from diagnosis_harness.diagnosis.claim import Claim
from diagnosis_harness.diagnosis.draft import Cause, DiagnosisDraft
from diagnosis_harness.diagnosis.inquiry import Inquiry
from diagnosis_harness.diagnosis.records import Records
from diagnosis_harness.guards.asked import question_scope
from diagnosis_harness.guards.candidates import standing_candidates
from diagnosis_harness.guards.circumstances import (
    Circumstances,
    standing_missing,
    standing_names,
    standing_window,
    unknown_services,
)
from diagnosis_harness.guards.confidence import confidence_of
from diagnosis_harness.guards.levels import conclusion_level, level_after_test, scope_of
from diagnosis_harness.guards.semantic_guard import SemanticCase
from diagnosis_harness.release.result import ReleaseContent
from diagnosis_harness.tools.invocation import EvidenceRecord


def standing_of(
    draft: DiagnosisDraft | None,
    records: Iterable[EvidenceRecord],
    *,
    run_id: str,
    inquiry: Inquiry,
    denied: bool = False,
) -> ReleaseContent:
    """The part of a draft that holds, claims and conclusion separately; without a draft, only unknown names.

    Args:
        denied: whether a tool was refused because the caller may not use it.
    """
    if draft is None:
        return ReleaseContent(missing_names=unknown_services(inquiry))
    kept_records = tuple(records)
    own = tuple(Records.of_run(kept_records, run_id))
    missing = standing_missing(draft.missing_info, Circumstances(inquiry, own, denied))
    unsupplied = standing_names(draft.missing_names, inquiry) if missing else ()
    return ReleaseContent(
        hypotheses=standing_candidates(draft.hypotheses, kept_records, run_id=run_id, inquiry=inquiry),
        missing_info=missing,
        missing_names=tuple(dict.fromkeys((*unknown_services(inquiry), *unsupplied))),
        window=standing_window(draft.window, own, inquiry=inquiry),
    )


def score_causes(
    case: SemanticCase, claims: Iterable[Claim], records: Iterable[EvidenceRecord], *, inquiry: Inquiry
) -> tuple[Cause, ...]:
    """The causes of a case that passed the guards, with score, level, scope and disproof.

    They come from the ranking that was judged, the evidence that the published claims cite, and the queries
    that tried to disprove the cause.
    """
    kept_records = tuple(records)
    known, asked = Records(kept_records), question_scope(inquiry, kept_records)
    cited = [
        item
        for claim in claims
        for ref, item in known.items_cited(claim)
        if asked.is_evidence_of_it(known[ref.tool_call_id], item)
    ]

    def score(cause: Cause) -> Cause:
        item, disproof = case.judged.get(cause.entity), case.disproofs.get(cause.entity)
        if item is None:
            return replace(cause, score=None, level=None, scope=(), disproof=None)
        level = conclusion_level(item, cited)
        return replace(
            cause,
            score=item.score,
            level=level if disproof is None else level_after_test(level, disproof),
            scope=scope_of(item),
            disproof=disproof,
        )

    return tuple(score(cause) for cause in case.conclusion)


def confidences(case: SemanticCase, *, repaired: bool) -> tuple[float, ...]:
    """The confidence of each cause of a case that passed the guards, by the ranking it was judged by."""
    rankings = (case.judged.get(cause.entity) for cause in case.conclusion)
    return tuple(confidence_of(item, repaired=repaired) if item else 0.0 for item in rankings)


def number_claims(
    claims: Sequence[Claim], causes: Sequence[Cause] = ()
) -> tuple[tuple[Claim, ...], tuple[Cause, ...]]:
    """Claims named `k1`, `k2`, … in reading order, and causes that name them so.

    An agent's own names are free text, so a draft and an assessment may use the same one. A cause rests on
    the first claim of a name.
    """
    names: dict[str, str] = {}
    for place, claim in enumerate(claims, start=1):
        names.setdefault(claim.claim_id, f"k{place}")
    renamed = tuple(replace(claim, claim_id=f"k{place}") for place, claim in enumerate(claims, start=1))
    return renamed, tuple(
        replace(cause, claim_ids=tuple(dict.fromkeys(names[each] for each in cause.claim_ids)))
        for cause in causes
    )
