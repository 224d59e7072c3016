"""What each tool finds, and what it says when there is nothing to find."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from tests.support.small_incident import (
    CPU_FAULT,
    ERROR_FAULT,
    NETWORK_FAULT,
    ONSET_S,
    STORE_FAULT,
    small_incident,
)

from diagnosis_harness.harness.context import RunContext
from diagnosis_harness.kernel.language import Language, language_of
from diagnosis_harness.testing.sources import InMemorySources, series_of
from diagnosis_harness.toolbox.catalog import build_tools
from diagnosis_harness.toolbox.ports import AlertInfo, ChangeEvent, FileNote, LogLine
from diagnosis_harness.tools.evidence import Direction, ItemKind
from diagnosis_harness.tools.spec import ArgumentValue, ToolFindings

NAMES = (
    "describe_sources",
    "match_entities",
    "estimate_onset",
    "find_changed_signals",
    "compare_spans",
    "compare_logs",
    "platform_events",
    "list_changes",
    "weigh_changes",
    "rank_causes",
    "inspect_signal",
    "walk_topology",
    "search_logs",
)


def call(ctx: RunContext, sources: InMemorySources, name: str, **arguments: ArgumentValue) -> ToolFindings:
    """One tool's findings."""
    tool = next(tool for tool in build_tools(sources.sources()) if tool.spec.name == name)
    return tool.run(ctx, arguments)


def test_the_catalog_holds_read_only_tools_with_their_scopes() -> None:
    """Names and permissions are pinned: players and access rules go by them."""
    specs = [tool.spec for tool in build_tools(small_incident(None).sources())]
    assert tuple(spec.name for spec in specs) == NAMES
    assert all(spec.read_only and spec.scope_names for spec in specs)
    assert all(spec.description_zh and language_of(spec.description_zh) is Language.ZH for spec in specs)


@pytest.mark.parametrize("name", NAMES)
def test_an_empty_source_gives_a_note_or_says_what_is_missing(ctx: RunContext, name: str) -> None:
    """No tool raises where there is nothing."""
    needed: dict[str, ArgumentValue] = {}
    if name == "inspect_signal":
        needed = {"entity": "a", "signal": "b"}
    if name == "walk_topology":
        needed = {"entity": "a"}
    if name == "match_entities":
        needed = {"text": "why?"}
    found = call(ctx, InMemorySources(), name, **needed)
    assert all(item.attributes.get("missing") for item in found.items)
    assert found.items or found.note


def test_the_inventory_names_kinds_alert_and_unused_files(ctx: RunContext) -> None:
    """What is there, what is not, what was left out."""
    note = FileNote("notes.bin", None, 0, "not a kind of telemetry")
    sources = replace(small_incident(None, spans=False), files=(note,))
    found = call(ctx, sources, "describe_sources")
    kinds = {item.attributes.get("telemetry") for item in found.items}
    missing = {item.attributes.get("missing") for item in found.items}
    assert {"metrics", "logs", "topology", "changes", "alert"} <= kinds
    assert {"spans", "baseline recording"} <= missing
    assert any("notes.bin was not used" in item.line for item in found.items)


def test_a_late_alert_is_corrected_and_both_times_are_reported(ctx: RunContext) -> None:
    """The time in use comes first."""
    found = call(ctx, small_incident(CPU_FAULT), "estimate_onset")
    by_method = {item.attributes["method"]: item for item in found.items}
    assert by_method["alert"].onset_s == ONSET_S + 60.0
    assert found.items[0].attributes == {**found.items[0].attributes, "method": "estimated", "used": True}
    assert abs((found.items[0].onset_s or 0) - ONSET_S) <= 30.0


def test_a_given_onset_is_used_as_it_is(ctx: RunContext) -> None:
    """A person's word is not replaced, only commented."""
    found = call(ctx, small_incident(CPU_FAULT), "estimate_onset", onset=ONSET_S + 120.0)
    assert (found.items[0].attributes["method"], found.items[0].onset_s) == ("argument", ONSET_S + 120.0)


def test_changed_signals_give_each_service_its_turn(ctx: RunContext) -> None:
    """The broken service's own signals are among the first, harmful ones before neutral ones."""
    found = call(ctx, small_incident(CPU_FAULT), "find_changed_signals")
    first = found.items[:3]
    owners = [item.attributes.get("owner", item.entity) for item in first]
    assert len(set(owners)) == 3
    bad = [bool(item.attributes["bad"]) for item in found.items]
    assert bad == sorted(bad, reverse=True)
    payment = [i for i in found.items if i.attributes.get("owner", i.entity) == "payment"]
    assert {item.attributes["kind"] for item in payment} >= {"latency", "cpu"}
    assert all(item.direction is Direction.UP for item in payment if item.attributes["bad"])


def test_changed_signals_can_be_narrowed(ctx: RunContext) -> None:
    """A service's instances belong to it."""
    found = call(ctx, small_incident(CPU_FAULT), "find_changed_signals", entities=("payment",), limit=2)
    assert 0 < len(found.items) <= 2
    assert {item.attributes.get("owner", item.entity) for item in found.items} == {"payment"}


def test_a_sound_system_has_few_changed_signals(ctx: RunContext) -> None:
    """Harmful changes of normal operation are rare and say that they are usual."""
    found = call(ctx, small_incident(None), "find_changed_signals")
    assert not [item for item in found.items if item.attributes["bad"] and (item.score or 0) > 4]


def test_a_signal_dates_its_own_change(ctx: RunContext) -> None:
    """Within a step of when it moved."""
    found = call(
        ctx, small_incident(CPU_FAULT), "inspect_signal", entity="payment-7d9f", signal="cpu_percent"
    )
    assert len(found.items) == 1
    assert abs((found.items[0].onset_s or 0) - ONSET_S) <= 30.0
    assert 0 < len(found.items[0].points) <= 40


def test_a_signal_is_found_by_its_service(ctx: RunContext) -> None:
    """The service's name finds the instance's series."""
    found = call(ctx, small_incident(CPU_FAULT), "inspect_signal", entity="payment", signal="cpu_percent")
    assert [item.attributes.get("owner") for item in found.items] == ["payment"]


def test_a_signal_that_did_not_move_is_flat(ctx: RunContext) -> None:
    """An answer too: it stayed where it was."""
    sources = InMemorySources(
        incident=(series_of("a", "latency", range(0, 600, 10), [1.0] * 60, unit="s"),), onset_s=400.0
    )
    found = call(ctx, sources, "inspect_signal", entity="a", signal="latency")
    assert (found.items[0].direction, found.items[0].line) == (
        Direction.FLAT,
        "a latency stayed at 1 s, usually 1 s",
    )


def test_counters_are_judged_by_their_growth(ctx: RunContext) -> None:
    """A total that grows faster is a rise; one that grows as before is not."""
    time_s = [10.0 * k for k in range(120)]
    steady = [5.0 * k for k in range(120)]
    faster = [5.0 * k + (200.0 * (k - 90) if k > 90 else 0.0) for k in range(120)]
    sources = InMemorySources(
        incident=(
            series_of("a", "errors_total", time_s, steady),
            series_of("b", "errors_total", time_s, faster),
        ),
        onset_s=905.0,
    )
    found = call(ctx, sources, "find_changed_signals")
    assert [(item.entity, item.attributes["rate"]) for item in found.items] == [("b", True)]


def test_self_time_accuses_the_service_and_not_its_callers(ctx: RunContext) -> None:
    """Callers only wait."""
    found = call(ctx, small_incident(CPU_FAULT), "compare_spans")
    assert {item.entity for item in found.items if item.kind is ItemKind.SELF_TIME} == {"payment"}


def test_a_slow_way_is_an_edge_gap(ctx: RunContext) -> None:
    """Entity is the callee, peer the caller."""
    found = call(ctx, small_incident(NETWORK_FAULT), "compare_spans")
    assert (found.items[0].kind, found.items[0].entity, found.items[0].peer) == (
        ItemKind.EDGE_GAP,
        "payment",
        "checkout",
    )


def test_failing_spans_and_missing_calls_are_reported(ctx: RunContext) -> None:
    """Failures, and what is no longer done because of them."""
    found = call(ctx, small_incident(ERROR_FAULT), "compare_spans")
    errors = [item for item in found.items if item.kind is ItemKind.SPAN_ERRORS]
    assert {item.entity for item in errors} == {"checkout"}
    assert any(item.attributes.get("without") for item in errors)
    assert all(item.direction is Direction.UP for item in errors)


def test_spans_can_be_narrowed(ctx: RunContext) -> None:
    """Both ends of a call count as asked for."""
    found = call(ctx, small_incident(NETWORK_FAULT), "compare_spans", entities=("catalog",))
    assert all("catalog" in {item.entity, item.peer} for item in found.items)


def test_topology_is_walked_by_service_also_from_an_instance(ctx: RunContext) -> None:
    """Callers of a store, two calls deep."""
    found = call(
        ctx, small_incident(None), "walk_topology", entity="stock-db-7d9f", direction="callers", depth=2
    )
    assert {(item.peer, item.entity) for item in found.items} == {
        ("checkout", "stock-db"),
        ("catalog", "stock-db"),
        ("shop", "checkout"),
        ("shop", "catalog"),
    }


def test_changes_stand_by_nearness_to_the_onset(ctx: RunContext) -> None:
    """Which is a hint, not a verdict."""
    found = call(ctx, small_incident(CPU_FAULT), "list_changes")
    assert [item.entity for item in found.items] == ["checkout", "catalog"]
    assert found.items[0].onset_s == ONSET_S - 30.0


def test_log_lines_are_counted_and_shown(ctx: RunContext) -> None:
    """The count first, then the lines."""
    found = call(ctx, small_incident(None), "search_logs", text="TIMEOUT")
    assert (found.items[0].value, len(found.items)) == (1.0, 2)
    assert found.items[1].attributes["level"] == "ERROR"


def test_no_matching_line_is_no_evidence(ctx: RunContext) -> None:
    """How many were searched is said."""
    found = call(ctx, small_incident(None), "search_logs", text="panic")
    assert (found.items, found.looked_at) == ((), 2)


def test_a_window_narrows_logs_and_changes(ctx: RunContext) -> None:
    """Half open, in seconds."""
    sources = small_incident(None)
    assert call(ctx, sources, "search_logs", start=ONSET_S + 8.0).items[0].value == 1.0
    assert len(call(ctx, sources, "list_changes", end=ONSET_S - 1_000.0).items) == 1


def test_a_recording_without_a_point_after_onset_changes_nothing(ctx: RunContext) -> None:
    """An onset at the very end has nothing to judge."""
    sources = replace(small_incident(STORE_FAULT), alert=AlertInfo(), onset_s=ONSET_S + 10_000.0)
    assert call(ctx, sources, "find_changed_signals").items == ()
    assert all(float(i.attributes["strength"] or 0) == 0 for i in call(ctx, sources, "rank_causes").items)


def test_a_recording_without_a_point_before_onset_says_nothing_strong(ctx: RunContext) -> None:
    """Without any normal there is no change."""
    sources = replace(small_incident(STORE_FAULT), alert=AlertInfo(), onset_s=ONSET_S - 10_000.0)
    assert all(float(i.attributes["strength"] or 0) < 0.5 for i in call(ctx, sources, "rank_causes").items)


def test_a_single_row_is_survived(ctx: RunContext) -> None:
    """One instant of one series."""
    sources = InMemorySources(incident=(series_of("a", "latency", [5.0], [np.pi]),), onset_s=5.0)
    assert call(ctx, sources, "find_changed_signals").items == ()
    assert call(ctx, sources, "rank_causes").items[0].attributes["strength"] == 0.0


def a_service_of_two() -> InMemorySources:
    """A service without a line of its own, whose two instances log and are changed; and another service."""
    return InMemorySources(
        part_of={"payment-a": "payment", "payment-b": "payment", "cart-a": "cart"},
        log_lines=(
            LogLine(ONSET_S + 1, "payment-a", "ERROR", "timeout of db"),
            LogLine(ONSET_S + 2, "payment-b", "INFO", "fine"),
            LogLine(ONSET_S + 3, "cart-a", "ERROR", "timeout of db"),
        ),
        change_events=(ChangeEvent(ONSET_S - 60, "payment-b", "deploy", "v2"),),
    )


def test_a_service_is_searched_with_its_instances(ctx: RunContext) -> None:
    """What an instance logged was logged of the service: it is found, and counted as searched."""
    found = call(ctx, a_service_of_two(), "search_logs", entity="payment", text="timeout")
    none = call(ctx, a_service_of_two(), "search_logs", entity="payment", text="panic")
    changed = call(ctx, a_service_of_two(), "list_changes", entity="payment")

    assert found.items[0].value == 1.0
    assert (none.items, none.looked_at) == ((), 2)
    assert [item.entity for item in changed.items] == ["payment-b"]


def test_an_instance_is_searched_alone(ctx: RunContext) -> None:
    """And nothing of its neighbour is counted."""
    none = call(ctx, a_service_of_two(), "search_logs", entity="payment-b", text="timeout")

    assert (none.items, none.looked_at) == ((), 1)


def test_an_empty_search_says_which_time_it_looked_through(ctx: RunContext) -> None:
    """If none was named, that of the recording."""
    sources = a_service_of_two()
    recorded = sources.summary(ctx).incident
    assert recorded is not None

    assert call(ctx, sources, "search_logs", entity="payment", text="panic").window == recorded
    assert call(ctx, sources, "list_changes", entity="cart").window == recorded


def test_what_could_not_be_compared_was_not_looked_at(ctx: RunContext) -> None:
    """A comparison without one side, or of a name that has no span or series, examined nothing."""
    sources = small_incident(None)

    assert call(ctx, sources, "compare_spans", entities=("payment",)).looked_at > 0
    assert call(ctx, sources, "compare_spans", entities=("nobody",)).looked_at == 0
    assert call(ctx, sources, "compare_spans", onset=ONSET_S - 10**6).looked_at == 0
    assert call(ctx, sources, "find_changed_signals", entities=("payment",)).looked_at > 0
    assert call(ctx, sources, "find_changed_signals", entities=("nobody",)).looked_at == 0
