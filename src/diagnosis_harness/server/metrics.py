"""The Prometheus metrics of the service. No label holds a caller, a question or an id."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping, Sequence

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram
from prometheus_client.exposition import generate_latest

from diagnosis_harness.application.intent import IntentType
from diagnosis_harness.application.runs.row import RunRow
from diagnosis_harness.release.outcome import FallbackType, ReleaseOutcome
from diagnosis_harness.trace.event import TraceEvent, TraceName

METRICS_MEDIA_TYPE = "text/plain; version=0.0.4; charset=utf-8"
NONE = "NONE"
"""Label of a missing value, such as the fallback type of a run that is not a fallback."""

_GUARDS = {
    TraceName.EVIDENCE_GUARD_INITIAL: "evidence_initial",
    TraceName.EVIDENCE_REPAIR: "evidence_repair",
    TraceName.EVIDENCE_GUARD_RECHECK: "evidence_recheck",
    TraceName.SEMANTIC_GUARD_DECISION: "semantic",
}
_UNFINISHED_MAX = 10_000


class Metrics:
    """The meters of one application, in a registry of its own. Used from one event loop.

    Other modules set `requests` and the gauges; runs and guards are counted from the events that this process
    writes to the logs of its runs (`count_events`).
    """

    def __init__(self) -> None:
        self._registry = registry = CollectorRegistry(auto_describe=True)
        self.requests = Counter(
            "diagnosis_http_requests",
            "Requests, by route and status.",
            ("route", "status"),
            registry=registry,
        )
        self.streams = Gauge("diagnosis_streams", "Event streams open in this process.", registry=registry)
        self.active = Gauge("diagnosis_runs_active", "Runs in progress in this process.", registry=registry)
        self.queued = Gauge("diagnosis_runs_queued", "Queued runs, at most 200.", registry=registry)
        self.left = Gauge(
            "diagnosis_runs_queued_without_source",
            "Queued runs that need a source this process does not have.",
            registry=registry,
        )
        self.alerts_waiting = Gauge(
            "diagnosis_alerts_waiting",
            "Alert notifications waiting to be processed, in all processes.",
            registry=registry,
        )
        self.alerts_oldest_s = Gauge(
            "diagnosis_alerts_oldest_seconds",
            "Age of the oldest waiting alert notification in seconds; 0 if none is waiting.",
            registry=registry,
        )
        self.store_up = Gauge(
            "diagnosis_store_up", "Whether the last write check of the database succeeded.", registry=registry
        )
        self.evidence_store_up = Gauge(
            "diagnosis_evidence_store_up",
            "Whether the last write check of the store of evidence succeeded.",
            registry=registry,
        )
        self._runs = Counter(
            "diagnosis_runs",
            "Runs that ended in this process or that it ended.",
            ("outcome", "intent", "fallback"),
            registry=registry,
        )
        self._guards = Counter(
            "diagnosis_guard_reports",
            "Verdicts of guards and results of repairs.",
            ("guard", "status"),
            registry=registry,
        )
        self._batches = Histogram(
            "diagnosis_log_batch_events",
            "Events written by one transaction.",
            buckets=(1, 2, 5, 10, 20, 50, 100, 200),
            registry=registry,
        )
        self._exports = Counter(
            "diagnosis_trace_exports",
            "Runs whose trace was due for export, by result.",
            ("result",),
            registry=registry,
        )
        self._exported: dict[str, int] = {}
        self._labels_of_runs: OrderedDict[str, dict[str, str]] = OrderedDict()

    def text(self) -> bytes:
        """All metrics in the text format of Prometheus."""
        return generate_latest(self._registry)

    def count_events(self, run_id: str, events: Sequence[TraceEvent]) -> None:
        """Count the events written to a run's log (`RunFeed`)."""
        self._batches.observe(len(events))
        for event in events:
            if event.name in _GUARDS:
                self._guards.labels(_GUARDS[event.name], event.status.value).inc()
            elif event.name is TraceName.ROUTING_DECISION:
                self._note(run_id, intent=_label(IntentType, event.payload.get("intent")))
            elif event.name is TraceName.RELEASE_DECISION:
                self._note(run_id, fallback=_label(FallbackType, event.payload.get("fallback")))
            elif event.name is TraceName.RUN_FINISHED:
                labels = self._labels_of_runs.pop(run_id, {})
                outcome = _label(ReleaseOutcome, event.payload.get("outcome"))
                self._runs.labels(outcome, labels.get("intent", NONE), labels.get("fallback", NONE)).inc()

    def count_closed_run(self, row: RunRow) -> None:
        """Count a run that this process closed but did not execute (`ClosedRuns`)."""
        if row.ending is not None:
            intent, fallback = row.intent, row.ending.fallback
            self._runs.labels(
                row.ending.outcome.value,
                NONE if intent is None else intent.value,
                NONE if fallback is None else fallback.value,
            ).inc()

    def count_exports(self, counts: Mapping[str, int]) -> None:
        """Set how many traces were exported so far, by result."""
        for result, count in counts.items():
            counter = self._exports.labels(result)
            counter.inc(count - self._exported.get(result, 0))
            self._exported[result] = count

    def _note(self, run_id: str, **labels: str) -> None:
        """The tally of a run, kept until its end; the oldest are dropped, in case runs never end."""
        self._labels_of_runs.setdefault(run_id, {}).update(labels)
        if len(self._labels_of_runs) > _UNFINISHED_MAX:
            self._labels_of_runs.popitem(last=False)


def _label(kind: type[IntentType | FallbackType | ReleaseOutcome], value: object) -> str:
    """The value if it belongs to the closed set, which bounds the number of labels."""
    return str(value) if value in set(kind) else NONE
