"""The causes of a draft as they would be released, from the records of a run alone."""

from __future__ import annotations

from collections.abc import Sequence

from diagnosis_harness.diagnosis.draft import Cause, DiagnosisDraft
from diagnosis_harness.diagnosis.inquiry import Inquiry
from diagnosis_harness.guards.semantic_guard import build_case
from diagnosis_harness.release.standing import confidences, score_causes
from diagnosis_harness.tools.invocation import EvidenceRecord


def causes_of(
    draft: DiagnosisDraft, records: Sequence[EvidenceRecord], *, inquiry: Inquiry
) -> tuple[Cause, ...]:
    """Each with score, level, scope and disproof."""
    case = build_case(draft, records, inquiry=inquiry)
    return score_causes(case, draft.claims, records, inquiry=inquiry)


def confidences_of(
    draft: DiagnosisDraft, records: Sequence[EvidenceRecord], *, repaired: bool, inquiry: Inquiry
) -> tuple[float, ...]:
    """How sure each of them is."""
    return confidences(build_case(draft, records, inquiry=inquiry), repaired=repaired)
