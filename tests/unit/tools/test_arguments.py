"""Arguments are taken as they were meant, or refused; never repaired."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from diagnosis_harness.kernel.errors import ArgumentProblem
from diagnosis_harness.kernel.json_value import JsonValue
from diagnosis_harness.tools.arguments import normalise
from diagnosis_harness.tools.preflight import scope_text
from diagnosis_harness.tools.spec import Parameter, ParameterKind, ToolSpec

SPEC = ToolSpec(
    name="look",
    description="Looks.",
    parameters=(
        Parameter("entity", ParameterKind.TEXT, "whose", required=True),
        Parameter("mode", ParameterKind.TEXT, "how", choices=("near", "far")),
        Parameter("names", ParameterKind.NAMES, "which"),
        Parameter("limit", ParameterKind.INTEGER, "how many", least=1, most=40),
        Parameter("share", ParameterKind.NUMBER, "how much", least=0),
        Parameter("all", ParameterKind.FLAG, "whether"),
        Parameter("at", ParameterKind.INSTANT, "when"),
    ),
)


def test_arguments_become_typed_values() -> None:
    """Text, sorted names, whole numbers, instants in epoch seconds."""
    raw: dict[str, JsonValue] = {
        "at": "2024-01-01T00:00:00+08:00",
        "limit": 3.0,
        "names": ["b", "a", "b"],
        "entity": "cart",
        "all": False,
        "share": 1,
        "mode": None,
    }
    assert normalise(SPEC, raw) == {
        "entity": "cart",
        "names": ("a", "b"),
        "limit": 3,
        "share": 1.0,
        "all": False,
        "at": 1_704_038_400.0,
    }


@pytest.mark.parametrize(
    ("raw", "says"),
    [
        ({}, "needs 'entity'"),
        ({"entity": None}, "needs 'entity'"),
        ({"entity": " "}, "not blank"),
        ({"entity": 5}, "not blank"),
        ({"entity": "x" * 501}, "longer than 500"),
        ({"entity": "a", "other": 1}, "no argument 'other'"),
        ({"entity": "a", "mode": "sideways"}, "one of near, far"),
        ({"entity": "a", "names": []}, "not empty"),
        ({"entity": "a", "names": ["a"] * 51}, "more than 50"),
        ({"entity": "a", "names": "a"}, "list of names"),
        ({"entity": "a", "limit": 0}, "at least 1"),
        ({"entity": "a", "limit": 41}, "at most 40"),
        ({"entity": "a", "limit": 1.5}, "whole number"),
        ({"entity": "a", "limit": True}, "finite number"),
        ({"entity": "a", "limit": "3"}, "finite number"),
        ({"entity": "a", "share": float("inf")}, "finite number"),
        ({"entity": "a", "all": 1}, "true or false"),
        ({"entity": "a", "at": "yesterday"}, "ISO 8601"),
        ({"entity": "a", "at": float("nan")}, "ISO 8601"),
    ],
)
def test_what_cannot_be_meant_is_refused_by_name(raw: dict[str, JsonValue], says: str) -> None:
    """Each refusal is one clause that names the argument."""
    with pytest.raises(ArgumentProblem, match=says):
        normalise(SPEC, raw)


json_values: st.SearchStrategy[JsonValue] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=6,
)


@given(st.dictionaries(st.sampled_from([p.name for p in SPEC.parameters]) | st.text(max_size=5), json_values))
def test_any_json_is_normalised_or_refused(raw: dict[str, JsonValue]) -> None:
    """Nothing that an asker can write raises anything else, and what passes has one canonical scope."""
    try:
        arguments = normalise(SPEC, raw)
    except ArgumentProblem:
        return
    assert json.loads(scope_text(arguments)).keys() == arguments.keys()


@given(st.permutations(["entity", "limit", "names"]))
def test_the_order_in_which_arguments_are_written_does_not_matter(order: list[str]) -> None:
    """Two ways to write the same wish have the same scope text: an exact repeat is seen."""
    raw: dict[str, JsonValue] = {"entity": "cart", "limit": 3, "names": ["b", "a"]}
    shuffled = {name: raw[name] for name in order}
    assert scope_text(normalise(SPEC, shuffled)) == scope_text(normalise(SPEC, raw))
