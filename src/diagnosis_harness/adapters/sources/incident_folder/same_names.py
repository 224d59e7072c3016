"""Series with one name in several files: one series if the files agree, otherwise several."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations
from typing import Final

from diagnosis_harness.adapters.sources.incident_folder.database import Database
from diagnosis_harness.adapters.sources.incident_folder.metrics_file import MetricFile, SeriesPart

_SHARED_LIMIT: Final = 50
"""Shared series of two files that are compared, at most: one that differs counts for all."""

_Name = tuple[str, str]


def rename_conflicting_series(
    files: Sequence[MetricFile], database: Database
) -> tuple[list[MetricFile], set[str]]:
    """Rename series of which two files hold different values; return all files, and which were changed.

    Files that follow one another in time, or repeat the same values, hold parts of one series.
    """
    parts: list[dict[_Name, SeriesPart]] = [
        {(part.entity, part.signal): part for part in file.parts} for file in files
    ]
    conflicts: dict[int, set[_Name]] = defaultdict(set)
    for one, other in combinations(range(len(files)), 2):
        if not _overlap(files[one], files[other]):
            continue
        shared = sorted(parts[one].keys() & parts[other].keys())
        if any(_differ(parts[one][name], parts[other][name], database) for name in shared[:_SHARED_LIMIT]):
            conflicts[one].update(shared)
            conflicts[other].update(shared)
    renamed = [
        _rename(file, conflicts[place]) if conflicts[place] else file for place, file in enumerate(files)
    ]
    return renamed, {files[place].note.file for place, names in conflicts.items() if names}


def _overlap(one: MetricFile, other: MetricFile) -> bool:
    return one.first_s <= other.last_s and other.first_s <= one.last_s


def _differ(one: SeriesPart, other: SeriesPart, database: Database) -> bool:
    """Whether two parts have different values at a common timestamp."""
    parameters = [text for part in (one, other) for _, text in part.keys]
    count = database.rows(
        f"SELECT count(*) FROM ({_points(one)}) a JOIN ({_points(other)}) b ON a.time = b.time "
        "WHERE a.value <> b.value",
        parameters,
    )[0][0]
    return int(count) > 0


def _points(part: SeriesPart) -> str:
    conditions = "".join(f" AND {key} = ?" for key, _ in part.keys)
    return f"SELECT time, {part.ref} AS value FROM {part.source} t WHERE {part.ref} IS NOT NULL{conditions}"


def _rename(file: MetricFile, names: set[_Name]) -> MetricFile:
    parts = tuple(
        replace(part, signal=f"{part.signal}{{file={file.note.file}}}")
        if (part.entity, part.signal) in names
        else part
        for part in file.parts
    )
    return replace(file, parts=parts)
