"""Selects the rankings of a run that are about the question, and the one that a named cause is judged by.

Pure.

Neither their order nor which of them a draft cites matters: if two rankings of one question disagree, the
draft must give a reason for setting one aside.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from diagnosis_harness.diagnosis.claim import FaultKind
from diagnosis_harness.diagnosis.draft import Cause, SetAside, SetAsideReason
from diagnosis_harness.guards.asked import QuestionScope
from diagnosis_harness.guards.confidence import confidence_of
from diagnosis_harness.tools.evidence import EvidenceItem, ItemKind
from diagnosis_harness.tools.invocation import EvidenceRecord

LEAST_STRENGTH = 0.5
"""Calibrated strength of a ranking, 0 to 1, below which the evidence is no stronger than normal variation."""


_SIGNALS = frozenset({"metric", "resource"})
"""Modalities that mean a ranking was decided by a signal and not by a span."""


@dataclass(frozen=True, slots=True)
class Ranking:
    """One ranking of causes: its record and its candidates, best first, at least one.

    `affected` is the service whose trouble it explains, even if the call asked about one of its instances.
    """

    tool_call_id: str
    items: tuple[EvidenceItem, ...]
    affected: str | None = None

    @property
    def first(self) -> EvidenceItem:
        """The strongest candidate."""
        return self.items[0]

    @property
    def kinds(self) -> frozenset[str]:
        """The kinds of telemetry that it weighed."""
        return frozenset(
            name
            for item in self.items
            for name in item.attributes
            if name.endswith("_score") and name != "explained_score"
        )


def ranks(item: EvidenceItem, entity: str, fault_kind: FaultKind, region: str | None) -> bool:
    """Whether this one item ranks this entity for this kind of fault, and this part if one is named.

    Kind and part must come from the same item: they cannot be combined from two candidates.
    """
    if item.kind is not ItemKind.CAUSE_SCORE or item.entity != entity:
        return False
    if item.attributes.get("fault_kind", FaultKind.UNKNOWN) != fault_kind.value:
        return False
    return region is None or item.attributes.get("region") == region


def fault_kind_of(candidate: EvidenceItem) -> FaultKind:
    """The kind of fault that a ranking names; UNKNOWN if it names none that this product knows."""
    named = candidate.attributes.get("fault_kind")
    return next((kind for kind in FaultKind if kind.value == named), FaultKind.UNKNOWN)


def is_decided_by_signal(ranked: EvidenceItem) -> bool:
    """Whether the ranking was decided by a signal, and so has an onset time."""
    return ranked.attributes.get("decided_by") in _SIGNALS


def rankings_of(records: Iterable[EvidenceRecord], asked: QuestionScope) -> tuple[Ranking, ...]:
    """The rankings among these records that are about the question."""
    ranked = [
        (record.tool_call_id, tuple(item for item in record.items if item.kind is ItemKind.CAUSE_SCORE))
        for record in records
        if asked.is_ranking_of_it(record)
    ]
    return tuple(Ranking(call_id, items, asked.service_of(items[0].peer)) for call_id, items in ranked)


def standing_rankings(rankings: Sequence[Ranking], set_aside: Iterable[SetAside]) -> tuple[Ranking, ...]:
    """The rankings without those that a draft sets aside for a valid reason; at least one is left.

    A reason that compares two rankings is valid only against a ranking that is not set aside.
    """
    reasons = {(each.tool_call_id, each.reason) for each in set_aside}
    named = {tool_call_id for tool_call_id, _ in reasons}
    kept = [ranking for ranking in rankings if ranking.tool_call_id not in named]
    return tuple(
        ranking
        for ranking in rankings
        if not any(
            (ranking.tool_call_id, reason) in reasons and _holds(reason, ranking, kept)
            for reason in SetAsideReason
        )
    )


def judging_item(cause: Cause, rankings: Iterable[Ranking]) -> EvidenceItem | None:
    """The item that a named cause is judged by: the least certain of those that rank it first.

    If none ranks it first, the least certain of those that rank it at all; None if no ranking names it.
    """
    every = tuple(rankings)
    firsts = [ranking.first for ranking in every if _names(ranking.first, cause)]
    lower = [item for ranking in every for item in ranking.items if _names(item, cause)]
    return min(firsts or lower, key=_sureness, default=None)


def contradicting(conclusion: Sequence[Cause], rankings: Iterable[Ranking]) -> tuple[Ranking, ...]:
    """The rankings that contradict part of a conclusion with one or several causes.

    Each ranking must put a concluded cause first, with its fault kind and part. If the rankings of one
    affected entity support several causes, each must call the others that it ranks independent of its
    first, and at least one must support all of them: two rankings that put different causes first do not
    add up to two causes. Two affected entities may each have a cause.
    """
    every = tuple(rankings)
    names = {each.affected for each in every}
    groups = ([each for each in every if each.affected == name] for name in names)
    found = [ranking for group in groups for ranking in _denying(conclusion, group)]
    return tuple(ranking for ranking in every if ranking in found)


def _denying(conclusion: Sequence[Cause], rankings: Sequence[Ranking]) -> Sequence[Ranking]:
    """The contradicting rankings of one affected entity; all of them if none supports what they confirm."""
    supported = [cause for cause in conclusion if any(_stand(each, cause) for each in rankings)]
    denying = [
        ranking
        for ranking in rankings
        if not any(_names(ranking.first, cause) for cause in conclusion)
        or any(_stand(ranking, cause) is False for cause in supported)
    ]
    is_whole = any(all(_stand(ranking, cause) for cause in supported) for ranking in rankings)
    return denying or ([] if is_whole else rankings)


def _stand(ranking: Ranking, cause: Cause) -> bool | None:
    """Whether a ranking puts a cause first or independent of its first.

    None if it does not rank the entity.
    """
    if _names(ranking.first, cause):
        return True
    of_entity = [item for item in ranking.items if item.entity == cause.entity]
    if not of_entity:
        return None
    first = ranking.first.entity
    return any(_names(item, cause) and item.attributes.get("independent_of") == first for item in of_entity)


def _names(item: EvidenceItem, cause: Cause) -> bool:
    return ranks(item, cause.entity, cause.fault_kind, cause.region)


def _sureness(item: EvidenceItem) -> tuple[float, float, float, float]:
    return (
        confidence_of(item, repaired=False),
        item.number("strength"),
        item.number("margin"),
        item.score or 0.0,
    )


def _holds(reason: SetAsideReason, ranking: Ranking, kept: Sequence[Ranking]) -> bool:
    match reason:
        case SetAsideReason.NOTHING_WRONG:
            return bool(kept) and ranking.first.number("strength") < LEAST_STRENGTH
        case SetAsideReason.FEWER_KINDS:
            return any(ranking.kinds < other.kinds for other in kept)
        case SetAsideReason.AT_THE_ALERT:  # only in documents of earlier versions
            return False
