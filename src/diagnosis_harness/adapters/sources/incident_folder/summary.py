"""Summarises the content of a folder."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from diagnosis_harness.adapters.sources.incident_folder.changes import complete_alert, resolve_alert
from diagnosis_harness.adapters.sources.incident_folder.names import quote
from diagnosis_harness.adapters.sources.incident_folder.recording import FolderContent
from diagnosis_harness.adapters.sources.incident_folder.settings_file import SETTINGS_NAME, FolderSettings
from diagnosis_harness.adapters.sources.incident_folder.topology import FolderTopology
from diagnosis_harness.harness.context import RunContext
from diagnosis_harness.kernel.errors import InvalidInput
from diagnosis_harness.kernel.json_value import JsonValue
from diagnosis_harness.kernel.window import TimeWindow, utc_text
from diagnosis_harness.toolbox.ports import AlertInfo, FileNote, SourceSummary

_ALERT_SLACK_S: Final = 3600.0


@dataclass(frozen=True, slots=True)
class FolderSummary:
    """`SummarySource`: everything was counted while the folder was opened."""

    value: SourceSummary

    def summary(self, ctx: RunContext) -> SourceSummary:
        """The content of the folder, with a note for every file."""
        del ctx
        return self.value


@dataclass(frozen=True, slots=True)
class OpenedFolder:
    """An incident folder and its baseline, read and checked."""

    name: str
    settings: FolderSettings
    content: FolderContent
    normal: FolderContent | None
    onset_s: float | None
    topology: FolderTopology


def summarise(opened: OpenedFolder) -> SourceSummary:
    """Count what was read, and collect the notes.

    Raises:
        InvalidInput: the alert lies more than an hour outside the data.
    """
    content, normal = opened.content, opened.normal
    known = _entities(content, opened.topology)
    written = complete_alert(opened.settings.alert, content.alert)
    alert = resolve_alert(written, known | opened.settings.aliases.keys())
    window = content.window()
    notes = [*content.notes, *_alert_note(alert.time_s, window), *_entity_note(written, alert)]
    if normal is not None:
        notes += [FileNote(f"baseline/{note.file}", note.role, note.rows, note.note) for note in normal.notes]
    return SourceSummary(
        name=opened.settings.name or opened.name,
        alert=alert,
        onset_s=opened.onset_s,
        incident=window,
        baseline=normal.window() if normal is not None else None,
        metric_series=len({(part.entity, part.signal) for file in content.metrics for part in file.parts}),
        log_lines=sum(file.lines for file in content.logs),
        spans=sum(file.spans for file in content.spans),
        edges=len(opened.topology.known_edges),
        changes=sum(len(file.changes) for file in content.changes),
        platform_events=sum(len(file.events) + len(file.states) for file in content.platform),
        entities=tuple(sorted(known)),
        files=tuple(notes),
        entities_by_kind=_entities_by_kind([content] if normal is None else [content, normal]),
        zone=opened.settings.zone_name,
        aliases=opened.settings.aliases,
    )


def describe(opened: OpenedFolder) -> JsonValue:
    """What a person states about the incident in incident.toml and in the alert file.

    It does not depend on the folder's path, on how its files are read, or on their content.
    """
    settings = opened.settings
    alert = complete_alert(settings.alert, opened.content.alert)
    baseline_window = settings.baseline_window
    return {
        "name": settings.name,
        "onset_s": settings.onset_s,
        "alert": {
            "entity": alert.entity,
            "signal": alert.signal,
            "statistic": alert.statistic,
            "time_s": alert.time_s,
            "direction": alert.direction,
            "summary": alert.summary,
        },
        "baseline": None if baseline_window is None else [baseline_window.start_s, baseline_window.end_s],
        "instances": dict(settings.instances),
        **({"aliases": dict(settings.aliases)} if settings.aliases else {}),
    }


def timestamp_text(time_s: float) -> str:
    """A timestamp as text for a sentence; also for numbers outside every calendar."""
    try:
        return utc_text(time_s)
    except (ValueError, OverflowError, OSError):
        return repr(time_s)


def _entities(content: FolderContent, topology: FolderTopology) -> set[str]:
    entities = {part.entity for file in content.metrics for part in file.parts}
    entities |= {name for spans in content.spans for name in (*spans.entities, *spans.peers)}
    entities |= {name for logs in content.logs for name in logs.entities}
    entities |= {name for edge in topology.known_edges for name in (edge.caller, edge.callee)}
    return entities | {name for pair in topology.known_owners.items() for name in pair}


def _entities_by_kind(contents: Sequence[FolderContent]) -> Mapping[str, tuple[str, ...]]:
    """The entities that each kind of file names, as counted while the folder was opened."""
    found = {
        "metrics": {part.entity for content in contents for file in content.metrics for part in file.parts},
        "spans": {name for content in contents for file in content.spans for name in file.entities},
        "logs": {name for content in contents for file in content.logs for name in file.entities},
        "changes": {
            change.entity
            for content in contents
            for file in content.changes
            for change in file.changes
            if change.entity is not None
        },
    }
    return {kind: tuple(sorted(names)) for kind, names in found.items() if names}


def _entity_note(written: AlertInfo, alert: AlertInfo) -> list[FileNote]:
    """A note if an unusual label of the alert names an entity of the telemetry."""
    if written.entity == alert.entity or alert.entity is None:
        return []
    unknown = "" if written.entity is None else f"{quote(written.entity)} is not in the data, and "
    note = (
        f"{unknown}another label of the alert names {quote(alert.entity)}: the alert was read as about that."
    )
    return [FileNote(SETTINGS_NAME, "alert", 1, note)]


def _alert_note(time_s: float | None, window: TimeWindow | None) -> list[FileNote]:
    """A note on an alert outside the data. Up to an hour is plausible; beyond that, its clock is wrong."""
    if time_s is None or window is None or window.contains(time_s):
        return []
    if not window.start_s - _ALERT_SLACK_S <= time_s <= window.end_s + _ALERT_SLACK_S:
        raise InvalidInput(
            "the alert's time",
            f"{timestamp_text(time_s)} lies more than an hour outside the data, which goes from {window}",
            f"correct it in {SETTINGS_NAME} or in the alert file, and check the zone",
        )
    note = f"the alert at {timestamp_text(time_s)} lies outside the data ({window})."
    return [FileNote(SETTINGS_NAME, "alert", 1, note)]
