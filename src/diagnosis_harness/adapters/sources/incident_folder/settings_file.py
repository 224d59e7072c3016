"""incident.toml: what a person states about the files, checked key by key.

docs/reference/incident-folder.md lists every key; any other key is refused with its line.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, tzinfo
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError
from pydantic_core import ErrorDetails

from diagnosis_harness.adapters.sources.incident_folder.names import printable, quote
from diagnosis_harness.adapters.sources.incident_folder.stated_signals import (
    SignalSettings,
    StatedSignals,
)
from diagnosis_harness.adapters.sources.incident_folder.times import instant_s, zone_named
from diagnosis_harness.kernel.errors import InvalidInput
from diagnosis_harness.kernel.names import is_identifier
from diagnosis_harness.kernel.window import TimeWindow
from diagnosis_harness.toolbox.ports import AlertInfo

SETTINGS_NAME = "incident.toml"
_SIZE_LIMIT_BYTES = 1_000_000


def files_table(file: str) -> str:
    """The table for one file, as named in messages; a file name that looks like words is left out."""
    return f'[files."{file}"]' if is_identifier(file) else "a table of [files] for it"


_Name = Annotated[str, Field(min_length=1, max_length=500)]
_Timestamp = str | datetime | int | float
_TimeUnit = Literal["s", "ms", "us", "ns"]


class _Section(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class FileSettings(_Section):
    """`[files."NAME"]`: how to read one file."""

    role: Literal["metrics", "traces", "topology", "logs", "changes", "alert", "events", "states"] | None = (
        None
    )
    format: _Name | None = None
    layout: Literal["long", "wide"] | None = None
    columns: Literal["entities", "signals"] | None = None
    header_rows: Annotated[int, Field(ge=1, le=3)] | None = None
    time: _Name | None = None
    time_format: _Name | None = None
    time_unit: _TimeUnit | None = None
    zone: _Name | None = None
    shift_s: Annotated[float, Field(allow_inf_nan=False, ge=-1e9, le=1e9)] = 0.0
    entity: _Name | None = None
    signal: _Name | None = None
    value: _Name | None = None
    message: _Name | None = None
    unit: _Name | None = None
    duration_unit: _TimeUnit | None = None
    ignore: bool = False


class _Incident(_Section):
    name: _Name | None = None
    zone: _Name | None = None
    onset: _Timestamp | None = None


class _Alert(_Section):
    entity: _Name | None = None
    signal: _Name | None = None
    statistic: _Name | None = None
    time: _Timestamp | None = None
    direction: Literal["up", "down"] | None = None
    summary: Annotated[str, Field(max_length=2000)] | None = None


class _Baseline(_Section):
    folder: _Name | None = None
    start: _Timestamp | None = None
    end: _Timestamp | None = None


class _Document(_Section):
    incident: _Incident = _Incident()
    alert: _Alert = _Alert()
    baseline: _Baseline = _Baseline()
    units: dict[str, _Name] = {}
    signals: dict[str, SignalSettings] = {}
    instances: dict[str, _Name] = {}
    aliases: dict[str, _Name] = {}
    files: dict[str, FileSettings] = {}


@dataclass(frozen=True, slots=True)
class FolderSettings:
    """incident.toml, checked; the defaults if there is none. Texts are printable, times epoch seconds."""

    zone: tzinfo
    name: str | None = None
    onset_s: float | None = None
    alert: AlertInfo = field(default_factory=AlertInfo)
    baseline_folder: str | None = None
    baseline_window: TimeWindow | None = None
    stated: StatedSignals = field(default_factory=StatedSignals)
    instances: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    zone_name: str | None = None
    aliases: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    files: Mapping[str, FileSettings] = field(default_factory=lambda: MappingProxyType({}))


def read_settings(folder: Path) -> FolderSettings:
    """Read the folder's incident.toml; all defaults if it has none.

    Raises:
        InvalidInput: it cannot be read, or a key or value is unknown; the place names line and key.
    """
    text = _text_of(folder / SETTINGS_NAME)
    try:
        document = _Document.model_validate(tomllib.loads(text))
    except tomllib.TOMLDecodeError as error:
        raise InvalidInput(
            SETTINGS_NAME, f"it is not valid TOML ({printable(str(error))[:160]})", "correct that line"
        ) from error
    except ValidationError as error:
        first = error.errors(include_url=False, include_context=False)[0]
        raise _refusal(text, first) from error
    return _settings(document, text)


def _text_of(path: Path) -> str:
    try:
        if not path.exists():
            return ""
        content = path.read_bytes()
    except OSError as error:
        raise InvalidInput(
            SETTINGS_NAME, f"it cannot be read ({error.strerror})", "check its permissions"
        ) from error
    if len(content) > _SIZE_LIMIT_BYTES:
        raise InvalidInput(
            SETTINGS_NAME, "it is larger than 1 MB", "keep settings in it and data in other files"
        )
    try:
        return content.decode("utf-8-sig").replace("\r\n", "\n")
    except UnicodeDecodeError as error:
        raise InvalidInput(SETTINGS_NAME, "it is not UTF-8 text", "save it as UTF-8") from error


def _settings(document: _Document, text: str) -> FolderSettings:
    zone = zone_named(document.incident.zone or "UTC", place=_place(text, ("incident", "zone")))

    def timestamp(value: _Timestamp | None, *keys: str) -> float | None:
        return None if value is None else instant_s(value, zone=zone, place=_place(text, keys))

    for name, file in document.files.items():
        if file.zone is not None:
            zone_named(file.zone, place=_place(text, ("files", name, "zone")))
    alert, baseline = document.alert, document.baseline
    start = timestamp(baseline.start, "baseline", "start")
    end = timestamp(baseline.end, "baseline", "end")
    if (start is None) != (end is None) or (start is not None and end is not None and start >= end):
        raise InvalidInput(
            _place(text, ("baseline",)),
            "a baseline window needs a start and a later end",
            "give both `start` and `end`",
        )
    return FolderSettings(
        zone=zone,
        name=_printable(document.incident.name),
        onset_s=timestamp(document.incident.onset, "incident", "onset"),
        alert=AlertInfo(
            entity=_printable(alert.entity),
            signal=_printable(alert.signal),
            statistic=_printable(alert.statistic),
            time_s=timestamp(alert.time, "alert", "time"),
            direction=alert.direction,
            summary=_printable(alert.summary),
        ),
        baseline_folder=baseline.folder,
        baseline_window=None if start is None or end is None else TimeWindow(start, end),
        stated=StatedSignals(
            MappingProxyType({printable(k): printable(v) for k, v in document.units.items()}),
            MappingProxyType({printable(k): v for k, v in document.signals.items()}),
        ),
        instances=MappingProxyType({printable(k): printable(v) for k, v in document.instances.items()}),
        zone_name=document.incident.zone,
        aliases=MappingProxyType({printable(k): printable(v) for k, v in document.aliases.items()}),
        files=MappingProxyType(dict(document.files)),
    )


def _printable(text: str | None) -> str | None:
    return None if text is None else printable(text) or None


def _refusal(text: str, error: ErrorDetails) -> InvalidInput:
    kind, message, value = error["type"], error["msg"], error["input"]
    keys = [str(key) for key in error["loc"]]
    if kind == "extra_forbidden":
        allowed = ", ".join(_keys_beside(keys[:-1]))
        return InvalidInput(_place(text, keys), "there is no such key", f"use one of: {allowed}")
    while keys and keys[-1] in {"str", "datetime", "int", "float"}:  # a branch of a union, not a key
        keys.pop()
    problem = message[:1].lower() + message[1:]
    return InvalidInput(
        _place(text, keys),
        f"{quote(str(value))} is not usable: {problem}",
        "see docs/reference/incident-folder.md for the values allowed here",
    )


def _keys_beside(path: Sequence[str]) -> list[str]:
    sections: dict[str, type[BaseModel]] = {
        "incident": _Incident,
        "alert": _Alert,
        "baseline": _Baseline,
        "signals": SignalSettings,
    }
    section = sections.get(path[0], FileSettings) if path else _Document
    return sorted(section.model_fields)


def _place(text: str, keys: Sequence[str]) -> str:
    """The place of a key for an error: file, line if it is found, table and key."""
    shown = ".".join(printable(key) for key in keys)
    line = _line_of(text, keys)
    return f"{SETTINGS_NAME}{f' line {line}' if line else ''} ({shown})"


def _line_of(text: str, keys: Sequence[str]) -> int | None:
    """The line of a key in the plain style of the reference page; None for other styles of TOML."""
    if not keys:
        return None
    table: list[str] = []
    for number, line in enumerate(text.split("\n"), start=1):
        header = re.match(r"\s*\[([^\[\]]+)\]\s*(#.*)?$", line)
        if header:
            table = [
                part.strip("\"' ") for part in re.findall(r'"[^"]*"|\'[^\']*\'|[^."\']+', header.group(1))
            ]
            if table == list(keys):
                return number
        key = re.match(r"""\s*(?:"([^"]*)"|'([^']*)'|([\w-]+))\s*=""", line)
        if key and [*table, next(part for part in key.groups() if part is not None)] == list(keys):
            return number
    return None
