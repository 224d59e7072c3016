"""JSON as RFC 8259 has it and no more: no name twice, no NaN, no half character, no endless nesting."""

from __future__ import annotations

import json
import re
from math import isfinite

from diagnosis_harness.kernel.json_value import JsonValue

DEPTH_MAX = 32
_SURROGATES = re.compile("[\ud800-\udfff]")
# A string is passed over whole, also one that never closes, and none is looked at twice.
_MARKS = re.compile(rb'"(?:[^"\\]++|\\.)*+"?|[\[{\]}]', re.DOTALL)


class NotJson(ValueError):
    """Why the bytes are refused, as one clause."""


def read_json(data: bytes) -> JsonValue:
    """The one value that the bytes are.

    Raises:
        NotJson: they are none, or one that readers differ about.
    """
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        raise NotJson("it is not UTF-8") from None
    if _depth(data) > DEPTH_MAX:
        raise NotJson(f"it is nested deeper than {DEPTH_MAX} levels")
    try:
        value: JsonValue = json.loads(
            text,
            object_pairs_hook=_object,
            parse_constant=_constant,
            parse_float=_number,
            parse_int=_whole,
        )
    except json.JSONDecodeError as error:
        raise NotJson(f"it breaks off being JSON at character {error.pos}") from None
    _checked(value)
    return value


def _depth(data: bytes) -> int:
    """The deepest nesting; found without recursion, before a parser recurses."""
    depth = deepest = 0
    for found in _MARKS.finditer(data):
        if found[0] in (b"[", b"{"):
            depth += 1
            deepest = max(deepest, depth)
        elif found[0] in (b"]", b"}"):
            depth -= 1
    return deepest


def _object(pairs: list[tuple[str, JsonValue]]) -> dict[str, JsonValue]:
    held = dict(pairs)
    if len(held) != len(pairs):
        raise NotJson("an object has a name twice")
    for name, value in pairs:
        _text(name)
        _checked(value)
    return held


def _checked(value: JsonValue) -> None:
    """Texts that stand right in an object, or in lists of it; those of objects inside were looked at."""
    if isinstance(value, str):
        _text(value)
    elif isinstance(value, list):
        for each in value:
            _checked(each)


def _text(text: str) -> None:
    if _SURROGATES.search(text):
        raise NotJson("a text has half of a surrogate pair")


def _constant(name: str) -> JsonValue:
    raise NotJson(f"{name} is no JSON number")


def _number(text: str) -> float:
    value = float(text)
    if not isfinite(value):
        raise NotJson("a number is too large")
    return value


def _whole(text: str) -> int:
    if len(text) > 300:
        raise NotJson("a number is too large")
    return int(text)
