"""Whether something got worse."""

from __future__ import annotations

from diagnosis_harness.diagnosis.item_forms import is_observed_trouble
from diagnosis_harness.guards.support import is_beyond_normal
from diagnosis_harness.tools.evidence import Direction, EvidenceItem, ItemKind

_OF_CALLS = frozenset({ItemKind.SELF_TIME, ItemKind.EDGE_GAP, ItemKind.SPAN_ERRORS})

SYMPTOM_KINDS = frozenset({"latency", "errors", "availability"})
"""Kinds of signals that say how well an entity serves its callers, as items name them."""


def is_harm(item: EvidenceItem) -> bool:
    """Whether an item says that something got worse, further than normal operation shows."""
    if item.kind in _OF_CALLS:
        return item.direction is Direction.UP
    if item.kind is ItemKind.STATE:
        return is_observed_trouble(item)
    return bool(item.attributes.get("bad")) and is_beyond_normal(item)
