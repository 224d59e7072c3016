"""Own incidents: a folder of incident folders, each with the right answer in `truth.toml`.

A run gets a copy with an opaque name, without the truth. The copy's `incident.toml` says the same, apart from
the name, and from what a condition takes away or shifts.
"""

from __future__ import annotations

import json
import os
import shutil
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from diagnosis_harness.bench.case import SHIFTS, Case, Condition, MovedSeries, Truth
from diagnosis_harness.bench.datasets.folder import (
    PublishedAlert,
    opaque_name,
    write_incident_toml,
    write_shared,
)
from diagnosis_harness.bench.datasets.stating import Statement, state
from diagnosis_harness.bench.datasets.truth_file import TRUTH_NAME, read_truth
from diagnosis_harness.kernel.errors import InvalidInput

SETTINGS = "incident.toml"
ALERT_ROLE = "alert"
"""The role of alert files, with which their names begin (docs/reference/incident-folder.md)."""

WITHOUT_ALERT_FILES = frozenset({Condition.NOTHING, Condition.ALERT, Condition.HEALTHY_QUESTION})
"""Conditions that state no alert, or one that differs from the files."""

_LATEST_S = 253_402_300_799.0  # the end of the year 9999, the last that a time can be written in

Tables = Mapping[str, object]


@dataclass(frozen=True, slots=True)
class OwnIncidents:
    """The incident folders directly in a folder, without those that are named as normal operation."""

    root: Path

    @property
    def name(self) -> str:
        """The folder's name."""
        return self.root.resolve().name

    def incident_ids(self, condition: Condition = Condition.AS_PUBLISHED) -> tuple[str, ...]:
        """The names of the folders; under a further condition, of those that can state it.

        No truth is read. Normal operation that has a truth of its own is an incident as well. A shifted time
        needs a stated one; an alert in place of the onset needs an onset, and a series in `[alert]`; a
        healthy window is the normal operation of the first incident to name it.
        """
        found = list(self._folders())
        normal = {path for folder in found if (path := self._baseline_of(folder)) is not None}
        ids = tuple(
            folder.name
            for folder in found
            if folder.resolve() not in normal or (folder / TRUTH_NAME).is_file()
        )
        if not ids:
            raise InvalidInput(
                str(self.root),
                "holds no incidents",
                f"put one folder for each incident into it, with a {TRUTH_NAME}",
            )
        if condition in {Condition.AS_PUBLISHED, Condition.NOTHING}:
            return ids
        if condition in SHIFTS:
            return tuple(name for name in ids if _states_time(self._statement_of(name)))
        if condition is Condition.ALERT:
            stating = ((name, self._statement_of(name)) for name in ids)
            return tuple(
                name
                for name, statement in stating
                if statement.onset_s is not None and _alert_series(statement)
            )
        return self._first_of_each_baseline(ids) if condition is Condition.HEALTHY_QUESTION else ()

    def export(self, incident_id: str, condition: Condition, target: Path) -> Case:
        """Copy one incident without its truth; for a healthy window, its normal operation in its place."""
        source = self.root / incident_id
        if condition.healthy:
            source = self._baseline_of(source) or source
        tables = _read_tables(source)
        published = _statement(tables, source.name)
        statement = state(
            condition, published=published, onset_s=published.onset_s, moved=_alert_series(published)
        )
        folder = target / opaque_name(self.name, f"{incident_id}/{condition.value}")
        folder.mkdir(parents=True, exist_ok=True)
        left_out = _alert_files(source, tables) if condition in WITHOUT_ALERT_FILES else frozenset()
        if not _copy_files(source, folder, left_out):
            raise InvalidInput(incident_id, "holds no data", "put at least one file with data into it")
        normal = self._baseline_of(source)
        baseline = None if normal is None else self._export_baseline(normal, target)
        own = published if condition is not Condition.AS_PUBLISHED else Statement()
        more = _without(tables, own, left_out)
        write_incident_toml(
            folder,
            alert=statement.alert if own.alert is not None else None,
            onset_s=statement.onset_s if own.onset_s is not None else None,
            baseline=baseline.name if baseline else None,
            more=more,
        )
        instances = tables.get("instances")
        owners = {str(k): str(v) for k, v in instances.items()} if isinstance(instances, Mapping) else {}
        return Case(
            incident_id=incident_id,
            group="own",
            folder=folder,
            baseline=baseline,
            entities=(),  # those that could be blamed are in the telemetry, which the product reads
            as_given=True,
            owners=owners,
            condition=condition,
            onset_s=published.onset_s,
            alert_entity=statement.alert.entity if statement.alert else None,
        )

    def labels(self, incident_ids: Sequence[str]) -> dict[str, Truth]:
        """The truth of each incident; a sentence for each whose truth is missing or names nothing."""
        truths: dict[str, Truth] = {}
        for name in incident_ids:
            try:
                truths[name] = read_truth(self.root / name / TRUTH_NAME)
            except InvalidInput as error:
                truths[name] = Truth(entities=(), fault_kind="", unusable=str(error))
        return truths

    def _folders(self) -> Iterator[Path]:
        try:
            entries = sorted(self.root.iterdir(), key=lambda path: path.name)
        except OSError as error:
            raise InvalidInput(
                str(self.root), f"cannot be read ({error.strerror})", "name a folder"
            ) from error
        return (path for path in entries if path.is_dir() and not path.name.startswith("."))

    def _baseline_of(self, folder: Path) -> Path | None:
        """The folder of normal operation that an incident names, whether or not it exists."""
        try:
            table = _read_tables(folder).get("baseline")
        except InvalidInput:  # reported when the incident is exported
            return None
        named = table.get("folder") if isinstance(table, Mapping) else None
        try:
            return (folder / str(named)).resolve() if named else None
        except ValueError:  # NUL in a name: reported when the product reads the folder
            return None

    def _statement_of(self, incident_id: str) -> Statement:
        """What an incident's `incident.toml` states; empty if it cannot be read."""
        try:
            return _statement(_read_tables(self.root / incident_id), incident_id)
        except InvalidInput:  # reported when the incident is exported
            return Statement()

    def _first_of_each_baseline(self, ids: Sequence[str]) -> tuple[str, ...]:
        first: dict[Path, str] = {}
        for name in ids:
            normal = self._baseline_of(self.root / name)
            if normal is not None and normal.is_dir():
                first.setdefault(normal, name)
        return tuple(first.values())

    def _export_baseline(self, normal: Path, target: Path) -> Path:
        if not normal.is_dir():
            raise InvalidInput(
                normal.name,
                "the baseline folder does not exist",
                f"correct [baseline] in {SETTINGS}",
            )

        def write(folder: Path) -> None:
            tables = _read_tables(normal)
            left_out = _alert_files(normal, tables)
            _copy_files(normal, folder, left_out)
            write_incident_toml(folder, more=_without(tables, Statement(), left_out))

        place = os.path.relpath(normal, self.root.resolve())  # the same name wherever the folder is
        return write_shared(target, opaque_name(self.name, f"normal/{place}"), write)


def _alert_files(source: Path, tables: Tables) -> frozenset[str]:
    """The files that state an alert, by their names or by `incident.toml`."""
    roles = {name: _table(_table(tables, "files"), name).get("role") for name in _table(tables, "files")}
    names = (path.name for path in source.iterdir())
    return frozenset(name for name in names if roles.get(name, name.lower()[: len(ALERT_ROLE)]) == ALERT_ROLE)


def _copy_files(source: Path, folder: Path, left_out: frozenset[str]) -> int:
    """Copy the files directly in a folder, without truth, settings and links; returns their number."""
    copied = 0
    for path in sorted(source.iterdir(), key=lambda entry: entry.name):
        truth = path.name.casefold().startswith(TRUTH_NAME)  # also copies and backups of it
        hidden = truth or path.name.startswith(".") or path.name == SETTINGS or path.name in left_out
        if path.is_file() and not path.is_symlink() and not hidden:
            shutil.copyfile(path, folder / path.name)
            copied += 1
    return copied


def _read_tables(folder: Path) -> Tables:
    path = folder / SETTINGS
    try:
        return tomllib.loads(path.read_text(encoding="utf-8-sig")) if path.exists() else {}
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        place = f"{folder.name}/{SETTINGS}"
        raise InvalidInput(place, f"it is not valid TOML ({error})", "correct that line") from error
    except OSError as error:
        raise InvalidInput(
            f"{folder.name}/{SETTINGS}", "it cannot be read", "check its permissions"
        ) from error


def _statement(tables: Tables, place: str) -> Statement:
    """What `incident.toml` states about alert and onset."""
    incident, alert = _table(tables, "incident"), _table(tables, "alert")
    zone = str(incident.get("zone", "UTC"))
    onset_s = _time_s(incident.get("onset"), zone, f"{place}/{SETTINGS}")
    if not alert:
        return Statement(onset_s=onset_s)
    texts = {
        key: str(alert[key])
        for key in ("entity", "signal", "statistic", "direction", "summary")
        if key in alert
    }
    time_s = _time_s(alert.get("time"), zone, f"{place}/{SETTINGS}")
    return Statement(alert=PublishedAlert(time_s=time_s, **texts), onset_s=onset_s)


def _states_time(statement: Statement) -> bool:
    return statement.onset_s is not None or (
        statement.alert is not None and statement.alert.time_s is not None
    )


def _alert_series(statement: Statement) -> MovedSeries | None:
    """The series that an alert of `incident.toml` names; None if it names none."""
    alert = statement.alert
    if alert is None or alert.entity is None or alert.signal is None:
        return None
    return MovedSeries(alert.entity, alert.signal, alert.direction)


def _without(tables: Tables, statement: Statement, left_out: frozenset[str]) -> dict[str, dict[str, object]]:
    """The tables to be written: without what is stated again, `[files]` one by one."""
    flat: dict[str, dict[str, object]] = {}
    for title in tables:
        if title == "files":
            files = _table(tables, title)
            flat |= {
                f"files.{json.dumps(name)}": dict(_table(files, name))
                for name in files
                if name not in left_out
            }
        else:
            flat[title] = dict(_table(tables, title))
    if statement.onset_s is not None:
        flat.get("incident", {}).pop("onset", None)
    if statement.alert is not None:
        flat.pop("alert", None)
    return flat


def _table(tables: Tables, name: str) -> Mapping[str, object]:
    table = tables.get(name)
    return table if isinstance(table, Mapping) else {}


def _time_s(value: object, zone: str, place: str) -> float | None:
    """A time of `incident.toml`: text, TOML time or epoch seconds; None if there is none."""
    if value is None or isinstance(value, bool):
        return None
    if isinstance(value, int | float):
        if not abs(value) < _LATEST_S:
            raise InvalidInput(place, f"the time {value} is none", "write ISO 8601 or seconds since 1970")
        return float(value)
    try:
        parsed = value if isinstance(value, datetime) else datetime.fromisoformat(str(value).strip())
        fixed = zone.startswith(("+", "-"))
        named = datetime.fromisoformat(f"2000-01-01T00:00{zone}").tzinfo if fixed else ZoneInfo(zone)
    except (ValueError, ZoneInfoNotFoundError, OSError) as error:  # OSError: the zone is a folder of zones
        raise InvalidInput(
            place, f"the time {value} or the zone {zone} is not understood", "write ISO 8601"
        ) from error
    return (parsed if parsed.tzinfo else parsed.replace(tzinfo=named or UTC)).timestamp()
