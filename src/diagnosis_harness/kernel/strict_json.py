"""The only reader of JSON text: strict RFC 8259, with limits that are checked before parsing.

A caller translates `JsonInvalid` into its own error, once (`json_errors_as`); `kernel.json_fields` reads on
from the value.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from math import isfinite

from diagnosis_harness.kernel.errors import JsonInvalid
from diagnosis_harness.kernel.json_value import JsonValue

DEPTH_MAX = 32  # deeper than any body or answer of this program, and far below what breaks a parser
_DIGITS_MAX = 300  # longer numbers fit no float, so readers differ about them
_NAME_SHOWN = 60

_STRUCTURE = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"?|[\[{]|[\]}]', re.DOTALL)
_SURROGATES = re.compile("[\ud800-\udfff]")


def parse_json(
    data: bytes | str, *, place: str = "", depth_max: int = DEPTH_MAX, size_max_bytes: int | None = None
) -> JsonValue:
    """The value of a text that every JSON reader would read alike.

    Args:
        place: the place of the text itself, as errors name it.

    Raises:
        JsonInvalid: too large, too deep, not UTF-8, not JSON, a name twice in one object, NaN, a number out
        of range, half of a surrogate pair.
    """
    try:
        return _parse_strictly(data, depth_max, size_max_bytes)
    except JsonInvalid as invalid:
        raise JsonInvalid(place, invalid.expected, invalid.found) from None


def parse_loosely(data: bytes) -> JsonValue:
    """The value of a text. The last of repeated names counts; NaN and half surrogate pairs are accepted.

    For a caller that compares the value byte by byte with what is allowed, and can report more than that the
    text is not JSON.

    Raises:
        JsonInvalid: not UTF-8, or nothing that can be parsed.
    """
    return _parse(_decode(data), pairs=dict, constant=float, decimal=float, whole=int)


@contextmanager
def json_errors_as(error_of: Callable[[str, str], Exception]) -> Iterator[None]:
    """Raise the caller's own error, made from place and problem, instead of `JsonInvalid`."""
    try:
        yield
    except JsonInvalid as invalid:
        raise error_of(invalid.place, invalid.problem) from None


def excerpt(text: str) -> str:
    """The beginning of a text from outside, as an error may show it."""
    return "".join(character if character.isprintable() else "?" for character in text[:_NAME_SHOWN])


def _parse_strictly(data: bytes | str, depth_max: int, size_max_bytes: int | None) -> JsonValue:
    if size_max_bytes is not None and _size_bytes(data, size_max_bytes) > size_max_bytes:
        raise JsonInvalid("", f"at most {size_max_bytes} bytes", "more")
    text = _decode(data)
    _check_depth(text, depth_max)
    value = _parse(text, pairs=_unique_names, constant=_no_constant, decimal=_finite, whole=_whole)
    _check_texts(value)
    return value


def _size_bytes(data: bytes | str, size_max_bytes: int) -> int:
    if isinstance(data, bytes) or len(data) > size_max_bytes:  # a character is a byte at least
        return len(data)
    return len(data.encode("utf-8", "surrogatepass"))


def _decode(data: bytes | str) -> str:
    if isinstance(data, str):
        return data
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise JsonInvalid("", "UTF-8", f"another encoding at byte {error.start}") from None


def _check_depth(text: str, depth_max: int) -> None:
    """Check the nesting without recursion, before a parser recurses."""
    depth = 0
    for found in _STRUCTURE.finditer(text):
        if found[0] in "[{":
            depth += 1
            if depth > depth_max:
                raise JsonInvalid("", f"at most {depth_max} levels of nesting", "more")
        elif found[0] in "]}":
            depth -= 1


def _parse(
    text: str,
    *,
    pairs: Callable[[list[tuple[str, JsonValue]]], dict[str, JsonValue]],
    constant: Callable[[str], JsonValue],
    decimal: Callable[[str], float],
    whole: Callable[[str], int],
) -> JsonValue:
    try:
        value: JsonValue = json.loads(
            text,
            object_pairs_hook=pairs,
            parse_constant=constant,
            parse_float=decimal,
            parse_int=whole,
        )
    except json.JSONDecodeError as error:
        where = f"line {error.lineno}, column {error.colno}"
        raise JsonInvalid("", "JSON", f"an error at {where} ({error.msg})") from None
    except RecursionError:
        raise JsonInvalid("", "JSON", "nesting too deep to read") from None
    except ValueError:  # Python reads no whole number of more than 4,300 digits
        raise JsonInvalid("", "JSON", "a number too long to read") from None
    return value


def _check_texts(value: JsonValue) -> None:
    """Refuse half of a surrogate pair in a text or field name, since UTF-8 cannot encode it."""
    if isinstance(value, str):
        if not value.isascii() and _SURROGATES.search(value):
            raise JsonInvalid("", "whole characters", "half of a surrogate pair")
    elif isinstance(value, dict):
        for name, each in value.items():
            _check_texts(name)
            _check_texts(each)
    elif isinstance(value, list):
        for each in value:
            _check_texts(each)


def _unique_names(pairs: list[tuple[str, JsonValue]]) -> dict[str, JsonValue]:
    fields = dict(pairs)
    if len(fields) != len(pairs):
        names = [name for name, _ in pairs]
        repeated = next(name for name in names if names.count(name) > 1)
        raise JsonInvalid("", "each name once in an object", f"'{excerpt(repeated)}' twice")
    return fields


def _no_constant(name: str) -> JsonValue:
    raise JsonInvalid("", "a JSON number", name)


def _finite(text: str) -> float:
    value = float(text)
    if not isfinite(value):
        raise JsonInvalid("", "a number that a computer can hold", "one that is too large")
    return value


def _whole(text: str) -> int:
    if len(text) > _DIGITS_MAX:
        raise JsonInvalid("", f"a number of at most {_DIGITS_MAX} digits", "a longer one")
    return int(text)
