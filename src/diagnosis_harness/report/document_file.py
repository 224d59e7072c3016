"""Writes a run document to a file in its only byte form, and reads it back strictly.

A document has exactly one byte form, that of the version in which it was written. So a reader can write a
document again and compare it with the file, which shows any difference in content or layout.
"""

from __future__ import annotations

import json

from diagnosis_harness.kernel.errors import ContractViolation, InvalidInput, JsonInvalid
from diagnosis_harness.kernel.json_value import JsonValue
from diagnosis_harness.kernel.strict_json import parse_loosely
from diagnosis_harness.report.document import ROOT_DIGEST, RunDocument
from diagnosis_harness.report.version import READABLE

_MARKS = ("schema_version", "run", "report", "records")
_REMEDY = "give a file written by --save or --json of this program"


def document_bytes(document: RunDocument) -> bytes:
    """The document as JSON text in UTF-8, ending in a line feed: the only form that a saved run has."""
    return json_bytes(document.as_json())


def has_byte_form(data: bytes, document: RunDocument, *, stated_digest: JsonValue) -> bool:
    """Whether a file has the byte form of the document that was read from it, given the digest it states."""
    try:
        return json_bytes({**document.as_json(), ROOT_DIGEST: stated_digest}) == data
    except (ContractViolation, ValueError):
        return False


def json_bytes(content: dict[str, JsonValue]) -> bytes:
    """A document as JSON values in the form that a saved run has."""
    return json.dumps(content, ensure_ascii=False, indent=2).encode() + b"\n"


def parse_document(data: bytes, *, file: str) -> dict[str, JsonValue]:
    """The JSON values of a file, which must at least look like a run document.

    Args:
        file: its name in error messages.

    Raises:
        InvalidInput: not UTF-8, not JSON, no run document, or one of another version.
    """
    try:
        value = parse_loosely(data)  # `has_byte_form` finds duplicate names
    except JsonInvalid as error:
        raise InvalidInput(file, f"is not JSON in UTF-8 ({error.problem})", _REMEDY) from None
    if not isinstance(value, dict) or any(mark not in value for mark in _MARKS):
        raise InvalidInput(file, "is not a run document", _REMEDY)
    if value["schema_version"] not in READABLE:
        version = str(value["schema_version"])[:20]
        problem = f"is a run document of version {version}, and this program reads {', '.join(READABLE)}"
        raise InvalidInput(file, problem, "verify it with the program that wrote it")
    return value
