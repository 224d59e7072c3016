"""All files of one folder, read by role, and whether their clocks agree."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import tzinfo
from math import inf, isfinite
from typing import Final

from diagnosis_harness.adapters.sources.incident_folder.changes import (
    ChangeFile,
    complete_alert,
    read_alert,
    read_changes,
)
from diagnosis_harness.adapters.sources.incident_folder.database import Database
from diagnosis_harness.adapters.sources.incident_folder.identify import counts_ages, open_tables
from diagnosis_harness.adapters.sources.incident_folder.listing import ListedFile, Listing, Role
from diagnosis_harness.adapters.sources.incident_folder.logs import LogFile, read_logs
from diagnosis_harness.adapters.sources.incident_folder.metrics_file import MetricFile, read_metrics
from diagnosis_harness.adapters.sources.incident_folder.platform import (
    PlatformFile,
    platform_columns,
    read_platform,
)
from diagnosis_harness.adapters.sources.incident_folder.same_names import rename_conflicting_series
from diagnosis_harness.adapters.sources.incident_folder.settings_file import SETTINGS_NAME, FolderSettings
from diagnosis_harness.adapters.sources.incident_folder.spans_file import SpanFile, read_spans
from diagnosis_harness.adapters.sources.incident_folder.table import Table
from diagnosis_harness.adapters.sources.incident_folder.topology import TopologyFile, read_topology
from diagnosis_harness.adapters.sources.part import Progress
from diagnosis_harness.kernel.errors import InvalidInput
from diagnosis_harness.kernel.window import TimeWindow, utc_text
from diagnosis_harness.toolbox.ports import AlertInfo, FileNote

_GAP_LIMIT_S: Final = 900.0
_COPIED_AFTER_S: Final = 86_400.0
"""A file of ages that is dated a day after all others was copied: Kubernetes keeps events for an hour."""


@dataclass(slots=True)
class FolderContent:
    """Content of the files of one folder. It is filled while the folder is opened, and then only read."""

    metrics: list[MetricFile] = field(default_factory=list)
    spans: list[SpanFile] = field(default_factory=list)
    logs: list[LogFile] = field(default_factory=list)
    changes: list[ChangeFile] = field(default_factory=list)
    platform: list[PlatformFile] = field(default_factory=list)
    topology: list[TopologyFile] = field(default_factory=list)
    alert: AlertInfo = field(default_factory=AlertInfo)
    notes: list[FileNote] = field(default_factory=list)
    unusable: list[InvalidInput] = field(default_factory=list)
    """Why each file that could not be used was left out."""

    def names(self) -> frozenset[str]:
        """Entities that topology files name."""
        return frozenset(
            name for file in self.topology for edge in file.edges for name in (edge.caller, edge.callee)
        )

    def ranges(self) -> list[tuple[str, float, float]]:
        """File, first and last timestamp of every file of telemetry that has rows."""
        aside = {
            Role.EVENTS.value,
            Role.STATES.value,
        }  # they may be older than the recording
        logs = [file for file in self.logs if file.note.role not in aside]
        files: Iterable[MetricFile | SpanFile | LogFile] = (*self.metrics, *self.spans, *logs)
        return [(file.note.file, file.first_s, file.last_s) for file in files if isfinite(file.first_s)]

    def window(self) -> TimeWindow | None:
        """First to last timestamp over all telemetry, the last one inside."""
        ranges = self.ranges()
        if not ranges:
            return None
        return window_including(min(first for _, first, _ in ranges), max(last for _, _, last in ranges))


def window_including(first_s: float, last_s: float) -> TimeWindow:
    """A window that contains the last timestamp: its end is less than a millisecond later."""
    return TimeWindow(first_s, last_s + 0.0004)


def read_folder(
    listing: Listing, settings: FolderSettings, database: Database, progress: Progress
) -> FolderContent:
    """Read all listed files; one that cannot be used is named with its reason, and the others are read.

    Raises:
        InvalidInput: incident.toml says what cannot be done.
    """
    content = FolderContent(notes=list(listing.left_out))
    # What topology files name helps to read the others.
    ordered = sorted(listing.files, key=lambda file: file.role is not Role.TOPOLOGY)
    aged = [file for file in ordered if counts_ages(file, database)]
    for done, file in enumerate([*(file for file in ordered if file not in aged), *aged]):
        progress(file.name, done, len(listing.files))
        try:
            dated = _with_date(file, content.window()) if file in aged else file
            note = _read_file(content, dated, database, settings)
        except InvalidInput as error:
            if error.place.startswith(SETTINGS_NAME):
                raise
            content.unusable.append(error)
            where = error.place.removeprefix(file.name).strip()
            note = FileNote(
                file.name,
                None,
                0,
                f"left out: {f'{where}: ' if where else ''}{error.problem}; {error.remedy}.",
            )
        content.notes.append(note)
    content.metrics, renamed = rename_conflicting_series(content.metrics, database)
    content.notes = sorted((_note_of(note, renamed) for note in content.notes), key=lambda note: note.file)
    return content


def _with_date(file: ListedFile, window: TimeWindow | None) -> ListedFile:
    """A file of ages, with the end of the other files as its date if its own lies far after that."""
    try:
        own_s = file.path.stat().st_mtime
    except OSError:  # reading it says why
        return file
    far = window is not None and own_s > window.end_s + _COPIED_AFTER_S
    return replace(file, dated_s=window.end_s) if window is not None and far else file


def _note_of(note: FileNote, renamed: Collection[str]) -> FileNote:
    """The note of a file, which names its series that another file holds with different values."""
    if note.file not in renamed:
        return note
    return replace(
        note,
        note=f"{note.note} Series whose values differ from those in another file are named after this file.",
    )


def _read_file(
    content: FolderContent, file: ListedFile, database: Database, settings: FolderSettings
) -> FileNote:
    """Read all parts of a file; the note is that of the first part, and lists the others."""
    notes: list[FileNote] = []
    others: list[str] = []
    for part in open_tables(file, database):
        note = _take(content, part.table, database, settings)
        format_name = f"{part.format_name}; {note.note}" if part.format_name else note.note
        read = part.table.file
        if notes:
            rows = "1 row" if note.rows == 1 else f"{note.rows} rows"
            others.append(f"{rows} of {note.role}{f' ({part.remark})' if part.remark else ''}")
        form = part.format_name or (read.form.value if read.form is not None else "parquet")
        notes.append(
            replace(
                note,
                file=file.name,
                note=format_name,
                form=form,
                decided_by=_basis_of(file, foreign=part.format_name),
            )
        )
    if not notes:
        raise InvalidInput(file.name, "it holds no rows", "leave it out, or save it again")
    also = f" It also holds {', '.join(others)}." if others else ""
    return replace(notes[0], note=f"{notes[0].note}{also}")


def _basis_of(file: ListedFile, *, foreign: str) -> str:
    """What decided the role of the file: incident.toml, its name, or its content."""
    if file.settings.role is not None or file.settings.format is not None:
        return "settings"
    return "name" if file.role is not None and file.form is not None and not foreign else "content"


def _take(content: FolderContent, table: Table, database: Database, settings: FolderSettings) -> FileNote:
    zone: tzinfo = settings.zone
    role = table.file.role
    if role is None or not table.has_rows:
        return FileNote(table.place, role.value if role else None, 0, "it has no rows.")
    match role:
        case Role.METRICS:
            content.metrics.append(
                read_metrics(table, database, zone, settings.stated, known=content.names())
            )
            return content.metrics[-1].note
        case Role.TRACES:
            content.spans.append(read_spans(table, database, zone))
            return content.spans[-1].note
        case Role.LOGS | Role.EVENTS | Role.STATES:
            reported = role is not Role.LOGS
            if reported:
                content.platform.append(read_platform(table, database, zone))
            columns = platform_columns(table) if reported else []
            content.logs.append(read_logs(table, database, zone, also_read=columns))
            return content.logs[-1].note
        case Role.CHANGES:
            content.changes.append(read_changes(table, database, zone))
            return content.changes[-1].note
        case Role.TOPOLOGY:
            content.topology.append(read_topology(table, database))
            return content.topology[-1].note
        case Role.ALERT:
            alert = read_alert(table, database, zone)
            content.alert = complete_alert(content.alert, alert.alert)
            return alert.note


def leave_out_odd_clocks(content: FolderContent, stated_s: float | None) -> None:
    """Leave out files whose clock differs from that of the others, each with its reason.

    The clock of the others is the one that contains the stated time, else the one that more than half of the
    files have, else that of the only metrics and spans. Where none of these decides, all files stay.
    """
    groups = _groups_of_one_clock(content.ranges())
    compared = {file.note.file for file in content.metrics} | {file.note.file for file in content.spans}
    kept = (
        _group_of_time(groups, stated_s)
        or _only([group for group in groups if 2 * len(group) > sum(map(len, groups))])
        or _only([group for group in groups if compared.intersection(name for name, _, _ in group)])
    )
    if len(groups) < 2 or kept is None:
        return
    whole = kept[0][0], kept[0][1], max(last_s for _, _, last_s in kept)
    for group in groups:
        for odd in group if group is not kept else ():
            first, second = sorted((odd, whole), key=lambda file: file[1])
            _leave_out(content, odd[0], _two_clocks(odd[0], first, second))


def _leave_out(content: FolderContent, name: str, reason: InvalidInput) -> None:
    content.metrics = [file for file in content.metrics if file.note.file != name]
    content.spans = [file for file in content.spans if file.note.file != name]
    content.logs = [file for file in content.logs if file.note.file != name]
    content.notes = [
        replace(note, role=None, rows=0, note=f"left out: {reason.problem}; {reason.remedy}.")
        if note.file == name
        else note
        for note in content.notes
    ]
    content.unusable.append(reason)


_Range = tuple[str, float, float]
"""A file, its first and its last time."""


def _groups_of_one_clock(ranges: Sequence[_Range]) -> list[list[_Range]]:
    """Files that overlap or follow one another closely, by their first time."""
    groups: list[list[_Range]] = []
    reached_s = -inf
    for file in sorted(ranges, key=lambda file: file[1]):
        if file[1] > reached_s + _GAP_LIMIT_S:
            groups.append([])
        groups[-1].append(file)
        reached_s = max(reached_s, file[2])
    return groups


def _group_of_time(groups: list[list[_Range]], stated_s: float | None) -> list[_Range] | None:
    """The only group whose times contain the stated one; an alert may come late."""
    if stated_s is None:
        return None
    return _only(
        [
            group
            for group in groups
            if group[0][1] - _GAP_LIMIT_S <= stated_s <= max(last_s for _, _, last_s in group) + _GAP_LIMIT_S
        ]
    )


def _only(groups: list[list[_Range]]) -> list[_Range] | None:
    return groups[0] if len(groups) == 1 else None


def refuse_two_clocks(content: FolderContent) -> None:
    """Refuse files that neither overlap nor follow one another closely: one of them has another clock.

    Raises:
        InvalidInput: there are two such files.
    """
    groups = _groups_of_one_clock(content.ranges())
    if len(groups) > 1:
        one, other = max(groups[0], key=lambda file: file[2]), groups[1][0]
        raise _two_clocks(f"{one[0]} and {other[0]}", one, other)


def _two_clocks(place: str, one: _Range, other: _Range) -> InvalidInput:
    shift_h = round((other[1] - one[1]) / 900) / 4
    return InvalidInput(
        place,
        f"their clocks do not agree: {utc_text(one[1])} to {utc_text(one[2])} ({one[0]}) and "
        f"{utc_text(other[1])} to {utc_text(other[2])} ({other[0]}) do not overlap "
        f"(about {shift_h:g} h apart)",
        f'set `zone`, `time_unit` or `shift_s` for one of them under [files."…"] in {SETTINGS_NAME}, '
        "or leave it out by `ignore = true`",
    )
