"""A body is one JSON value that all readers read alike, or it is refused."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from diagnosis_harness.kernel.errors import InvalidInput
from diagnosis_harness.server.strict_json import DEPTH_MAX, read_json

TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | TEXTS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXTS, inner, max_size=4),
    max_leaves=20,
)


@given(VALUES, st.booleans())
def test_json_is_read_as_json(value: object, ascii_only: bool) -> None:
    """Every value comes back as it was."""
    assert read_json(json.dumps(value, ensure_ascii=ascii_only).encode()) == value


@given(st.binary(max_size=200))
def test_any_bytes_are_read_or_refused(data: bytes) -> None:
    """Nothing else comes out, and what is read is what a lenient reader reads as well."""
    try:
        value = read_json(data)
    except InvalidInput:
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
    """Names twice, numbers that are none, half characters, depth without end, and what is no JSON at all."""
    with pytest.raises(InvalidInput):
        read_json(text.encode("utf-8", "surrogatepass"))


def test_bytes_that_are_not_utf_8_are_refused() -> None:
    """UTF-16 is another encoding, and half a character is none."""
    for data in ('{"a": 1}'.encode("utf-16"), b'"\xff"', b'"\xed\xa0\x80"'):
        with pytest.raises(InvalidInput):
            read_json(data)


def test_nesting_is_counted_outside_of_texts_alone() -> None:
    """A text of brackets is a text; the deepest allowed nesting is allowed."""
    assert read_json(json.dumps(["[{" * 1_000]).encode()) == ["[{" * 1_000]
    assert read_json(b"[" * DEPTH_MAX + b"]" * DEPTH_MAX)
    with pytest.raises(InvalidInput, match="deeper"):
        read_json(b"[" * (DEPTH_MAX + 1) + b"]" * (DEPTH_MAX + 1))


@pytest.mark.parametrize(
    "data", [b'"' + b'\\"' * 500_000, b'["' * 300_000, b"\\" * 1_000_000, b"{" * 1_000_000, b"[" * 1_000_000]
)
def test_hostile_bytes_are_refused(data: bytes) -> None:
    """A megabyte that never closes is refused; it breaks no parser."""
    with pytest.raises(InvalidInput):
        read_json(data)
