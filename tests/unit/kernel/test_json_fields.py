"""A value is read as exactly its type, or an error names its place, what was wanted and what was found."""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum

import pytest

from diagnosis_harness.kernel.errors import JsonInvalid
from diagnosis_harness.kernel.json_fields import (
    JsonFields,
    any_object_at,
    count_at,
    instant_at,
    items_at,
    member_at,
    number_at,
    object_at,
    text_at,
    truth_at,
    whole_at,
)
from diagnosis_harness.kernel.json_value import JsonValue


class Colour(StrEnum):
    """A closed set."""

    RED = "RED"
    BLUE = "BLUE"


def _colour(value: JsonValue, place: str) -> Colour:
    return member_at(Colour, value, place)


def _numbers(value: JsonValue, place: str) -> tuple[float, ...]:
    return items_at(value, place, number_at)


READ: list[tuple[Callable[[JsonValue, str], object], JsonValue, object]] = [
    (text_at, "", ""),
    (truth_at, False, False),
    (number_at, 1, 1),
    (number_at, -0.5, -0.5),
    (whole_at, -3, -3),
    (count_at, 0, 0),
    (_colour, "RED", Colour.RED),
    (_numbers, [1, 2.5], (1, 2.5)),
    (any_object_at, {"x": None}, {"x": None}),
    (instant_at, "2023-11-14T22:13:20Z", 1_700_000_000.0),
]


@pytest.mark.parametrize(("read", "value", "expected"), READ)
def test_a_value_of_the_type_is_read(
    read: Callable[[JsonValue, str], object], value: JsonValue, expected: object
) -> None:
    """It keeps its kind: a whole number stays whole."""
    result = read(value, "here")

    assert (result, type(result)) == (expected, type(expected))


REFUSED: list[tuple[Callable[[JsonValue, str], object], JsonValue, tuple[str, str, str]]] = [
    (text_at, None, ("here", "a text", "null")),
    (text_at, 7, ("here", "a text", "a number")),
    (truth_at, 1, ("here", "true or false", "a number")),
    (number_at, True, ("here", "a number", "true or false")),
    (number_at, "1", ("here", "a number", "a text")),
    (number_at, float("nan"), ("here", "a finite number", "one that is not")),
    (number_at, 10**400, ("here", "a finite number", "one that is not")),
    (whole_at, 1.0, ("here", "a whole number", "one with a fraction or exponent")),
    (count_at, -1, ("here", "a count", "a negative number")),
    (_colour, "red\n", ("here", "one of RED, BLUE", "'red?'")),
    (_colour, [], ("here", "a text", "a list")),
    (_numbers, [1, {}], ("here[1]", "a number", "an object")),
    (_numbers, {"0": 1}, ("here", "a list", "an object")),
    (any_object_at, [], ("here", "an object", "a list")),
    (instant_at, "soon", ("here", "an instant", "'soon'")),
    (
        instant_at,
        "2023-11-14T22:13:20.000Z",
        ("here", "'2023-11-14T22:13:20Z', in UTC to the millisecond", "'2023-11-14T22:13:20.000Z'"),
    ),
]


@pytest.mark.parametrize(("read", "value", "says"), REFUSED)
def test_any_other_value_is_refused_with_what_was_found(
    read: Callable[[JsonValue, str], object], value: JsonValue, says: tuple[str, str, str]
) -> None:
    """Nothing is converted: true is no 1, and "1" no number."""
    with pytest.raises(JsonInvalid) as caught:
        read(value, "here")

    assert (caught.value.place, caught.value.expected, caught.value.found) == says


@pytest.mark.parametrize(
    ("value", "problem"),
    [
        ({"b": 1}, "expected field 'a', found an object without it"),
        ({}, "expected fields 'a', 'b', found an object without them"),
        ({"a": 1, "b": 1, "x\x1b": 1}, "expected only known fields, found field 'x?'"),
        ([], "expected an object, found a list"),
    ],
)
def test_an_object_has_the_fields_it_should_have(value: JsonValue, problem: str) -> None:
    """All that are required, and none that is unknown."""
    with pytest.raises(JsonInvalid) as caught:
        object_at(value, "here", required=("a", "b"), optional=("c",))

    assert (caught.value.place, caught.value.problem) == ("here", problem)


def test_fields_are_read_under_their_path() -> None:
    """An absent field and null are alike where a field may be absent."""
    content: JsonValue = {"name": "x", "size": 2, "colour": None, "parts": [{"name": "y"}, {"name": 3}]}
    fields = JsonFields(content, "", required=("name",), optional=("size", "colour", "parts", "share"))

    assert (fields.text("name"), fields.count("size")) == ("x", 2)
    assert (fields.maybe_choice("colour", Colour), fields.maybe_number("share")) == (None, None)
    assert (fields.has("colour"), fields.has("share"), fields.items("share", text_at)) == (True, False, ())
    with pytest.raises(JsonInvalid, match=r"parts\[1\].name: expected a text, found a number"):
        fields.items("parts", lambda part, place: JsonFields(part, place, required=("name",)).text("name"))
