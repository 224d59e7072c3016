"""What code itself holds against a conclusion, before any judge reads it: pure, and no judge overrules it.

A judge weighs how strong the evidence is. Whether the run was told otherwise about the same question, whether
anybody looked at what a cause is to explain, and whether the cause began after it, is no matter of weighing.
"""

from __future__ import annotations

from diagnosis_harness.diagnosis.draft import Cause
from diagnosis_harness.guards.harm import is_harm
from diagnosis_harness.guards.rankings import contradicting
from diagnosis_harness.guards.semantic_guard import SemanticCase
from diagnosis_harness.guards.verdict import SemanticReason
from diagnosis_harness.tools.evidence import EvidenceItem

ORDER_SLACK_S = 60.0
"""How much later than its effect a cause may seem to begin: onsets are known to a sampling step or two."""


def case_objections(case: SemanticCase) -> tuple[SemanticReason, ...]:
    """Every reason against any concluded cause that no reading can answer."""
    found = [reason for cause in case.conclusion for reason in _of_cause(cause, case)]
    named = [cause for cause in case.conclusion if _is_first(cause, case)]
    if named and contradicting(case.conclusion, case.rankings):
        found.append(SemanticReason.CONTRADICTED)
    return tuple(dict.fromkeys(found))


def _of_cause(cause: Cause, case: SemanticCase) -> list[SemanticReason]:
    judged = case.judged.get(cause.entity)
    if judged is None:
        return [SemanticReason.NOT_RANKED]
    found = []
    if not _is_first(cause, case):
        found.append(SemanticReason.NO_MARGIN)
    affected = judged.peer
    effects = [] if affected in (None, cause.entity) else case.about(affected or "")
    if affected != cause.entity and affected in case.unseen:
        found.append(SemanticReason.EFFECT_NOT_SEEN)
    if _comes_after(case.about(cause.entity), effects):
        found.append(SemanticReason.AFTER_ITS_EFFECT)
    return found


def _is_first(cause: Cause, case: SemanticCase) -> bool:
    judged = case.judged.get(cause.entity)
    return any(judged is ranking.first for ranking in case.rankings)


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
