"""Clocks that disagree, and recordings that begin late."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from diagnosis_harness.simulator.hard.scene import Known, WorldTelemetry

SERVICE_SKEW_S, METRIC_SKEW_S = 90.0, 240.0
BEGAN_AFTER_S = 300.0


def clock_of_each_service(seen: WorldTelemetry, known: Known, rng: np.random.Generator) -> WorldTelemetry:
    """Shift spans and log lines of each service by up to 90 seconds, early or late."""
    skew_s = {
        service.name: float(rng.uniform(-SERVICE_SKEW_S, SERVICE_SKEW_S))
        for service in known.play.scene.system.services
    }
    part_of = {span.entity: span.part for span in seen.spans} | dict(seen.owners)
    return replace(
        seen,
        spans=tuple(replace(span, start_s=span.start_s + skew_s[span.part]) for span in seen.spans),
        logs=tuple(
            replace(line, time_s=line.time_s + skew_s.get(part_of.get(line.entity, ""), 0.0))
            for line in seen.logs
        ),
    )


def clock_of_metrics(seen: WorldTelemetry, known: Known, rng: np.random.Generator) -> WorldTelemetry:
    """Shift all spans by four minutes against the metrics, early or late."""
    del known
    skew_s = METRIC_SKEW_S if rng.random() < 0.5 else -METRIC_SKEW_S
    return replace(seen, spans=tuple(replace(span, start_s=span.start_s + skew_s) for span in seen.spans))


def began_before(seen: WorldTelemetry, known: Known, rng: np.random.Generator) -> WorldTelemetry:
    """Start the recording five minutes after the onset, when the alert has already fired."""
    del rng
    start_s = known.play.scene.onset_s + BEGAN_AFTER_S
    metrics = []
    for series in seen.metrics:
        late = series.time_s >= start_s
        metrics.append(replace(series, time_s=series.time_s[late], value=series.value[late]))
    whole = {span.trace_id for span in seen.spans if span.parent_id is None and span.start_s >= start_s}
    alert = seen.alert
    if alert is not None and alert.time_s is not None:
        alert = replace(alert, time_s=max(alert.time_s, start_s))
    return replace(
        seen,
        metrics=tuple(metrics),
        spans=tuple(span for span in seen.spans if span.trace_id in whole),
        logs=tuple(line for line in seen.logs if line.time_s >= start_s),
        changes=tuple(change for change in seen.changes if change.time_s >= start_s),
        events=tuple(event for event in seen.events if event.time_s >= start_s),
        alert=alert,
    )
