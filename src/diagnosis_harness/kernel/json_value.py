"""The values that JSON can hold."""

from __future__ import annotations

from typing import TypeAlias, Union

Scalar: TypeAlias = str | int | float | bool | None
JsonValue: TypeAlias = Union[Scalar, "list[JsonValue]", "dict[str, JsonValue]"]
