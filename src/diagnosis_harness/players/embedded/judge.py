"""The embedded SemanticJudge: strength, margin, harm, order in time, cause against victim; by rule."""

from __future__ import annotations

from typing import TYPE_CHECKING

from diagnosis_harness.diagnosis.claim import Predicate
from diagnosis_harness.diagnosis.draft import Cause
from diagnosis_harness.guards.candidates import ranks
from diagnosis_harness.guards.semantic_guard import SemanticCase
from diagnosis_harness.guards.verdict import Judgement, SemanticReason, SemanticVerdict
from diagnosis_harness.harness.budget import TokenUsage
from diagnosis_harness.players.embedded.reading import is_harm
from diagnosis_harness.players.embedded.standing import weaknesses
from diagnosis_harness.tools.evidence import EvidenceItem

if TYPE_CHECKING:
    from diagnosis_harness.harness.context import RunContext

ORDER_SLACK_S = 60.0
"""How much later than its effect a cause may seem to begin: onsets are known to a sampling step or two."""


class EmbeddedJudge:
    """Plays `SemanticJudge`; never waits, never fails, spends no tokens."""

    async def judge(self, ctx: RunContext, case: SemanticCase) -> tuple[Judgement, TokenUsage]:
        """The verdict on a conclusion."""
        del ctx  # the case holds all that counts
        return verdict_on(case), TokenUsage(0, 0)


def verdict_on(case: SemanticCase) -> Judgement:
    """UNSUPPORTED with every reason against any concluded cause; SUPPORTED when there is none: pure."""
    reasons: list[SemanticReason] = []
    for cause in case.conclusion:
        reasons.extend(_reasons(cause, case))
    if reasons:
        return Judgement(SemanticVerdict.UNSUPPORTED, tuple(dict.fromkeys(reasons)))
    return Judgement(SemanticVerdict.SUPPORTED)


def _reasons(cause: Cause, case: SemanticCase) -> list[SemanticReason]:
    ranked = [item for item in case.rankings if item.entity == cause.entity]
    ranked.sort(key=lambda item: not ranks(item, cause.entity, cause.fault_kind, cause.region))
    if not ranked:
        return [SemanticReason.NOT_RANKED]
    found: list[SemanticReason] = []
    if ranked[0] is not case.rankings[0]:
        found.append(SemanticReason.NO_MARGIN)
    found.extend(weaknesses(ranked[0]))
    direct = _direct_items(cause, case)
    if not any(is_harm(item) for item in direct):
        found.append(SemanticReason.HARMLESS_DIRECTION)
    if _comes_after(direct, _effect_items(ranked[0].peer, cause, case)):
        found.append(SemanticReason.AFTER_ITS_EFFECT)
    return found


def _direct_items(cause: Cause, case: SemanticCase) -> list[EvidenceItem]:
    """What was observed of the named cause itself, or of a part of it; not what else its claims cite."""
    return [
        item
        for cited in case.claims
        if cited.claim.claim_id in cause.claim_ids and cited.claim.predicate is not Predicate.CAUSED
        for _, item in cited.items
        if cause.entity in (item.entity, item.attributes.get("owner"))
    ]


def _effect_items(affected: str | None, cause: Cause, case: SemanticCase) -> list[EvidenceItem]:
    """What was observed of the entity that the cause is to explain."""
    if affected is None or affected == cause.entity:
        return []
    return [
        item
        for cited in case.claims
        if cited.claim.entity == affected
        for _, item in cited.items
        if affected in (item.entity, item.attributes.get("owner"))
    ]


def _comes_after(direct: list[EvidenceItem], effects: list[EvidenceItem]) -> bool:
    began = [item.onset_s for item in direct if item.onset_s is not None and is_harm(item)]
    followed = [item.onset_s for item in effects if item.onset_s is not None and is_harm(item)]
    return bool(began and followed) and min(began) > min(followed) + ORDER_SLACK_S
