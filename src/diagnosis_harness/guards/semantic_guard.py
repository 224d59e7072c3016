"""SemanticGuard: whether the cited evidence, read in full, bears the conclusion out.

The judge behind the port may be the embedded one or a language model. Two attempts at most, on listed
technical failures only; a judge that cannot be reached gives no verdict, and no verdict means fallback, never
release.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from diagnosis_harness.diagnosis.claim import Claim, EvidenceRef
from diagnosis_harness.diagnosis.draft import Cause, DiagnosisDraft
from diagnosis_harness.diagnosis.inquiry import Inquiry
from diagnosis_harness.guards.bearing import DIRECT_KINDS
from diagnosis_harness.guards.citing import cited_items
from diagnosis_harness.guards.verdict import Judgement
from diagnosis_harness.tools.evidence import EvidenceItem, ItemKind
from diagnosis_harness.tools.invocation import EvidenceRecord

if TYPE_CHECKING:
    from diagnosis_harness.harness.budget import TokenUsage
    from diagnosis_harness.harness.context import RunContext


@dataclass(frozen=True, slots=True)
class CitedClaim:
    """A claim that stands, with what it cites in full."""

    claim: Claim
    items: tuple[tuple[EvidenceRef, EvidenceItem], ...]


@dataclass(frozen=True, slots=True)
class SemanticCase:
    """Everything a judge may see: the conclusion, its cited claims, and the rankings of this run."""

    question: str
    conclusion: tuple[Cause, ...]
    claims: tuple[CitedClaim, ...]
    rankings: tuple[EvidenceItem, ...]
    """CAUSE_SCORE items of the last ranking of the run, best first."""
    observed: tuple[EvidenceItem, ...] = ()
    """What the run observed of the concluded causes and of parts of them, cited or not: when a cause began
    does not depend on what a draft chooses to tell."""


class SemanticJudge(Protocol):
    """Plays the judging role. One call is one controlled attempt and costs one language-model call."""

    async def judge(self, ctx: RunContext, case: SemanticCase) -> tuple[Judgement, TokenUsage]:
        """The verdict, and the tokens it took.

        Raises:
            LlmFailure: the language model behind it failed.
        """
        ...


def build_case(draft: DiagnosisDraft, records: Sequence[EvidenceRecord], *, inquiry: Inquiry) -> SemanticCase:
    """The case of a draft that EvidenceGuard passed."""
    by_id = {record.tool_call_id: record for record in records}
    rankings: tuple[EvidenceItem, ...] = ()
    for record in records:
        scores = tuple(item for item in record.items if item.kind is ItemKind.CAUSE_SCORE)
        rankings = scores or rankings
    return SemanticCase(
        question=inquiry.question,
        conclusion=draft.conclusion,
        claims=tuple(CitedClaim(claim, cited_items(claim, by_id)) for claim in draft.claims),
        rankings=rankings,
        observed=tuple(
            item
            for record in records
            for item in record.items
            if item.kind in DIRECT_KINDS
            and any(cause.entity in (item.entity, item.attributes.get("owner")) for cause in draft.conclusion)
        ),
    )
