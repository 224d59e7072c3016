"""JSON as RFC 8259 has it and no more: no name twice, no NaN, no half character, no endless nesting."""

from __future__ import annotations

import json
import re
from math import isfinite

from diagnosis_harness.kernel.errors import InvalidInput
from diagnosis_harness.kernel.json_value import JsonValue

DEPTH_MAX = 32
_DIGITS_MAX = 300
_SURROGATES = re.compile("[\ud800-\udfff]")
_TOO_DEEP = f"it is nested deeper than {DEPTH_MAX} levels"


def read_json(data: bytes) -> JsonValue:
    """The one value that the bytes are.

    Raises:
        InvalidInput: they are none, or one that readers differ about.
    """
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        raise _refuse("it is not UTF-8") from None
    try:
        value: JsonValue = json.loads(
            text,
            object_pairs_hook=_object,
            parse_constant=_constant,
            parse_float=_number,
            parse_int=_whole,
        )
    except json.JSONDecodeError as error:
        raise _refuse(f"it breaks off being JSON at character {error.pos}") from None
    except RecursionError:
        raise _refuse(_TOO_DEEP) from None
    _check(value, 0)
    return value


def _check(value: JsonValue, depth: int) -> None:
    """Every text is text, and nothing is nested too deeply."""
    if isinstance(value, str):
        _check_text(value)
    elif isinstance(value, list | dict):
        if depth >= DEPTH_MAX:
            raise _refuse(_TOO_DEEP)
        if isinstance(value, dict):
            for name in value:
                _check_text(name)
        for each in value.values() if isinstance(value, dict) else value:
            _check(each, depth + 1)


def _check_text(text: str) -> None:
    if not text.isascii() and _SURROGATES.search(text):
        raise _refuse("a text has half of a surrogate pair")


def _object(pairs: list[tuple[str, JsonValue]]) -> dict[str, JsonValue]:
    held = dict(pairs)
    if len(held) != len(pairs):
        raise _refuse("an object has a name twice")
    return held


def _constant(name: str) -> JsonValue:
    raise _refuse(f"{name} is no JSON number")


def _number(text: str) -> float:
    value = float(text)
    if not isfinite(value):
        raise _refuse("a number is too large")
    return value


def _whole(text: str) -> int:
    if len(text) > _DIGITS_MAX:
        raise _refuse("a number is too large")
    return int(text)


def _refuse(problem: str) -> InvalidInput:
    return InvalidInput("body", problem, "send one JSON object, each name once")
