"""The JSON Schema (draft 2020-12) of a policy's answer, as `wire.decode_answer` reads it.

A schema cannot express these, but `decode_answer` refuses them too: a text larger than 256 KB or nested
deeper than 16 levels, a duplicate key, an invalid time, a window that ends before it starts, and two claims
with one id.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum

from diagnosis_harness.diagnosis.answer_size import ANSWER_TEXT_MAX, CLAIMS_MAX, NAMED_MAX, REFS_MAX
from diagnosis_harness.diagnosis.claim import FaultKind, Predicate
from diagnosis_harness.diagnosis.collection import InformationGain
from diagnosis_harness.diagnosis.draft import SetAsideReason
from diagnosis_harness.diagnosis.missing import MissingInfo
from diagnosis_harness.diagnosis.wire_fields import LIST_MAX
from diagnosis_harness.kernel.json_value import JsonValue
from diagnosis_harness.tools.evidence import Direction

_Schema = dict[str, JsonValue]


def answer_schema() -> dict[str, JsonValue]:
    """The schema, with a definition for each part."""
    schema: _Schema = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Policy answer",
        "description": "One step of a diagnosis: look further, or give the draft. Exactly one of both.",
        **_object({}, {"assessments": _list("assessment"), "calls": _list("call"), "draft": _maybe("draft")}),
        "oneOf": [{"required": ["calls"]}, {"required": ["draft"]}],
    }
    schema["$defs"] = _definitions()
    return schema


def _definitions() -> dict[str, JsonValue]:
    text, identity, number = _use("text"), _use("identity"), _one("number")
    cause: _Schema = {"entity": text, "fault_kind": _among(FaultKind)}
    return {
        "text": {"type": "string", "minLength": 1, "maxLength": ANSWER_TEXT_MAX, "pattern": r"\S"},
        "identity": {"type": "string", "pattern": r"^[A-Za-z0-9._-]{1,128}$"},
        "instant": {
            "description": "ISO 8601, UTC where it names no zone; or seconds since the epoch.",
            "type": ["string", "number"],
        },
        "window": _object({"start": _use("instant"), "end": _use("instant")}, {}),
        "ref": _object({"tool_call_id": identity, "item_id": text}, {}),
        "quote": _object({"ref": _use("ref"), "text": text}, {}),
        "claim": _object(
            {
                "claim_id": identity,
                "predicate": _among(Predicate),
                "entity": text,
                "refs": _list("ref"),
            },
            {
                "quotes": _list("quote"),
                "affected": _maybe("text"),
                "signal": _maybe("text"),
                "value": _one("number", "null"),
                "baseline": _one("number", "null"),
                "unit": _maybe("text"),
                "direction": {"enum": [*Direction.__members__, None]},
                "window": _maybe("window"),
                "onset": _maybe("instant"),
                "wording": _maybe("text"),
            },
        ),
        "call": _object({"tool_call_id": identity, "tool": text}, {"arguments": {"type": "object"}}),
        "assessment": _object(
            {"tool_call_id": identity, "gain": _among(InformationGain)}, {"facts": _list("claim")}
        ),
        "cause": _object(
            {**cause, "claim_ids": _list("text")}, {"region": _maybe("text"), "score": _one("number", "null")}
        ),
        "missing": _among(MissingInfo),
        "set_aside": _object({"tool_call_id": identity, "reason": _among(SetAsideReason)}, {}),
        "hypothesis": _object(
            {**cause, "score": number, "evidence_for": _list("ref")},
            {"evidence_against": _list("ref"), "region": _maybe("text")},
        ),
        "draft": _object(
            {"conclusion": _list("cause"), "claims": _list("claim")},
            {
                "hypotheses": _list("hypothesis"),
                "missing_info": _list("missing"),
                "missing_names": _list("text"),
                "window": _maybe("window"),
                "set_aside": _list("set_aside"),
            },
        ),
    }


_MOST = {
    "claim": CLAIMS_MAX,
    "ref": REFS_MAX,
    "quote": REFS_MAX,
    "cause": NAMED_MAX,
    "hypothesis": NAMED_MAX,
}
"""The most items of each list; `answer_size` bounds several lists together."""


def _object(required: _Schema, optional: _Schema) -> _Schema:
    return {
        "type": "object",
        "properties": {**required, **optional},
        "required": list(required),
        "additionalProperties": False,
    }


def _use(name: str) -> _Schema:
    return {"$ref": f"#/$defs/{name}"}


def _maybe(name: str) -> _Schema:
    return {"anyOf": [_use(name), {"type": "null"}]}


def _list(name: str) -> _Schema:
    return {"type": "array", "items": _use(name), "maxItems": _MOST.get(name, LIST_MAX)}


def _one(*types: str) -> _Schema:
    return {"type": types[0] if len(types) == 1 else list(types)}


def _among(values: Iterable[StrEnum]) -> _Schema:
    return {"enum": [value.value for value in values]}
