"""Projection keeps a prefix that fits, and says what it left out."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from diagnosis_harness.kernel.canonical import canonical_json
from diagnosis_harness.kernel.errors import ProjectionTooLarge
from diagnosis_harness.testing.evidence import WINDOW, change_item
from diagnosis_harness.tools.projection import project
from diagnosis_harness.tools.spec import ProjectionBounds, ToolFindings


def findings(count: int) -> ToolFindings:
    """So many items, strongest first."""
    items = tuple(change_item(f"i{n}") for n in range(count))
    return ToolFindings(items=items, window=WINDOW, looked_at=count, narrow="Name an entity.", note=None)


@given(st.integers(0, 30), st.integers(1, 30), st.integers(400, 9_000))
def test_a_projection_is_a_bounded_prefix_that_accounts_for_the_rest(
    count: int, items: int, size: int
) -> None:
    """Never more items or bytes than allowed; kept and omitted add up; the bytes are canonical JSON."""
    given_findings = findings(count)
    try:
        projection = project("look", "{}", given_findings, ProjectionBounds(items=items, size_bytes=size))
    except ProjectionTooLarge:
        assert count > 0
        return
    assert projection.items == given_findings.items[: len(projection.items)]
    assert len(projection.items) + projection.omitted == count
    assert len(projection.items) <= items
    if projection.items:
        assert len(projection.stored) <= size + 200
    assert (projection.narrow is not None) == (projection.omitted > 0)
    stored = json.loads(projection.stored)
    assert canonical_json(stored) == projection.stored
    assert stored["omitted"] == projection.omitted
    assert [item["item_id"] for item in stored["items"]] == [item.item_id for item in projection.items]


def test_what_fits_in_nothing_is_too_large() -> None:
    """Not even one item fits: that is a failure, never an empty answer."""
    with pytest.raises(ProjectionTooLarge):
        project("look", "{}", findings(1), ProjectionBounds(size_bytes=50))


def test_two_items_of_one_id_are_refused() -> None:
    """A reference must point at one item."""
    doubled = replace(findings(1), items=(change_item(), change_item()))
    with pytest.raises(ValueError, match="share an id"):
        project("look", "{}", doubled, ProjectionBounds())


def test_an_empty_answer_keeps_its_window_and_how_far_it_looked() -> None:
    """Nothing found is worth storing: where, when, among how many."""
    projection = project("look", '{"entity":"cart"}', replace(findings(0), looked_at=9), ProjectionBounds())
    assert json.loads(projection.stored) == {
        "tool": "look",
        "scope": '{"entity":"cart"}',
        "window": ["2023-11-14T22:13:20Z", "2023-11-14T22:23:20Z"],
        "looked_at": 9,
        "items": [],
        "omitted": 0,
        "narrow": None,
        "note": None,
    }
