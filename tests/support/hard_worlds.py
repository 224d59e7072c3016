"""Hard worlds made once for all tests that only look at them, and measures of what they show."""

from __future__ import annotations

from functools import cache

import numpy as np

from diagnosis_harness.simulator.hard.catalog import HARD_KINDS
from diagnosis_harness.simulator.hard.play import HardWorld, simulate_hard
from diagnosis_harness.toolbox.ports import Series

SEED = 0


@cache
def hard_world(kind: str, seed: int = SEED) -> HardWorld:
    """The world of a kind."""
    return simulate_hard(HARD_KINDS[kind], seed=seed)


def series_of(world: HardWorld, entity: str, signal: str) -> Series:
    """The series of that name."""
    return next(s for s in world.telemetry.metrics if (s.entity, s.signal) == (entity, signal))


def rise_of(world: HardWorld, entity: str, signal: str) -> float:
    """How many times its median before the onset a series has while the fault is there."""
    series, scene = series_of(world, entity, signal), world.play.scene
    active = np.interp(series.time_s, scene.time_s, scene.course) >= 0.5
    before = series.time_s < scene.onset_s
    return float(np.median(series.value[active]) / max(float(np.median(series.value[before])), 1e-9))


def instances_of(world: HardWorld, entity: str) -> tuple[str, ...]:
    """The instances of a service."""
    return world.play.scene.system.service(entity).instances


def loudest_rise(world: HardWorld, entity: str, signal: str) -> float:
    """The highest rise of a signal among the instances of a service."""
    return max(rise_of(world, instance, signal) for instance in instances_of(world, entity))


def slowdown_seen_by_callers(world: HardWorld, entity: str) -> float:
    """How many times as long the slowest tenth of calls to an entity takes while the fault is there."""
    scene = world.play.scene
    spans = [
        span
        for span in world.telemetry.spans
        if span.kind == "client" and span.operation.split(" ", 1)[0] == entity
    ]
    start_s = np.array([span.start_s for span in spans])
    took_s = np.array([span.duration_s for span in spans])
    active = np.interp(start_s, scene.time_s, scene.course) >= 0.5
    before = start_s < scene.onset_s
    return float(np.quantile(took_s[active], 0.9) / np.quantile(took_s[before], 0.9))


def lines_with(world: HardWorld, words: str) -> list[str]:
    """The instances that wrote these words from the onset on."""
    onset_s = world.play.scene.onset_s
    return [line.entity for line in world.telemetry.logs if words in line.message and line.time_s >= onset_s]
