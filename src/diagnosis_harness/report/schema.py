"""Generates the exact JSON Schema of a run document from its classes: fields may not be added or left out."""

from __future__ import annotations

from diagnosis_harness.kernel.json_value import JsonValue
from diagnosis_harness.report.document import ROOT_DIGEST, RunDocument
from diagnosis_harness.report.version import SCHEMA_VERSION


def document_schema() -> dict[str, JsonValue]:
    """JSON Schema (draft 2020-12) of `RunDocument.as_json()`."""
    from pydantic import TypeAdapter  # imported here, since only documentation and tests use the schema

    made = TypeAdapter(RunDocument).json_schema(mode="serialization")
    schema: dict[str, JsonValue] = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Run document",
        **{name: _exact(value) for name, value in made.items() if name != "title"},
    }
    properties = schema["properties"]
    if isinstance(properties, dict):
        properties["schema_version"] = {"const": SCHEMA_VERSION}
        properties[ROOT_DIGEST] = {"type": "string", "pattern": "^sha256:[0-9a-f]{64}$"}
    schema.update(_close_object(schema))
    return schema


def _exact(value: JsonValue) -> JsonValue:
    if isinstance(value, list):
        return [_exact(each) for each in value]
    if not isinstance(value, dict):
        return value
    schema = {
        name: _exact(inner)
        for name, inner in value.items()
        if not (name == "default" or (name == "title" and isinstance(inner, str)))
    }
    return {**schema, **_close_object(schema)}


def _close_object(schema: dict[str, JsonValue]) -> dict[str, JsonValue]:
    """Require all listed properties of an object, and forbid others."""
    properties = schema.get("properties")
    if not isinstance(properties, dict) or schema.get("type") != "object":
        return {}
    return {"required": list(properties), "additionalProperties": False}
