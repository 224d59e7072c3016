"""The values that JSON can hold."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeAlias

Scalar: TypeAlias = str | int | float | bool | None
JsonValue: TypeAlias = "Scalar | Sequence[JsonValue] | Mapping[str, JsonValue]"
"""Tuples and read-only mappings count; bytes, sets and dates do not."""
