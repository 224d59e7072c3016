"""Canonical JSON, with one text for each value, and the digest over its bytes."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from math import isfinite

from diagnosis_harness.kernel.json_value import JsonValue

_DEPTH_MAX = 64


def canonical_json(value: JsonValue) -> bytes:
    """The canonical UTF-8 bytes of a value: equal values give equal bytes, on every machine.

    Keys are sorted by code point; no spaces; text is not escaped beyond what JSON demands; `-0.0` is `0.0`. A
    whole number stays distinct from a float (`1` and `1.0`), so a reader gets back the kind that was written.

    Raises:
        ValueError: a number is not finite, a text contains half a surrogate pair, or nesting exceeds 64
            levels.
        TypeError: JSON cannot represent a value, or a key is not text.
    """
    text = json.dumps(
        _plain(value, 0), ensure_ascii=False, allow_nan=False, separators=(",", ":"), sort_keys=True
    )
    return text.encode("utf-8")


def digest(data: bytes) -> str:
    """`sha256:` and 64 hexadecimal digits."""
    return f"sha256:{hashlib.sha256(data).hexdigest()}"


def _plain(value: JsonValue, depth: int) -> JsonValue:
    """The value in the types that the encoder knows; raises an error that names what is wrong."""
    if depth > _DEPTH_MAX:
        raise ValueError(f"nested deeper than {_DEPTH_MAX} levels")
    match value:
        case None | bool():
            return value
        case str():
            return str(value)
        case int():
            return int(value)
        case float():
            return _finite(value)
        case Mapping():
            return {_key(key): _plain(item, depth + 1) for key, item in value.items()}
        case list() | tuple():
            return [_plain(item, depth + 1) for item in value]
        case _:
            raise TypeError(f"JSON cannot represent {type(value).__name__}")


def _finite(number: float) -> float:
    if not isfinite(number):
        raise ValueError(f"JSON cannot represent {number}")
    return float(number) + 0.0  # -0.0 + 0.0 is 0.0: one value, one text


def _key(key: object) -> str:
    if not isinstance(key, str):
        raise TypeError(f"a key is text, not {type(key).__name__}")
    return str(key)
