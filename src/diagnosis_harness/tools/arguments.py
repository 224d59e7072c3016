"""Validate and normalise the arguments of a request, without repairing them."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping
from math import isfinite

from diagnosis_harness.kernel.errors import ArgumentProblem, UnknownEntity
from diagnosis_harness.kernel.json_value import JsonValue
from diagnosis_harness.kernel.window import parse_utc
from diagnosis_harness.tools.spec import ArgumentValue, Parameter, ParameterKind, ToolSpec

_TEXT_LIMIT = 500
_NAMES_LIMIT = 50
_NEAR = 3
"""How many known names a refusal suggests."""


def normalise(spec: ToolSpec, raw: Mapping[str, JsonValue]) -> dict[str, ArgumentValue]:
    """Validated arguments in the order of declaration; an optional one that is absent or null stays absent.

    Raises:
        ArgumentProblem: an unknown, missing or ill-typed argument.
    """
    known = {parameter.name: parameter for parameter in spec.parameters}
    for name in raw:
        if name not in known:
            raise ArgumentProblem(f"{spec.name} has no argument '{name[:60]}'")
    found: dict[str, ArgumentValue] = {}
    for parameter in spec.parameters:
        value = raw.get(parameter.name)
        if value is None:
            if parameter.required:
                raise ArgumentProblem(f"{spec.name} needs '{parameter.name}'")
            continue
        found[parameter.name] = _convert(parameter, value)
    return found


def refuse_unknown(spec: ToolSpec, arguments: Mapping[str, ArgumentValue], known: Collection[str]) -> None:
    """Refuse an argument that names an unknown entity. The message offers known names only.

    Raises:
        UnknownEntity: the first such argument.
    """
    for parameter in spec.parameters:
        if parameter.kind not in (ParameterKind.ENTITY, ParameterKind.ENTITIES):
            continue
        value = arguments.get(parameter.name, ())
        names = (value,) if isinstance(value, str) else value if isinstance(value, tuple) else ()
        for name in names:
            if name not in known:
                near = ", ".join(json.dumps(each, ensure_ascii=False) for each in _near(name, known))
                offer = f"near: {near}" if near else "describe_sources lists those that it knows"
                raise UnknownEntity(
                    f"'{parameter.name}' names no service or instance that the telemetry knows; {offer}"
                )


def _near(name: str, known: Iterable[str]) -> list[str]:
    """The known names that differ by case and joining alone, else those that one begins with."""
    sought = _fold(name)
    folded = [(each, _fold(each)) for each in sorted(known)]
    same = [each for each, folded_name in folded if folded_name == sought]
    alike = [
        each for each, folded_name in folded if folded_name and sought and folded_name.startswith(sought)
    ]
    return (same or alike)[:_NEAR]


def _fold(name: str) -> str:
    return "".join(letter for letter in name.casefold() if letter.isalnum())


def _convert(parameter: Parameter, value: JsonValue) -> ArgumentValue:
    match parameter.kind:
        case ParameterKind.TEXT | ParameterKind.ENTITY:
            return _text(parameter, value)
        case ParameterKind.NAMES | ParameterKind.ENTITIES:
            return _names(parameter, value)
        case ParameterKind.FLAG:
            if not isinstance(value, bool):
                raise ArgumentProblem(f"'{parameter.name}' is true or false")
            return value
        case ParameterKind.INTEGER | ParameterKind.NUMBER:
            return _number(parameter, value)
        case ParameterKind.INSTANT:
            return _instant(parameter, value)


def _text(parameter: Parameter, value: JsonValue) -> str:
    if not isinstance(value, str) or not value.strip():
        raise ArgumentProblem(f"'{parameter.name}' is a text that is not blank")
    if len(value) > _TEXT_LIMIT:
        raise ArgumentProblem(f"'{parameter.name}' is longer than {_TEXT_LIMIT} characters")
    if parameter.choices and value not in parameter.choices:
        raise ArgumentProblem(f"'{parameter.name}' is one of {', '.join(parameter.choices)}")
    return value


def _names(parameter: Parameter, value: JsonValue) -> tuple[str, ...]:
    if not isinstance(value, list) or not value:
        raise ArgumentProblem(f"'{parameter.name}' is a list of names that is not empty")
    if len(value) > _NAMES_LIMIT:
        raise ArgumentProblem(f"'{parameter.name}' holds more than {_NAMES_LIMIT} names")
    return tuple(sorted({_text(parameter, each) for each in value}))


def _number(parameter: Parameter, value: JsonValue) -> int | float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not isfinite(value):
        raise ArgumentProblem(f"'{parameter.name}' is a finite number")
    if parameter.kind is ParameterKind.INTEGER:
        if value != int(value):
            raise ArgumentProblem(f"'{parameter.name}' is a whole number")
        value = int(value)
    else:
        value = float(value)
    if parameter.least is not None and value < parameter.least:
        raise ArgumentProblem(f"'{parameter.name}' is at least {parameter.least:g}")
    if parameter.most is not None and value > parameter.most:
        raise ArgumentProblem(f"'{parameter.name}' is at most {parameter.most:g}")
    return value


def _instant(parameter: Parameter, value: JsonValue) -> float:
    if isinstance(value, str):
        try:
            return parse_utc(value)
        except ValueError:
            raise ArgumentProblem(
                f"'{parameter.name}' is an ISO 8601 time or seconds since the epoch"
            ) from None
    if isinstance(value, bool) or not isinstance(value, int | float) or not isfinite(value):
        raise ArgumentProblem(f"'{parameter.name}' is an ISO 8601 time or seconds since the epoch")
    return float(value)
