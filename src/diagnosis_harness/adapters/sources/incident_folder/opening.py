"""Opening an incident folder: check everything once, then hand out sources."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from diagnosis_harness.adapters.sources.incident_folder.changes import FolderChanges, completed
from diagnosis_harness.adapters.sources.incident_folder.database import Database
from diagnosis_harness.adapters.sources.incident_folder.listing import Listing, list_folder
from diagnosis_harness.adapters.sources.incident_folder.logs import FolderLogs, LogStretch
from diagnosis_harness.adapters.sources.incident_folder.metrics import FolderMetrics, Stretch
from diagnosis_harness.adapters.sources.incident_folder.names import printable
from diagnosis_harness.adapters.sources.incident_folder.recording import (
    FolderContent,
    Progress,
    read_folder,
)
from diagnosis_harness.adapters.sources.incident_folder.settings_file import (
    SETTINGS_NAME,
    FolderSettings,
    read_settings,
)
from diagnosis_harness.adapters.sources.incident_folder.spans import FolderSpans, SpanStretch
from diagnosis_harness.adapters.sources.incident_folder.topology import FolderTopology
from diagnosis_harness.kernel.errors import InvalidInput
from diagnosis_harness.kernel.window import TimeWindow, utc_text
from diagnosis_harness.toolbox.ports import FileNote, Recording, Sources, SourceSummary

if TYPE_CHECKING:
    from diagnosis_harness.harness.context import RunContext

_ALERT_SLACK_S: Final = 3600.0
_MEMORY_FLOOR_MB: Final = 32


@dataclass(frozen=True, slots=True)
class FolderSummary:
    """`SummarySource`: everything was counted while the folder was opened."""

    value: SourceSummary

    def summary(self, ctx: RunContext) -> SourceSummary:
        """What the folder holds, with a note for every file of it."""
        del ctx
        return self.value


@dataclass(frozen=True, slots=True)
class _Folder:
    path: Path
    settings: FolderSettings
    listing: Listing


def open_incident_folder(
    folder: Path,
    *,
    baseline: Path | None = None,
    onset_s: float | None = None,
    memory_limit_mb: int = 512,
    progress: Progress | None = None,
) -> Sources:
    """Open an incident folder as docs/reference/incident-folder.md describes it.

    Args:
        folder: the folder of the incident.
        baseline: a folder of the same form with normal operation; wins over `[baseline]` in incident.toml.
        onset_s: when the incident began, as the user states it, seconds since the epoch; wins over incident.toml.
        memory_limit_mb: what telemetry may take; Parquet is read in place and takes little of it.
        progress: told before each file: its name, files done, files in all.

    Returns:
        Sources that may be called from any thread; a kind of telemetry that the folder has no rows of is None.

    Raises:
        InvalidInput: something in the folder cannot be used; one sentence says where, what and what to do.
    """
    told = progress if progress is not None else _silent
    incident = _looked_through(folder)
    normal = _baseline_folder(incident, baseline)
    folders = [incident] if normal is None else [incident, normal]
    paths = [file.path for one in folders for file in one.listing.files]
    if not paths:
        raise InvalidInput(
            printable(str(folder)),
            "no file in it can be read as telemetry",
            "see docs/reference/incident-folder.md for the names and endings that are understood",
        )
    database = Database(paths, memory_limit_mb=max(_MEMORY_FLOOR_MB, memory_limit_mb))
    content = read_folder(incident.listing, incident.settings, database, told)
    _refuse_no_data(folder, content)
    normal_content = None if normal is None else _read_baseline(normal, database, told)
    onset = incident.settings.onset_s if onset_s is None else onset_s
    window = content.window()
    _check_onset(
        onset, window, place="--onset" if onset_s is not None else f"{SETTINGS_NAME} (incident.onset)"
    )
    _check_stretch(incident.settings.baseline_stretch, window, normal is not None)
    return _sources(incident, database, content, normal_content, onset)


def _silent(file: str, done: int, total: int) -> None:
    del file, done, total


def _looked_through(folder: Path) -> _Folder:
    if not folder.is_dir():
        list_folder(folder, {})  # says what is wrong with it
    settings = read_settings(folder)
    return _Folder(folder, settings, list_folder(folder, settings.files))


def _baseline_folder(incident: _Folder, baseline: Path | None) -> _Folder | None:
    named = incident.settings.baseline_folder
    if baseline is None and named is not None:
        baseline = incident.path / named
    if baseline is None:
        return None
    if baseline.is_dir() and baseline.resolve() == incident.path.resolve():
        raise InvalidInput(
            printable(str(baseline)),
            "the baseline is the incident folder itself",
            "name another folder, or a stretch by `start` and `end` under [baseline]",
        )
    return _looked_through(baseline)


def _read_baseline(folder: _Folder, database: Database, progress: Progress) -> FolderContent:
    content = read_folder(folder.listing, folder.settings, database, progress)
    if not content.ranges():
        raise InvalidInput(
            printable(str(folder.path)),
            "the baseline holds no telemetry",
            "leave it out or give a folder with some",
        )
    return content


def _refuse_no_data(folder: Path, content: FolderContent) -> None:
    if not content.ranges() and not any(file.changes for file in content.changes):
        raise InvalidInput(
            printable(str(folder)),
            "its files hold no rows of metrics, traces or logs",
            "put at least one file with data into it",
        )


def _check_onset(onset_s: float | None, window: TimeWindow | None, *, place: str) -> None:
    if onset_s is None or window is None or window.contains(onset_s):
        return
    raise InvalidInput(
        place,
        f"the onset {_moment(onset_s)} lies outside the data, which goes from {window}",
        "give an instant inside it, and check the zone",
    )


def _moment(time_s: float) -> str:
    try:
        return utc_text(time_s)
    except (ValueError, OverflowError, OSError):
        return repr(time_s)


def _check_stretch(stretch: TimeWindow | None, window: TimeWindow | None, has_folder: bool) -> None:  # noqa: FBT001  # named at its only call
    if stretch is None or has_folder or window is None or window.overlaps(stretch):
        return
    raise InvalidInput(
        f"{SETTINGS_NAME} (baseline)",
        f"the stretch {stretch} lies outside the data, which goes from {window}",
        "give a stretch inside it",
    )


def _sources(
    incident: _Folder,
    database: Database,
    content: FolderContent,
    normal: FolderContent | None,
    onset_s: float | None,
) -> Sources:
    stretch = None if normal is not None else incident.settings.baseline_stretch
    beside = content if normal is None and stretch is not None else normal or FolderContent()
    metrics = FolderMetrics(
        database,
        {
            Recording.INCIDENT: Stretch(tuple(part for file in content.metrics for part in file.parts)),
            Recording.BASELINE: Stretch(
                tuple(part for file in beside.metrics for part in file.parts), stretch
            ),
        },
    )
    spans = FolderSpans(
        database,
        {
            Recording.INCIDENT: SpanStretch(tuple(content.spans)),
            Recording.BASELINE: SpanStretch(tuple(beside.spans), stretch),
        },
    )
    logs = FolderLogs(
        database,
        {
            Recording.INCIDENT: LogStretch(tuple(content.logs)),
            Recording.BASELINE: LogStretch(tuple(beside.logs), stretch),
        },
    )
    owners: dict[str, str] = {}
    for topology in (*(normal.topology if normal else ()), *content.topology):
        owners |= topology.owners
    owners |= incident.settings.instances
    edges = [
        edge
        for topology in (*(normal.topology if normal else ()), *content.topology)
        for edge in topology.edges
    ]
    changes = [change for file in content.changes for change in file.changes]
    topology_source = FolderTopology(edges, owners)
    summary = _summary(incident, content, normal, onset_s, (topology_source, owners))
    return Sources(
        summary=FolderSummary(summary),
        metrics=metrics if summary.metric_series else None,
        spans=spans if summary.spans else None,
        topology=topology_source if edges or owners else None,
        logs=logs if summary.log_lines else None,
        changes=FolderChanges(changes) if changes else None,
    )


def _summary(
    incident: _Folder,
    content: FolderContent,
    normal: FolderContent | None,
    onset_s: float | None,
    topology: tuple[FolderTopology, Mapping[str, str]],
) -> SourceSummary:
    alert = completed(incident.settings.alert, content.alert)
    window = content.window()
    names = {(part.entity, part.signal) for file in content.metrics for part in file.parts}
    edges = topology[0].edges(None)  # type: ignore[arg-type]  # ctx is not used by it
    entities = {entity for entity, _ in names}
    entities |= {name for edge in edges for name in (edge.caller, edge.callee)}
    entities |= {name for pair in topology[1].items() for name in pair}
    entities |= {name for file in content.spans for name in file.entities}
    entities |= {name for file in content.logs for name in file.entities}
    notes = [*content.notes, *_alert_note(alert.time_s, window)]
    if normal is not None:
        notes += [FileNote(f"baseline/{note.file}", note.role, note.rows, note.note) for note in normal.notes]
    return SourceSummary(
        name=incident.settings.name or printable(incident.path.resolve().name) or "incident",
        alert=alert,
        onset_s=onset_s,
        incident=window,
        baseline=normal.window() if normal is not None else None,
        metric_series=len(names),
        log_lines=sum(file.lines for file in content.logs),
        spans=sum(file.spans for file in content.spans),
        edges=len(edges),
        changes=sum(len(file.changes) for file in content.changes),
        entities=tuple(sorted(entities)),
        files=tuple(notes),
    )


def _alert_note(time_s: float | None, window: TimeWindow | None) -> list[FileNote]:
    """An alert may be raised somewhat after the last instant; far away from the data its clock is another one.

    Raises:
        InvalidInput: the alert lies more than an hour outside the data.
    """
    if time_s is None or window is None or window.contains(time_s):
        return []
    if not window.start_s - _ALERT_SLACK_S <= time_s <= window.end_s + _ALERT_SLACK_S:
        raise InvalidInput(
            "the alert's time",
            f"{_moment(time_s)} lies more than an hour outside the data, which goes from {window}",
            f"correct it in {SETTINGS_NAME} or in the alert file, and check the zone",
        )
    return [
        FileNote(
            SETTINGS_NAME, "alert", 1, f"the alert at {_moment(time_s)} lies outside the data ({window})."
        )
    ]
