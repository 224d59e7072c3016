"""JSON in text columns: values come back equal and in the same order."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any


def json_text(value: object) -> str:
    """Encode a value as ASCII, which every database stores unchanged."""
    return _ENCODER.encode(value)


def maybe_json_text(value: object) -> str | None:
    """Encode a value, with None as NULL."""
    return None if value is None else _ENCODER.encode(value)


def from_json_text(text: str | None) -> Any:  # noqa: ANN401 - any JSON; callers read it strictly
    """Decode a value; None for NULL."""
    return None if text is None else json.loads(text)


def freeze(value: Any) -> Any:  # noqa: ANN401 - any JSON
    """Replace lists by tuples, as trace payloads have them."""
    if isinstance(value, list):
        return tuple(freeze(item) for item in value)
    if isinstance(value, dict):
        return {key: freeze(item) for key, item in value.items()}
    return value


def _as_dict(value: object) -> object:
    if isinstance(value, Mapping):  # a read-only one
        return dict(value)
    raise TypeError(f"JSON cannot represent {type(value).__name__}")


_ENCODER = json.JSONEncoder(separators=(",", ":"), default=_as_dict)
