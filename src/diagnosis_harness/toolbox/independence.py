"""Decides whether a second candidate broke independently of the first one of a ranking.

A second cause must never be the second-best explanation of the same trouble. So there must be no path of
calls between the two, no common dependency that may explain either, evidence in each that its trouble
originates there, and harm in each that its callers notice.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from diagnosis_harness.analysis.clue import Modality
from diagnosis_harness.analysis.graph import CallGraph, reachable
from diagnosis_harness.analysis.rank import Candidate
from diagnosis_harness.toolbox.origin import OwnEvidence

_NOTICEABLE = frozenset(
    {Modality.SYMPTOM, Modality.SELF_TIME, Modality.EDGE_GAP, Modality.ERRORS, Modality.STATE}
)
"""Evidence that callers notice; a busy processor or a log line alone may affect no caller."""
_OF_A_MACHINE = frozenset({"CPU", "MEMORY", "NETWORK"})
"""Kinds of faults that all services on one machine show together."""


@dataclass(frozen=True, slots=True)
class Independent:
    """A candidate that broke independently of the first one.

    Attributes:
        lead: 0 to 1, its lead over the other candidates that the first one does not explain either, as a
            share of its score.
    """

    entity: str
    lead: float


def find_independent(
    candidates: tuple[Candidate, ...], graph: CallGraph, own: Mapping[str, OwnEvidence]
) -> Independent | None:
    """The strongest candidate after the first that broke independently; None if there is none."""
    if not candidates or not _broke_itself(candidates[0], own):
        return None
    first = candidates[0]
    by_first = {one.entity for one in candidates if first.entity in reachable(graph, one.entity)}
    troubled = frozenset(one.entity for one in candidates if one.score > 0)
    for one in candidates[1:]:
        if one.score <= 0 or one.entity in by_first or not _broke_itself(one, own):
            continue
        if own[one.entity].unseen:  # with missing spans, calls seem to have stopped
            continue
        if _may_share_a_machine(first, one) or _may_share_a_cause((first, one), troubled, graph, own):
            continue
        rest = [each.score for each in candidates if each.entity not in {one.entity, *by_first}]
        return Independent(one.entity, (one.score - max([0.0, *rest])) / one.score)
    return None


def _broke_itself(one: Candidate, own: Mapping[str, OwnEvidence]) -> bool:
    """Whether there is evidence that its trouble originates there, and evidence that its callers notice."""
    is_noticeable = any(
        clue.excess > 0 and clue.modality in _NOTICEABLE and not clue.passed_on for clue in one.clues
    )
    return is_noticeable and bool(own[one.entity].origins) and one.explained_by is None


def _may_share_a_machine(first: Candidate, other: Candidate) -> bool:
    return first.fault_kind == other.fault_kind and first.fault_kind in _OF_A_MACHINE


def _may_share_a_cause(
    pair: tuple[Candidate, Candidate],
    troubled: frozenset[str],
    graph: CallGraph,
    own: Mapping[str, OwnEvidence],
) -> bool:
    """Whether one of two calls the other, or a shared dependency is in trouble, unseen or unknown."""
    first, other = pair[0].entity, pair[1].entity
    if not {first, other} <= frozenset(graph.entities):
        return True
    shared = reachable(graph, first) & reachable(graph, other)  # an entity is among what it reaches
    nameless = all(own[one].open and not own[one].unseen for one in (first, other))
    return nameless or not shared.isdisjoint(troubled.union(own[first].unseen))
