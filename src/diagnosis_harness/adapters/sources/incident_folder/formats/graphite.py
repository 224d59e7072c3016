"""Graphite: responses of its render API as JSON, raw or CSV, and lines of path, value and time."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Final

from diagnosis_harness.adapters.sources.incident_folder.formats.cloud_metrics import split_label
from diagnosis_harness.adapters.sources.incident_folder.formats.histograms import LabelledSeries
from diagnosis_harness.adapters.sources.incident_folder.formats.prometheus import rows_of_series
from diagnosis_harness.adapters.sources.incident_folder.formats.reader import (
    METRIC_COLUMNS,
    Cell,
    FileContent,
    FileHead,
    FileReader,
    RoleRows,
    at,
    epoch_seconds,
    list_at,
    number_of,
    string_at,
)
from diagnosis_harness.adapters.sources.incident_folder.listing import Role
from diagnosis_harness.adapters.sources.incident_folder.names import split_series_name, unit_of_signal
from diagnosis_harness.toolbox.ports import UNNAMED_ENTITY

_PATH: Final = r"[^\s,|;]+\.[^\s,|;]+(?:;[^\s,|]+)?"
_PLAIN: Final = re.compile(
    rf"(?P<path>{_PATH}) (?P<value>[-+.\deE]+|nan) (?P<time>\d{{9,10}})(?:\.\d+)?", re.ASCII
)
_RAW: Final = re.compile(
    r"(?P<target>.+),(?P<start>\d{9,10}),\d{9,10},(?P<step>\d+)\|(?P<values>[-+.\deE,None]+)"
)
_ROW: Final = re.compile(
    rf'(?:{_PATH}|"[^"]+"),\d{{4}}-\d{{2}}-\d{{2}} \d{{2}}:\d{{2}}:\d{{2}},(?:[-+.\deE]+)?', re.ASCII
)

_Points = list[tuple[float, float | None]]
_Found = tuple[str, Mapping[str, str], _Points]
"""A target, its tags where it has any, and its points."""


def name_targets(targets: Sequence[str], stem: str) -> list[dict[str, str]]:
    """The owner and signal of each target; the nodes before the signal name the owner.

    Nodes that begin all targets of a file are left out. `prod.cart.latency.p95` beside `prod.web.latency.p95`
    is `latency.p95` of `cart`. A target that calls a function, or has no dot, is split like a legend.
    """
    split = [("", one) if "(" in one else split_series_name(one) for one in targets]
    paths = [entity.split(".") for entity in {entity for entity, _ in split} - {"", UNNAMED_ENTITY}]
    shared = 0
    while paths and all(len(path) > shared + 1 and path[shared] == paths[0][shared] for path in paths):
        shared += 1
    return [
        split_label(signal, stem)
        if entity in {"", UNNAMED_ENTITY}
        else {"__name__": signal, "service": ".".join(entity.split(".")[shared:])}
        for entity, signal in split
    ]


def _rows(found: Sequence[_Found], stem: str) -> Iterable[RoleRows]:
    paths = name_targets([target for target, _, _ in found], stem)
    series = [
        LabelledSeries(dict(tags) or path, tuple(sorted(points, key=lambda point: point[0])))
        for (_, tags, points), path in zip(found, paths, strict=True)
    ]
    return rows_of_series(series, unnamed=stem or "value")


def _is_render(head: FileHead) -> bool:
    return head.each_has("target", "datapoints") and isinstance(head.objects[0]["datapoints"], list)


def _read_render(content: FileContent) -> Iterable[RoleRows]:
    found: list[_Found] = []
    for one in content.records():
        pairs = [(epoch_seconds(at(pair, 1)), number_of(at(pair, 0))) for pair in list_at(one, "datapoints")]
        points = [(time_s, value) for time_s, value in pairs if time_s is not None]
        found.append((string_at(one, "target") or "", _tags(at(one, "tags")), points))
    return _rows(found, content.stem)


def _tags(tags: object) -> dict[str, str]:
    """The tags of a tagged series as labels; none of a path, whose `name` alone is the path itself."""
    known = {str(key): str(value) for key, value in tags.items()} if isinstance(tags, dict) else {}
    name = known.pop("name", "")
    own = {key: value for key, value in known.items() if key not in {"aggregatedBy", "summarize"}}
    return {**own, "__name__": name} if own else {}


def _read_plain(content: FileContent) -> Iterable[RoleRows]:
    found: dict[str, _Points] = defaultdict(list)
    for line in content.lines():
        match = _PLAIN.fullmatch(line.strip())
        if match is not None:
            found[match["path"]].append((float(match["time"]), number_of(match["value"])))
    return _rows([(path, _tags_in(path), points) for path, points in found.items()], content.stem)


def _tags_in(path: str) -> dict[str, str]:
    """The tags that follow a name: `latency;service=cart`."""
    name, *tags = path.split(";")
    pairs = [tag.partition("=") for tag in tags]
    return _tags({"name": name, **{key: value for key, _, value in pairs}})


def _read_raw(content: FileContent) -> Iterable[RoleRows]:
    found: list[_Found] = []
    for line in content.lines():
        match = _RAW.fullmatch(line.strip())
        if match is not None:
            start, step = float(match["start"]), float(match["step"])
            cells = enumerate(match["values"].split(","))
            points = [(start + place * step, number_of(cell)) for place, cell in cells]
            found.append((match["target"], _tags_in(match["target"]), points))
    return _rows(found, content.stem)


def _read_csv(content: FileContent) -> Iterable[RoleRows]:
    """Times of this form name no zone; they are read in the zone of the folder, as text."""
    targets: dict[str, None] = {}
    for cells in content.cells():
        targets.update({cells[0]: None} if len(cells) == 3 else {})
    names = dict(zip(targets, name_targets(list(targets), content.stem), strict=True))

    def rows() -> Iterator[tuple[Cell, ...]]:
        for cells in content.cells():
            if len(cells) == 3:
                name = names[cells[0]]
                signal = name["__name__"]
                yield (
                    cells[1],
                    name.get("service", UNNAMED_ENTITY),
                    signal,
                    number_of(cells[2]),
                    unit_of_signal(signal),
                )

    return [RoleRows(Role.METRICS, METRIC_COLUMNS, rows(), f"{len(targets)} series")]


def _lines_are(pattern: re.Pattern[str]) -> Callable[[FileHead], bool]:
    """Whether the first lines are all of this form; the last one may be cut off."""

    def recognises(head: FileHead) -> bool:
        lines = head.lines[:20]
        return bool(lines) and all(pattern.fullmatch(line.strip()) for line in lines[:-1] or lines)

    return recognises


GRAPHITE_READERS: Final = (
    FileReader("graphite", "an answer of Graphite", _is_render, _read_render),
    FileReader("graphite-lines", "lines of Graphite", _lines_are(_PLAIN), _read_plain, is_text=True),
    FileReader("graphite-raw", "a raw answer of Graphite", _lines_are(_RAW), _read_raw),
    FileReader("graphite-csv", "a CSV of Graphite", _lines_are(_ROW), _read_csv),
)
