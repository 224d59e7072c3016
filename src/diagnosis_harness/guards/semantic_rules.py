"""Objections to a conclusion that code finds before any judge reads it. Pure; no judge can overrule them.

A judge weighs how strong the evidence is. Code decides five things: whether the run recorded another answer
to the same question, whether the effect of a cause was examined, whether the cause began after its effect,
whether the attempt to disprove the cause contradicts it, and whether a second cause is independent of the
first.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

from diagnosis_harness.diagnosis.draft import Cause, DisproofResult
from diagnosis_harness.guards.harm import is_harm
from diagnosis_harness.guards.incident_time import ORDER_SLACK_S
from diagnosis_harness.guards.levels import SCOPE_MOST, scope_of
from diagnosis_harness.guards.rankings import contradicting, is_decided_by_signal
from diagnosis_harness.guards.semantic_guard import SemanticCase, decides
from diagnosis_harness.guards.verdict import SemanticReason
from diagnosis_harness.tools.evidence import EvidenceItem


def _is_unconnected(item: EvidenceItem) -> bool:
    """Whether no recorded call leads from the affected entity to a cause.

    Where no calls are recorded at all, what the affected entity shows may connect the two; where it shows
    nothing either, any entity that moved would do as its cause.
    """
    path, affected = item.attributes.get("path"), item.peer
    if path is None and affected not in (None, item.entity):
        return item.attributes.get("effect") == "unknown"
    return path == "none"


OBJECTIONS: Mapping[SemanticReason, Callable[[EvidenceItem], bool]] = MappingProxyType(
    {
        SemanticReason.EFFECT_NORMAL: lambda item: item.attributes.get("effect") == "normal",
        SemanticReason.EFFECT_MISFITS: lambda item: item.attributes.get("fits") is False,
        SemanticReason.SYMPTOM_ONLY: lambda item: item.attributes.get("symptom_only") is True,
        SemanticReason.SCOPE_TOO_WIDE: lambda item: len(scope_of(item)) > SCOPE_MOST,
        SemanticReason.ONSET_SEARCHED: lambda item: item.attributes.get("onset_searched") is True,
        SemanticReason.NO_PATH: _is_unconnected,
    }
)
"""The objections that a ranking records against its candidate; empty if it could not decide."""


def ranking_objections(ranked: EvidenceItem) -> tuple[SemanticReason, ...]:
    """The objections that a ranking records against this candidate."""
    return tuple(reason for reason, holds in OBJECTIONS.items() if holds(ranked))


def case_objections(case: SemanticCase) -> tuple[SemanticReason, ...]:
    """Every reason that rules out a concluded cause regardless of the judge."""
    found = [reason for cause in case.conclusion for reason in _of_cause(cause, case)]
    if case.asks_of_unknown and case.conclusion:
        found.append(SemanticReason.OF_UNKNOWN_NAME)
    named = [cause for cause in case.conclusion if _is_first(cause, case)]
    is_second_best = SemanticReason.NOT_INDEPENDENT in found
    if named and not is_second_best and contradicting(case.conclusion, case.rankings):
        found.append(SemanticReason.CONTRADICTED)
    return tuple(dict.fromkeys(found))


def _of_cause(cause: Cause, case: SemanticCase) -> list[SemanticReason]:
    judged = case.judged.get(cause.entity)
    if judged is None:
        return [SemanticReason.NOT_RANKED]
    found = []
    if not _is_first(cause, case):
        first = judged.attributes.get("independent_of")
        others = {each.entity for each in case.conclusion} - {cause.entity}
        if not others:
            found.append(SemanticReason.NO_MARGIN)
        elif first is None or others != {first}:
            found.append(SemanticReason.NOT_INDEPENDENT)
    found.extend(ranking_objections(judged))
    affected = judged.peer
    effects = [] if affected in (None, cause.entity) else case.about(affected or "")
    if affected != cause.entity and not case.unseen.isdisjoint({affected, cause.entity}):
        found.append(SemanticReason.EFFECT_NOT_SEEN)
    if _comes_after(judged, case.about(cause.entity), effects):
        found.append(SemanticReason.AFTER_ITS_EFFECT)
    disproof = case.disproofs.get(cause.entity)
    if disproof is not None and disproof.result is DisproofResult.DISPROVED:
        found.append(SemanticReason.DISPROVED)
    return found


def _is_first(cause: Cause, case: SemanticCase) -> bool:
    judged = case.judged.get(cause.entity)
    return any(judged is ranking.first for ranking in case.rankings)


def _comes_after(judged: EvidenceItem, observed: list[EvidenceItem], effects: list[EvidenceItem]) -> bool:
    """Whether the first harm of a cause began later than the first harm of its effect.

    Spans are compared before and after the onset and have no time of their own: what they show began
    somewhere in the window. So if the ranking was decided by spans, later signals of the cause prove
    nothing. If it was decided by a signal, spans beside it do not excuse a late start.
    """
    harms = [item for item in observed if is_harm(item)]
    dated = [item for item in harms if item.onset_s is not None]
    if len(dated) < len(harms) and not is_decided_by_signal(judged):
        return False
    began = _onsets([item for item in dated if decides(judged, item)] or dated)
    followed = _onsets([item for item in effects if is_harm(item)])
    return bool(began and followed) and min(began) > min(followed) + ORDER_SLACK_S


def _onsets(items: list[EvidenceItem]) -> list[float]:
    return [item.onset_s for item in items if item.onset_s is not None]
