"""Views of the incident by onset, shared by the tools of one run and computed once each."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from math import inf
from threading import RLock
from typing import TypeVar

from diagnosis_harness.analysis.graph import CallGraph
from diagnosis_harness.analysis.onset import (
    MOST_REACH_S,
    REACH_S,
    OnsetEstimate,
    estimate_onset,
    is_at_the_edge,
)
from diagnosis_harness.analysis.platform_history import Occurrence
from diagnosis_harness.harness.context import RunContext
from diagnosis_harness.kernel.errors import MemoryLimit, ToolFailure
from diagnosis_harness.toolbox.episode import end_of_episode
from diagnosis_harness.toolbox.event_clues import first_fault
from diagnosis_harness.toolbox.incident_view import IncidentView, Recorded, build_incident_view
from diagnosis_harness.toolbox.inventory import askable_names, entity_names
from diagnosis_harness.toolbox.log_view import read_log_recordings
from diagnosis_harness.toolbox.metric_grid import MetricSeries, read_metric_series
from diagnosis_harness.toolbox.metric_table import MOST_AFTER_S
from diagnosis_harness.toolbox.platform_view import platform_occurrences
from diagnosis_harness.toolbox.ports import AlertInfo, Sources
from diagnosis_harness.toolbox.span_table import load_span_view
from diagnosis_harness.toolbox.step_onset import step_onset, step_onset_of_all

_Read = TypeVar("_Read")


class ViewPart(StrEnum):
    """Telemetry that is read as a whole; if one kind does not fit into memory, the others are used."""

    METRICS = "metrics"
    SPANS = "spans"
    LOGS = "log lines"


VIEWS_MAX = 3
"""A run uses two or three onsets; an hour of 3,000 series takes some 20 MB in each view."""


@dataclass(slots=True)
class Views:
    """Views by onset, with a cache of the most recently used ones; safe to share between threads."""

    sources: Sources
    _lock: RLock = field(default_factory=RLock)
    _recorded: Recorded | None = None
    _failures: dict[ViewPart, ToolFailure] = field(default_factory=dict)
    _views: dict[tuple[float, float | None], IncidentView] = field(default_factory=dict)
    _onsets: dict[float | None, OnsetEstimate | None] = field(default_factory=dict)
    _names: frozenset[str] | None = None
    _events: tuple[Occurrence, ...] | None = None

    def at(self, ctx: RunContext, onset_s: float, until_s: float | None = None) -> IncidentView:
        """The view for exactly this onset, up to the given end or the end of the trouble."""
        span = (onset_s, until_s)
        with self._lock:
            view = self._views.pop(span, None)
            if view is None:
                view = self._build(ctx, onset_s, until_s)
            self._views[span] = view
            while len(self._views) > VIEWS_MAX:
                self._views.pop(next(iter(self._views)))
            return view

    def _build(self, ctx: RunContext, onset_s: float, until_s: float | None) -> IncidentView:
        recorded = self._read(ctx)
        view = build_incident_view(ctx, self.sources, recorded, onset_s=onset_s, until_s=until_s)
        if until_s is not None or view.metrics is None:
            return view
        alert = self.sources.summary.summary(ctx).alert
        entity = alert.entity or view.usual_entry()
        symptoms = [] if entity is None else view.symptoms_of_entity(entity)
        # In a whole system some series rises and falls at any time; that is no entity's episode.
        rows = view.indicator_rows(alert) if symptoms else []
        over_s = end_of_episode(view.metrics, rows, also=symptoms) if rows else None
        if over_s is None:
            return view
        cut = build_incident_view(ctx, self.sources, recorded, onset_s=onset_s, until_s=over_s)
        return replace(cut, over_s=over_s)

    def uncut(self, ctx: RunContext, view: IncidentView) -> IncidentView:
        """The view without the end that an episode set: an episode says nothing about the time after it."""
        if view.over_s is None:
            return view
        return self.at(ctx, view.onset_s, view.onset_s + MOST_AFTER_S)

    def troubles(self) -> tuple[str, ...]:
        """One sentence for each kind of telemetry that could not be read."""
        return tuple(f"{kind} were not compared: {failure}" for kind, failure in self._failures.items())

    def require(self, kind: ViewPart) -> None:
        """Refuse to continue without telemetry that could not be read: finding nothing in it is no finding.

        Raises:
            ToolFailure: with the reason why it could not be read.
        """
        if kind in self._failures:
            raise self._failures[kind]

    def _read(self, ctx: RunContext) -> Recorded:
        """All telemetry, read once: only what is computed from it depends on the onset."""
        if self._recorded is None:
            topology = self.sources.topology
            owners = {} if topology is None else topology.owners(ctx)
            source = self.sources.metrics
            series = self._try(
                ViewPart.METRICS, lambda: None if source is None else read_metric_series(ctx, source)
            )
            spans = self._try(ViewPart.SPANS, lambda: load_span_view(ctx, self.sources, owners=owners))
            known = entity_names(ctx, self.sources)
            logs = self._try(
                ViewPart.LOGS,
                lambda: read_log_recordings(ctx, self.sources, known=known, owners=owners),
            )
            self._recorded = Recorded(series or MetricSeries(), spans, logs, self.events(ctx))
        return self._recorded

    def _try(self, kind: ViewPart, read: Callable[[], _Read | None]) -> _Read | None:
        """The telemetry; None if it does not fit into memory, which another attempt would not change.

        Log lines complement other telemetry, so no failure to read them stops the rest.
        """
        try:
            return read()
        except ToolFailure as failure:
            if kind is not ViewPart.LOGS and not isinstance(failure, MemoryLimit):
                raise
            self._failures[kind] = failure
            return None

    def events(self, ctx: RunContext) -> tuple[Occurrence, ...]:
        """Platform reports, read once; see `platform_occurrences`."""
        with self._lock:
            if self._events is None:
                platform = self.sources.platform
                summary = self.sources.summary.summary(ctx)
                self._events = () if platform is None else platform_occurrences(ctx, platform, summary)
            return self._events

    def for_onset(
        self, ctx: RunContext, given_s: float | None, *, until_s: float | None = None
    ) -> IncidentView | None:
        """The view for a given onset, otherwise for the one found; None if there is none."""
        if given_s is not None:
            return self.at(ctx, given_s, until_s)
        found = self.onset(ctx, None)
        return None if found is None else self.at(ctx, found.time_s, until_s)

    def onset(self, ctx: RunContext, given_s: float | None) -> OnsetEstimate | None:
        """The onset to use, and what the indicators show about it.

        A given or stated onset is used unchanged. The time of an alert is replaced by an earlier one if the
        alerting indicator clearly changed then, or several symptoms stepped together: an alert fires after
        what it reports. Without either, the indicators alone decide. If they are not clear, the first fault
        that a platform reports and that still lasts is used, then the strongest step that symptoms of the
        system take together; None if there is none either.
        """
        with self._lock:  # also taken in `at`, so two threads never search for the same onset twice
            if given_s not in self._onsets:
                self._onsets[given_s] = self._find_onset(ctx, given_s)
            return self._onsets[given_s]

    def _find_onset(self, ctx: RunContext, given_s: float | None) -> OnsetEstimate | None:
        summary = self.sources.summary.summary(ctx)
        firm = given_s if given_s is not None else summary.onset_s
        stated = firm if firm is not None else summary.alert.time_s
        anchor = stated if stated is not None else summary.incident.end_s if summary.incident else None
        if anchor is None:
            return self._onset_by_platform(ctx)
        view = self.at(ctx, anchor)
        if stated is None:
            return (
                step_onset(view, summary.alert, alert_s=None)
                or _split_onset(view, summary.alert, stated_s=None, latest_s=inf)
                or self._onset_by_platform(ctx)
                or step_onset_of_all(view, alert_s=None)
            )
        found = _onset_near(view, summary.alert, stated, is_firm=firm is not None)
        if found is None:
            return OnsetEstimate(stated, None, 0.0, moved=False)
        if firm is not None:
            return OnsetEstimate(firm, found.estimated_s, found.clarity, moved=False)
        return found

    def _onset_by_platform(self, ctx: RunContext) -> OnsetEstimate | None:
        """When the first fault was reported that still lasts; a platform report needs no clarity."""
        fault = first_fault(self.events(ctx))
        return None if fault is None else OnsetEstimate(fault.first_s, fault.first_s, 0.0, moved=True)

    def onset_of_entity(self, ctx: RunContext, entity: str) -> OnsetEstimate | None:
        """The onset from an entity's own symptoms alone; None if one was stated, or they are not clear.

        Earlier or stronger trouble of another entity does not date this one's.
        """
        summary = self.sources.summary.summary(ctx)
        stated = summary.onset_s if summary.onset_s is not None else summary.alert.time_s
        if stated is not None or summary.incident is None:
            return None
        view = self.at(ctx, summary.incident.end_s)
        rows = view.symptoms_of_entity(entity)
        if view.metrics is None or not rows:
            return None
        begins_s = view.metrics.time_s - 0.5 * view.metrics.step_s
        return estimate_onset(begins_s, view.metrics.value[rows], stated_s=None)

    def names(self, ctx: RunContext) -> frozenset[str]:
        """The names that tools accept. It takes no lock: callers never wait for a view."""
        names = self._names
        if names is None:
            names = self._names = askable_names(ctx, self.sources)
        return names

    def find_affected(self, ctx: RunContext) -> str | None:
        """The entity that shows the incident: the alert's, otherwise an entry point."""
        alert = self.sources.summary.summary(ctx).alert
        view = self._any(ctx)
        return alert.entity or (view.usual_entry() if view is not None else None)

    def find_indicated(self, ctx: RunContext) -> str | None:
        """The entity whose series the onset is estimated from; None if there are several, or none."""
        view = self._any(ctx)
        fault = first_fault(self.events(ctx))
        found = self.onset(ctx, None)
        if view is not None and fault is not None and found is not None and found.time_s == fault.first_s:
            return view.owners.get(fault.entity, fault.entity)
        if view is None or view.metrics is None or (found is not None and found.by_several):
            return None
        rows = view.metrics.rows
        alert = self.sources.summary.summary(ctx).alert
        owners = {rows[place].owner for place in view.indicator_rows(alert)}
        return owners.pop() if len(owners) == 1 else None

    def is_onset_searched(self, ctx: RunContext) -> bool:
        """Whether only a joint step of several entities shows when it began."""
        summary = self.sources.summary.summary(ctx)
        if summary.onset_s is not None or summary.alert.time_s is not None:
            return False
        found = self.onset(ctx, None)
        return found is not None and found.by_several

    def graph(self, ctx: RunContext) -> tuple[CallGraph, Mapping[str, str]]:
        """The call graph between services, and the service of each instance; empty if unknown."""
        view = self._any(ctx)
        return (CallGraph(), {}) if view is None else (view.graph, view.owners)

    def _any(self, ctx: RunContext) -> IncidentView | None:
        found = self.for_onset(ctx, None)
        if found is not None:
            return found
        incident = self.sources.summary.summary(ctx).incident
        return self.at(ctx, incident.end_s if incident is not None else 0.0)


def _onset_near(
    view: IncidentView, alert: AlertInfo, stated_s: float, *, is_firm: bool
) -> OnsetEstimate | None:
    """What the indicators show around a stated time or that of an alert; None if they show nothing.

    A split at the very edge of what was searched began further away, and an alert that fired long after it
    has no change near it at all. Then more is searched, for a change that lasts: if even an hour does not
    reach one, the indicators show no beginning.
    """
    found = _onset_within(view, alert, stated_s, is_firm=is_firm)
    step_s = 0.0 if view.metrics is None else view.metrics.step_s
    at_edge = is_at_the_edge(found, stated_s, step_s, reach_s=REACH_S)
    if found is not None and found.estimated_s is not None and not at_edge:
        return found
    latest_s, reach_s = inf if is_firm else stated_s, REACH_S
    while reach_s < MOST_REACH_S:
        reach_s = min(2.0 * reach_s, MOST_REACH_S)
        further = _split_onset(view, alert, stated_s=stated_s, latest_s=latest_s, reach_s=reach_s)
        is_beyond = is_at_the_edge(further, stated_s, step_s, reach_s=reach_s)
        if further is not None and further.estimated_s is not None and not is_beyond:
            return further
    return None if at_edge else found


def _onset_within(
    view: IncidentView, alert: AlertInfo, stated_s: float, *, is_firm: bool
) -> OnsetEstimate | None:
    """The change within `REACH_S`: of the indicators, or of several symptoms together near an alert."""
    latest_s = inf if is_firm else stated_s
    found = _split_onset(view, alert, stated_s=stated_s, latest_s=latest_s)
    if is_firm:
        return found
    near = step_onset(view, alert, alert_s=stated_s)
    if near is not None:
        return near
    clear = found is not None and found.moved
    return found if clear else step_onset_of_all(view, alert_s=stated_s) or found


def _split_onset(
    view: IncidentView,
    alert: AlertInfo,
    *,
    stated_s: float | None,
    latest_s: float,
    reach_s: float = REACH_S,
) -> OnsetEstimate | None:
    """The split of the indicators around a time; None without indicators."""
    table, rows = view.metrics, view.indicator_rows(alert)
    if table is None or not rows:
        return None
    begins_s = table.time_s - 0.5 * table.step_s
    return estimate_onset(begins_s, table.value[rows], stated_s=stated_s, latest_s=latest_s, reach_s=reach_s)
