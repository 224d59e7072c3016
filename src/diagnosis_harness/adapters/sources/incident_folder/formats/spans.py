"""Spans of Jaeger (its page and API) and Zipkin."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from diagnosis_harness.adapters.sources.incident_folder.formats.reader import (
    SPAN_ATTRIBUTES,
    SPAN_COLUMNS,
    Cell,
    FileContent,
    FileHead,
    FileReader,
    Record,
    RoleRows,
    at,
    epoch_seconds,
    list_at,
    number_of,
    string_at,
)
from diagnosis_harness.adapters.sources.incident_folder.listing import Role

_MICROSECONDS: Final = 1e6


def _is_jaeger(head: FileHead) -> bool:
    return any(
        isinstance(at(one, "data", 0, "processes"), dict) or ("processes" in one and "spans" in one)
        for one in head.objects
    )


def _read_jaeger(content: FileContent) -> Iterable[RoleRows]:
    return [RoleRows(Role.TRACES, SPAN_COLUMNS, _jaeger_rows(content))]


def _jaeger_rows(content: FileContent) -> Iterator[tuple[Cell, ...]]:
    for document in content.records():
        for trace in list_at(document, "data") or [document]:
            for span in list_at(trace, "spans"):
                process = at(trace, "processes", string_at(span, "processID") or "")
                start, duration = epoch_seconds(at(span, "startTime")), number_of(at(span, "duration"))
                tags = _jaeger_tags(span)
                yield (
                    string_at(span, "traceID"),
                    string_at(span, "spanID"),
                    _jaeger_parent(span),
                    string_at(process, "serviceName") or string_at(span, "process.serviceName"),
                    string_at(span, "operationName"),
                    start,
                    None if duration is None else duration / _MICROSECONDS,
                    str(_jaeger_failed(span)).lower(),
                    tags.get("span.kind"),
                    *(tags.get(name) for name in SPAN_ATTRIBUTES),
                )


def _jaeger_parent(span: object) -> str | None:
    references = list_at(span, "references")
    parents = [one for one in references if at(one, "refType") == "CHILD_OF"] or references
    return string_at(parents[0], "spanID") if parents else string_at(span, "parentSpanID")


def _jaeger_tags(span: object) -> dict[str, str]:
    found = {string_at(tag, "key"): string_at(tag, "value") for tag in list_at(span, "tags")}
    return {key: value for key, value in found.items() if key is not None and value is not None}


def _jaeger_failed(span: object) -> bool:
    tags = _jaeger_tags(span)
    return str(tags.get("error", "")).lower() == "true" or tags.get("otel.status_code") == "ERROR"


def _zipkin_spans(value: object) -> list[Record]:
    inner = value if isinstance(value, list) else [value]
    return [one for one in inner if isinstance(one, dict) and "traceId" in one and "id" in one]


def _is_zipkin(head: FileHead) -> bool:
    first = _zipkin_spans(head.records[0]) if head.records else []
    return bool(first) and ("localEndpoint" in first[0] or "timestamp" in first[0])


def _read_zipkin(content: FileContent) -> Iterable[RoleRows]:
    return [RoleRows(Role.TRACES, SPAN_COLUMNS, _zipkin_rows(content))]


def _zipkin_rows(content: FileContent) -> Iterator[tuple[Cell, ...]]:
    """Zipkin gives both ends of a call one id; the server's end becomes a child of the client's."""
    spans = [span for value in content.values() for span in _zipkin_spans(value)]
    servers = {
        (string_at(span, "traceId"), string_at(span, "id")): string_at(span, "localEndpoint.serviceName")
        for span in spans
        if span.get("shared") is True
    }
    for span in spans:
        trace, own, parent = string_at(span, "traceId"), string_at(span, "id"), string_at(span, "parentId")
        entity = string_at(span, "localEndpoint.serviceName")
        if span.get("shared") is True:
            own, parent = f"{own}/server", own
        elif parent is not None and servers.get((trace, parent)) == entity:
            parent = f"{parent}/server"
        start, duration = epoch_seconds(span.get("timestamp")), number_of(span.get("duration"))
        yield (
            trace,
            own,
            parent,
            entity,
            string_at(span, "name") or "",
            start,
            None if duration is None else duration / _MICROSECONDS,
            str(at(span, "tags", "error") is not None).lower(),
            string_at(span, "kind"),
            string_at(span, "remoteEndpoint.serviceName") or _text(at(span, "tags", SPAN_ATTRIBUTES[0])),
            *(_text(at(span, "tags", name)) for name in SPAN_ATTRIBUTES[1:]),
        )


def _text(value: object) -> str | None:
    return value if isinstance(value, str) and value else None


SPAN_READERS: Final = (
    FileReader("jaeger", "traces of Jaeger", _is_jaeger, _read_jaeger),
    FileReader("zipkin", "spans of Zipkin", _is_zipkin, _read_zipkin),
)
