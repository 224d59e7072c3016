"""Reads responses of Grafana's `/api/ds/query`, as its query inspector shows them: data frames by query."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from diagnosis_harness.adapters.sources.incident_folder.formats.cloud_metrics import split_label
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
from diagnosis_harness.adapters.sources.incident_folder.formats.series_names import labels_in
from diagnosis_harness.analysis.meaning import SignalKind
from diagnosis_harness.analysis.name_meaning import meaning_of
from diagnosis_harness.kernel.errors import InvalidInput

_GENERIC: Final = frozenset({"", "value", "values", "field"})
"""Names of fields that do not describe their content."""
_LEGEND: Final = "metric"
"""A text column of this name holds the names that Grafana gives to series."""


@dataclass(frozen=True, slots=True)
class _Column:
    """A field of a frame with its cells."""

    name: str
    kind: str
    labels: Mapping[str, str]
    cells: Sequence[Any]
    legend: str


def _is_answer(head: FileHead) -> bool:
    return isinstance(head.lone.get("results"), dict) and any(
        isinstance(at(one, "frames"), list) for one in head.lone["results"].values()
    )


def _read(content: FileContent) -> Iterable[RoleRows]:
    found: dict[tuple[tuple[str, str], ...], list[tuple[str, LabelledSeries]]] = defaultdict(list)
    errors: list[str] = []
    for document in content.records():
        results = document.get("results")
        for query, result in results.items() if isinstance(results, dict) else []:
            error = string_at(result, "error")
            errors += [f"query {query}: {error}"] if error else []
            for one in _series(result, content.stem):
                found[tuple(sorted(one.labels.items()))].append((str(query), one))
    if not found:
        problem = (
            f"it is an error that Grafana answered ({errors[0]})"
            if errors
            else "its frames hold no series over time"
        )
        raise InvalidInput(content.file.name, problem, "save the answer of a query that shows a graph")
    series: list[LabelledSeries] = []
    for several in found.values():
        asked_twice = len({query for query, _ in several}) > 1
        series += [
            replace(one, labels={**one.labels, "query": query}) if asked_twice else one
            for query, one in several
        ]
    return rows_of_series(series, unnamed=content.stem or "value")


def _series(result: Record, stem: str) -> Iterator[LabelledSeries]:
    for frame in list_at(result, "frames"):
        columns = list(_columns(frame))
        times = next((one for one in columns if one.kind == "time"), None)
        if times is None:
            continue
        seconds = [epoch_seconds(cell) for cell in times.cells]
        texts = [one for one in columns if one.kind == "string"]
        for column in columns:
            if column.kind != "number":
                continue
            for row_labels, places in _rows_by_text(texts, len(seconds)).items():
                own = dict(zip((one.name for one in texts), row_labels, strict=True))
                points = (
                    (seconds[at], number_of(column.cells[at])) for at in places if at < len(column.cells)
                )
                timed = sorted((time_s, value) for time_s, value in points if time_s is not None)
                yield LabelledSeries(_labels(column, own, stem), tuple(timed))


def _columns(frame: object) -> Iterator[_Column]:
    whole = string_at(frame, "schema.name") or ""
    fields, values = list_at(frame, "schema", "fields"), list_at(frame, "data", "values")
    for one, cells in zip(fields, values, strict=False):
        own = at(one, "labels")
        labels = {str(key): str(value) for key, value in own.items()} if isinstance(own, dict) else {}
        legend = string_at(one, "config.displayNameFromDS") or whole
        if isinstance(cells, list):
            yield _Column(string_at(one, "name") or "", string_at(one, "type") or "", labels, cells, legend)


def _rows_by_text(texts: Sequence[_Column], rows: int) -> dict[tuple[str, ...], list[int]]:
    """The rows of a frame by their texts, which name a series; all rows together if it has no texts."""
    found: dict[tuple[str, ...], list[int]] = defaultdict(list)
    for place in range(rows):
        cells = (one.cells[place] if place < len(one.cells) else None for one in texts)
        found[tuple("" if cell is None else str(cell) for cell in cells)].append(place)
    return found


def _labels(column: _Column, row_labels: Mapping[str, str], stem: str) -> dict[str, str]:
    """The labels of a field and of its rows; without any, its legend gives owner and signal."""
    labels = {**column.labels, **{key: value for key, value in row_labels.items() if key != _LEGEND}}
    if "__name__" in labels:
        return labels
    legend = row_labels.get(_LEGEND) or ("" if column.legend.lower() in _GENERIC else column.legend)
    if column.name.lower() not in _GENERIC:
        named = {**labels, "series": legend} if _LEGEND in row_labels else labels
        return {**named, "__name__": column.name} if named else _of_legend(column.name, stem)
    if labels:
        repeats = "{" in legend or any(value in legend for value in labels.values())
        return {**labels, "__name__": ("" if repeats else legend) or stem or "value"}
    return _of_legend(legend, stem) if legend else {}


def _of_legend(legend: str, stem: str) -> dict[str, str]:
    """The owner of a series by its legend: `cart`, in a panel saved as a latency, is a service."""
    whole = labels_in(legend)
    if whole is not None:
        return whole
    divided = split_label(legend, "")
    of_file = meaning_of(stem, None).kind is not SignalKind.OTHER
    if "service" not in divided and of_file and meaning_of(legend, None).kind is SignalKind.OTHER:
        return {"__name__": stem, "service": legend}
    return divided


GRAFANA_FRAME_READERS: Final = (
    FileReader("grafana-frames", "an answer of a query in Grafana", _is_answer, _read),
)
