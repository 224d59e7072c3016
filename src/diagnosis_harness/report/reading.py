"""Reads a run document from JSON values by the types of its classes: strictly, without repairs.

The classes are the schema (`report.document`), so a new field needs no code here. A
document of an older version has exactly the fields of its own version; the others have their defaults.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass
from enum import StrEnum
from functools import partial
from types import MappingProxyType, NoneType, UnionType
from typing import TypeVar, Union, get_args, get_origin, get_type_hints

from diagnosis_harness.kernel.errors import ContractViolation, JsonInvalid, RunDocumentInvalid
from diagnosis_harness.kernel.json_fields import (
    any_object_at,
    items_at,
    member_at,
    number_at,
    object_at,
    place_in,
    text_at,
    truth_at,
    whole_at,
)
from diagnosis_harness.kernel.json_value import JsonValue
from diagnosis_harness.kernel.strict_json import excerpt, json_errors_as
from diagnosis_harness.report.document import ROOT_DIGEST, RunDocument
from diagnosis_harness.report.version import READABLE, SCHEMA_VERSION, is_optional, version_has
from diagnosis_harness.trace.event import DEPTH_MAX

T = TypeVar("T")


def read_document(document_fields: Mapping[str, JsonValue]) -> RunDocument:
    """Read a document from JSON values, without checking its root digest.

    Raises:
        RunDocumentInvalid: a field is missing, unknown, of another type or outside its closed set, or the
            parts contradict each other.
    """
    content = {name: value for name, value in document_fields.items() if name != ROOT_DIGEST}
    with json_errors_as(RunDocumentInvalid):
        object_at(document_fields, "", required=(ROOT_DIGEST,), optional=content)
        document = _Reader(str(content.get("schema_version"))).read(RunDocument, content, "")
    assert isinstance(document, RunDocument)  # noqa: S101 - for the type checker: a class is read as itself
    return document


def read_part(kind: type[T], value: JsonValue, place: str, *, version: str = SCHEMA_VERSION) -> T:
    """One part of a document of a version (`report.document.plain_json` wrote it), such as its report.

    Raises:
        RunDocumentInvalid: as `read_document`; `place` names the part.
    """
    with json_errors_as(RunDocumentInvalid):
        part = _Reader(version).read(kind, value, place)
    assert isinstance(part, kind)  # noqa: S101 - for the type checker: a class is read as itself
    return part


class _Reader:
    """Reads values by type; caches the fields of each class while one document is read."""

    def __init__(self, version: str) -> None:
        if version not in READABLE:
            raise JsonInvalid("schema_version", f"one of {', '.join(READABLE)}", f"'{excerpt(version)}'")
        self._version = version
        self._types: dict[type, dict[str, object]] = {}

    def read(self, kind: object, raw: JsonValue, place: str) -> object:
        """The value of a type.

        Raises:
            JsonInvalid: it is not a value of that type.
        """
        origin = get_origin(kind)
        if origin in (Union, UnionType):
            return self._maybe(kind, raw, place)
        if origin is tuple:
            return items_at(raw, place, partial(self.read, get_args(kind)[0]))
        if origin is Mapping:
            return _payload(raw, place)
        if isinstance(kind, type) and is_dataclass(kind):
            return self._object(kind, raw, place)
        if isinstance(kind, type) and issubclass(kind, StrEnum):
            return member_at(kind, raw, place)
        return _SIMPLE[kind](raw, place)

    def _maybe(self, kind: object, raw: JsonValue, place: str) -> object:
        inner = [each for each in get_args(kind) if each is not NoneType]
        return None if raw is None else self.read(inner[0], raw, place)

    def _object(self, kind: type, raw: JsonValue, place: str) -> object:
        types = self._types_of(kind)
        lax = {each.name for each in fields(kind) if is_optional(self._version, each)}
        content = object_at(raw, place, required=[name for name in types if name not in lax], optional=types)
        values = {
            name: self.read(field_type, content[name], place_in(place, name))
            for name, field_type in types.items()
            if name in content
        }
        try:
            return kind(**values)
        except ContractViolation as error:
            raise JsonInvalid(place, f"a {kind.__name__}", f"what is none ({error})") from None

    def _types_of(self, kind: type) -> dict[str, object]:
        if kind not in self._types:
            hints = get_type_hints(kind)
            self._types[kind] = {
                each.name: hints[each.name] for each in fields(kind) if version_has(self._version, each)
            }
        return self._types[kind]


def _payload(raw: JsonValue, place: str) -> Mapping[str, object]:
    """The payload of an event in the form of the trace: read-only, with tuples for lists."""
    return MappingProxyType(
        {
            name: _payload_value(value, place_in(place, name), 1)
            for name, value in any_object_at(raw, place).items()
        }
    )


def _payload_value(raw: JsonValue, place: str, depth: int) -> object:
    if depth > DEPTH_MAX:
        raise JsonInvalid(place, f"at most {DEPTH_MAX} levels of nesting", "more")
    if isinstance(raw, list):
        return tuple(_payload_value(each, f"{place}[{number}]", depth + 1) for number, each in enumerate(raw))
    if isinstance(raw, dict):
        return {name: _payload_value(each, place_in(place, name), depth + 1) for name, each in raw.items()}
    return number_at(raw, place) if isinstance(raw, float) else raw


_SIMPLE: Mapping[object, Callable[[JsonValue, str], object]] = MappingProxyType(
    {str: text_at, bool: truth_at, int: whole_at, float: number_at}
)
"""The readers of simple types; a test fails if a class of the document uses another one."""
