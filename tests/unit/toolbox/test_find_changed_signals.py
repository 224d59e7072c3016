"""What the list of changed signals holds of named entities, and what a limit leaves out of it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from tests.support.small_incident import CPU_FAULT, ONSET_S, STEP_S, small_incident

from diagnosis_harness.harness.context import RunContext
from diagnosis_harness.testing.sources import InMemorySources
from diagnosis_harness.toolbox.catalog import build_tools
from diagnosis_harness.tools.projection import project
from diagnosis_harness.tools.spec import ArgumentValue, ProjectionBounds, ToolFindings


def find_changed(ctx: RunContext, sources: InMemorySources, **arguments: ArgumentValue) -> ToolFindings:
    """The findings."""
    (tool,) = (each for each in build_tools(sources.sources()) if each.spec.name == "find_changed_signals")
    return tool.run(ctx, {"onset": ONSET_S, **arguments})


def count_omitted(findings: ToolFindings) -> int:
    """How many findings its record says are missing."""
    return project("find_changed_signals", "{}", findings, ProjectionBounds()).omitted


def test_what_a_limit_cuts_counts_as_left_out(ctx: RunContext) -> None:
    """A shorter list must not read as one of all that moved."""
    sources = small_incident(CPU_FAULT)
    whole = find_changed(ctx, sources, entities=("payment",))
    assert count_omitted(whole) == 0
    assert len(whole.items) > 1
    assert count_omitted(find_changed(ctx, sources, entities=("payment",), limit=1)) == len(whole.items) - 1
    assert count_omitted(find_changed(ctx, sources, entities=("payment",), limit=len(whole.items))) == 0


@pytest.mark.parametrize("minutes", [10.0, 25.0, 40.0, 50.0])
@pytest.mark.parametrize("seed", range(3))
def test_a_step_before_the_onset_is_dated_by_itself_and_listed_of_who_is_named(
    ctx: RunContext, minutes: float, seed: int
) -> None:
    """Also where the minutes before the onset make it look calm, or as if it had moved with it."""
    sources = small_incident(CPU_FAULT, seed=seed)
    began_s = ONSET_S - 60.0 * minutes
    moved = next(one for one in sources.incident if (one.entity, one.signal) == ("catalog", "latency_p90"))
    slow = replace(moved, value=np.where(moved.time_s >= began_s, 5.0, 1.0) * moved.value)
    sources = replace(sources, incident=tuple(slow if one is moved else one for one in sources.incident))
    found = [
        item
        for item in find_changed(ctx, sources, entities=("catalog",)).items
        if item.signal == "latency_p90"
    ]
    assert [item.attributes["bad"] for item in found] == [True]
    assert abs((found[0].onset_s or 0.0) - began_s) <= 2 * STEP_S
    calm = find_changed(ctx, small_incident(CPU_FAULT, seed=seed), entities=("catalog",)).items
    assert not [item for item in calm if item.attributes.get("began_before")]
