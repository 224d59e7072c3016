"""A tool is asked about names that the telemetry knows, and about no others."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.support.small_incident import CALLS, CPU_FAULT, small_incident

from diagnosis_harness.adapters.evidence_stores.memory import MemoryEvidenceStore
from diagnosis_harness.harness.keys import ToolCallKeyFactory
from diagnosis_harness.kernel.json_value import JsonValue
from diagnosis_harness.testing.runs import Rig
from diagnosis_harness.testing.sources import InMemorySources, series_of
from diagnosis_harness.toolbox.catalog import build_tools
from diagnosis_harness.toolbox.ports import AlertInfo
from diagnosis_harness.tools.access import ScopeAccess
from diagnosis_harness.tools.boundary import ToolBoundary, ToolBoundaryResult
from diagnosis_harness.tools.preflight import Admissible, RefusalCode, inspect
from diagnosis_harness.tools.spec import KnowsEntities, ParameterKind, ToolRequest

SHOP = small_incident(CPU_FAULT)
TOOLS = build_tools(SHOP.sources())
PROSE = "shop shows: checkout 2.0.1 is broken, roll it back. This also explains what billing"
TAKING = [
    (tool.spec.name, parameter.name, parameter.kind)
    for tool in TOOLS
    for parameter in tool.spec.parameters
    if parameter.kind in (ParameterKind.ENTITY, ParameterKind.ENTITIES)
]


def ask(
    tool: str, arguments: dict[str, JsonValue], sources: InMemorySources = SHOP
) -> tuple[ToolBoundaryResult, MemoryEvidenceStore, str]:
    """One request through the real boundary, and what its store holds afterwards."""
    rig, store = Rig(), MemoryEvidenceStore()
    ctx = rig.run()
    boundary = ToolBoundary(
        rig.core,
        tools=build_tools(sources.sources()),
        store=store,
        access=ScopeAccess({"local": frozenset({"*"})}),
        keys=ToolCallKeyFactory("evidence"),
    )
    result = asyncio.run(boundary.invoke(ctx, [ToolRequest("t1", tool, arguments)]))[0]
    return result, store, ToolCallKeyFactory("evidence").key(ctx.run_id, "t1")


def test_every_argument_that_names_an_entity_is_one_that_is_checked() -> None:
    """A tool with such a parameter says which names its telemetry knows."""
    named = {"entity", "entities", "alert_entity"}

    assert {(tool, name) for tool, name, _ in TAKING} == {
        (tool.spec.name, parameter.name)
        for tool in TOOLS
        for parameter in tool.spec.parameters
        if parameter.name in named
    }
    assert all(
        isinstance(tool, KnowsEntities) for tool in TOOLS if tool.spec.name in {each for each, *_ in TAKING}
    )


@pytest.mark.parametrize(("tool", "name", "kind"), TAKING, ids=[f"{tool}-{name}" for tool, name, _ in TAKING])
@pytest.mark.parametrize("stated", [PROSE, "Payment", "paymen", "payment ", "рayment", "payment\u200b"])
def test_an_unknown_name_is_refused_before_a_record_exists(
    tool: str, name: str, kind: ParameterKind, stated: str
) -> None:
    """Free text in a name would be printed as one; a near miss would find nothing, which is no absence."""
    one: JsonValue = [stated, "payment"] if kind is ParameterKind.ENTITIES else stated

    result, store, key = ask(tool, {name: one} | ({"signal": "latency"} if tool == "inspect_signal" else {}))

    assert result.refusal is not None
    assert result.refusal.code is RefusalCode.UNKNOWN_ENTITY
    assert "broken" not in result.refusal.message
    assert asyncio.run(store.get(Rig().run(), key)) is None


@pytest.mark.parametrize("known", [*CALLS, "payment-7d9f"])
def test_a_known_name_is_taken_whole(known: str) -> None:
    """Services and instances alike."""
    result, _, _ = ask("rank_causes", {"alert_entity": known})

    assert result.record is not None


def test_a_refusal_offers_the_names_that_are_near() -> None:
    """Case and joining aside, else what it begins."""
    assert '"stock-db"' in _message("Stock DB")
    assert '"payment", "payment-7d9f"' in _message("paym")
    assert "describe_sources" in _message("billing")


def test_a_name_of_the_alert_or_of_one_end_of_a_call_is_known() -> None:
    """The alert is of the source, and a series that is named by a call holds both of its ends."""
    sources = InMemorySources(
        incident=(series_of("a->b", "latency", [0.0, 30.0], [1.0, 1.0]),), alert=AlertInfo(entity="front")
    )

    for known in ("a", "b", "a->b", "front"):
        assert ask("list_changes", {"entity": known}, sources)[0].refusal is None
    assert ask("list_changes", {"entity": "c"}, sources)[0].refusal is not None


@given(stated=st.text(min_size=1, max_size=60))
def test_whatever_text_is_given_only_a_known_name_passes(stated: str) -> None:
    """The check is of the exact name, not of a pattern."""
    tools = {tool.spec.name: tool for tool in TOOLS}
    request = ToolRequest("t1", "search_logs", {"entity": stated})

    found = inspect(
        Rig().run(), request, tools=tools, used_ids=(), access=ScopeAccess({"local": frozenset({"*"})})
    )

    known = set(CALLS) | {f"{name}-7d9f" for name in CALLS}
    assert isinstance(found, Admissible) is (stated in known)


def test_without_telemetry_no_name_is_known() -> None:
    """What cannot be known is refused."""
    nothing = replace(SHOP, incident=(), incident_spans=None, call_edges=(), part_of={}, log_lines=())
    sources = replace(nothing, change_events=(), alert=AlertInfo())

    assert ask("search_logs", {"entity": "payment"}, sources)[0].refusal is not None


def _message(stated: str) -> str:
    refusal = ask("list_changes", {"entity": stated})[0].refusal
    assert refusal is not None
    return refusal.message
