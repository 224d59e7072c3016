"""JSON as text of a column: what was written comes back equal, in the same order, with read-only lists."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any


def json_text(value: object) -> str:
    """The value as ASCII text, which every database keeps as it is."""
    return _ENCODER.encode(value)


def maybe_json_text(value: object) -> str | None:
    """The same, with None as SQL's NULL."""
    return None if value is None else _ENCODER.encode(value)


def from_json_text(text: str | None) -> Any:  # noqa: ANN401 - JSON is whatever it is; callers read it strictly
    """The value; None for NULL."""
    return None if text is None else json.loads(text)


def frozen(value: Any) -> Any:  # noqa: ANN401 - JSON is whatever it is
    """The value with tuples for lists, as trace payloads hold them."""
    if isinstance(value, list):
        return tuple(frozen(item) for item in value)
    if isinstance(value, dict):
        return {key: frozen(item) for key, item in value.items()}
    return value


def _as_dict(value: object) -> object:
    if isinstance(value, Mapping):  # a read-only one
        return dict(value)
    raise TypeError(f"JSON cannot say {type(value).__name__}")


_ENCODER = json.JSONEncoder(separators=(",", ":"), default=_as_dict)
