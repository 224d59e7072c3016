"""Trace events: closed sets with pinned wire values, and payloads that stay small."""

from __future__ import annotations

from dataclasses import FrozenInstanceError

import pytest
from hypothesis import given
from hypothesis import strategies as st

from diagnosis_harness.kernel.canonical import canonical_json
from diagnosis_harness.kernel.json_value import JsonValue
from diagnosis_harness.trace.event import (
    CUT_MARK,
    ITEMS_MAX,
    TEXT_MAX,
    VALUES_MAX,
    TraceEvent,
    TraceEventStatus,
    TraceName,
    TracePhase,
    bound_payload,
)


def test_phases_and_statuses_are_the_closed_sets() -> None:
    """The wire values do not change unnoticed."""
    assert [phase.value for phase in TracePhase] == [
        "RUN", "ROUTING", "KNOWLEDGE", "AGENT", "TOOL", "GUARD", "RELEASE",
    ]  # fmt: skip
    assert [status.value for status in TraceEventStatus] == [
        "STARTED", "SUCCEEDED", "FAILED", "REJECTED", "SKIPPED",
    ]  # fmt: skip


def test_the_names_of_the_lifecycle_document_are_all_there() -> None:
    """Every name of its timelines (§13, §15) is a `TraceName`."""
    assert {
        "RUN_STARTED", "ROUTING_ATTEMPT", "ROUTING_DECISION", "AGENT_MODEL_STEP", "TOOL_INVOCATION",
        "TOOL_PROGRESS", "TOOL_REQUEST_REJECTED", "COLLECTION_STOP", "EVIDENCE_GUARD_INITIAL",
        "SEMANTIC_GUARD_ATTEMPT", "SEMANTIC_GUARD_DECISION", "RELEASE_DECISION", "RUN_FINISHED",
    } <= {name.value for name in TraceName}  # fmt: skip
    assert all(name.value == name.name for name in TraceName)


def test_an_event_is_frozen() -> None:
    """What was written stays written, payload included."""
    event = TraceEvent(
        1, "run-1", 0.0, TraceName.STATUS, TracePhase.RUN, TraceEventStatus.STARTED, bound_payload({"a": 1})
    )
    with pytest.raises(FrozenInstanceError):
        event.seq = 2  # type: ignore[misc]  # the refusal is what is tested
    with pytest.raises(TypeError):
        event.payload["a"] = 2  # type: ignore[index]  # the refusal is what is tested


def test_a_payload_is_a_copy() -> None:
    """What the writer changes later does not show."""
    rows: list[JsonValue] = [1]
    payload = bound_payload({"rows": rows})
    rows.append(2)
    assert payload == {"rows": (1,)}


def test_long_texts_and_collections_are_cut_visibly() -> None:
    """The cut mark says that something is missing, and a mapping says how much."""
    long: dict[str, JsonValue] = {
        "text": "word " * 1000,
        "list": list(range(500)),
        "map": {str(n): n for n in range(150)},
    }
    payload = bound_payload(long)
    text = payload["text"]
    assert isinstance(text, str)
    assert (text.startswith("word word "), text.endswith(CUT_MARK)) == (True, True)
    assert len(text) == TEXT_MAX
    assert payload["list"] == (*range(ITEMS_MAX), CUT_MARK)
    copied = payload["map"]
    assert isinstance(copied, dict)
    assert copied[CUT_MARK] == 150 - ITEMS_MAX


@given(
    st.recursive(
        st.text(max_size=30) | st.integers() | st.none(),
        lambda inner: (
            st.lists(inner, max_size=150) | st.dictionaries(st.text(max_size=5), inner, max_size=150)
        ),
        max_leaves=3000,
    )
)
def test_a_payload_is_small_whatever_it_was_made_from(value: JsonValue) -> None:
    """The number of values is bounded, and what is left is still JSON."""
    payload = bound_payload({"value": value, "again": [value, value]})
    assert _count(payload) <= 2 * VALUES_MAX
    assert canonical_json(payload)


def _count(value: JsonValue) -> int:
    if isinstance(value, str) or value is None or isinstance(value, int | float):
        return 1
    items = value.values() if hasattr(value, "values") else value
    return 1 + sum(_count(item) for item in items)
