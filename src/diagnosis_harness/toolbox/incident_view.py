"""The computed view of one incident for one onset: tables, groups, graph and ranking."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

import numpy as np

from diagnosis_harness.analysis.clue import Clue, Modality
from diagnosis_harness.analysis.graph import CallGraph, graph_of, reachable, shortest_paths
from diagnosis_harness.analysis.meaning import RESOURCES, SYMPTOMS, SignalSide
from diagnosis_harness.analysis.platform_history import Occurrence
from diagnosis_harness.analysis.rank import Candidate, rank, reality_of
from diagnosis_harness.analysis.signal_words import words_of
from diagnosis_harness.analysis.span_findings import (
    call_failure_groups,
    call_gap_groups,
    call_pattern_groups,
    failure_groups,
    self_time_groups,
)
from diagnosis_harness.harness.context import RunContext
from diagnosis_harness.toolbox.alias import find_aliases, merge_aliases
from diagnosis_harness.toolbox.clues import (
    SpanGroups,
    metric_gaps,
    metric_resources,
    metric_symptoms,
    own_time_known,
    span_clues,
)
from diagnosis_harness.toolbox.effect import Effect, effect_of
from diagnosis_harness.toolbox.ended_series import clues_of_ended, leave_out_callers_of_ended
from diagnosis_harness.toolbox.event_clues import event_clues
from diagnosis_harness.toolbox.held_limits import limit_clues
from diagnosis_harness.toolbox.independence import Independent, find_independent
from diagnosis_harness.toolbox.indicator import Indicator, find_indicator
from diagnosis_harness.toolbox.inventory import ends_of
from diagnosis_harness.toolbox.late_signals import leave_out_late
from diagnosis_harness.toolbox.log_clues import explain_by_callers, log_clues
from diagnosis_harness.toolbox.log_view import LogRecordings, LogView, build_log_view
from diagnosis_harness.toolbox.lost_caches import explain_by_caches, find_lost_caches
from diagnosis_harness.toolbox.metric_grid import MetricSeries
from diagnosis_harness.toolbox.metric_table import MetricTable, build_metric_table
from diagnosis_harness.toolbox.origin import CalleeSight, OwnEvidence
from diagnosis_harness.toolbox.ports import UNNAMED_ENTITY, AlertInfo, Sources
from diagnosis_harness.toolbox.silent_lines import silent_line_clues
from diagnosis_harness.toolbox.span_table import SpanView

KNOWN_SPANS = 10  # of an operation on both sides, from which spans replace latency metrics of their entity
# Words for a store or a queue, and the products that OpenTelemetry's conventions list as `db.system` and
# `messaging.system`, including object storage, in the short forms used in service names.
_STORE_WORDS = frozenset(
    [
        "cache",
        "database",
        "db",
        "queue",
        "sql",
        "cassandra",
        "clickhouse",
        "cockroachdb",
        "couchbase",
        "couchdb",
        "dynamodb",
        "elasticsearch",
        "influxdb",
        "mariadb",
        "memcached",
        "mongo",
        "mongodb",
        "mssql",
        "mysql",
        "opensearch",
        "oracle",
        "postgres",
        "postgresql",
        "redis",
        "s3",
        "sqlite",
        "activemq",
        "eventhubs",
        "kafka",
        "pulsar",
        "rabbitmq",
        "rocketmq",
        "servicebus",
        "sqs",
    ]
)


@dataclass(frozen=True, slots=True)
class RankedCauses:
    """Candidates for one affected entity and alert.

        Attributes:
            service: the node of the call graph that the affected entity is, or belongs to.
            effect: what the affected entity shows.
            paths: by candidate, the path of calls from the affected entity, both ends included; empty if none
                is known. None if there is no call graph at all.
            own: by candidate, the evidence that the trouble originates there, and its unseen callees.
            independent: the candidate that broke independently of the first.
    affected_services: the possibly affected entities: the alert's entity, otherwise all entry points.
            aliases: nodes that are only views of another, by name; their trouble is charged to that node.
    """

    affected: str | None
    service: str | None
    indicator: Indicator | None
    reality: float
    candidates: tuple[Candidate, ...]
    effect: Effect
    paths: Mapping[str, tuple[str, ...]] | None
    aliases: Mapping[str, str]
    own: Mapping[str, OwnEvidence]
    independent: Independent | None = None
    affected_services: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class IncidentView:
    """Tables, groups and graph for one onset. Immutable; the ranking depends on the alert."""

    onset_s: float
    graph: CallGraph
    owners: Mapping[str, str]
    metrics: MetricTable | None
    spans: SpanView | None
    groups: SpanGroups | None
    logs: LogView | None = None
    events: tuple[Occurrence, ...] = ()
    """All platform reports, whenever they were made."""
    over_s: float | None = None
    """When the trouble of the alert's entity was over, if nothing after it is judged; else None."""

    def ranking(self, alert: AlertInfo) -> RankedCauses:
        """Candidates, most suspect first; see `analysis.rank`."""
        affected = alert.entity or self.usual_entry()
        indicator = None
        if self.metrics is not None and alert.entity is not None and alert.signal is not None:
            indicator = find_indicator(
                self.metrics, entity=alert.entity, signal=alert.signal, statistic=alert.statistic
            )
        # A queue fills up, and a store reaches its limit, because of its clients.
        backlog = indicator is not None and indicator.kind not in SYMPTOMS
        reality = reality_of(indicator.z if indicator is not None else None)
        aliases = find_aliases(self.metrics, self.graph) if self.metrics is not None else {}
        service = None if affected is None else self.service_of(affected)
        service = aliases.get(service or "", service)
        clues = self._clues(alert, indicator)
        clues = [clue for clue in merge_aliases(clues, aliases) if clue.entity != UNNAMED_ENTITY]
        if service is not None and service in self.graph.entities:
            below = reachable(self.graph, service)
            if backlog:
                below |= frozenset(self.graph.callers.get(service, ()))
            # An entity without a path of calls to it cannot pass on trouble; one missing from the graph
            # may.
            clues = [c for c in clues if c.entity in below or c.entity not in self.graph.entities]
        # If the affected entity has no known callees, its own symptom cannot be an echo of theirs.
        echoing = service if service is not None and self.graph.callees.get(service) else None
        candidates = rank(clues, affected=echoing, reality=reality, stores=self._stores())
        # If no affected entity is named, the effect may show at any entry point.
        affected_services = (service,) if alert.entity is not None else self.graph.entries or (service,)
        reported = any(
            c.modality is Modality.STATE and not c.passed_on and c.entity in affected_services for c in clues
        )
        hit = {name for name in affected_services if name}
        part = affected if affected != service else None
        effect = effect_of(indicator, self.metrics, self.spans, hit, part=part, reported=reported)
        paths = self._paths(service, candidates, backlog=backlog)
        telemetry = CalleeSight(self.graph, self.metrics, self.spans, self.groups)
        own = {one.entity: telemetry.own_evidence(one) for one in candidates}
        independent_candidate = find_independent(candidates, self.graph, own)
        return RankedCauses(
            affected,
            service,
            indicator,
            reality,
            candidates,
            effect,
            paths,
            aliases,
            own,
            independent_candidate,
            frozenset(hit),
        )

    def service_of(self, entity: str) -> str:
        """The service that an instance belongs to; for a call `a->b` the callee.

        Otherwise the entity itself.
        """
        if entity in self.graph.entities:
            return entity
        if entity in self.owners:
            return self.owners[entity]
        rows = () if self.metrics is None else self.metrics.rows
        owner = next((row.owner for row in rows if row.entity == entity), entity)
        ends = ends_of(owner)
        return self.owners.get(ends[1], ends[1]) if ends else owner

    def _paths(
        self, service: str | None, candidates: Iterable[Candidate], *, backlog: bool
    ) -> Mapping[str, tuple[str, ...]] | None:
        """The path of calls to each candidate.

        An affected entity unknown to all telemetry is outside of the system, so its trouble came through an
        entry point.
        """
        if not self.graph.entities:
            return None
        start = service if service is None or self._knows(service) else self.usual_entry()
        users = self.graph.callers.get(start or "", ()) if backlog and start is not None else ()
        if start is None:
            return {}
        found = shortest_paths(self.graph, start, [one.entity for one in candidates])
        return {name: (start, name) if name in users else path for name, path in found.items()}

    def _knows(self, entity: str) -> bool:
        measured = self.metrics is not None and any(row.owner == entity for row in self.metrics.rows)
        traced = self.spans is not None and entity in self.spans.entities
        logged = self.logs is not None and any(one.entity == entity for one in self.logs.patterns)
        reported = any(self.owners.get(one.entity, one.entity) == entity for one in self.events)
        named = entity in self.graph.entities or entity in self.owners.values()
        return named or measured or traced or logged or reported

    def _clues(self, alert: AlertInfo, indicator: Indicator | None) -> list[Clue]:
        clues: list[Clue] = []
        known: Mapping[str, bool] = {}
        if self.spans is not None and self.groups is not None:
            clues += span_clues(self.spans, self.groups)
            known = own_time_known(self.groups, self.spans, least=KNOWN_SPANS)
        if self.metrics is not None:
            named = None if alert.entity is None else self.service_of(alert.entity)
            table = leave_out_late(self.metrics, named, onset_s=self.onset_s)
            symptoms = metric_symptoms(table, self.graph, indicator=indicator, statistic=alert.statistic)
            # Where spans measure an entity's self time, its latency metric adds only waiting time.
            clues += [c for c in symptoms if not (c.fault_kind == "LATENCY" and known.get(c.entity))]
            clues += metric_resources(table)
            clues += metric_gaps(table)
            clues += limit_clues(table)
            clues = explain_by_caches(clues, find_lost_caches(table, self.graph))
            if ended := clues_of_ended(table):
                clues = leave_out_callers_of_ended(clues, self.graph, {one.entity for one in ended})
                clues += ended
        if self.logs is not None:
            clues += log_clues(self.logs, self.graph)
            clues = explain_by_callers(clues, self.logs, self.graph)
            if self.spans is not None:
                clues += silent_line_clues(self.logs, self.spans)
        return clues + event_clues(self.events, self.owners, onset_s=self.onset_s)

    def usual_entry(self) -> str | None:
        """The entry point of the system; None if every entity of the graph has a caller.

        Of several, the one where most traces begin, otherwise the first with symptoms of its own.
        """
        entries = self.graph.entries
        if not entries:
            return None
        if self.spans is not None:
            roots = self.spans.spans.entity[self.spans.spans.parent < 0]
            count = dict(zip(*np.unique(roots, return_counts=True), strict=True))
            named = {self.spans.entities[int(code)]: int(found) for code, found in count.items()}
            return max(entries, key=lambda name: (named.get(name, 0), name))
        seen = (
            {row.owner for row in self.metrics.rows if row.meaning.kind in SYMPTOMS}
            if self.metrics
            else set()
        )
        return next((name for name in entries if name in seen), entries[0])

    def _stores(self) -> frozenset[str]:
        """Leaves that look like a store or an external provider: by name, or without visible resources."""
        rows = self.metrics.rows if self.metrics is not None else ()
        resourced = {
            row.owner
            for row in rows
            if row.meaning.kind in RESOURCES and row.meaning.side is not SignalSide.HOST
        }
        leaves = [name for name in self.graph.callers if name not in self.graph.callees]
        return frozenset(
            name
            for name in leaves
            if frozenset(words_of(name)) & _STORE_WORDS or (resourced and name not in resourced)
        )

    def indicator_rows(self, alert: AlertInfo) -> list[int]:
        """Rows that show it from outside: the alerting series, otherwise the affected entity's symptoms."""
        table = self.metrics
        if table is None:
            return []
        if alert.entity is not None and alert.signal is not None:
            found = find_indicator(table, entity=alert.entity, signal=alert.signal, statistic=alert.statistic)
            if found is not None:
                return list(found.rows)
        entity = alert.entity or self.usual_entry()
        # Without a known affected entity, any symptom may indicate the onset.
        return self.symptoms_of_entity(entity) or self.own_symptoms(None)

    def symptoms_of_entity(self, entity: str | None) -> list[int]:
        """An instance's own symptoms, otherwise those of its service; all symptoms for None."""
        return self.own_symptoms(entity) or (
            [] if entity is None else self.own_symptoms(self.service_of(entity))
        )

    def own_symptoms(self, entity: str | None) -> list[int]:
        """Rows about how an entity and its instances do their own work; for all entities if None."""
        return [
            place
            for place, row in enumerate(() if self.metrics is None else self.metrics.rows)
            if row.caller is None
            and row.meaning.side is SignalSide.OWN
            and row.meaning.kind in SYMPTOMS
            and entity in (None, row.owner, row.entity)
        ]


@dataclass(frozen=True, slots=True)
class Recorded:
    """Telemetry that is read once and compared for every onset."""

    series: MetricSeries = field(default_factory=MetricSeries)
    spans: SpanView | None = None
    lines: LogRecordings | None = None
    events: tuple[Occurrence, ...] = ()


def build_incident_view(
    ctx: RunContext, sources: Sources, recorded: Recorded, *, onset_s: float, until_s: float | None = None
) -> IncidentView:
    """Combine metrics, spans, log lines, events and topology for an onset, up to an end."""
    owners = dict(sources.topology.owners(ctx)) if sources.topology is not None else {}
    metrics = build_metric_table(ctx, recorded.series, onset_s=onset_s, until_s=until_s, owners=owners)
    spans = None if recorded.spans is None else recorded.spans.since(onset_s, until_s)
    known = sources.topology.edges(ctx) if sources.topology is not None else ()
    edges = {(owners.get(one.caller, one.caller), owners.get(one.callee, one.callee)) for one in known}
    groups = None
    if spans is not None:
        edges |= set(spans.edges())
        groups = SpanGroups(
            self_time_groups(spans.spans, spans.self_s, spans.fault, spans.recording),
            call_gap_groups(spans.spans, spans.calls, spans.fault, spans.recording),
            failure_groups(spans.spans, spans.calls, spans.fault, spans.recording),
            call_failure_groups(spans.spans, spans.calls, spans.fault, spans.recording),
            call_pattern_groups(spans.spans, spans.fault, spans.recording),
        )
    if metrics is not None:
        edges |= {(row.caller, row.owner) for row in metrics.rows if row.caller is not None}
        named = {(row.owner, row.callee) for row in metrics.rows if row.callee is not None}
        edges |= {(owner, callee) for owner, callee in named if (callee, owner) not in edges}
    lines = recorded.lines
    logs = None if lines is None else build_log_view(lines, onset_s=onset_s, until_s=until_s)
    if logs is not None:  # a line that names its caller is not a call in the opposite direction
        edges |= {(writer, named) for writer, named in logs.edges() if (named, writer) not in edges}
    return IncidentView(onset_s, graph_of(edges), owners, metrics, spans, groups, logs, recorded.events)
