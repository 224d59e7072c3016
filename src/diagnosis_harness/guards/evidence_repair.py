"""EvidenceRepair: a single attempt to repair the references of a draft, and nothing else.

A repairer, embedded or a language model, proposes a draft; `admit_repair` decides which parts of it are
accepted. A repair may drop or re-anchor references, quotes, claims and causes. It may not add a claim or
change a number, a name, a time or a word.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from typing import Protocol

from diagnosis_harness.diagnosis.claim import Claim
from diagnosis_harness.diagnosis.draft import Cause, DiagnosisDraft
from diagnosis_harness.diagnosis.inquiry import Inquiry
from diagnosis_harness.guards.verdict import Finding
from diagnosis_harness.harness.budget import TokenUsage
from diagnosis_harness.harness.context import RunContext
from diagnosis_harness.tools.invocation import EvidenceRecord


class EvidenceRepairer(Protocol):
    """The port of the repairer. One call is one attempt and costs one language-model call."""

    async def repair(
        self,
        ctx: RunContext,
        draft: DiagnosisDraft,
        findings: Sequence[Finding],
        records: Sequence[EvidenceRecord],
        *,
        inquiry: Inquiry,
    ) -> tuple[DiagnosisDraft, TokenUsage]:
        """Return a draft with repaired references, and the tokens used.

        Raises:
            LlmFailure: the language model used by the repairer failed.
        """
        ...


def admit_repair(
    original: DiagnosisDraft, proposed: DiagnosisDraft, records: Iterable[EvidenceRecord]
) -> DiagnosisDraft:
    """Return the proposal without the changes that a repair may not make.

    Claims keep their original content; only references and quotes are taken from the proposal, and only
    references to existing records. Order, hypotheses, missing information and window are the original's.
    """
    known = {record.tool_call_id for record in records}
    kept = {claim.claim_id: claim for claim in proposed.claims}
    claims: dict[str, Claim] = {}
    for claim in original.claims:
        if claim.claim_id in kept and _same_content(claim, kept[claim.claim_id]):
            # The proposal may contain two claims with one id; at most one is accepted.
            claims.setdefault(claim.claim_id, _reanchor(claim, kept[claim.claim_id], known))
    return replace(
        original,
        claims=tuple(claims.values()),
        conclusion=_keep_causes(original.conclusion, proposed.conclusion, claims.keys()),
    )


def _keep_causes(
    original: Sequence[Cause], proposed: Sequence[Cause], standing: Collection[str]
) -> tuple[Cause, ...]:
    """The original causes that the proposal keeps, with the claims it keeps for them, without duplicates."""
    kept = {(cause.entity, cause.fault_kind, cause.region): set(cause.claim_ids) for cause in proposed}
    causes: dict[str, Cause] = {}
    for cause in original:
        allowed = kept.get((cause.entity, cause.fault_kind, cause.region), set())
        claim_ids = tuple(each for each in cause.claim_ids if each in standing and each in allowed)
        if claim_ids:
            causes.setdefault(cause.entity, replace(cause, claim_ids=claim_ids))
    return tuple(causes.values())


def _same_content(original: Claim, proposed: Claim) -> bool:
    return replace(proposed, refs=original.refs, quotes=original.quotes) == original


def _reanchor(original: Claim, proposed: Claim, known: set[str]) -> Claim:
    refs = tuple(dict.fromkeys(ref for ref in proposed.refs if ref.tool_call_id in known))
    quotes = tuple(quote for quote in proposed.quotes if quote.ref in refs)
    return replace(original, refs=refs, quotes=quotes)
