"""Spans as an OTLP trace request (OpenTelemetry protocol 1.x), to be written as JSON or sent.

Source: opentelemetry-proto, `collector/trace/v1/trace_service.proto`, and the protocol's JSON mapping: field
names in lowerCamelCase, 64-bit integers as text, enumerations as numbers, ids as hexadecimal digits.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Final

from diagnosis_harness.kernel.json_value import JsonValue
from diagnosis_harness.trace import span_names
from diagnosis_harness.trace.span_names import Attribute
from diagnosis_harness.trace.spans import RunSpans, Span, SpanStatus

_INTERNAL, _CLIENT = 1, 3
_STATUS: Final = {SpanStatus.UNSET: 0, SpanStatus.OK: 1, SpanStatus.ERROR: 2}


def otlp_request(
    run: RunSpans, *, service: str, version: str, id_text: Callable[[bytes], str] = bytes.hex
) -> dict[str, JsonValue]:
    """One run as the body of an `ExportTraceServiceRequest`.

    Args:
        service: `service.name` of the resource.
        id_text: how an id is written; Protobuf's own JSON mapping, unlike OTLP's, wants base64.
    """
    resource: dict[str, JsonValue] = {
        "attributes": _attributes({"service.name": service, "service.version": version})
    }
    scope: dict[str, JsonValue] = {"name": span_names.AGENT, "version": version}
    spans: list[JsonValue] = [_span(span, id_text(run.trace_id), id_text) for span in run.spans]
    return {"resourceSpans": [{"resource": resource, "scopeSpans": [{"scope": scope, "spans": spans}]}]}


def otlp_json(run: RunSpans, *, service: str, version: str) -> bytes:
    """One run as OTLP/JSON in UTF-8: one line, as OpenTelemetry's collector writes it to files."""
    body = otlp_request(run, service=service, version=version)
    return json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"


def _span(span: Span, trace_id: str, id_text: Callable[[bytes], str]) -> dict[str, JsonValue]:
    status: dict[str, JsonValue] = {"code": _STATUS[span.status]}
    if span.message:
        status["message"] = _text(span.message)
    content: dict[str, JsonValue] = {
        "traceId": trace_id,
        "spanId": id_text(span.span_id),
        "name": _text(span.name),
        "kind": _CLIENT if span.is_client else _INTERNAL,
        "startTimeUnixNano": _nanoseconds(span.start_s),
        "endTimeUnixNano": _nanoseconds(span.end_s),
        "attributes": _attributes(span.attributes),
        "events": [
            {
                "timeUnixNano": _nanoseconds(event.at_s),
                "name": event.name,
                "attributes": _attributes(event.attributes),
            }
            for event in span.events
        ],
        "status": status,
    }
    if span.parent_id is not None:
        content["parentSpanId"] = id_text(span.parent_id)
    return content


def _nanoseconds(time_s: float) -> str:
    """Nanoseconds since the epoch, exact to the microsecond, the precision of the float."""
    return str(round(time_s * 1e6) * 1000)


def _attributes(attributes: Mapping[str, Attribute]) -> list[JsonValue]:
    return [{"key": _text(key), "value": _value(value)} for key, value in sorted(attributes.items())]


def _value(value: Attribute) -> dict[str, JsonValue]:
    match value:
        case bool():
            return {"boolValue": value}
        case int():
            return {"intValue": str(value)} if -(2**63) <= value < 2**63 else {"stringValue": str(value)}
        case float():
            return {"doubleValue": value}
        case str():
            return {"stringValue": _text(value)}
        case _:
            return {"arrayValue": {"values": _texts(value)}}


def _texts(several: Sequence[str]) -> list[JsonValue]:
    return [{"stringValue": _text(each)} for each in several]


def _text(text: str) -> str:
    """The text with half surrogate pairs, which UTF-8 cannot encode, replaced by U+FFFD."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
