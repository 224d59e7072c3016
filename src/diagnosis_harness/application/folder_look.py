"""The result of `diagnose look`: how the files of a folder were read, and their content."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from diagnosis_harness.kernel.errors import InvalidInput
from diagnosis_harness.kernel.window import TimeWindow


class DecidedBy(StrEnum):
    """What decided how a file is read."""

    SETTINGS = "settings"  # incident.toml
    NAME = "name"
    CONTENT = "content"


class Lack(StrEnum):
    """Missing data that a diagnosis could use."""

    METRICS = "metrics"
    SPANS = "spans"
    TOPOLOGY = "topology"
    LOGS = "logs"
    CHANGES = "changes"
    ALERT = "alert"
    ONSET = "onset"
    BASELINE = "baseline"


@dataclass(frozen=True, slots=True)
class FileLook:
    """One file.

    Attributes:
        role: the role of its content; None if it was not read.
        form: the identified format, such as `csv` or `a Prometheus API answer`; empty if it was not read.
        note: how it was read, or why it was not read and what to do.
        step_s: the usual time between two of its timestamps.
        gaps: stretches inside it without a row.
    """

    name: str
    role: str | None
    form: str
    decided_by: DecidedBy | None
    rows: int
    note: str
    window: TimeWindow | None = None
    step_s: float | None = None
    gaps: tuple[TimeWindow, ...] = ()


@dataclass(frozen=True, slots=True)
class ServiceLook:
    """A service or another entity, its instances, and which kinds of telemetry name it or them."""

    name: str
    instances: tuple[str, ...]
    telemetry: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class SignalLook:
    """One signal over all entities that have it.

    Attributes:
        harmful: +1 if a rise is harmful, -1 if a fall is, 0 if neither is by itself.
        points: values of all its series together.
    """

    name: str
    unit: str | None
    kind: str
    side: str
    harmful: int
    series: int
    points: int


@dataclass(frozen=True, slots=True)
class FolderLook:
    """The whole result.

    Attributes:
        zone: of times without one, from incident.toml; None is UTC.
        obstacle: why nothing can be diagnosed yet; None if something can.
    """

    name: str
    files: tuple[FileLook, ...]
    services: tuple[ServiceLook, ...] = ()
    signals: tuple[SignalLook, ...] = ()
    window: TimeWindow | None = None
    baseline: TimeWindow | None = None
    zone: str | None = None
    lacks: tuple[Lack, ...] = ()
    counts: Mapping[str, int] | None = None
    obstacle: InvalidInput | None = None
