"""Records the same measurements in other forms: counters, buckets, other names, replaced pods."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

import numpy as np

from diagnosis_harness.simulator.hard.scene import Known, Values, WorldTelemetry
from diagnosis_harness.simulator.requests import PartSample
from diagnosis_harness.toolbox.ports import Series

BUCKETS_S = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0)
REQUEST_SIGNALS = frozenset({"latency_p50", "latency_p90", "latency_p99", "error_rate", "requests_per_s"})
OTHER_NAMES = {
    "latency_p50": "rt_p50",
    "latency_p90": "rt_p90",
    "latency_p99": "rt_p99",
    "error_rate": "status_5xx_ratio",
    "requests_per_s": "qps",
    "cpu_percent": "cpu_idle",
    "memory_bytes": "mem_free",
}
PODS_REPLACED = 2  # services besides the culprit whose pods are replaced as well


def count_up(seen: WorldTelemetry, known: Known, rng: np.random.Generator) -> WorldTelemetry:
    """Record totals, which sometimes restart from zero, instead of rates, mean and quantiles."""
    return _instead_of_gauges(seen, known, rng, buckets=())


def fill_buckets(seen: WorldTelemetry, known: Known, rng: np.random.Generator) -> WorldTelemetry:
    """Record cumulative buckets, sums and counts, with resets, instead of quantiles."""
    return _instead_of_gauges(seen, known, rng, buckets=BUCKETS_S)


def _instead_of_gauges(
    seen: WorldTelemetry, known: Known, rng: np.random.Generator, *, buckets: tuple[float, ...]
) -> WorldTelemetry:
    shown = {series.entity for series in seen.metrics}
    kept = [series for series in seen.metrics if series.signal not in REQUEST_SIGNALS]
    scene = known.play.scene
    tick_s = float(scene.time_s[1] - scene.time_s[0])
    for part in known.play.parts.values():
        count = len(part.service.instances)
        alone = part.service.instances == (part.service.name,)
        for index, instance in enumerate(part.service.instances):
            if instance not in shown and part.service.name not in shown:
                continue
            columns = slice(None) if alone else slice(index, None, count)
            for signal, step in _totals(part, index, columns, tick_s=tick_s, buckets=buckets):
                kept.append(Series(instance, signal, None, scene.time_s, step))
    resets: dict[str, list[int]] = {}
    metrics = tuple(
        replace(series, value=_accumulate(series.value, _resets(series, resets, rng)))
        if series.signal.startswith("http_")
        else series
        for series in kept
    )
    return replace(seen, metrics=tuple(sorted(metrics, key=lambda s: (s.entity, s.signal))))


def _totals(
    part: PartSample, index: int, columns: slice, *, tick_s: float, buckets: tuple[float, ...]
) -> Iterator[tuple[str, Values]]:
    """The increase of each counter of an instance in each tick."""
    total_s, failed = part.total_s[:, columns], part.failed[:, columns]
    requests = part.load[:, index] * tick_s
    yield "http_requests_total", requests
    yield "http_request_errors_total", requests * failed.mean(axis=1)
    yield "http_request_duration_seconds_sum", requests * total_s.mean(axis=1)
    yield "http_request_duration_seconds_count", requests
    for limit_s in buckets:
        share = (total_s <= limit_s).mean(axis=1)
        yield f"http_request_duration_seconds_bucket_le_{limit_s:g}", requests * share
    if buckets:
        yield "http_request_duration_seconds_bucket_le_inf", requests


def _resets(series: Series, resets: dict[str, list[int]], rng: np.random.Generator) -> list[int]:
    """The ticks at which all counters of an entity restart."""
    if series.entity not in resets:
        count = int(rng.integers(1, 3))
        resets[series.entity] = sorted(rng.integers(5, len(series.value) - 5, count).tolist())
    return resets[series.entity]


def _accumulate(step: Values, resets: list[int]) -> Values:
    pieces = np.split(step, resets)
    return np.asarray(np.round(np.concatenate([np.cumsum(piece) for piece in pieces]), 3), dtype=np.float64)


def other_vocabulary(seen: WorldTelemetry, known: Known, rng: np.random.Generator) -> WorldTelemetry:
    """Use the names of another company, some for what is free instead of what is used."""
    del rng
    limits = {
        instance: service.memory_limit_bytes
        for service in known.play.scene.system.services
        for instance in service.instances
    }
    alert = seen.alert
    if alert is not None and alert.signal is not None:
        whole = alert.signal if alert.statistic is None else f"{alert.signal}_{alert.statistic}"
        renamed = OTHER_NAMES.get(whole, whole)
        summary = None if alert.summary is None else alert.summary.replace(whole, renamed)
        alert = replace(alert, signal=renamed, statistic=None, summary=summary)
    return replace(seen, metrics=tuple(_rename(s, limits) for s in seen.metrics), alert=alert)


def _rename(series: Series, limits: Mapping[str, float]) -> Series:
    value = series.value
    if series.signal == "cpu_percent":
        value = 100.0 - value
    elif series.signal == "memory_bytes":
        value = limits.get(series.entity, float(np.max(value))) - value
    signal = OTHER_NAMES.get(series.signal, series.signal)
    return replace(series, signal=signal, unit=None, value=value)


def replace_pods(seen: WorldTelemetry, known: Known, rng: np.random.Generator) -> WorldTelemetry:
    """Rename the pods of the culprit and of two other services at the onset, so that they have no history."""
    scene = known.play.scene
    owners = [service for service in scene.system.services if service.instances != (service.name,)]
    guilty = [service for service in owners if service.name in known.truth.entities]
    others = [service for service in owners if service.name not in known.truth.entities]
    chosen = [*guilty, *(others[int(place)] for place in rng.permutation(len(others))[:PODS_REPLACED])]
    alphabet = "bcdfghjklmnpqrstvwxz"
    names = {
        pod: pod[:-5] + "".join(alphabet[int(letter)] for letter in rng.integers(0, len(alphabet), 5))
        for service in chosen
        for pod in service.instances
    }
    metrics = []
    for series in seen.metrics:
        if series.entity not in names:
            metrics.append(series)
            continue
        for new, entity in ((False, series.entity), (True, names[series.entity])):
            part = (series.time_s >= scene.onset_s) == new
            metrics.append(
                replace(series, entity=entity, time_s=series.time_s[part], value=series.value[part])
            )
    return replace(
        seen,
        metrics=tuple(sorted(metrics, key=lambda s: (s.entity, s.signal))),
        spans=tuple(
            replace(s, entity=names.get(s.entity, s.entity)) if s.start_s >= scene.onset_s else s
            for s in seen.spans
        ),
        logs=tuple(
            replace(line, entity=names.get(line.entity, line.entity))
            if line.time_s >= scene.onset_s
            else line
            for line in seen.logs
        ),
        owners=dict(seen.owners) | {new: seen.owners[old] for old, new in names.items()},
    )
