"""Decides whether something got worse."""

from __future__ import annotations

from diagnosis_harness.diagnosis.item_forms import is_observed_trouble
from diagnosis_harness.guards.support import is_beyond_normal
from diagnosis_harness.tools.evidence import Direction, EvidenceItem, ItemKind

_OF_CALLS = frozenset({ItemKind.SELF_TIME, ItemKind.EDGE_GAP, ItemKind.SPAN_ERRORS})

SYMPTOM_KINDS = frozenset({"latency", "errors", "availability"})
"""Signal kinds, as items name them, that measure how well an entity serves its callers."""


def is_harm(item: EvidenceItem) -> bool:
    """Whether an item shows that something got worse by more than normal operation varies."""
    if item.kind in _OF_CALLS:
        return item.direction is Direction.UP
    if item.kind is ItemKind.STATE:
        return is_observed_trouble(item)
    return bool(item.attributes.get("bad")) and is_beyond_normal(item)
