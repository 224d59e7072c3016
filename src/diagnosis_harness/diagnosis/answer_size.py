"""Bounds for the size of a policy's answer, so that the work of the guards is bounded.

The work of a release grows with claims, references and words, and is done after the run has ended. Within
these bounds it takes some milliseconds; a larger answer is refused as malformed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sized
from itertools import chain

from diagnosis_harness.diagnosis.claim import Claim, EvidenceRef
from diagnosis_harness.diagnosis.draft import DiagnosisDraft
from diagnosis_harness.diagnosis.policy import AskTools, PolicyAnswer
from diagnosis_harness.kernel.errors import MalformedAnswer

CLAIMS_MAX = 64
"""The most claims of a draft, and the most facts of one answer; a report shows ten."""
REFS_MAX = 8
"""The most references of one claim or candidate, and quotes of one claim; a report shows two of a
candidate."""
CITED_MAX = 256
"""The most distinct references of one answer."""
NAMED_MAX = 32
"""The most causes, candidates or missing things of a draft."""
ANSWER_TEXT_MAX = 2_000
"""The most characters of one text: a name, a quote or a sentence."""
WORDING_MAX = 4_000
"""The most characters of all wordings of one answer: ten of the longest that is ever shown."""
QUOTES_MAX = 64_000
"""The most characters of all quotes of one answer."""


def check_size(answer: PolicyAnswer) -> None:
    """Refuse an answer beyond the bounds.

    Raises:
        MalformedAnswer: one clause that names the bound and its value.
    """
    draft = None if isinstance(answer, AskTools) else answer.draft
    facts = [fact for assessment in answer.assessments for fact in assessment.facts]
    claims = [*facts, *(draft.claims if draft else ())]
    _at_most(facts, CLAIMS_MAX, "facts in one answer")
    if draft is not None:
        _check_draft(draft)
    for claim in claims:
        _at_most(claim.refs, REFS_MAX, "references in one claim")
        _at_most(claim.quotes, REFS_MAX, "quotes in one claim")
    _at_most(set(_refs_of(claims, draft)), CITED_MAX, "different references in one answer")
    for text in _texts(claims, draft):
        _at_most(text, ANSWER_TEXT_MAX, "characters in one text")
    wordings = sum(len(claim.wording or "") for claim in claims)
    quoted = sum(len(quote.text) for claim in claims for quote in claim.quotes)
    for size, most, what in ((wordings, WORDING_MAX, "wordings"), (quoted, QUOTES_MAX, "quotes")):
        if size > most:
            raise MalformedAnswer(f"the {what} of one answer hold more than {most} characters")


def _check_draft(draft: DiagnosisDraft) -> None:
    _at_most(draft.claims, CLAIMS_MAX, "claims in one draft")
    _at_most(draft.conclusion, NAMED_MAX, "causes in one draft")
    _at_most(draft.hypotheses, NAMED_MAX, "candidates in one draft")
    _at_most(draft.missing_info, NAMED_MAX, "missing things in one draft")
    _at_most(draft.missing_names, NAMED_MAX, "missing names in one draft")
    _at_most(draft.set_aside, NAMED_MAX, "rankings set aside in one draft")
    for cause in draft.conclusion:
        _at_most(cause.claim_ids, CLAIMS_MAX, "claims of one cause")
    for each in draft.hypotheses:
        _at_most(each.evidence_for, REFS_MAX, "references for one candidate")
        _at_most(each.evidence_against, REFS_MAX, "references against one candidate")


def _at_most(values: Sized, most: int, what: str) -> None:
    if len(values) > most:
        raise MalformedAnswer(f"more than {most} {what}")


def _refs_of(claims: Iterable[Claim], draft: DiagnosisDraft | None) -> Iterator[EvidenceRef]:
    for claim in claims:
        yield from claim.refs
        yield from (quote.ref for quote in claim.quotes)
    for each in draft.hypotheses if draft else ():
        yield from chain(each.evidence_for, each.evidence_against)


def _texts(claims: Iterable[Claim], draft: DiagnosisDraft | None) -> Iterator[str]:
    """Every text in an answer except the arguments of calls, which the tool boundary limits."""
    for claim in claims:
        yield from (claim.claim_id, claim.entity)
        yield from filter(None, (claim.affected, claim.signal, claim.unit, claim.wording))
        yield from (quote.text for quote in claim.quotes)
    if draft is None:
        return
    for cause in draft.conclusion:
        yield from filter(None, (cause.entity, cause.region, *cause.claim_ids))
    for candidate in draft.hypotheses:
        yield from filter(None, (candidate.entity, candidate.region))
    yield from chain(draft.missing_names, (each.tool_call_id for each in draft.set_aside))
