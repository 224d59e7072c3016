"""Gaps in the recording: untraced, unmeasured or unknown parts, lost spans, missing points, missing files."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from diagnosis_harness.simulator.hard.scene import Known, WorldTelemetry
from diagnosis_harness.simulator.logs import Line
from diagnosis_harness.simulator.spans import Span

GAP_SHARE, GAP_AFTER_ONSET_S = 0.4, 360.0
SCRAPE_S = 300.0
LOST_SHARE = 0.5


def hide_spans(seen: WorldTelemetry, known: Known, rng: np.random.Generator) -> WorldTelemetry:
    """Remove the culprit's spans; its callees then begin traces of their own."""
    del rng
    return _without_spans_of(seen, known.culprits)


def hide_telemetry(seen: WorldTelemetry, known: Known, rng: np.random.Generator) -> WorldTelemetry:
    """Remove the culprit's spans, metrics and log lines; it stays in the topology."""
    hidden = known.culprits
    seen = hide_spans(seen, known, rng)
    return replace(
        seen,
        metrics=tuple(series for series in seen.metrics if series.entity not in hidden),
        logs=tuple(line for line in seen.logs if line.entity not in hidden),
    )


def hide_culprit(seen: WorldTelemetry, known: Known, rng: np.random.Generator) -> WorldTelemetry:
    """Remove every trace of the culprit: telemetry, topology, and calls or lines that name it."""
    hidden = known.culprits
    seen = hide_telemetry(seen, known, rng)
    spans = [s for s in seen.spans if not (s.kind == "client" and s.operation.split(" ", 1)[0] in hidden)]
    return replace(
        seen,
        spans=tuple(spans),
        logs=tuple(line for line in seen.logs if not any(name in line.message for name in hidden)),
        changes=tuple(change for change in seen.changes if change.entity not in hidden),
        calls=tuple(edge for edge in seen.calls if edge.callee not in hidden and edge.caller not in hidden),
        owners={instance: owner for instance, owner in seen.owners.items() if owner not in hidden},
    )


def _without_spans_of(seen: WorldTelemetry, hidden: frozenset[str]) -> WorldTelemetry:
    gone = {(span.trace_id, span.span_id) for span in seen.spans if span.entity in hidden}
    found = []
    for span in seen.spans:
        if span.entity in hidden:
            continue
        orphan = span.parent_id is not None and (span.trace_id, span.parent_id) in gone
        found.append(replace(span, parent_id=None) if orphan else span)
    return replace(seen, spans=tuple(found))


def gaps(seen: WorldTelemetry, known: Known, rng: np.random.Generator) -> WorldTelemetry:
    """Remove 40% of all points, and all points of the culprit's first six minutes."""
    onset_s, hidden = known.play.scene.onset_s, known.culprits
    found = []
    for series in seen.metrics:
        kept = rng.random(len(series.time_s)) >= GAP_SHARE
        if series.entity in hidden:
            kept &= (series.time_s < onset_s) | (series.time_s >= onset_s + GAP_AFTER_ONSET_S)
        found.append(replace(series, time_s=series.time_s[kept], value=series.value[kept]))
    return replace(seen, metrics=tuple(found))


def coarse_scrape(seen: WorldTelemetry, known: Known, rng: np.random.Generator) -> WorldTelemetry:
    """Keep a point every five minutes, and no spans."""
    del rng
    time_s = known.play.scene.time_s
    step = max(1, round(SCRAPE_S / float(time_s[1] - time_s[0])))
    first = (len(time_s) - 1) % step
    metrics = tuple(
        replace(series, time_s=series.time_s[first::step], value=series.value[first::step])
        for series in seen.metrics
    )
    return replace(seen, metrics=metrics, spans=())


def lose_spans(seen: WorldTelemetry, known: Known, rng: np.random.Generator) -> WorldTelemetry:
    """Remove half of all spans below the roots from the onset on."""
    onset_s = known.play.scene.onset_s
    draws = rng.random(len(seen.spans))
    spans = [
        span
        for span, draw in zip(seen.spans, draws, strict=True)
        if span.parent_id is None or span.start_s < onset_s or draw >= LOST_SHARE
    ]
    return replace(seen, spans=tuple(spans))


def logs_and_entry(seen: WorldTelemetry, known: Known, rng: np.random.Generator) -> WorldTelemetry:
    """Keep only log lines and the metrics of the entry."""
    entry = known.play.scene.system.entry
    mine = {entry.name, *entry.instances}
    metrics = tuple(series for series in seen.metrics if series.entity in mine)
    return replace(logs_only(seen, known, rng), metrics=metrics, alert=seen.alert)


def logs_only(seen: WorldTelemetry, known: Known, rng: np.random.Generator) -> WorldTelemetry:
    """Keep only log lines, without trace ids; the alert is a time and a sentence."""
    del known, rng
    logs = tuple(Line(line.time_s, line.entity, line.level, line.message) for line in seen.logs)
    return replace(seen, metrics=(), spans=(), changes=(), calls=(), events=(), states=(), logs=logs)


def changes_only(seen: WorldTelemetry, known: Known, rng: np.random.Generator) -> WorldTelemetry:
    """Keep only the list of changes."""
    del known, rng
    return replace(seen, metrics=(), spans=(), logs=(), calls=(), events=(), states=())


def without_status(seen: WorldTelemetry, known: Known, rng: np.random.Generator) -> WorldTelemetry:
    """Remove recorded errors: the status of spans, error lines, and error metrics except the entry's."""
    del rng
    entry = known.play.scene.system.entry.name
    return replace(
        seen,
        with_status=False,
        metrics=tuple(s for s in seen.metrics if s.signal != "error_rate" or s.entity == entry),
        logs=tuple(line for line in seen.logs if line.level == "INFO"),
    )


def parts_with_spans(spans: tuple[Span, ...]) -> frozenset[str]:
    """The parts that have spans of their own."""
    return frozenset(span.part for span in spans if span.kind == "server")
