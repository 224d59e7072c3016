"""Explains an incident folder before a question: every file is explained, and no file can make that fail."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Final

import numpy as np

from diagnosis_harness.adapters.sources.incident_folder.database import Database
from diagnosis_harness.adapters.sources.incident_folder.opening import (
    OpenedFiles,
    open_files,
    sources_of,
)
from diagnosis_harness.adapters.sources.incident_folder.recording import FolderContent
from diagnosis_harness.adapters.sources.part import Progress
from diagnosis_harness.application.folder_look import (
    DecidedBy,
    FileLook,
    FolderLook,
    Lack,
    ServiceLook,
    SignalLook,
)
from diagnosis_harness.kernel.errors import InvalidInput
from diagnosis_harness.kernel.window import TimeWindow
from diagnosis_harness.toolbox.metric_table import decide_meaning
from diagnosis_harness.toolbox.ports import (
    UNNAMED_ENTITY,
    FileNote,
    Recording,
    SignalInfo,
    Sources,
    SourceSummary,
)

_GAP_STEPS: Final = 5.0
"""From this many usual steps on, time without rows is a gap, since a scrape or two may always fail."""
_IRREGULAR_GAP_S: Final = 300.0
"""Logs and spans come when something happens, so a pause counts as a gap only from five minutes on."""
_GAPS_MAX: Final = 5


def look_at_folder(
    folder: Path,
    *,
    baseline: Path | None,
    memory_limit_mb: int,
    progress: Progress,
    unpack_below: Path | None = None,
) -> FolderLook:
    """Read a folder as a diagnosis would, and report the result for each file.

    Raises:
        InvalidInput: there is no such folder, it has no files, or its incident.toml cannot be read.
    """
    opened = open_files(
        folder,
        baseline=baseline,
        memory_limit_mb=memory_limit_mb,
        progress=progress,
        unpack_below=unpack_below,
    )
    content = opened.content
    look = FolderLook(
        name=opened.name,
        files=tuple(_files(opened)),
        window=content.window(),
        zone=opened.incident.settings.zone_name,
    )
    try:
        part = sources_of(opened, onset_s=None)
    except InvalidInput as error:
        return replace(look, obstacle=error)
    summary = part.summary
    return replace(
        look,
        services=_services(summary, opened),
        signals=_signals(part.sources),
        baseline=summary.baseline,
        lacks=tuple(_lacks(summary, opened)),
        counts={
            "metric_series": summary.metric_series,
            "spans": summary.spans,
            "log_lines": summary.log_lines,
            "edges": summary.edges,
            "changes": summary.changes,
        },
    )


def _files(opened: OpenedFiles) -> Iterator[FileLook]:
    windows = _times(opened.content, opened.database)
    for note in opened.content.notes:
        yield _file(note, windows.get(note.file), note.file)
    if opened.normal_content is not None:
        windows = _times(opened.normal_content, opened.database)
        for note in opened.normal_content.notes:
            yield _file(note, windows.get(note.file), f"baseline/{note.file}")


_Times = tuple[TimeWindow, float | None, tuple[TimeWindow, ...]]


def _file(note: FileNote, times: _Times | None, name: str) -> FileLook:
    window, step_s, gaps = times or (None, None, ())
    return FileLook(
        name=name,
        role=note.role,
        form=note.form,
        decided_by=DecidedBy(note.decided_by) if note.role is not None and note.decided_by else None,
        rows=note.rows,
        note=note.note.removeprefix(f"{note.form}; "),
        window=window,
        step_s=step_s,
        gaps=gaps,
    )


def _times(content: FolderContent, database: Database) -> Mapping[str, _Times]:
    """For each file, or its first part: first and last timestamp, the usual step, and gaps."""
    found: dict[str, _Times] = {}
    for metrics in content.metrics:
        sources = sorted({part.source for part in metrics.parts})
        _add(found, metrics.note.file, sources, "time", database, least_s=0.0)
    for spans in content.spans:
        _add(found, spans.note.file, [spans.source], "start_s", database, least_s=_IRREGULAR_GAP_S)
    for logs in content.logs:
        _add(found, logs.note.file, [logs.source], "time", database, least_s=_IRREGULAR_GAP_S)
    return found


def _add(  # noqa: PLR0917 - one row of a table
    found: dict[str, _Times],
    name: str,
    sources: list[str],
    column: str,
    database: Database,
    least_s: float,
) -> None:
    if name in found or not sources:
        return
    union = " UNION ".join(f"SELECT {column} AS point FROM {source}" for source in sources)
    # Times to the second are enough for a gap, and bound the memory for a file of millions of spans.
    rounded = "point" if least_s == 0.0 else "floor(point)"
    arrays = database.arrays(
        f"SELECT DISTINCT {rounded} AS point FROM ({union}) WHERE point IS NOT NULL ORDER BY point"
    )
    at_s = np.ma.getdata(arrays["point"]).astype(np.float64)
    if not len(at_s):
        return
    window = TimeWindow(float(at_s[0]), float(at_s[-1]))
    steps = np.diff(at_s)
    if not len(steps):
        found[name] = window, None, ()
        return
    usual_s = float(np.median(steps))
    wide = np.flatnonzero(steps > max(_GAP_STEPS * usual_s, least_s))
    largest = sorted(wide, key=lambda place: -steps[place])[:_GAPS_MAX]
    gaps = tuple(TimeWindow(float(at_s[place]), float(at_s[place + 1])) for place in sorted(largest))
    found[name] = window, usual_s if least_s == 0.0 else None, gaps


def _services(summary: SourceSummary, opened: OpenedFiles) -> tuple[ServiceLook, ...]:
    owners = opened.topology.known_owners
    instances: dict[str, set[str]] = {}
    telemetry: dict[str, set[str]] = {}
    for instance, owner in owners.items():
        instances.setdefault(owner, set()).add(instance)
    edges = {end for edge in opened.topology.known_edges for end in (edge.caller, edge.callee)}
    by_kind = {**summary.entities_by_kind, "topology": tuple(edges)}
    for kind, names in by_kind.items():
        for name in names:
            telemetry.setdefault(owners.get(name, name), set()).add(kind)
    return tuple(
        ServiceLook(name, tuple(sorted(instances.get(name, ()))), tuple(sorted(telemetry.get(name, ()))))
        for name in sorted({*telemetry, *instances} - {UNNAMED_ENTITY})
    )


def _signals(sources: Sources) -> tuple[SignalLook, ...]:
    if sources.metrics is None:
        return ()
    grouped: dict[tuple[str, str | None, str, str, int], list[SignalInfo]] = {}
    for info in sources.metrics.signals(None, Recording.INCIDENT):  # type: ignore[arg-type]  # no run here
        meaning = decide_meaning(info.signal, info.unit, info.meaning, entity=info.entity)
        unit = info.unit if info.unit is not None or meaning.unit == "1" else meaning.unit
        key = info.signal, unit, meaning.kind.value, meaning.side.value, meaning.harmful
        grouped.setdefault(key, []).append(info)
    looks = [
        SignalLook(*key, series=len(infos), points=sum(info.points for info in infos))
        for key, infos in grouped.items()
    ]
    return tuple(sorted(looks, key=lambda look: (look.name, look.unit or "", look.kind)))


def _lacks(summary: SourceSummary, opened: OpenedFiles) -> Iterator[Lack]:
    counts = (
        (Lack.METRICS, summary.metric_series),
        (Lack.SPANS, summary.spans),
        (Lack.TOPOLOGY, summary.edges or opened.topology.known_owners),
        (Lack.LOGS, summary.log_lines),
        (Lack.CHANGES, summary.changes),
        (Lack.ALERT, summary.alert.entity or summary.alert.signal or summary.alert.summary),
        (Lack.ONSET, summary.onset_s or summary.alert.time_s),
        (Lack.BASELINE, summary.baseline or opened.incident.settings.baseline_window),
    )
    yield from (lack for lack, count in counts if not count)
