"""EvidenceRepair: one chance to mend a draft's references, and nothing but its references.

A repairer, embedded or a language model, proposes; `admit_repair` decides what of the proposal may stand. It
may drop or re-anchor references, quotes, claims and causes. It may not add a claim, change a number, a name,
a time or a word.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Protocol

from diagnosis_harness.diagnosis.claim import Claim
from diagnosis_harness.diagnosis.draft import Cause, DiagnosisDraft
from diagnosis_harness.guards.verdict import Finding
from diagnosis_harness.tools.invocation import EvidenceRecord

if TYPE_CHECKING:
    from diagnosis_harness.harness.budget import TokenUsage
    from diagnosis_harness.harness.context import RunContext


class EvidenceRepairer(Protocol):
    """Plays the repairing role. One call is one controlled attempt and costs one language-model call."""

    async def repair(
        self,
        ctx: RunContext,
        draft: DiagnosisDraft,
        findings: Sequence[Finding],
        records: Sequence[EvidenceRecord],
    ) -> tuple[DiagnosisDraft, TokenUsage]:
        """A draft with mended references, and the tokens it took.

        Raises:
            LlmFailure: the language model behind it failed.
        """
        ...


def admit_repair(
    original: DiagnosisDraft, proposed: DiagnosisDraft, records: Iterable[EvidenceRecord]
) -> DiagnosisDraft:
    """The proposal, less everything that a repair may not do.

    Claims keep the original's content; only their references and quotes are taken from the proposal, and of
    those only references into records that exist. Order, hypotheses, missing information and window are the
    original's.
    """
    known = {record.tool_call_id for record in records}
    kept = {claim.claim_id: claim for claim in proposed.claims}
    claims = tuple(
        _reanchored(claim, kept[claim.claim_id], known)
        for claim in original.claims
        if claim.claim_id in kept and _same_content(claim, kept[claim.claim_id])
    )
    standing = {claim.claim_id for claim in claims}
    proposed_entities = {cause.entity for cause in proposed.conclusion}
    conclusion = tuple(
        replace(cause, claim_ids=tuple(claim_id for claim_id in cause.claim_ids if claim_id in standing))
        for cause in original.conclusion
        if cause.entity in proposed_entities and _has_claim(cause, standing)
    )
    return replace(original, claims=claims, conclusion=conclusion)


def _has_claim(cause: Cause, standing: set[str]) -> bool:
    return any(claim_id in standing for claim_id in cause.claim_ids)


def _same_content(original: Claim, proposed: Claim) -> bool:
    return replace(proposed, refs=original.refs, quotes=original.quotes) == original


def _reanchored(original: Claim, proposed: Claim, known: set[str]) -> Claim:
    refs = tuple(dict.fromkeys(ref for ref in proposed.refs if ref.tool_call_id in known))
    quotes = tuple(quote for quote in proposed.quotes if quote.ref in refs)
    return replace(original, refs=refs, quotes=quotes)
