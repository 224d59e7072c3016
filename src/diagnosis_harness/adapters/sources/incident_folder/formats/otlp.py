"""OpenTelemetry's JSON: spans, log records and metrics, one document or one per line; and Tempo."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Final

from diagnosis_harness.adapters.sources.incident_folder.formats.histograms import LabelledSeries
from diagnosis_harness.adapters.sources.incident_folder.formats.log_records import entity_of_labels
from diagnosis_harness.adapters.sources.incident_folder.formats.prometheus import rows_of_series
from diagnosis_harness.adapters.sources.incident_folder.formats.reader import (
    LOG_COLUMNS,
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

_SPANS: Final = ("resourceSpans", "batches")
_UNITS: Final = {
    "By": "bytes",
    "ms": "ms",
    "s": "s",
    "us": "us",
    "ns": "ns",
    "%": "percent",
    "By/s": "bytes/s",
}
_CUMULATIVE: Final = (2, "AGGREGATION_TEMPORALITY_CUMULATIVE")
_WRAPPED: Final = ((), ("trace",), ("result",))
"""What wraps the document: nothing, a response of Tempo, or one of Jaeger 2 (a line for each part)."""
_SCOPES: Final = ("scopeSpans", "instrumentationLibrarySpans")

_Key = tuple[str, tuple[tuple[str, str], ...], str | None]


def attributes_of(holder: object) -> dict[str, str]:
    """The attributes of a resource, a point or a span, as text."""
    found = {}
    for pair in list_at(holder, "attributes"):
        value = at(pair, "value")
        text = string_at(value, "stringValue", "intValue", "doubleValue", "boolValue")
        if text is not None:
            found[str(at(pair, "key"))] = text
    return found


def _resources(content: FileContent, *keys: str) -> Iterator[tuple[Record, dict[str, str]]]:
    for document in content.records():
        for key in keys:
            for one in next((found for way in _WRAPPED if (found := list_at(document, *way, key))), []):
                yield one, attributes_of(at(one, "resource"))


def _has(*keys: str) -> Callable[[FileHead], bool]:
    def recognises(head: FileHead) -> bool:
        return any(
            isinstance(at(one, *way, key), list) for one in head.objects for key in keys for way in _WRAPPED
        )

    return recognises


def _read_spans(content: FileContent) -> Iterable[RoleRows]:
    return [RoleRows(Role.TRACES, SPAN_COLUMNS, _span_rows(content))]


def _span_rows(content: FileContent) -> Iterator[tuple[Cell, ...]]:
    for resource, attributes in _resources(content, *_SPANS):
        entity = entity_of_labels(attributes)
        for scope in (each for key in _SCOPES for each in list_at(resource, key)):
            for span in list_at(scope, "spans"):
                span_attributes = attributes_of(span)
                start, end = (
                    epoch_seconds(at(span, "startTimeUnixNano")),
                    epoch_seconds(at(span, "endTimeUnixNano")),
                )
                yield (
                    string_at(span, "traceId"),
                    string_at(span, "spanId"),
                    string_at(span, "parentSpanId"),
                    entity,
                    string_at(span, "name"),
                    start,
                    _duration_of(span) if start is not None and end is not None else None,
                    str(at(span, "status", "code") in {2, "STATUS_CODE_ERROR"}).lower(),
                    string_at(span, "kind"),
                    *(span_attributes.get(name) for name in SPAN_ATTRIBUTES),
                )


def _duration_of(span: object) -> float | None:
    """The duration in seconds, from whole nanoseconds: floats near today's epoch time are 200 ns apart."""
    start, end = string_at(span, "startTimeUnixNano"), string_at(span, "endTimeUnixNano")
    if start is None or end is None or not (start.isdecimal() and end.isdecimal()):
        return None
    return (int(end) - int(start)) / 1e9


def _read_logs(content: FileContent) -> Iterable[RoleRows]:
    return [RoleRows(Role.LOGS, LOG_COLUMNS, _log_rows(content))]


def _log_rows(content: FileContent) -> Iterator[tuple[Cell, ...]]:
    for resource, attributes in _resources(content, "resourceLogs"):
        entity = entity_of_labels(attributes)
        for scope in list_at(resource, "scopeLogs"):
            for record in list_at(scope, "logRecords"):
                time_s = epoch_seconds(string_at(record, "timeUnixNano", "observedTimeUnixNano"))
                body = at(record, "body")
                text = string_at(body, "stringValue", "intValue", "doubleValue", "boolValue")
                yield (
                    time_s,
                    entity,
                    string_at(record, "severityText"),
                    text if text is not None else str(body),
                )


def _read_metrics(content: FileContent) -> Iterable[RoleRows]:
    points: dict[_Key, list[tuple[float, float | None]]] = defaultdict(list)
    for resource, attributes in _resources(content, "resourceMetrics"):
        for scope in list_at(resource, "scopeMetrics"):
            for metric in list_at(scope, "metrics"):
                for name, labels, time_s, value in _points_of(metric):
                    every = tuple(sorted({**attributes, **labels}.items()))
                    points[name, every, _unit_of(metric)].append((time_s, value))
    series = [
        LabelledSeries(
            {**dict(labels), "__name__": name}, tuple(sorted(found, key=lambda point: point[0])), unit
        )
        for (name, labels, unit), found in points.items()
    ]
    return rows_of_series(series, unnamed=content.stem or "value")


def _unit_of(metric: Record) -> str | None:
    unit = string_at(metric, "unit")
    return _UNITS.get(unit) if unit else None


_Point = tuple[str, Mapping[str, str], float, float | None]
"""Name, labels, time and value."""


def _points_of(metric: Record) -> Iterator[_Point]:
    name = string_at(metric, "name") or "value"
    for kind, read in _KINDS.items():
        body = at(metric, kind)
        for point in list_at(body, "dataPoints"):
            time_s = epoch_seconds(at(point, "timeUnixNano"))
            if time_s is not None:
                for ending, more, value in read(body, point, time_s):
                    own = name if ending == "_total" and name.endswith("total") else f"{name}{ending}"
                    yield own, {**attributes_of(point), **more}, time_s, value


_Read = tuple[str, Mapping[str, str], float | None]
"""Suffix of the name, further labels, and the value."""


def _gauge(body: object, point: object, time_s: float) -> Iterator[_Read]:
    del body, time_s
    yield "", {}, number_of(string_at(point, "asDouble", "asInt"))


def _sum(body: object, point: object, time_s: float) -> Iterator[_Read]:
    value = number_of(string_at(point, "asDouble", "asInt"))
    if at(body, "isMonotonic") is not True:
        yield "", {}, value
    elif at(body, "aggregationTemporality") in _CUMULATIVE:
        yield "_total", {}, value
    else:
        yield "_per_second", {}, _per_second(point, value, time_s)


def _histogram(body: object, point: object, time_s: float) -> Iterator[_Read]:
    count, total = number_of(at(point, "count")), number_of(at(point, "sum"))
    if at(body, "aggregationTemporality") not in _CUMULATIVE:
        yield "_per_second", {}, _per_second(point, count, time_s)
        if count and total is not None:
            yield "_mean", {}, total / count
        return
    yield "_sum", {}, total
    yield "_count", {}, count
    cumulated = 0.0
    bounds = [*list_at(point, "explicitBounds"), "+Inf"]
    for bound, inside in zip(bounds, list_at(point, "bucketCounts"), strict=False):
        cumulated += number_of(inside) or 0.0
        yield "_bucket", {"le": str(bound)}, cumulated


def _summary(body: object, point: object, time_s: float) -> Iterator[_Read]:
    del body, time_s
    for quantile in list_at(point, "quantileValues"):
        share = number_of(at(quantile, "quantile")) or 0.0
        yield f"_p{round(share * 100)}", {}, number_of(at(quantile, "value"))


_KINDS: Final = {"gauge": _gauge, "sum": _sum, "histogram": _histogram, "summary": _summary}


def _per_second(point: object, value: float | None, time_s: float) -> float | None:
    start_s = epoch_seconds(at(point, "startTimeUnixNano"))
    return None if value is None or start_s is None or start_s >= time_s else value / (time_s - start_s)


OTLP_READERS: Final = (
    FileReader("otlp-traces", "spans of OpenTelemetry, Tempo or Jaeger 2", _has(*_SPANS), _read_spans),
    FileReader("otlp-logs", "log records of OpenTelemetry", _has("resourceLogs"), _read_logs),
    FileReader("otlp-metrics", "metrics of OpenTelemetry", _has("resourceMetrics"), _read_metrics),
)
