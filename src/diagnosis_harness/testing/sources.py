"""An in-memory source of telemetry: every port of `toolbox.ports`, built from arrays."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from diagnosis_harness.analysis.series import mean_per_step
from diagnosis_harness.harness.context import RunContext
from diagnosis_harness.kernel.window import TimeWindow
from diagnosis_harness.toolbox.log_lines import table_of_lines
from diagnosis_harness.toolbox.ports import (
    ALL_METRICS,
    AlertInfo,
    CallEdge,
    ChangeEvent,
    FileNote,
    LogLine,
    LogPage,
    LogTable,
    MetricSelection,
    PlatformState,
    Recording,
    ReportedEvent,
    Series,
    SignalInfo,
    Sources,
    SourceSummary,
    SpanTable,
)


def series_of(
    entity: str, signal: str, time_s: Sequence[float], value: Sequence[float], *, unit: str | None = None
) -> Series:
    """A series from plain numbers; NaN for a missing value. Times must increase."""
    instants = np.asarray(time_s, dtype=np.float64)
    values = np.asarray(value, dtype=np.float64)
    if instants.shape != values.shape or np.any(np.diff(instants) <= 0):
        raise ValueError("a series has as many values as instants, and the instants rise")
    return Series(entity, signal, unit, instants, values)


@dataclass(frozen=True, slots=True)
class SpanRow:
    """One span; `parent` is the row number of the parent in the same list, or -1."""

    trace: int
    parent: int
    entity: str
    operation: str
    start_s: float
    duration_s: float
    error: bool = False


def span_table(rows: Sequence[SpanRow]) -> SpanTable:
    """A span table from rows, ordered by start as the port requires."""
    entities = tuple(sorted({row.entity for row in rows}))
    operations = tuple(sorted({row.operation for row in rows}))
    order = sorted(range(len(rows)), key=lambda i: (rows[i].start_s, rows[i].trace, i))
    place = {old: new for new, old in enumerate(order)}
    kept = [rows[i] for i in order]
    return SpanTable(
        entities=entities,
        operations=operations,
        parent=np.array([place.get(row.parent, -1) for row in kept], dtype=np.int32),
        entity=np.array([entities.index(row.entity) for row in kept], dtype=np.int32),
        operation=np.array([operations.index(row.operation) for row in kept], dtype=np.int32),
        start_s=np.array([row.start_s for row in kept], dtype=np.float64),
        duration_s=np.array([row.duration_s for row in kept], dtype=np.float64),
        error=np.array([row.error for row in kept], dtype=np.bool_),
    )


@dataclass(frozen=True, slots=True)
class InMemorySources:
    """Telemetry in memory. `sources()` returns it as the ports, where empty kinds are absent.

    Window filters are half-open, like `TimeWindow`. `calls` counts the calls of each port method.
    """

    incident: tuple[Series, ...] = ()
    baseline: tuple[Series, ...] = ()
    incident_spans: SpanTable | None = None
    baseline_spans: SpanTable | None = None
    call_edges: tuple[CallEdge, ...] = ()
    part_of: Mapping[str, str] = field(default_factory=dict)
    log_lines: tuple[LogLine, ...] = ()
    baseline_log_lines: tuple[LogLine, ...] = ()
    change_events: tuple[ChangeEvent, ...] = ()
    platform_events: tuple[ReportedEvent, ...] = ()
    platform_states: tuple[PlatformState, ...] = ()
    alert: AlertInfo = field(default_factory=AlertInfo)
    onset_s: float | None = None
    files: tuple[FileNote, ...] = ()
    name: str = "in-memory"
    calls: dict[str, int] = field(default_factory=dict)

    def sources(self) -> Sources:
        """The ports; a kind without data is None."""
        spans = self.incident_spans is not None or self.baseline_spans is not None
        return Sources(
            summary=self,
            metrics=self if self.incident or self.baseline else None,
            spans=self if spans else None,
            topology=self if self.call_edges or self.part_of else None,
            logs=self if self.log_lines or self.baseline_log_lines else None,
            changes=self if self.change_events else None,
            platform=self if self.platform_events or self.platform_states else None,
        )

    def summary(self, ctx: RunContext) -> SourceSummary:  # noqa: ARG002 - the port's shape
        """A summary of the telemetry."""
        self._count("summary")
        spans = self.incident_spans
        names = {one.entity for one in (*self.incident, *self.baseline)}
        names.update(name for edge in self.call_edges for name in (edge.caller, edge.callee))
        names.update(self.part_of, self.part_of.values())
        names.update(spans.entities if spans is not None else ())
        names.update(event.entity for event in self.platform_events)
        names.update(state.entity for state in self.platform_states)
        return SourceSummary(
            name=self.name,
            alert=self.alert,
            onset_s=self.onset_s,
            incident=_extent(self.incident, spans, self.log_lines),
            baseline=_extent(self.baseline, self.baseline_spans, self.baseline_log_lines),
            metric_series=len(self.incident),
            log_lines=len(self.log_lines),
            spans=0 if spans is None else len(spans),
            edges=len(self.call_edges),
            changes=len(self.change_events),
            platform_events=len(self.platform_events) + len(self.platform_states),
            entities=tuple(sorted(names)),
            files=self.files,
            entities_by_kind={kind: tuple(sorted(own)) for kind, own in self._names().items() if own},
        )

    def _names(self) -> dict[str, set[str]]:
        tables = (self.incident_spans, self.baseline_spans)
        lines = (*self.log_lines, *self.baseline_log_lines)
        return {
            "metrics": {one.entity for one in (*self.incident, *self.baseline)},
            "spans": {name for table in tables if table is not None for name in table.entities},
            "logs": {line.entity for line in lines if line.entity is not None},
            "changes": {event.entity for event in self.change_events if event.entity is not None},
        }

    def signals(self, ctx: RunContext, recording: Recording) -> tuple[SignalInfo, ...]:  # noqa: ARG002 - the port's shape
        """The inventory of a recording."""
        self._count("signals")
        return tuple(
            SignalInfo(
                one.entity,
                one.signal,
                one.unit,
                int(np.isfinite(one.value).sum()),
                float(one.time_s[0]),
                float(one.time_s[-1]),
                one.meaning,
            )
            for one in self._series_in_order(recording)
            if len(one.time_s)
        )

    def series(
        self,
        ctx: RunContext,  # noqa: ARG002 - the port's shape
        recording: Recording,
        selection: MetricSelection = ALL_METRICS,
    ) -> tuple[Series, ...]:
        """The selected series, ordered by entity and signal."""
        self._count("series")
        found: list[Series] = []
        for one in self._series_in_order(recording):
            if not selection.includes(one.entity, one.signal):
                continue
            inside = slice(None) if selection.window is None else _inside(one.time_s, selection.window)
            time_s, value = one.time_s[inside], one.value[inside]
            if selection.step_s is not None:
                time_s, value = mean_per_step(time_s, value, selection.step_s)
            if len(time_s):
                time_s.setflags(write=False)
                value.setflags(write=False)
                found.append(replace(one, time_s=time_s, value=value))
        return tuple(found)

    def spans(self, ctx: RunContext, recording: Recording, *, window: TimeWindow | None = None) -> SpanTable:  # noqa: ARG002 - the port's shape
        """The spans that start in the window; a parent outside it becomes -1."""
        self._count("spans")
        table = self.incident_spans if recording is Recording.INCIDENT else self.baseline_spans
        if table is None:
            return span_table(())
        if window is None:
            return table
        keep = (table.start_s >= window.start_s) & (table.start_s < window.end_s)
        place = np.where(keep, np.cumsum(keep) - 1, -1)
        parent = np.where(table.parent >= 0, place[np.maximum(table.parent, 0)], -1)
        return SpanTable(
            table.entities,
            table.operations,
            parent[keep].astype(np.int32),
            table.entity[keep],
            table.operation[keep],
            table.start_s[keep],
            table.duration_s[keep],
            None if table.error is None else table.error[keep],
        )

    def edges(self, ctx: RunContext) -> tuple[CallEdge, ...]:  # noqa: ARG002 - the port's shape
        """The call edges, ordered."""
        self._count("edges")
        return tuple(sorted(set(self.call_edges), key=lambda edge: (edge.caller, edge.callee)))

    def owners(self, ctx: RunContext) -> Mapping[str, str]:  # noqa: ARG002 - the port's shape
        """Instance to service."""
        self._count("owners")
        return dict(self.part_of)

    def search(
        self,
        ctx: RunContext,  # noqa: ARG002 - the port's shape
        recording: Recording,
        *,
        text: str | None,
        entities: Sequence[str] | None,
        window: TimeWindow | None,
        limit: int,
    ) -> LogPage:
        """The first matching lines by time."""
        self._count("search")
        lines = self.log_lines if recording is Recording.INCIDENT else self.baseline_log_lines
        within = [
            line
            for line in sorted(lines, key=lambda line: line.time_s)
            if (entities is None or line.entity in entities)
            and (window is None or window.contains(line.time_s))
        ]
        found = [line for line in within if text is None or text.casefold() in line.message.casefold()]
        return LogPage(tuple(found[:limit]), len(found), len(within))

    def table(self, ctx: RunContext, recording: Recording) -> LogTable:  # noqa: ARG002 - the port's shape
        """All lines by shape."""
        self._count("table")
        return table_of_lines(self.log_lines if recording is Recording.INCIDENT else self.baseline_log_lines)

    def changes(self, ctx: RunContext, *, window: TimeWindow | None) -> tuple[ChangeEvent, ...]:  # noqa: ARG002 - the port's shape
        """The changes by time."""
        self._count("changes")
        events = sorted(self.change_events, key=lambda event: event.time_s)
        return tuple(event for event in events if window is None or window.contains(event.time_s))

    def events(self, ctx: RunContext) -> tuple[ReportedEvent, ...]:  # noqa: ARG002 - the port's shape
        """The events by the time of the last occurrence."""
        self._count("events")
        return tuple(sorted(self.platform_events, key=lambda event: event.last_s))

    def states(self, ctx: RunContext) -> tuple[PlatformState, ...]:  # noqa: ARG002 - the port's shape
        """The snapshots by time."""
        self._count("states")
        return tuple(sorted(self.platform_states, key=lambda state: state.time_s))

    def _series_in_order(self, recording: Recording) -> list[Series]:
        series = self.incident if recording is Recording.INCIDENT else self.baseline
        return sorted(series, key=lambda one: (one.entity, one.signal))

    def _count(self, method: str) -> None:
        self.calls[method] = self.calls.get(method, 0) + 1


def _inside(time_s: np.ndarray[tuple[int, ...], np.dtype[np.float64]], window: TimeWindow) -> slice:
    start, end = np.searchsorted(time_s, (window.start_s, window.end_s), side="left")
    return slice(int(start), int(end))


def _extent(series: Sequence[Series], spans: SpanTable | None, lines: Sequence[LogLine]) -> TimeWindow | None:
    instants = [float(one.time_s[i]) for one in series if len(one.time_s) for i in (0, -1)]
    instants += [line.time_s for line in lines]
    if spans is not None and len(spans):
        instants += [float(spans.start_s.min()), float((spans.start_s + spans.duration_s).max())]
    return TimeWindow(min(instants), max(instants)) if instants else None
