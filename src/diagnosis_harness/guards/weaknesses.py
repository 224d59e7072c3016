"""Whether one candidate stands out enough to be named; analyst and judge share this rule."""

from __future__ import annotations

from diagnosis_harness.guards.rankings import LEAST_STRENGTH
from diagnosis_harness.guards.semantic_rules import ranking_objections
from diagnosis_harness.guards.verdict import SemanticReason
from diagnosis_harness.tools.evidence import EvidenceItem

LEAST_MARGIN = 0.25
"""Lead over the next candidate, as a share of the leader's score, below which two causes are as good.

Of the seven conclusions that PetShop, Nezha and the hard kinds released below it five were wrong, of the 132
above it 18; no other value was tried."""
DEPENDENCY_SHARE = 0.5
"""Share of a candidate's score that a dependency explains from which the dependency is the better cause."""


def weaknesses(item: EvidenceItem) -> tuple[SemanticReason, ...]:
    """Why a ranking's first candidate should not be named; empty when it may."""
    found = list(ranking_objections(item))
    if item.number("strength") < LEAST_STRENGTH:
        found.append(SemanticReason.WEAK)
    if max(item.number("margin"), item.number("lead")) < LEAST_MARGIN:
        found.append(SemanticReason.NO_MARGIN)
    score = item.score or 0.0
    if item.attributes.get("explained_by") and item.number("explained_score") > DEPENDENCY_SHARE * score:
        found.append(SemanticReason.EXPLAINED_BY_OTHER)
    return tuple(found)


def stands_out(item: EvidenceItem) -> bool:
    """Whether a ranking's first candidate may be named."""
    return not weaknesses(item)


def stands_beside(item: EvidenceItem, first: EvidenceItem) -> bool:
    """Whether another candidate may be named beside the first one, since it broke by itself."""
    return item.attributes.get("independent_of") == first.entity and not weaknesses(item)
