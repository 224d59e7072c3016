"""Series in responses of CloudWatch, Azure Monitor and Datadog."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
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
from diagnosis_harness.analysis.meaning import SignalKind
from diagnosis_harness.analysis.name_meaning import meaning_of

CLOUDWATCH_UNITS: Final = {
    "Seconds": "s", "Milliseconds": "ms", "Microseconds": "us", "Bytes": "bytes", "Percent": "percent",
    "Count/Second": "1/s", "Bytes/Second": "bytes/s", "BytesPerSecond": "bytes/s", "CountPerSecond": "1/s",
    "MilliSeconds": "ms", "percent": "percent", "second": "s", "millisecond": "ms", "byte": "bytes",
}  # fmt: skip
_AGGREGATIONS: Final = ("average", "total", "maximum", "minimum", "count")
_STATISTICS: Final = ("Average", "Sum", "Maximum", "Minimum", "SampleCount")

OWNERS: Final = (
    "ServiceName", "DBInstanceIdentifier", "DBClusterIdentifier", "FunctionName", "QueueName", "TableName",
    "CacheClusterId", "LoadBalancer", "InstanceId", "PodName", "ClusterName",
)  # fmt: skip
"""Dimensions of CloudWatch that name the owner of a series, the most specific service first."""

_Labels = tuple[tuple[str, str], ...]
_Query = tuple[_Labels, _Labels]
"""The labels of a series, and the statistic and id that its query states."""
_Read = Callable[[Record, FileContent], Iterator[LabelledSeries]]


def _reader(key: str, shown: str, recognises: Callable[[Record], bool], read: _Read) -> FileReader:
    def is_one(head: FileHead) -> bool:
        return bool(head.objects) and recognises(head.objects[0])

    def rows(content: FileContent) -> Iterable[RoleRows]:
        series = [one for document in content.records() for one in read(document, content)]
        return rows_of_series(series, unnamed=content.stem or "value")

    return FileReader(key, shown, is_one, rows)


def _points(times: Sequence[object], values: Sequence[object]) -> tuple[tuple[float, float | None], ...]:
    pairs = ((epoch_seconds(time), number_of(value)) for time, value in zip(times, values, strict=False))
    return tuple(sorted((time_s, value) for time_s, value in pairs if time_s is not None))


def split_label(label: str, stem: str) -> dict[str, str]:
    """Owner and name of a series with a free label: `booking latency` is `latency` of `booking`.

    The label is split before the first word that belongs to a signal's name. If no word does, or all of them
    do, the owner is the entity that the file is named after.
    """
    words = label.split()
    for place in range(1, len(words)):
        rest = " ".join(words[place:])
        if meaning_of(rest, None).kind is not SignalKind.OTHER:
            return {"__name__": rest, "service": " ".join(words[:place])}
    return {"__name__": label or "value", "service": stem} if stem else {"__name__": label or "value"}


def _cloudwatch(document: Record, content: FileContent) -> Iterator[LabelledSeries]:
    found: dict[_Query, list[LabelledSeries]] = {}
    for result in _data_results(document):
        values = list_at(result, "Values") or list_at(result, "values")
        times = list_at(result, "Timestamps") or list_at(result, "timestamps")
        unit = CLOUDWATCH_UNITS.get(string_at(result, "Unit", "unit") or "")
        one = LabelledSeries(_labels_of_result(result, content.stem), _points(times, values), unit)
        given = {"stat": string_at(result, "Stat", "stat"), "id": string_at(result, "Id", "id")}
        stated = tuple((key, value) for key, value in given.items() if value)
        _add_page(found.setdefault((tuple(sorted(one.labels.items())), stated), []), one)
    names = [name for name, _ in found]
    for (name, stated), several in found.items():
        labels = dict(name) | (dict(stated) if names.count(name) > 1 else {})
        for place, one in enumerate(several, start=1):
            yield replace(one, labels=labels | ({"result": str(place)} if len(several) > 1 else {}))


def _add_page(several: list[LabelledSeries], page: LabelledSeries) -> None:
    """Add the points of a result to the series that it continues or repeats, else as its own series."""
    for place, one in enumerate(several):
        known = dict(one.points)
        if all(known.get(time_s, value) == value for time_s, value in page.points):
            several[place] = replace(one, points=tuple(sorted((known | dict(page.points)).items())))
            return
    several.append(page)


def _data_results(document: Record) -> list[Record]:
    """The results of a response, in the key spelling of any client, or a single saved result."""
    every = list_at(document, "MetricDataResults") or list_at(document, "metric_data_results") or [document]
    return [one for one in every if isinstance(one, dict)]


def _is_data_result(one: object) -> bool:
    """Whether an object is one series of CloudWatch: a name, and as many times as values."""
    named = string_at(one, "Label", "label", "Id", "id", "MetricName", "metric_name") is not None
    times = list_at(one, "Timestamps") or list_at(one, "timestamps")
    return named and 0 < len(times) == len(list_at(one, "Values") or list_at(one, "values"))


def _labels_of_result(result: Record, stem: str) -> dict[str, str]:
    """Labels of a result: its dimensions name the owner, or else its label and the file's name."""
    dimensions = {
        string_at(one, "Name", "name") or "": string_at(one, "Value", "value") or ""
        for one in list_at(result, "Dimensions") or list_at(result, "dimensions")
    }
    if not any(dimensions.values()):
        return split_label(string_at(result, "Label", "label", "Id", "id") or "", stem)
    name = string_at(result, "MetricName", "metric_name", "Label", "label", "Id", "id") or "value"
    whose = next((dimensions[key] for key in OWNERS if dimensions.get(key)), None)
    rest = {key: value for key, value in dimensions.items() if key and value != whose}
    return {"__name__": name, "service": whose or next(iter(dimensions.values())), **rest}


def _cloudwatch_statistics(document: Record, content: FileContent) -> Iterator[LabelledSeries]:
    points = list_at(document, "Datapoints")
    times = [at(point, "Timestamp") for point in points]
    present = [one for one in _STATISTICS if any(at(point, one) is not None for point in points)]
    for statistic in present:
        name = string_at(document, "Label") or "value"
        signal = name if len(present) == 1 else f"{name}_{statistic}"
        labels = {"__name__": signal, **({"service": content.stem} if content.stem else {})}
        unit = CLOUDWATCH_UNITS.get(string_at(points[0], "Unit") or "")
        yield LabelledSeries(labels, _points(times, [at(point, statistic) for point in points]), unit)


def _datadog(document: Record, content: FileContent) -> Iterator[LabelledSeries]:
    del content
    for series in list_at(document, "series"):
        tags = list_at(series, "tag_set") or (string_at(series, "scope") or "").split(",")
        labels = {key: value for key, _, value in (str(tag).partition(":") for tag in tags) if value}
        labels["__name__"] = string_at(series, "metric", "display_name") or "value"
        pairs = list_at(series, "pointlist")
        unit = CLOUDWATCH_UNITS.get(string_at(at(series, "unit", 0), "name") or "")
        yield LabelledSeries(
            labels, _points([at(one, 0) for one in pairs], [at(one, 1) for one in pairs]), unit
        )


def _datadog_v2(document: Record, content: FileContent) -> Iterator[LabelledSeries]:
    body = at(document, "data", "attributes")
    times, values = list_at(body, "times"), list_at(body, "values")
    for place, series in enumerate(list_at(body, "series")):
        found = list_at({"own": values[place]}, "own") if place < len(values) else []
        tags = (str(tag).partition(":") for tag in list_at(series, "group_tags"))
        labels = {key: value for key, _, value in tags if value}
        labels["__name__"] = content.stem or "value"
        unit = CLOUDWATCH_UNITS.get(string_at(at(series, "unit", 0), "name") or "")
        yield LabelledSeries(labels, _points(times, list_at(series, "values") or found), unit)


def _azure(document: Record, content: FileContent) -> Iterator[LabelledSeries]:
    for metric in list_at(document, "value"):
        parts = (string_at(metric, "id") or "").partition("/providers/Microsoft.Insights/")[0].split("/")
        resource = parts[-1] or content.stem
        for series in list_at(metric, "timeseries"):
            dimensions = {
                string_at(one, "name.value") or "": string_at(one, "value") or ""
                for one in list_at(series, "metadatavalues")
            }
            points = list_at(series, "data")
            kind = next(
                (one for one in _AGGREGATIONS if any(at(point, one) is not None for point in points)), None
            )
            if kind is None:
                continue
            labels = {**dimensions, "__name__": string_at(metric, "name.value") or "value"}
            labels.update({"service": resource} if resource else {})
            times, values = [at(one, "timeStamp") for one in points], [at(one, kind) for one in points]
            yield LabelledSeries(
                labels, _points(times, values), CLOUDWATCH_UNITS.get(string_at(metric, "unit") or "")
            )


CLOUD_METRIC_READERS: Final = (
    _reader(
        "cloudwatch",
        "metric data of CloudWatch",
        lambda one: any(map(_is_data_result, _data_results(one))),
        _cloudwatch,
    ),
    _reader(
        "cloudwatch-statistics",
        "statistics of CloudWatch",
        lambda one: at(one, "Datapoints", 0, "Timestamp") is not None,
        _cloudwatch_statistics,
    ),
    _reader(
        "datadog", "series of Datadog", lambda one: at(one, "series", 0, "pointlist") is not None, _datadog
    ),
    _reader(
        "datadog-v2",
        "timeseries of Datadog",
        lambda one: isinstance(at(one, "data", "attributes", "times"), list),
        _datadog_v2,
    ),
    _reader(
        "azure", "metrics of Azure Monitor", lambda one: at(one, "value", 0, "timeseries") is not None, _azure
    ),
)
