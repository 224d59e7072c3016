"""Metric series as a monitoring system would scrape them: per service, and per instance."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np
from numpy.typing import NDArray

from diagnosis_harness.simulator.effects import Effects
from diagnosis_harness.simulator.requests import PartSample
from diagnosis_harness.simulator.system import Role
from diagnosis_harness.simulator.traffic import wandering
from diagnosis_harness.toolbox.ports import Series

QUANTILES = (0.5, 0.9, 0.99)


def scrape(
    parts: Mapping[str, PartSample], effects: Effects, time_s: NDArray[np.float64], rng: np.random.Generator
) -> tuple[Series, ...]:
    """All series, one value per tick, ordered by entity and signal."""
    found = [
        series
        for part in parts.values()
        for series in (*_requests(part, time_s, rng), *_resources(part, effects, time_s, rng))
    ]
    return tuple(sorted(found, key=lambda series: (series.entity, series.signal)))


def _requests(part: PartSample, time_s: NDArray[np.float64], rng: np.random.Generator) -> Iterator[Series]:
    service = part.service
    yield from _request_series(service.name, time_s, part.total_s, part.failed)
    yield _series(
        service.name,
        "requests_per_s",
        "1/s",
        time_s=time_s,
        value=_add_counting_noise(part.load.sum(axis=1), rng),
    )
    if service.instances == (service.name,):
        return
    count = len(service.instances)
    for index, instance in enumerate(service.instances):
        yield from _request_series(
            instance, time_s, part.total_s[:, index::count], part.failed[:, index::count]
        )
        yield _series(
            instance,
            "requests_per_s",
            "1/s",
            time_s=time_s,
            value=_add_counting_noise(part.load[:, index], rng),
        )


def _request_series(
    entity: str, time_s: NDArray[np.float64], total_s: NDArray[np.float64], failed: NDArray[np.bool_]
) -> Iterator[Series]:
    for share, values in zip(QUANTILES, np.quantile(total_s, QUANTILES, axis=1), strict=True):
        yield _series(entity, f"latency_p{round(100 * share)}", "s", time_s=time_s, value=values)
    yield _series(entity, "error_rate", "ratio", time_s=time_s, value=failed.mean(axis=1))


def _resources(
    part: PartSample, effects: Effects, time_s: NDArray[np.float64], rng: np.random.Generator
) -> Iterator[Series]:
    service = part.service
    if service.role is Role.EXTERNAL:
        return
    for index, instance in enumerate(service.instances):
        # Processor time used by others is not work of this instance, which only has the rest.
        stolen = effects.stolen[service.name][:, index]
        own = part.busy[:, index] * service.cpu_share * np.clip(1.0 - stolen, 0.0, 1.0)
        usual = rng.uniform(1.0, 4.0) + wandering(rng, len(time_s), memory=0.8, size=rng.uniform(0.5, 2.0))
        cpu = np.clip(100.0 * (own + stolen) + usual, 0.1, 100.0)
        yield _series(instance, "cpu_percent", "percent", time_s=time_s, value=cpu)
        memory = np.clip(effects.heap[service.name][:, index], 0.05, 1.0) * service.memory_limit_bytes
        yield _series(instance, "memory_bytes", "bytes", time_s=time_s, value=np.round(memory))


def _add_counting_noise(rate: NDArray[np.float64], rng: np.random.Generator) -> NDArray[np.float64]:
    return np.asarray(rate * np.exp(rng.normal(0.0, 0.01, len(rate))), dtype=np.float64)


def _series(
    entity: str, signal: str, unit: str, *, time_s: NDArray[np.float64], value: NDArray[np.float64]
) -> Series:
    return Series(entity=entity, signal=signal, unit=unit, time_s=time_s, value=value)
