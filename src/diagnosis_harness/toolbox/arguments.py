"""Parameters that several tools share, and functions that read them."""

from __future__ import annotations

from collections.abc import Mapping

from diagnosis_harness.tools.spec import ArgumentValue, Parameter, ParameterKind

ONSET_PARAMETER = Parameter(
    "onset",
    ParameterKind.INSTANT,
    "When the incident began. Default: as the source states it, else when the alert fired, or earlier "
    "if the alerting indicator clearly shows so, else estimated.",
)
UNTIL_PARAMETER = Parameter(
    "until",
    ParameterKind.INSTANT,
    "The end of what is compared with normal operation. Default: an hour after onset, or all that follows.",
)
ENTITIES = Parameter("entities", ParameterKind.ENTITIES, "Only these services or instances. Default: all.")


def timestamp(arguments: Mapping[str, ArgumentValue], name: str) -> float | None:
    """The time in seconds, or None if it was not given."""
    value = arguments.get(name)
    return float(value) if isinstance(value, int | float) else None


def text(arguments: Mapping[str, ArgumentValue], name: str) -> str | None:
    """The text, or None when it was not given."""
    value = arguments.get(name)
    return value if isinstance(value, str) else None


def names(arguments: Mapping[str, ArgumentValue], name: str) -> tuple[str, ...] | None:
    """The names, or None if none were given."""
    value = arguments.get(name)
    return value if isinstance(value, tuple) else None


def whole(arguments: Mapping[str, ArgumentValue], name: str, default: int) -> int:
    """The whole number, or the default."""
    value = arguments.get(name)
    return int(value) if isinstance(value, int | float) else default
