"""Canonical JSON: one value, one text."""

from __future__ import annotations

import json
from types import MappingProxyType

import pytest
from hypothesis import given
from hypothesis import strategies as st

from diagnosis_harness.kernel.canonical import canonical_json, digest
from diagnosis_harness.kernel.json_value import JsonValue

SCALARS = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=["Cs"]))
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.text(st.characters(exclude_categories=["Cs"])), inner, max_size=4)
    ),
    max_leaves=20,
)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ({"b": 1, "a": [True, None]}, '{"a":[true,null],"b":1}'),
        ({"ä": "é", "Z": "中"}, '{"Z":"中","ä":"é"}'),
        ((1, 2), "[1,2]"),
        (MappingProxyType({"x": ()}), '{"x":[]}'),
        (-0.0, "0.0"),
        (1, "1"),
        (1.0, "1.0"),
        (1e300, "1e+300"),
        ('"\n', '"\\"\\n"'),
    ],
)
def test_a_value_has_its_one_text(value: JsonValue, text: str) -> None:
    """Sorted keys, no spaces, UTF-8 as it is, whole numbers and floats apart, no negative zero."""
    assert canonical_json(value) == text.encode()


@pytest.mark.parametrize("number", [float("nan"), float("inf"), float("-inf")])
def test_a_number_that_is_not_finite_is_refused(number: float) -> None:
    """JSON has no text for it, and a digest of a made-up one would mean nothing."""
    with pytest.raises(ValueError, match="JSON cannot represent"):
        canonical_json({"deep": [number]})


@pytest.mark.parametrize("value", [b"x", {1, 2}, object(), {1: "x"}])
def test_what_json_cannot_say_is_refused(value: object) -> None:
    """Nothing is turned into text on the quiet."""
    with pytest.raises(TypeError):
        canonical_json(value)  # type: ignore[arg-type]  # the refusal is what is tested


def test_half_a_surrogate_pair_is_refused() -> None:
    """It has no UTF-8 bytes, so it can have no digest."""
    with pytest.raises(ValueError, match="surrogates"):
        canonical_json("\ud800")


def test_bottomless_nesting_is_refused() -> None:
    """A value nested beyond 64 levels is an error, not a stack overflow."""
    value: JsonValue = []
    for _ in range(70):
        value = [value]
    with pytest.raises(ValueError, match="nested deeper"):
        canonical_json(value)


@given(VALUES)
def test_reading_gives_back_what_was_written(value: JsonValue) -> None:
    """The text is JSON, holds the same value, and is written the same a second time."""
    written = canonical_json(value)
    assert json.loads(written) == value
    assert canonical_json(json.loads(written)) == written


@given(st.dictionaries(st.text(st.characters(exclude_categories=["Cs"])), st.integers(), max_size=6))
def test_the_order_of_keys_does_not_show(value: dict[str, int]) -> None:
    """Two mappings that are equal have equal bytes."""
    assert canonical_json(value) == canonical_json(dict(reversed(value.items())))


def test_a_digest_names_its_function() -> None:
    """The known digest of no bytes at all, with the name of the function before it."""
    assert digest(b"") == "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
