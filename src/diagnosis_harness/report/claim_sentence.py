"""Chooses the sentence of a claim: the agent's own if it is grounded, else the rendered one."""

from __future__ import annotations

from collections.abc import Sequence

from diagnosis_harness.diagnosis.claim import Claim, Predicate
from diagnosis_harness.diagnosis.records import Records
from diagnosis_harness.guards.levels import scope_of
from diagnosis_harness.guards.support import objections
from diagnosis_harness.guards.wording import LENGTH_MAX, wording_objections
from diagnosis_harness.kernel.language import Language, language_of
from diagnosis_harness.report.sentence import sentence
from diagnosis_harness.tools.invocation import EvidenceRecord


def claim_sentence(claim: Claim, records: Sequence[EvidenceRecord], language: Language) -> str:
    """The sentence of a claim that EvidenceGuard passed, in the language of the report.

    Only code words a cause, since an agent does not know its level when it writes.
    """
    wording = claim.wording
    if wording is not None and may_stand(wording, claim, records, language):
        return wording
    return render_claim(claim, records, language)


def render_claim(claim: Claim, records: Sequence[EvidenceRecord], language: Language) -> str:
    """The rendered sentence; for a cause, with the scope that its ranking gives it."""
    scoped = claim.predicate is Predicate.CAUSED and any(
        scope_of(item) for _, item in Records(records).items_cited(claim)
    )
    return sentence(claim, language, scoped=scoped)


def may_stand(
    text: str,
    claim: Claim,
    records: Sequence[EvidenceRecord],
    language: Language,
    *,
    may_word_causes: bool = False,
) -> bool:
    """Whether `claim_sentence` could have chosen this published sentence; used to verify a saved report.

    `may_word_causes` holds of documents of version 2: then an agent's own sentence of a cause was published.
    """
    if text == render_claim(claim, records, language):
        return True
    worded = may_word_causes or claim.predicate is not Predicate.CAUSED
    return worded and is_grounded(text, claim, records, language)


def is_grounded(wording: str, claim: Claim, records: Sequence[EvidenceRecord], language: Language) -> bool:
    """Whether a wording is in the report's language and grounded in the item that supports the claim."""
    if len(wording) > LENGTH_MAX or language_of(wording) is not language:
        return False
    support = next(
        (item for _, item in Records(records).items_cited(claim) if not objections(claim, item)), None
    )
    return support is not None and not wording_objections(wording, claim, (support,))
