"""The embedded SemanticJudge: strength, margin and harm, by rule."""

from __future__ import annotations

from diagnosis_harness.diagnosis.claim import Predicate
from diagnosis_harness.diagnosis.draft import Cause
from diagnosis_harness.guards.harm import is_harm
from diagnosis_harness.guards.semantic_guard import SemanticCase
from diagnosis_harness.guards.semantic_rules import case_objections
from diagnosis_harness.guards.support import objections
from diagnosis_harness.guards.verdict import Judgement, SemanticReason, SemanticVerdict
from diagnosis_harness.guards.weaknesses import weaknesses
from diagnosis_harness.harness.budget import TokenUsage
from diagnosis_harness.harness.context import RunContext
from diagnosis_harness.tools.evidence import EvidenceItem


class EmbeddedJudge:
    """Plays `SemanticJudge`; never waits, never fails, spends no tokens."""

    async def judge(self, ctx: RunContext, case: SemanticCase) -> tuple[Judgement, TokenUsage]:
        """The verdict on a conclusion."""
        del ctx  # the case decides alone
        return verdict_on(case), TokenUsage(0, 0)


def verdict_on(case: SemanticCase) -> Judgement:
    """UNSUPPORTED with every objection to a concluded cause; SUPPORTED if there is none. Pure.

    To the objections that code finds it adds those about strength and harm.
    """
    reasons = [*case_objections(case)]
    for cause in case.conclusion:
        reasons.extend(_reading(cause, case))
    if reasons:
        return Judgement(SemanticVerdict.UNSUPPORTED, tuple(dict.fromkeys(reasons)))
    return Judgement(SemanticVerdict.SUPPORTED)


def _reading(cause: Cause, case: SemanticCase) -> list[SemanticReason]:
    judged = case.judged.get(cause.entity)
    if judged is None:
        return []
    found = list(weaknesses(judged))
    if not any(is_harm(item) for item in _direct_items(cause, case)):
        found.append(SemanticReason.HARMLESS_DIRECTION)
    return found


def _direct_items(cause: Cause, case: SemanticCase) -> list[EvidenceItem]:
    """The items that support the claims about the cause, or a part of it, at the time of the question.

    Other cited items do not count: one that supports no claim, or is of another time, proves nothing here.
    """
    observed = case.about(cause.entity)
    return [
        item
        for cited in case.claims
        if cited.claim.claim_id in cause.claim_ids and cited.claim.predicate is not Predicate.CAUSED
        for _, item in cited.items
        if item in observed and not objections(cited.claim, item)
    ]
