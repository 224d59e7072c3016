"""The ports of telemetry sources, which adapters implement.

A source may have two recordings: the incident itself and optionally a baseline of normal operation recorded
at another time. All times are seconds since the Unix epoch, UTC. Arrays are read-only.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final, Protocol

import numpy as np
from numpy.typing import NDArray

from diagnosis_harness.analysis.meaning import SignalForm, SignalKind, SignalSide
from diagnosis_harness.harness.context import RunContext
from diagnosis_harness.kernel.window import TimeWindow

UNNAMED_ENTITY: Final = "system"
"""The entity of a series without a known entity: it may show something, but is never a cause."""


class Recording(StrEnum):
    """The incident or the baseline recording."""

    INCIDENT = "INCIDENT"
    BASELINE = "BASELINE"  # recorded separately from the incident; its clock times are not comparable


@dataclass(frozen=True, slots=True)
class SeriesMeaning:
    """What the source, or a person in its settings, states about a series; None if not stated.

    A statement takes precedence over what the tools derive from the names of entity, signal and unit. If
    only the kind is stated, its usual harmful direction applies.
    """

    kind: SignalKind | None = None
    side: SignalSide | None = None
    harmful: int | None = None
    """+1 if a rise is harmful, -1 if a fall is, 0 if neither is."""
    form: SignalForm | None = None
    """How its values are produced, and so how they may be combined."""
    caller: str | None = None
    """For a series about calls: the caller. The entity of the series is then the callee."""
    query: str | None = None
    """The query that shows the same values in the source system."""


UNSTATED = SeriesMeaning()


@dataclass(frozen=True, slots=True)
class MetricSelection:
    """Which metric series are requested; None means no restriction.

    Attributes:
        entities: only series of these entities.
        signals: only series of these signals.
        window: only points inside it; a series without a point there is left out.
        step_s: at most one point per step of this length, the mean of its values; None for the recorded
            points.
    """

    entities: frozenset[str] | None = None
    signals: frozenset[str] | None = None
    window: TimeWindow | None = None
    step_s: float | None = None

    def includes(self, entity: str, signal: str) -> bool:
        """Whether the series of this entity and signal is requested."""
        return (self.entities is None or entity in self.entities) and (
            self.signals is None or signal in self.signals
        )


ALL_METRICS = MetricSelection()


@dataclass(frozen=True, slots=True)
class SignalInfo:
    """One metric series as the inventory lists it."""

    entity: str
    signal: str
    unit: str | None
    points: int
    """Finite values."""
    first_s: float
    last_s: float
    meaning: SeriesMeaning = UNSTATED


@dataclass(frozen=True, slots=True)
class Series:
    """One signal of one entity, ordered by time, without duplicate timestamps.

    `value` is NaN if the source has no number. Both arrays are float64 and of equal length.
    """

    entity: str
    signal: str
    unit: str | None
    time_s: NDArray[np.float64]
    value: NDArray[np.float64]
    meaning: SeriesMeaning = UNSTATED


@dataclass(frozen=True, slots=True)
class SpanTable:
    """Spans as columns of equal length, ordered by start.

    `parent` is the row number of the parent span, or -1 for a root or an unrecorded parent. `entity` and
    `operation` are indexes into the name tuples.
    """

    entities: tuple[str, ...]
    operations: tuple[str, ...]
    parent: NDArray[np.int32]
    entity: NDArray[np.int32]
    operation: NDArray[np.int32]
    start_s: NDArray[np.float64]
    duration_s: NDArray[np.float64]
    error: NDArray[np.bool_] | None
    """True if the span ended in an error; None if the source does not record it."""
    client: NDArray[np.bool_] | None = None
    """True if the span sent a request or message, rather than serving one; None if not recorded."""
    peers: tuple[str, ...] = ()
    peer: NDArray[np.int32] | None = None
    """The callee that a span names, as an index into `peers`; -1 if it names none."""

    def __len__(self) -> int:
        return len(self.parent)


@dataclass(frozen=True, slots=True)
class CallEdge:
    """One entity calls (or depends on) another."""

    caller: str
    callee: str


@dataclass(frozen=True, slots=True)
class LogLine:
    """One log line; its text is untrusted."""

    time_s: float
    entity: str | None
    level: str | None
    message: str
    context: str | None = None
    """The span, trace or thread that wrote it, as named by the source: its lines follow one another."""


@dataclass(frozen=True, slots=True)
class LogShape:
    """Lines of one entity and level that differ only in their variable parts; text is untrusted."""

    entity: str | None
    level: str | None
    """The usual name of the level; see `analysis.log_text.level_of`."""
    text: str
    """The common part of the lines; see `analysis.log_text.mask_text`."""
    example: str
    """One of the lines, cut at `EXAMPLE_MAX` characters."""


EXAMPLE_MAX = 2_000
"""Length of a line that is shown or searched for names: a first line and the top of its stack trace."""


@dataclass(frozen=True, slots=True)
class LogTable:
    """All lines of a recording as columns of equal length, ordered by time, then as recorded."""

    shapes: tuple[LogShape, ...]
    shape: NDArray[np.int32]
    """For each line the index of its shape."""
    time_s: NDArray[np.float64]
    context: NDArray[np.int32]
    """Equal for lines of one entity written by one span, trace or thread; -1 if unknown."""

    def __len__(self) -> int:
        return len(self.shape)


@dataclass(frozen=True, slots=True)
class LogPage:
    """The first matching lines, in time order, and the total number of matches."""

    lines: tuple[LogLine, ...]
    matching: int
    searched: int


@dataclass(frozen=True, slots=True)
class ChangeEvent:
    """A deploy, flag, config or other change; text is untrusted.

    A commit has its `sha`, its file names and its diff; a deploy has the sha of the deployed commit.
    """

    time_s: float
    entity: str | None
    kind: str
    summary: str
    sha: str | None = None
    files: tuple[str, ...] = ()
    diff: str = ""
    author: str | None = None


@dataclass(frozen=True, slots=True)
class ReportedEvent:
    """A platform report about an object, `count` times from `first_s` to `last_s`; text is untrusted."""

    entity: str
    reason: str | None
    message: str
    first_s: float
    last_s: float
    count: int = 1


@dataclass(frozen=True, slots=True)
class PlatformState:
    """The state of one object of a platform at one time; text is untrusted."""

    entity: str
    time_s: float
    message: str


@dataclass(frozen=True, slots=True)
class AlertInfo:
    """The alert that raised the question, as the source records it. Every field may be missing."""

    entity: str | None = None
    signal: str | None = None
    statistic: str | None = None
    time_s: float | None = None
    direction: str | None = None
    summary: str | None = None
    others: tuple[str, ...] = field(default=(), compare=False)
    """Further short texts of the alert in its order, such as the values of its labels."""


@dataclass(frozen=True, slots=True)
class FileNote:
    """What one file, or one part of it, was used for."""

    file: str
    role: str | None
    """metrics, logs, traces, topology, changes, alert; None when the file was not used."""
    rows: int
    note: str
    """One sentence: what was recognised, what was left out and why."""
    form: str = field(default="", compare=False)
    """The recognised format; empty if the file was not read."""
    decided_by: str = field(default="", compare=False)
    """How it was recognised: `settings` (incident.toml), `name` or `content`."""


@dataclass(frozen=True, slots=True)
class SourceSummary:
    """What a source contains. Only the name is required; unused files are listed in `files`."""

    name: str
    alert: AlertInfo = field(default_factory=AlertInfo)
    onset_s: float | None = None
    """The onset stated in the source's settings; not an estimate."""
    incident: TimeWindow | None = None
    """First to last timestamp of the incident recording; None if it is empty."""
    baseline: TimeWindow | None = None
    """The same for a separately recorded baseline; None if there is none."""
    metric_series: int = 0
    log_lines: int = 0
    spans: int = 0
    edges: int = 0
    changes: int = 0
    platform_events: int = 0
    """Platform events, and snapshots of objects."""
    entities: tuple[str, ...] = ()
    files: tuple[FileNote, ...] = ()
    entities_by_kind: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """The names in each kind of telemetry (`metrics`, `spans`, `logs`, `changes`), in any recording;
        empty if the source cannot distinguish them."""
    zone: str | None = None
    """The time zone in the source's settings: an IANA name or an offset; else None."""
    aliases: Mapping[str, str] = field(default_factory=dict)
    """Alternative names for entities, such as those in another language, and the entity of each."""


class SummarySource(Protocol):
    """Describes the contents of a source."""

    def summary(self, ctx: RunContext) -> SourceSummary:
        """What the source contains. Cheap after the first call."""
        ...


class MetricSource(Protocol):
    """Metric series."""

    def signals(self, ctx: RunContext, recording: Recording) -> tuple[SignalInfo, ...]:
        """All series of a recording, ordered by entity and signal; may be empty."""
        ...

    def series(
        self, ctx: RunContext, recording: Recording, selection: MetricSelection = ALL_METRICS
    ) -> tuple[Series, ...]:
        """The selected series, ordered by entity and signal."""
        ...


class SpanSource(Protocol):
    """Spans of distributed traces."""

    def spans(self, ctx: RunContext, recording: Recording, *, window: TimeWindow | None = None) -> SpanTable:
        """The spans that start inside the window; None means all. The table may be empty."""
        ...


class TopologySource(Protocol):
    """The call graph, and which service each instance belongs to."""

    def edges(self, ctx: RunContext) -> tuple[CallEdge, ...]:
        """All known call edges between entities, ordered."""
        ...

    def owners(self, ctx: RunContext) -> Mapping[str, str]:
        """The service of each instance (pod, container, host); other entities are absent."""
        ...


class LogSource(Protocol):
    """Log lines."""

    def search(
        self,
        ctx: RunContext,
        recording: Recording,
        *,
        text: str | None,
        entities: Sequence[str] | None,
        window: TimeWindow | None,
        limit: int,
    ) -> LogPage:
        """Lines that contain `text` (plain, case-insensitive; None matches all), first `limit` by time.

        Only lines of the named entities, if any are given; `searched` counts all lines of those entities in
        the window.
        """
        ...

    def table(self, ctx: RunContext, recording: Recording) -> LogTable:
        """All lines of a recording by shape; the table may be empty."""
        ...


class ChangeSource(Protocol):
    """Deploys, flags, configuration changes."""

    def changes(self, ctx: RunContext, *, window: TimeWindow | None) -> tuple[ChangeEvent, ...]:
        """Changes inside the window, by time; None means all."""
        ...


class PlatformSource(Protocol):
    """Reports of a platform (Kubernetes, a managed database) about its objects."""

    def events(self, ctx: RunContext) -> tuple[ReportedEvent, ...]:
        """All events, by the time of the last occurrence."""
        ...

    def states(self, ctx: RunContext) -> tuple[PlatformState, ...]:
        """All snapshots, by time."""
        ...


@dataclass(frozen=True, slots=True)
class Sources:
    """The sources of one diagnosis; absent telemetry is None and reported as missing."""

    summary: SummarySource
    metrics: MetricSource | None = None
    spans: SpanSource | None = None
    topology: TopologySource | None = None
    logs: LogSource | None = None
    changes: ChangeSource | None = None
    platform: PlatformSource | None = None
