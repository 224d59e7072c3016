"""What is counted is read off the written log, with labels of closed sets alone."""

from __future__ import annotations

from types import MappingProxyType

from prometheus_client.parser import text_string_to_metric_families

from diagnosis_harness.kernel.json_value import JsonValue
from diagnosis_harness.server.metrics import Metrics
from diagnosis_harness.trace.event import TraceEvent, TraceEventStatus, TraceName, TracePhase


def event(
    name: TraceName,
    status: TraceEventStatus = TraceEventStatus.SUCCEEDED,
    run_id: str = "run-1",
    **payload: JsonValue,
) -> TraceEvent:
    """One written event."""
    return TraceEvent(1, run_id, 0.0, name, TracePhase.RUN, status, MappingProxyType(payload))


def values(metrics: Metrics) -> dict[tuple[str, tuple[str, ...]], float]:
    """Every sample, by name and label values in the order of the labels' names."""
    return {
        (sample.name, tuple(sample.labels.values())): sample.value
        for family in text_string_to_metric_families(metrics.text().decode())
        for sample in family.samples
    }


def test_a_run_is_counted_once_by_what_it_said_of_itself() -> None:
    """Outcome, intent and fallback, also when other runs speak in between."""
    metrics = Metrics()
    metrics.count_events("run-1", [event(TraceName.ROUTING_DECISION, intent="DIAGNOSIS")])
    metrics.count_events("run-2", [event(TraceName.ROUTING_DECISION, run_id="run-2", intent="SYSTEM_CHAT")])
    metrics.count_events("run-1", [event(TraceName.RELEASE_DECISION, fallback="INSUFFICIENT_EVIDENCE")])
    metrics.count_events("run-1", [event(TraceName.RUN_FINISHED, outcome="FALLBACK")])
    metrics.count_events("run-2", [event(TraceName.RUN_FINISHED, run_id="run-2", outcome="SUCCESS")])
    counts = values(metrics)
    assert counts["diagnosis_runs_total", ("INSUFFICIENT_EVIDENCE", "DIAGNOSIS", "FALLBACK")] == 1.0
    assert counts["diagnosis_runs_total", ("NONE", "SYSTEM_CHAT", "SUCCESS")] == 1.0


def test_guards_and_repairs_are_counted_by_how_they_went() -> None:
    """So that a change of the language model can be judged in production."""
    metrics = Metrics()
    metrics.count_events(
        "run-1",
        [
            event(TraceName.EVIDENCE_GUARD_INITIAL, TraceEventStatus.REJECTED),
            event(TraceName.EVIDENCE_REPAIR),
            event(TraceName.EVIDENCE_GUARD_RECHECK),
            event(TraceName.SEMANTIC_GUARD_DECISION, TraceEventStatus.FAILED),
        ],
    )
    counts = values(metrics)
    assert counts["diagnosis_guard_reports_total", ("evidence_initial", "REJECTED")] == 1.0
    assert counts["diagnosis_guard_reports_total", ("evidence_repair", "SUCCEEDED")] == 1.0
    assert counts["diagnosis_guard_reports_total", ("evidence_recheck", "SUCCEEDED")] == 1.0
    assert counts["diagnosis_guard_reports_total", ("semantic", "FAILED")] == 1.0
    assert counts["diagnosis_log_batch_events_sum", ()] == 4.0


def test_no_text_of_a_run_becomes_a_label() -> None:
    """A value outside the closed sets is refused."""
    metrics = Metrics()
    metrics.count_events(
        "run-secret",
        [
            event(TraceName.RUN_STARTED, question="a question"),
            event(TraceName.ROUTING_DECISION, intent="a question"),
            event(TraceName.RUN_FINISHED, outcome="a question"),
        ],
    )
    assert values(metrics)["diagnosis_runs_total", ("NONE", "NONE", "NONE")] == 1.0
    assert b"question" not in metrics.text()
    assert b"secret" not in metrics.text()


def test_runs_that_never_end_are_not_remembered_for_ever() -> None:
    """The oldest is forgotten; it then counts without what it had said."""
    metrics = Metrics()
    for number in range(10_001):
        metrics.count_events(str(number), [event(TraceName.ROUTING_DECISION, intent="DIAGNOSIS")])
    for number in (0, 10_000):
        metrics.count_events(str(number), [event(TraceName.RUN_FINISHED, outcome="SUCCESS")])
    counts = values(metrics)
    assert counts["diagnosis_runs_total", ("NONE", "NONE", "SUCCESS")] == 1.0
    assert counts["diagnosis_runs_total", ("NONE", "DIAGNOSIS", "SUCCESS")] == 1.0


def test_two_applications_of_one_process_count_separately() -> None:
    """No registry is shared."""
    one, other = Metrics(), Metrics()
    one.requests.labels("/v1/runs", "200").inc()
    assert ("diagnosis_http_requests_total", ("/v1/runs", "200")) not in values(other)


def test_exports_are_taken_over_as_they_stand() -> None:
    """A counter that receives the same total twice counts it once."""
    metrics = Metrics()
    for sent in (2, 2, 5):
        metrics.count_exports({"sent": sent, "failed": 1})
    counts = values(metrics)
    assert counts["diagnosis_trace_exports_total", ("sent",)] == 5.0
    assert counts["diagnosis_trace_exports_total", ("failed",)] == 1.0
