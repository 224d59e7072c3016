"""From JSON values back to a run document, by the types of its classes: exact, and never repaired.

The classes are the schema (`report.document`), so a field that they gain is read without a line here. A
document of an older version has exactly the fields of its own version; the others have their defaults.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from enum import StrEnum
from math import isfinite
from types import MappingProxyType, NoneType, UnionType
from typing import TypeVar, Union, get_args, get_origin, get_type_hints

from diagnosis_harness.kernel.errors import ContractViolation, RunDocumentInvalid
from diagnosis_harness.kernel.json_value import JsonValue
from diagnosis_harness.report.document import ROOT_DIGEST, RunDocument
from diagnosis_harness.report.version import READABLE, SCHEMA_VERSION, is_optional, version_has
from diagnosis_harness.trace.event import DEPTH_MAX

T = TypeVar("T")


def read_document(held: Mapping[str, JsonValue]) -> RunDocument:
    """The document that these values are; its root digest is not looked at.

    Raises:
        RunDocumentInvalid: a field is missing, unknown, of another type or outside its closed set, or the
            parts contradict each other.
    """
    content = {name: value for name, value in held.items() if name != ROOT_DIGEST}
    if ROOT_DIGEST not in held:
        raise RunDocumentInvalid("", f"lacks {ROOT_DIGEST}")
    document = _Reader(str(content.get("schema_version"))).read(RunDocument, content, "")
    assert isinstance(document, RunDocument)  # noqa: S101 - for the type checker: a class is read as itself
    return document


def read_part(kind: type[T], held: JsonValue, place: str, *, version: str = SCHEMA_VERSION) -> T:
    """One part of a document of a version (`report.document.plain_json` wrote it), such as its report.

    Raises:
        RunDocumentInvalid: as `read_document`; `place` names the part.
    """
    part = _Reader(version).read(kind, held, place)
    assert isinstance(part, kind)  # noqa: S101 - for the type checker: a class is read as itself
    return part


class _Reader:
    """Reads values by type; remembers what it learnt of each class while one document is read."""

    def __init__(self, version: str) -> None:
        if version not in READABLE:
            raise RunDocumentInvalid("schema_version", f"not one of {', '.join(READABLE)}")
        self._version = version
        self._types: dict[type, dict[str, object]] = {}

    def read(self, kind: object, raw: JsonValue, place: str) -> object:
        """The value of a type, or an objection that names its place."""
        origin = get_origin(kind)
        if origin in (Union, UnionType):
            return self._maybe(kind, raw, place)
        if origin is tuple:
            return self._several(get_args(kind)[0], raw, place)
        if origin is Mapping:
            return _payload(raw, place)
        if isinstance(kind, type) and is_dataclass(kind):
            return self._object(kind, raw, place)
        if isinstance(kind, type) and issubclass(kind, StrEnum):
            return _member(kind, raw, place)
        return _simple(kind, raw, place)

    def _maybe(self, kind: object, raw: JsonValue, place: str) -> object:
        inner = [each for each in get_args(kind) if each is not NoneType]
        return None if raw is None else self.read(inner[0], raw, place)

    def _several(self, kind: object, raw: JsonValue, place: str) -> tuple[object, ...]:
        if not isinstance(raw, list):
            raise RunDocumentInvalid(place, "not a list")
        return tuple(self.read(kind, each, f"{place}[{number}]") for number, each in enumerate(raw))

    def _object(self, kind: type, raw: JsonValue, place: str) -> object:
        if not isinstance(raw, dict):
            raise RunDocumentInvalid(place, "not an object")
        types = self._types_of(kind)
        lax = {each.name for each in fields(kind) if is_optional(each)}
        if missing := [name for name in types if name not in raw and name not in lax]:
            raise RunDocumentInvalid(place, f"lacks {', '.join(missing)}")
        if unknown := [name for name in raw if name not in types]:
            raise RunDocumentInvalid(place, f"has unknown fields: {', '.join(unknown)[:80]}")
        inside = f"{place}." if place else ""
        values = {
            name: self.read(held, raw[name], f"{inside}{name}") for name, held in types.items() if name in raw
        }
        try:
            return kind(**values)
        except ContractViolation as error:
            raise RunDocumentInvalid(place, str(error)) from None

    def _types_of(self, kind: type) -> dict[str, object]:
        if kind not in self._types:
            hints = get_type_hints(kind)
            self._types[kind] = {
                each.name: hints[each.name] for each in fields(kind) if version_has(self._version, each)
            }
        return self._types[kind]


def _payload(raw: JsonValue, place: str) -> Mapping[str, object]:
    """The payload of a traced event as the trace holds it: read-only, with tuples for lists."""
    if not isinstance(raw, dict):
        raise RunDocumentInvalid(place, "not an object")
    return MappingProxyType(
        {name: _payload_value(value, f"{place}.{name}", 1) for name, value in raw.items()}
    )


def _payload_value(raw: JsonValue, place: str, depth: int) -> object:
    if depth > DEPTH_MAX:
        raise RunDocumentInvalid(place, "nested too deeply")
    if isinstance(raw, list):
        return tuple(_payload_value(each, f"{place}[{number}]", depth + 1) for number, each in enumerate(raw))
    if isinstance(raw, dict):
        return {name: _payload_value(each, f"{place}.{name}", depth + 1) for name, each in raw.items()}
    if isinstance(raw, float) and not isfinite(raw):
        raise RunDocumentInvalid(place, "not a finite number")
    return raw


def _member(kind: type[StrEnum], raw: JsonValue, place: str) -> StrEnum:
    try:
        return kind(str(_simple(str, raw, place)))
    except ValueError:
        raise RunDocumentInvalid(place, f"not one of {', '.join(kind)}") from None


def _simple(kind: object, raw: JsonValue, place: str) -> object:
    """A text, a number or a truth value. A whole number may stand where a number does; it stays whole."""
    is_number = isinstance(raw, int | float) and not isinstance(raw, bool) and isfinite(raw)
    fits = {
        str: isinstance(raw, str),
        bool: isinstance(raw, bool),
        int: is_number and isinstance(raw, int),
        float: is_number,
    }
    for known, is_of_it in fits.items():
        if kind is known and is_of_it:
            return raw
    raise RunDocumentInvalid(place, f"not of type {getattr(kind, '__name__', kind)}")
