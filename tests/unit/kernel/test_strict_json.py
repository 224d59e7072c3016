"""JSON is one value that all readers read alike, or it is refused, with its place."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from diagnosis_harness.kernel.errors import JsonInvalid
from diagnosis_harness.kernel.strict_json import DEPTH_MAX, parse_json, parse_loosely

TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | TEXTS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXTS, inner, max_size=4),
    max_leaves=20,
)


@given(VALUES, st.booleans())
def test_json_is_read_as_json(value: object, ascii_only: bool) -> None:
    """Every value comes back as it was."""
    assert parse_json(json.dumps(value, ensure_ascii=ascii_only).encode()) == value


@given(st.binary(max_size=200))
def test_any_bytes_are_read_or_refused(data: bytes) -> None:
    """Nothing else comes out, and what is read is what a lenient reader reads as well."""
    try:
        value = parse_json(data)
    except JsonInvalid:
        return
    assert value == json.loads(data)


@pytest.mark.parametrize(
    "text",
    [
        '{"a": 1, "a": 2}',
        '{"a": {"b": 1, "b": 1}}',
        '[{"a": 1, "a": 2}]',
        "NaN",
        '{"a": Infinity}',
        "-Infinity",
        "1e999",
        "9" * 400,
        '"\\ud800"',
        '{"\\udc00": 1}',
        '["\\ud83d"]',
        '[["\\ud83d"]]',
        "",
        "{",
        '{"a": 1} x',
        "[1,]",
        "{'a': 1}",
        "\ufeff{}",
        "[" * 40 + "]" * 40,
        "[" * 200_000,
        '{"a":' * 100_000,
    ],
    ids=lambda text: text[:12],
)
def test_what_readers_differ_about_is_refused(text: str) -> None:
    """Duplicate names, invalid numbers, half characters, endless depth, and text that is not JSON."""
    with pytest.raises(JsonInvalid):
        parse_json(text.encode("utf-8", "surrogatepass"))


def test_bytes_that_are_not_utf_8_are_refused() -> None:
    """UTF-16 is another encoding, and half a character is invalid."""
    for data in ('{"a": 1}'.encode("utf-16"), b'"\xff"', b'"\xed\xa0\x80"'):
        with pytest.raises(JsonInvalid):
            parse_json(data)


def test_nesting_is_counted_outside_of_texts_alone() -> None:
    """A text of brackets is a text; the deepest allowed nesting is allowed."""
    assert parse_json(json.dumps(["[{" * 1_000]).encode()) == ["[{" * 1_000]
    assert parse_json(b"[" * DEPTH_MAX + b"]" * DEPTH_MAX)
    with pytest.raises(JsonInvalid, match=f"at most {DEPTH_MAX} levels"):
        parse_json(b"[" * (DEPTH_MAX + 1) + b"]" * (DEPTH_MAX + 1))


@pytest.mark.parametrize(
    "data", [b'"' + b'\\"' * 500_000, b'["' * 300_000, b"\\" * 1_000_000, b"{" * 1_000_000, b"[" * 1_000_000]
)
def test_hostile_bytes_are_refused(data: bytes) -> None:
    """A megabyte that never closes is refused; it breaks no parser."""
    with pytest.raises(JsonInvalid):
        parse_json(data)


@pytest.mark.parametrize(
    ("text", "wanted", "found"),
    [
        ('{"a": 1, "b": {"c\\n": 1, "c\\n": 2}}', "each name once in an object", "'c?' twice"),
        ("[1, -Infinity]", "a JSON number", "-Infinity"),
        ("[1e999]", "a number that a computer can hold", "one that is too large"),
        ("[" + "9" * 301 + "]", "a number of at most 300 digits", "a longer one"),
        ('["\\ud800"]', "whole characters", "half of a surrogate pair"),
        ("[1,\n 2,,]", "JSON", "an error at line 2, column 4 (Expecting value)"),
        ("[" * 5, "at most 4 levels of nesting", "more"),
        (" " * 65, "at most 64 bytes", "more"),
        ("[" + "é" * 40, "at most 64 bytes", "more"),
    ],
)
def test_an_error_says_where_what_was_wanted_and_what_was_found(text: str, wanted: str, found: str) -> None:
    """The error names the place; the content is shown without characters that could control a terminal."""
    with pytest.raises(JsonInvalid) as caught:
        parse_json(text, place="body", depth_max=4, size_max_bytes=64 if len(text) < 300 else None)

    assert (caught.value.place, caught.value.expected, caught.value.found) == ("body", wanted, found)


def test_bytes_in_another_encoding_name_the_first_invalid_one() -> None:
    """So that a file can be looked at there."""
    with pytest.raises(JsonInvalid) as caught:
        parse_json(b'{"a": "\xff"}')

    assert (caught.value.expected, caught.value.found) == ("UTF-8", "another encoding at byte 7")


def test_a_caller_that_compares_afterwards_reads_what_readers_differ_about() -> None:
    """The last of two names, as most readers have it; what is no JSON is refused by it as well."""
    assert parse_loosely(b'{"a": 1, "a": 2, "b": "\\ud800"}') == {"a": 2, "b": "\ud800"}
    for data in (b"{", b"\xff", b"[" * 200_000, b"9" * 5_000):
        with pytest.raises(JsonInvalid):
            parse_loosely(data)
