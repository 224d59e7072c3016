"""The CSV that CloudWatch's console exports for a graph; rows above the values name the series."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from diagnosis_harness.adapters.sources.incident_folder.formats.cloud_metrics import (
    CLOUDWATCH_UNITS,
    OWNERS,
    split_label,
)
from diagnosis_harness.adapters.sources.incident_folder.formats.reader import (
    METRIC_COLUMNS,
    Cell,
    FileContent,
    FileHead,
    FileReader,
    RoleRows,
    number_of,
)
from diagnosis_harness.adapters.sources.incident_folder.formats.series_names import name_series
from diagnosis_harness.adapters.sources.incident_folder.listing import Role
from diagnosis_harness.adapters.sources.incident_folder.names import unit_of_signal
from diagnosis_harness.adapters.sources.incident_folder.time_forms import form_of
from diagnosis_harness.adapters.sources.incident_folder.times import is_instant

_FIRST: Final = frozenset({"label", "full label", "id", "metricname", "metric name", "namespace"})
_SAID: Final = frozenset(
    {"label", "full label", "id", "metricname", "metric name", "unit", "period", "color", ""}
)
"""Rows above the values that are not labels; the others name a statistic, an account or a dimension."""
_HEAD_ROWS: Final = 40
"""The most rows above the first time: a metric has up to 30 dimensions."""


def _is_time(cell: str) -> bool:
    return is_instant(cell) or form_of([cell]) is not None


def _is_console_csv(head: FileHead) -> bool:
    first = [line.partition(",")[0].strip(' "') for line in head.lines[:_HEAD_ROWS]]
    above = [cell for cell in first if not _is_time(cell)]
    return first[:1] != [] and first[0].lower() in _FIRST and 1 < len(above) < len(first)


def _read(content: FileContent) -> Iterable[RoleRows]:
    """Times of this form name no zone, or are in UTC; they are read as text."""
    lines: dict[str, Sequence[str]] = {}
    for cells in content.cells():
        if cells and _is_time(cells[0]):
            break
        if cells:
            lines[cells[0].strip()] = [cell.strip() for cell in cells[1:]]
    width = max((len(cells) for cells in lines.values()), default=0)
    columns = [{key: cells[at] for key, cells in lines.items() if at < len(cells)} for at in range(width)]
    named = name_series([_labels(column, content.stem) for column in columns], unnamed="value").names
    units = [CLOUDWATCH_UNITS.get(column.get("Unit", "")) or unit_of_signal(one.signal)
             for column, one in zip(columns, named, strict=True)]  # fmt: skip

    def rows() -> Iterator[tuple[Cell, ...]]:
        for cells in content.cells():
            if cells and _is_time(cells[0]):
                for one, unit, cell in zip(named, units, cells[1:], strict=False):
                    yield cells[0], one.entity, one.signal, number_of(cell), unit

    return [RoleRows(Role.METRICS, METRIC_COLUMNS, rows(), f"{width} series")]


def _labels(column: dict[str, str], stem: str) -> dict[str, str]:
    """The owner of a series, by its dimensions or else by its label."""
    plain = {key.lower(): value for key, value in column.items()}
    name = plain.get("metricname") or plain.get("metric name")
    label = plain.get("label") or plain.get("full label") or plain.get("id") or "value"
    others = {key: value for key, value in column.items() if value and key.lower() not in _SAID}
    whose = next((others[key] for key in OWNERS if key in others), None)
    if whose is None:
        return others | split_label(label, stem)
    rest = {key: value for key, value in others.items() if value != whose}
    return {**rest, "__name__": name or label, "service": whose}


CLOUDWATCH_CSV_READERS: Final = (
    FileReader("cloudwatch-csv", "a graph of CloudWatch saved as CSV", _is_console_csv, _read),
)
