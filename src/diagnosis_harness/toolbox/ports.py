"""The ports of the sources of telemetry, which adapters implement.

Two recordings may stand behind one source: the incident itself, and, where there is one, a baseline of normal
operation recorded at another time. All times are seconds since the Unix epoch, UTC. Arrays are read-only.
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
"""The entity of a series of which nothing says whose it is: it may show something, and is never a cause."""


class Recording(StrEnum):
    """The incident or the baseline recording."""

    INCIDENT = "INCIDENT"
    BASELINE = "BASELINE"  # recorded separately from the incident; its clock times are not comparable


@dataclass(frozen=True, slots=True)
class SeriesMeaning:
    """What the source, or a person in its settings, states about a series; None where nobody says.

    What is stated here wins over what the tools derive from the names of entity, signal and unit. Where only
    the kind is stated, its usual harmful direction holds.
    """

    kind: SignalKind | None = None
    side: SignalSide | None = None
    harmful: int | None = None
    """+1 where a rise does harm, -1 where a fall does, 0 where neither does."""
    form: SignalForm | None = None
    """How its values come about, and so how they may be put together."""
    caller: str | None = None
    """For a series about calls: who makes them. The entity of the series is then the callee."""
    query: str | None = None
    """What to ask the system behind the source to see the same values."""


UNSTATED = SeriesMeaning()


@dataclass(frozen=True, slots=True)
class MetricSelection:
    """Which metric series are wanted; None means no restriction.

    Attributes:
        entities: only series of these entities.
        signals: only series of these signals.
        window: only points inside it; a series without a point there is left out.
        step_s: at most one point per step of this length, the mean of its values; None as recorded.
    """

    entities: frozenset[str] | None = None
    signals: frozenset[str] | None = None
    window: TimeWindow | None = None
    step_s: float | None = None

    def includes(self, entity: str, signal: str) -> bool:
        """Whether the series of this entity and signal is wanted."""
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

    `value` is NaN where the source had no number. Both arrays are float64 and of equal length.
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

    `parent` holds the row number of the parent span, or -1 for a root or where the parent was not recorded.
    `entity` and `operation` hold indexes into the name tuples.
    """

    entities: tuple[str, ...]
    operations: tuple[str, ...]
    parent: NDArray[np.int32]
    entity: NDArray[np.int32]
    operation: NDArray[np.int32]
    start_s: NDArray[np.float64]
    duration_s: NDArray[np.float64]
    error: NDArray[np.bool_] | None
    """True where the span ended in an error; None where the source does not say."""
    client: NDArray[np.bool_] | None = None
    """True where a request or message was sent, and not served; None where the source does not say."""
    peers: tuple[str, ...] = ()
    peer: NDArray[np.int32] | None = None
    """Whom a span calls, as it says itself: indexes into `peers`, -1 where it names nobody."""

    def __len__(self) -> int:
        return len(self.parent)


@dataclass(frozen=True, slots=True)
class CallEdge:
    """One entity calls (or depends on) another."""

    caller: str
    callee: str


@dataclass(frozen=True, slots=True)
class LogLine:
    """One log line, text untrusted."""

    time_s: float
    entity: str | None
    level: str | None
    message: str
    context: str | None = None
    """The span, trace or thread that wrote it, as the source names it: its lines follow one another."""


@dataclass(frozen=True, slots=True)
class LogShape:
    """Lines of one entity and level that are equal apart from what varies in them, text untrusted."""

    entity: str | None
    level: str | None
    """By its usual name; see `analysis.log_text.level_of`."""
    text: str
    """What they have in common; see `analysis.log_text.mask_text`."""
    example: str
    """One of the lines, cut at `EXAMPLE_MAX` characters."""


EXAMPLE_MAX = 2_000
"""Characters of a line that is shown or searched for names: a first line and the head of its stack."""


@dataclass(frozen=True, slots=True)
class LogTable:
    """All lines of a recording as columns of equal length, ordered by time, then as they were recorded."""

    shapes: tuple[LogShape, ...]
    shape: NDArray[np.int32]
    """Of each line the index of its shape."""
    time_s: NDArray[np.float64]
    context: NDArray[np.int32]
    """Equal for lines of one entity that one span, trace or thread wrote; -1 where none is known."""

    def __len__(self) -> int:
        return len(self.shape)


@dataclass(frozen=True, slots=True)
class LogPage:
    """The first lines that match, in time order, and how many match in all."""

    lines: tuple[LogLine, ...]
    matching: int
    searched: int


@dataclass(frozen=True, slots=True)
class ChangeEvent:
    """A deploy, flag, config or other change, text untrusted.

    A commit has its `sha`, the names of its files and its diff; a deploy has the sha of what it deployed.
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
    """What a platform reported of an object, `count` times from `first_s` to `last_s`; text untrusted."""

    entity: str
    reason: str | None
    message: str
    first_s: float
    last_s: float
    count: int = 1


@dataclass(frozen=True, slots=True)
class PlatformState:
    """How one object of a platform was at one time, text untrusted."""

    entity: str
    time_s: float
    message: str


@dataclass(frozen=True, slots=True)
class AlertInfo:
    """What raised the question, as the source records it. Everything may be missing."""

    entity: str | None = None
    signal: str | None = None
    statistic: str | None = None
    time_s: float | None = None
    direction: str | None = None
    summary: str | None = None


@dataclass(frozen=True, slots=True)
class FileNote:
    """What became of one file, or of one part of it."""

    file: str
    role: str | None
    """metrics, logs, traces, topology, changes, alert; None when the file was not used."""
    rows: int
    note: str
    """One sentence: what was understood, what was left out and why."""
    form: str = field(default="", compare=False)
    """The format it was taken for; empty where it was not read."""
    decided_by: str = field(default="", compare=False)
    """What said so: `settings` (incident.toml), `name` or `content`."""


@dataclass(frozen=True, slots=True)
class SourceSummary:
    """What a source holds. Only the name is required; files that were not used are listed in `files`."""

    name: str
    alert: AlertInfo = field(default_factory=AlertInfo)
    onset_s: float | None = None
    """Onset as the source's own settings state it, not an estimate."""
    incident: TimeWindow | None = None
    """First to last timestamp of the incident recording; None when it is empty."""
    baseline: TimeWindow | None = None
    """The same for a baseline recorded separately; None when there is none."""
    metric_series: int = 0
    log_lines: int = 0
    spans: int = 0
    edges: int = 0
    changes: int = 0
    platform_events: int = 0
    """Events of a platform, and snapshots of its objects."""
    entities: tuple[str, ...] = ()
    files: tuple[FileNote, ...] = ()
    entities_by_kind: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """The names that each kind of telemetry holds (`metrics`, `spans`, `logs`, `changes`), in any recording;
    empty where the source cannot distinguish them."""
    zone: str | None = None
    """The time zone that the source's own settings name: an IANA name or an offset; else None."""
    aliases: Mapping[str, str] = field(default_factory=dict)
    """Other names that people give to entities, such as those in another language, and the entity of each."""


class SummarySource(Protocol):
    """Describes what a source holds."""

    def summary(self, ctx: RunContext) -> SourceSummary:
        """What the source holds. Cheap after the first call."""
        ...


class MetricSource(Protocol):
    """Metric series."""

    def signals(self, ctx: RunContext, recording: Recording) -> tuple[SignalInfo, ...]:
        """All series of a recording, ordered by entity and signal; empty where there are none."""
        ...

    def series(
        self, ctx: RunContext, recording: Recording, selection: MetricSelection = ALL_METRICS
    ) -> tuple[Series, ...]:
        """The selected series, ordered by entity and signal."""
        ...


class SpanSource(Protocol):
    """Spans of distributed traces."""

    def spans(self, ctx: RunContext, recording: Recording, *, window: TimeWindow | None = None) -> SpanTable:
        """The spans that start inside the window; None means all. Empty table where there are none."""
        ...


class TopologySource(Protocol):
    """Who calls whom, and what is a part of what."""

    def edges(self, ctx: RunContext) -> tuple[CallEdge, ...]:
        """All known call edges between entities, ordered."""
        ...

    def owners(self, ctx: RunContext) -> Mapping[str, str]:
        """Instance (pod, container, host) to the service it is a part of; others are absent."""
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

        Only lines of the named entities, where any are; `searched` counts the lines of those and of the
        window.
        """
        ...

    def table(self, ctx: RunContext, recording: Recording) -> LogTable:
        """All lines of a recording by shape; an empty table where there are none."""
        ...


class ChangeSource(Protocol):
    """Deploys, flags, configuration changes."""

    def changes(self, ctx: RunContext, *, window: TimeWindow | None) -> tuple[ChangeEvent, ...]:
        """Changes inside the window, by time; None means all."""
        ...


class PlatformSource(Protocol):
    """What a platform (Kubernetes, a managed database) reports of its objects."""

    def events(self, ctx: RunContext) -> tuple[ReportedEvent, ...]:
        """All events, by the time of the last occurrence."""
        ...

    def states(self, ctx: RunContext) -> tuple[PlatformState, ...]:
        """All snapshots, by time."""
        ...


@dataclass(frozen=True, slots=True)
class Sources:
    """The sources behind one diagnosis; absent telemetry is None and reported as missing."""

    summary: SummarySource
    metrics: MetricSource | None = None
    spans: SpanSource | None = None
    topology: TopologySource | None = None
    logs: LogSource | None = None
    changes: ChangeSource | None = None
    platform: PlatformSource | None = None
