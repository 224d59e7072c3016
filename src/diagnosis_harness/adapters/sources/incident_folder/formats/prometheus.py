"""Prometheus: answers of `query` and `query_range`, and the text exposition of a `/metrics` page."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from diagnosis_harness.adapters.sources.incident_folder.formats.histograms import (
    LabelledSeries,
    read_histograms,
)
from diagnosis_harness.adapters.sources.incident_folder.formats.reader import (
    METRIC_COLUMNS,
    TOPOLOGY_COLUMNS,
    FileContent,
    FileHead,
    FileReader,
    Record,
    RoleRows,
    at,
    epoch_seconds,
    list_at,
    number_of,
)
from diagnosis_harness.adapters.sources.incident_folder.formats.series_names import (
    SeriesName,
    labels_in,
    name_series,
)
from diagnosis_harness.adapters.sources.incident_folder.listing import Role
from diagnosis_harness.adapters.sources.incident_folder.names import unit_of_signal
from diagnosis_harness.kernel.errors import InvalidInput

_SAMPLE: Final = re.compile(
    r"(?P<series>[A-Za-z_:][\w:]*(?:\s*\{.*\})?)\s+(?P<value>[+-]?(?:[\d.]+(?:[eE][+-]?\d+)?|Inf|NaN))"
    r"(?:\s+(?P<time>-?\d+(?:\.\d+)?))?(?:\s+#.*)?\s*"
)
_TYPES: Final = ("matrix", "vector", "scalar")


def rows_of_series(series: Sequence[LabelledSeries], *, unnamed: str) -> Iterator[RoleRows]:
    """Rows of labelled series, histograms converted to rates, means and quantiles; owners of instances."""
    whole = read_histograms(series)
    named = name_series([one.labels for one in whole], unnamed=unnamed)
    names = _number_conflicting(whole, named.names)

    def rows() -> Iterator[tuple[float | str | None, ...]]:
        for one, name in zip(whole, names, strict=True):
            unit = one.unit or unit_of_signal(name.signal.partition("{")[0])
            for time_s, value in one.points:
                yield time_s, name.entity, name.signal, value, unit

    remark = (
        f"{len(series)} series"
        if len(whole) == len(series)
        else (f"{len(series)} series, histograms made into rates, means and quantiles")
    )
    yield RoleRows(Role.METRICS, METRIC_COLUMNS, rows(), remark)
    if named.owners:
        pairs = [(instance, service, "part_of") for instance, service in named.owners.items()]
        yield RoleRows(Role.TOPOLOGY, TOPOLOGY_COLUMNS, pairs)


def _number_conflicting(series: Sequence[LabelledSeries], names: Sequence[SeriesName]) -> list[SeriesName]:
    """Number the series of one name that hold different values at one time: no label distinguishes them.

    Those that hold the same values, or other times, are pages of one series, as of a query asked twice.
    """
    repeated = {name for name, count in Counter(names).items() if count > 1}
    pages: dict[SeriesName, list[dict[float, float | None]]] = {}
    numbered: list[SeriesName] = []
    for one, name in zip(series, names, strict=True):
        place = _page_of(dict(one.points), pages.setdefault(name, [])) if name in repeated else 0
        signal = f"{name.signal}{{series={place + 1}}}" if place else name.signal
        numbered.append(SeriesName(name.entity, signal))
    return numbered


def _page_of(points: dict[float, float | None], pages: list[dict[float, float | None]]) -> int:
    """Add the points to the first page that they do not contradict, else as a page of their own."""
    points = {
        time_s: None if value is None or math.isnan(value) else value for time_s, value in points.items()
    }
    for number, page in enumerate(pages):
        if all(page.get(time_s, value) == value for time_s, value in points.items()):
            page.update(points)
            return number
    pages.append(points)
    return len(pages) - 1


def _is_answer(head: FileHead) -> bool:
    return any(at(one, "data", "resultType") in _TYPES for one in head.objects)


def _read_answer(content: FileContent) -> Iterable[RoleRows]:
    series: list[LabelledSeries] = []
    for answer in content.records():
        if answer.get("status") == "error":
            raise InvalidInput(
                content.file.name,
                f"it is an error response of Prometheus ({answer.get('error')})",
                "run the query again and save its result",
            )
        results = list_at(answer, "data", "result")
        if at(answer, "data", "resultType") == "scalar":
            results = [{"metric": {}, "value": results}]
        series += [_series_of(one) for one in results if isinstance(one, dict)]
    return rows_of_series(series, unnamed=content.stem or "value")


def _series_of(result: Record) -> LabelledSeries:
    labels = {str(key): str(value) for key, value in (result.get("metric") or {}).items()}
    samples: list[Any] = list_at(result, "values") or ([result["value"]] if "value" in result else [])
    return LabelledSeries(labels, tuple(_points(samples)))


def _points(samples: Sequence[Any]) -> Iterator[tuple[float, float | None]]:
    for sample in samples:
        time_s = epoch_seconds(at(sample, 0))
        if time_s is not None:
            yield time_s, number_of(at(sample, 1))


def _is_exposition(head: FileHead) -> bool:
    if any(re.match(r"# (TYPE|HELP) [A-Za-z_:]", line) for line in head.lines):
        return True
    lines = [line for line in head.lines if not line.startswith("#")][:-1] or head.lines
    return bool(lines) and all(_SAMPLE.fullmatch(line.strip()) and "{" in line for line in lines)


def _read_exposition(content: FileContent) -> Iterable[RoleRows]:
    found: dict[str, list[tuple[float, float | None]]] = {}
    untimed = 0
    for line in content.lines():
        sample = None if line.startswith("#") or not line.strip() else _SAMPLE.fullmatch(line.strip())
        if sample is None:
            continue
        time_s = epoch_seconds(sample["time"]) if sample["time"] else None
        if time_s is None:
            untimed += 1
            continue
        found.setdefault(sample["series"], []).append((time_s, number_of(sample["value"])))
    if not found and untimed:
        raise InvalidInput(
            content.file.name,
            f"its {untimed} samples have no time: a scraped page is a snapshot at an unknown time",
            "save the answer of /api/v1/query_range over the hours around the incident instead",
        )
    series = [
        LabelledSeries(_labels_of(text), tuple(sorted(points, key=lambda point: point[0])))
        for text, points in found.items()
    ]
    return rows_of_series(series, unnamed=content.stem or "value")


def _labels_of(text: str) -> Mapping[str, str]:
    return labels_in(text) or {"__name__": text.strip()}


PROMETHEUS_READERS: Final = (
    FileReader("prometheus", "an answer of the Prometheus API", _is_answer, _read_answer),
    FileReader("exposition", "the Prometheus text format", _is_exposition, _read_exposition),
)
