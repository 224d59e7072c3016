"""Translates pydantic's errors about a body or query into field problems, each with a remedy."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from diagnosis_harness.server.problems import FIELDS_MAX, FieldProblem, Problem, ProblemKind, field_of

_SHAPES = {
    "model_attributes_type": "input should be an object",
    "model_type": "input should be an object",
    "dict_type": "input should be an object",
    "tuple_type": "input should be an array",
    "list_type": "input should be an array",
    "string_too_short": "it is empty",
}
"""Pydantic's Python terms in terms of JSON."""
_PLACES = ("body", "query", "path", "header")


def problem_of_errors(errors: Sequence[Mapping[str, object]]) -> Problem:
    """The problem of a malformed request."""
    return Problem(ProblemKind.INVALID_INPUT, tuple(_field(error) for error in errors[:FIELDS_MAX]))


def _field(error: Mapping[str, object]) -> FieldProblem:
    loc = error.get("loc")
    parts = [str(part) for part in loc] if isinstance(loc, (tuple, list)) else []
    if len(parts) > 1 and parts[0] in _PLACES:
        parts = parts[1:]
    kind = str(error.get("type", ""))
    return field_of(".".join(parts) or "body", _problem_text(kind, error), _remedy(kind))


def _problem_text(kind: str, error: Mapping[str, object]) -> str:
    if kind == "extra_forbidden":
        return "this name is unknown"
    if kind == "missing":
        return "it is missing"
    if kind in _SHAPES:
        return _SHAPES[kind]
    message = str(error.get("msg", "it cannot be used"))
    return f"{message[:1].lower()}{message[1:]}".rstrip(".")


def _remedy(kind: str) -> str:
    if kind == "extra_forbidden":
        return "leave it out, or correct the name"
    if kind == "missing":
        return "send it"
    return "see /openapi.json for its format"
