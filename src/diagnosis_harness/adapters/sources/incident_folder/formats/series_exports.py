"""Series as VictoriaMetrics exports them and as Google Cloud Monitoring lists them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from operator import itemgetter
from typing import Final

from diagnosis_harness.adapters.sources.incident_folder.formats.histograms import LabelledSeries
from diagnosis_harness.adapters.sources.incident_folder.formats.prometheus import rows_of_series
from diagnosis_harness.adapters.sources.incident_folder.formats.reader import (
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

_GCP_UNITS: Final = {
    "s": "s", "ms": "ms", "us": "us", "ns": "ns", "By": "bytes", "By/s": "bytes/s", "%": "percent",
    "10^2.%": "ratio", "s{CPU}/s": "cores",
}  # fmt: skip
"""Units as Cloud Monitoring writes them; `10^2.%` is its name for a share of 1."""
_GCP_OWNERS: Final = (
    "service_name", "container_name", "function_name", "module_id", "database_id", "backend_service_name",
    "backend_target_name", "subscription_id", "topic_id", "queue_id", "url_map_name", "pod_name",
    "instance_id", "cluster_name",
)  # fmt: skip
"""Labels of monitored resources that name the owner of a series, the most specific service first."""

_Point = tuple[float, float | None]


def _labels(value: object) -> dict[str, str]:
    return {str(key): str(one) for key, one in value.items()} if isinstance(value, dict) else {}


def _is_export(head: FileHead) -> bool:
    return head.each_has("metric", "values", "timestamps")


def _read_export(content: FileContent) -> Iterable[RoleRows]:
    """Each line is an object with one block of a series; a long series has several blocks."""
    found: dict[tuple[tuple[str, str], ...], list[_Point]] = {}
    for one in content.records():
        points = found.setdefault(tuple(sorted(_labels(at(one, "metric")).items())), [])
        for time, value in zip(list_at(one, "timestamps"), list_at(one, "values"), strict=False):
            time_s = epoch_seconds(time)
            if time_s is not None:
                points.append((time_s, number_of(value)))
    series = [
        LabelledSeries(dict(labels), tuple(sorted(points, key=itemgetter(0))))
        for labels, points in found.items()
    ]
    return rows_of_series(series, unnamed=content.stem or "value")


def _time_series(document: Record) -> list[Record]:
    """The series of a response, or of a list element that is itself a series."""
    every = list_at(document, "timeSeries") or [document]
    return [one for one in every if isinstance(one, dict) and at(one, "points", 0, "interval") is not None]


def _is_time_series(head: FileHead) -> bool:
    return any(
        string_at(one, "metric.type") is not None
        for document in head.objects[:1]
        for one in _time_series(document)
    )


def _read_time_series(content: FileContent) -> Iterable[RoleRows]:
    series = [
        found
        for document in content.records()
        for one in _time_series(document)
        for found in _gcp_series(one, string_at(one, "unit") or string_at(document, "unit"))
    ]
    return rows_of_series(series, unnamed=content.stem or "value")


def _gcp_series(one: Record, unit: str | None) -> Iterator[LabelledSeries]:
    """A gauge as it is, a cumulative count as a counter, a difference as a rate; a distribution's mean."""
    labels = {**_labels(at(one, "resource", "labels")), **_labels(at(one, "metric", "labels"))}
    whose = next((labels[key] for key in _GCP_OWNERS if labels.get(key)), None)
    own = {**labels, **({"service": whose} if whose else {})}
    name = (string_at(one, "metric.type") or "value").partition("/")[2].replace("/", "_") or "value"
    kind, read = string_at(one, "metricKind"), _GCP_UNITS.get(unit or "")
    values: list[_Point] = []
    rates: list[_Point] = []
    for point in list_at(one, "points"):
        end, value = epoch_seconds(at(point, "interval", "endTime")), _value_of(at(point, "value"))
        took = (end or 0.0) - (epoch_seconds(at(point, "interval", "startTime")) or end or 0.0)
        if end is not None and kind == "DELTA" and took > 0 and not _is_distribution(point):
            rates.append((end, None if value is None else value / took))
        elif end is not None:
            values.append((end, value))
    counts = kind == "CUMULATIVE" and not any(map(_is_distribution, list_at(one, "points")))
    if values:
        signal = f"{name}_total" if counts else name
        yield LabelledSeries({**own, "__name__": signal}, tuple(sorted(values, key=itemgetter(0))), read)
    if rates:
        rate = "bytes/s" if read == "bytes" else "1/s"
        signal = f"{name}_per_second"
        yield LabelledSeries({**own, "__name__": signal}, tuple(sorted(rates, key=itemgetter(0))), rate)


def _is_distribution(point: object) -> bool:
    return isinstance(at(point, "value", "distributionValue"), dict)


def _value_of(value: object) -> float | None:
    truth, spread = at(value, "boolValue"), at(value, "distributionValue")
    if isinstance(truth, bool):
        return float(truth)
    if isinstance(spread, dict):  # without a count there was nothing to take a mean of
        return number_of(spread.get("mean")) if number_of(spread.get("count")) else None
    return number_of(string_at(value, "doubleValue", "int64Value"))


SERIES_EXPORT_READERS: Final = (
    FileReader("victoriametrics", "an export of VictoriaMetrics", _is_export, _read_export),
    FileReader("gcp-monitoring", "time series of Cloud Monitoring", _is_time_series, _read_time_series),
)
