"""Opens an incident folder: checks everything once, then provides its sources."""

from __future__ import annotations

import weakref
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from diagnosis_harness.adapters.sources.incident_folder.archives import Unpacked, unpack_archives
from diagnosis_harness.adapters.sources.incident_folder.changes import FolderChanges, complete_alert
from diagnosis_harness.adapters.sources.incident_folder.database import Database
from diagnosis_harness.adapters.sources.incident_folder.listing import Listing, list_folder
from diagnosis_harness.adapters.sources.incident_folder.logs import FolderLogs
from diagnosis_harness.adapters.sources.incident_folder.metrics import FolderMetrics
from diagnosis_harness.adapters.sources.incident_folder.names import printable
from diagnosis_harness.adapters.sources.incident_folder.owners import find_owners
from diagnosis_harness.adapters.sources.incident_folder.platform import FolderPlatform
from diagnosis_harness.adapters.sources.incident_folder.recording import (
    FolderContent,
    leave_out_odd_clocks,
    read_folder,
    refuse_two_clocks,
)
from diagnosis_harness.adapters.sources.incident_folder.recording_parts import RecordingParts
from diagnosis_harness.adapters.sources.incident_folder.settings_file import (
    SETTINGS_NAME,
    FolderSettings,
    read_settings,
)
from diagnosis_harness.adapters.sources.incident_folder.spans import FolderSpans
from diagnosis_harness.adapters.sources.incident_folder.summary import (
    FolderSummary,
    OpenedFolder,
    describe,
    summarise,
    timestamp_text,
)
from diagnosis_harness.adapters.sources.incident_folder.topology import FolderTopology
from diagnosis_harness.adapters.sources.part import ONSET_PLACE, OpenedPart, Progress, ignore_progress
from diagnosis_harness.kernel.errors import InvalidInput
from diagnosis_harness.kernel.window import TimeWindow
from diagnosis_harness.toolbox.ports import Recording, Sources

_MEMORY_FLOOR_MB: Final = 32
_SHOWN_LIMIT: Final = 5
"""Most files that one message names with their reasons."""


@dataclass(frozen=True, slots=True)
class _Folder:
    path: Path
    settings: FolderSettings
    unpacked: Unpacked

    @property
    def listing(self) -> Listing:
        """Its files, including those of its archives."""
        return self.unpacked.listing


def open_incident_folder(
    folder: Path,
    *,
    baseline: Path | None = None,
    onset_s: float | None = None,
    memory_limit_mb: int = 512,
    progress: Progress = ignore_progress,
) -> Sources:
    """Open an incident folder as docs/reference/incident-folder.md describes it.

    Args:
        folder: the folder of the incident.
        baseline: a folder of the same format with normal operation; overrides `[baseline]` in incident.toml.
        onset_s: when the incident began, as the user states it, epoch seconds; overrides incident.toml.
        memory_limit_mb: memory for telemetry; Parquet is read in place and takes little of it.
        progress: called before each file.

    Returns:
        Sources that may be called from any thread; a kind of telemetry without rows in the folder is None.

    Raises:
        InvalidInput: something in the folder cannot be used; the message says where, what and what to do.
    """
    return read_incident_folder(
        folder, baseline=baseline, onset_s=onset_s, memory_limit_mb=memory_limit_mb, progress=progress
    ).sources


def read_incident_folder(
    folder: Path,
    *,
    baseline: Path | None,
    onset_s: float | None,
    memory_limit_mb: int,
    progress: Progress,
    unpack_below: Path | None = None,
) -> OpenedPart:
    """Like `open_incident_folder`, with the summary and the description, for the catalog.

    Args:
        unpack_below: where archives are unpacked; None is the system's folder for temporary files.
    """
    opened = open_files(
        folder,
        baseline=baseline,
        memory_limit_mb=memory_limit_mb,
        progress=progress,
        unpack_below=unpack_below,
        onset_s=onset_s,
    )
    return sources_of(opened, onset_s=onset_s)


@dataclass(frozen=True, slots=True)
class OpenedFiles:
    """The files of a folder and its baseline, each read or left out with a reason; none is an error."""

    incident: _Folder
    normal: _Folder | None
    database: Database
    content: FolderContent
    normal_content: FolderContent | None
    topology: FolderTopology

    @property
    def name(self) -> str:
        """The folder's own name."""
        return printable(self.incident.path.resolve().name) or "incident"


def open_files(
    folder: Path,
    *,
    baseline: Path | None,
    memory_limit_mb: int,
    progress: Progress,
    unpack_below: Path | None = None,
    onset_s: float | None = None,
) -> OpenedFiles:
    """Read every file of a folder and its baseline.

    Args:
        folder: the folder of the incident.
        baseline: that of normal operation.
        memory_limit_mb: memory for telemetry.
        progress: called before each file.
        unpack_below: where archives are unpacked; None is the system's folder for temporary files.
        onset_s: when the incident began, as the user states it; decides between two clocks.

    Raises:
        InvalidInput: there is no such folder, it is empty, or its incident.toml cannot be used.
    """
    incident = _inspect(folder, unpack_below)
    normal = _baseline_folder(incident, baseline, unpack_below)
    folders = [incident] if normal is None else [incident, normal]
    paths = [file.path for one in folders for file in one.listing.files]
    database = Database(paths, memory_limit_mb=max(_MEMORY_FLOOR_MB, memory_limit_mb))
    for one in folders:
        weakref.finalize(database, one.unpacked.remove)  # Parquet is read in place until then
    content = read_folder(incident.listing, incident.settings, database, progress)
    leave_out_odd_clocks(content, _incident_s(incident.settings, content, onset_s))
    normal_content = (
        None if normal is None else read_folder(normal.listing, normal.settings, database, progress)
    )
    if normal_content is not None:
        leave_out_odd_clocks(normal_content, None)
    return OpenedFiles(
        incident=incident,
        normal=normal,
        database=database,
        content=content,
        normal_content=normal_content,
        topology=_topology(incident, [content] if normal_content is None else [normal_content, content]),
    )


def sources_of(files: OpenedFiles, *, onset_s: float | None) -> OpenedPart:
    """The sources over the files that were read; `onset_s` is as the user states it.

    Raises:
        InvalidInput: the files contradict each other, are empty, or have no data of the stated time.
    """
    incident, normal, content = files.incident, files.normal, files.content
    if not incident.listing.files and (normal is None or not normal.listing.files):
        raise InvalidInput(
            printable(str(incident.path)),
            "no file in it can be read as telemetry",
            "see docs/reference/incident-folder.md for the names and endings that are understood",
        )
    refuse_two_clocks(content)
    _refuse_no_data(incident.path, content)
    if normal is not None and files.normal_content is not None:
        _refuse_no_baseline(normal, files.normal_content)
    window = content.window()
    onset = incident.settings.onset_s if onset_s is None else onset_s
    _check_onset(onset, window, place=f"{SETTINGS_NAME} (incident.onset)" if onset_s is None else ONSET_PLACE)
    opened = OpenedFolder(
        name=files.name,
        settings=incident.settings,
        content=content,
        normal=files.normal_content,
        onset_s=onset,
        topology=files.topology,
    )
    return _sources(files.database, opened, _baseline_window(incident, normal, window))


def _incident_s(settings: FolderSettings, content: FolderContent, onset_s: float | None) -> float | None:
    """The time of the incident, as the user, incident.toml or the alert states it."""
    alert = complete_alert(settings.alert, content.alert)
    return next((at_s for at_s in (onset_s, settings.onset_s, alert.time_s) if at_s is not None), None)


def _inspect(folder: Path, unpack_below: Path | None) -> _Folder:
    if not folder.is_dir():
        list_folder(folder, {})  # this reports what is wrong with it
    settings = read_settings(folder)
    listing = list_folder(folder, settings.files)
    return _Folder(folder, settings, unpack_archives(listing, settings.files, below=unpack_below))


def _baseline_folder(incident: _Folder, baseline: Path | None, unpack_below: Path | None) -> _Folder | None:
    named = incident.settings.baseline_folder
    if baseline is None and named is not None:
        baseline = incident.path / named
    if baseline is None:
        return None
    if baseline.is_dir() and baseline.resolve() == incident.path.resolve():
        raise InvalidInput(
            printable(str(baseline)),
            "the baseline is the incident folder itself",
            "name another folder, or a time window by `start` and `end` under [baseline]",
        )
    return _inspect(baseline, unpack_below)


def _refuse_no_baseline(folder: _Folder, content: FolderContent) -> None:
    refuse_two_clocks(content)
    if not content.ranges():
        _refuse_unusable(folder.path, content)
        raise InvalidInput(
            printable(str(folder.path)),
            "the baseline holds no telemetry",
            "leave it out or give a folder with some",
        )


def _refuse_no_data(folder: Path, content: FolderContent) -> None:
    reported = any(file.events or file.states for file in content.platform)
    if not content.ranges() and not reported and not any(file.changes for file in content.changes):
        _refuse_unusable(folder, content)
        raise InvalidInput(
            printable(str(folder)),
            "its files hold no rows of metrics, traces or logs",
            "put at least one file with data into it",
        )


def _refuse_unusable(folder: Path, content: FolderContent) -> None:
    """If no file is left, raise an error that gives the reason for each unusable file."""
    if not content.unusable:
        return
    first, *others = content.unusable
    if not others:
        raise first
    named = "; ".join(f"{error.place}: {error.problem}" for error in content.unusable[:_SHOWN_LIMIT])
    more = f"; and {len(others) + 1 - _SHOWN_LIMIT} more" if len(others) >= _SHOWN_LIMIT else ""
    raise InvalidInput(
        printable(str(folder)),
        f"none of its files can be used: {named}{more}",
        f"correct one of them; for the first: {first.remedy}",
    )


def _check_onset(onset_s: float | None, window: TimeWindow | None, *, place: str) -> None:
    if onset_s is None or window is None or window.contains(onset_s):
        return
    raise InvalidInput(
        place,
        f"the onset {timestamp_text(onset_s)} lies outside the data, which goes from {window}",
        "give a time inside it, and check the zone",
    )


def _baseline_window(
    incident: _Folder, normal: _Folder | None, window: TimeWindow | None
) -> TimeWindow | None:
    """The part of the incident's own recording that is its baseline, if there is no baseline folder."""
    baseline_window = None if normal is not None else incident.settings.baseline_window
    if baseline_window is not None and window is not None and not window.overlaps(baseline_window):
        raise InvalidInput(
            f"{SETTINGS_NAME} (baseline)",
            f"the baseline window {baseline_window} lies outside the data, which goes from {window}",
            "give a window inside it",
        )
    return baseline_window


def _topology(incident: _Folder, contents: Sequence[FolderContent]) -> FolderTopology:
    """The topology of all topology files and incident.toml; later ones override earlier ones."""
    edges = [edge for content in contents for file in content.topology for edge in file.edges]
    owners: dict[str, str] = {}
    for content in contents:
        for metrics in content.metrics:
            owners |= metrics.owners
        for file in content.topology:
            owners |= file.owners
    named = {name for edge in edges for name in (edge.caller, edge.callee)}
    owners = dict(find_owners(contents, named)) | owners
    return FolderTopology(edges, owners | dict(incident.settings.instances))


def _sources(database: Database, opened: OpenedFolder, baseline_window: TimeWindow | None) -> OpenedPart:
    content = opened.content
    beside = content if baseline_window is not None else opened.normal or FolderContent()
    metrics = FolderMetrics(
        database,
        {
            Recording.INCIDENT: RecordingParts(
                tuple(part for file in content.metrics for part in file.parts)
            ),
            Recording.BASELINE: RecordingParts(
                tuple(part for file in beside.metrics for part in file.parts), baseline_window
            ),
        },
    )
    spans = FolderSpans(
        database,
        {
            Recording.INCIDENT: RecordingParts(tuple(content.spans)),
            Recording.BASELINE: RecordingParts(tuple(beside.spans), baseline_window),
        },
    )
    logs = FolderLogs(
        database,
        {
            Recording.INCIDENT: RecordingParts(tuple(content.logs)),
            Recording.BASELINE: RecordingParts(tuple(beside.logs), baseline_window),
        },
    )
    changes = [change for file in content.changes for change in file.changes]
    summary = summarise(opened)
    sources = Sources(
        summary=FolderSummary(summary),
        metrics=metrics if summary.metric_series else None,
        spans=spans if summary.spans else None,
        topology=opened.topology if summary.edges or opened.topology.known_owners else None,
        logs=logs if summary.log_lines else None,
        changes=FolderChanges(changes) if changes else None,
        platform=FolderPlatform(content.platform) if summary.platform_events else None,
    )
    return OpenedPart(sources, summary, describe(opened))
