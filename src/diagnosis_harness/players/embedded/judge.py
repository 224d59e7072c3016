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
    effects = _effect_items(ranked[0].peer, cause, case)
    if _comes_after(_observed(cause, case), effects):
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


def _observed(cause: Cause, case: SemanticCase) -> list[EvidenceItem]:
    """Everything that the run observed of a cause or a part of it."""
    return [item for item in case.observed if cause.entity in (item.entity, item.attributes.get("owner"))]


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


def _comes_after(observed: list[EvidenceItem], effects: list[EvidenceItem]) -> bool:
    """Whether the first harm of a cause began later than the first of its effect.

    Not known, and so no objection, where a harm of the cause has no time of its own: spans are compared
    before and after onset, and what they show began somewhere in the window.
    """
    began = [item.onset_s for item in observed if is_harm(item)]
    dated = [onset_s for onset_s in began if onset_s is not None]
    followed = [item.onset_s for item in effects if item.onset_s is not None and is_harm(item)]
    if not dated or not followed or len(dated) < len(began):
        return False
    return min(dated) > min(followed) + ORDER_SLACK_S
