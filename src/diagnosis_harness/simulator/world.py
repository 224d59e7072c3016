"""Simulates one incident from a kind of fault and a seed; the same two give the same world."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from diagnosis_harness.kernel.window import TimeWindow
from diagnosis_harness.simulator.alert import first_alert, flapping_alert
from diagnosis_harness.simulator.changes import record_changes
from diagnosis_harness.simulator.effects import Effects, effects_of
from diagnosis_harness.simulator.faults import Fault, FaultKind, GroundTruth, choose_fault, truth_of
from diagnosis_harness.simulator.logs import Line, write_logs
from diagnosis_harness.simulator.metrics import scrape
from diagnosis_harness.simulator.requests import PartSample, sample_requests
from diagnosis_harness.simulator.spans import Span, trace_requests
from diagnosis_harness.simulator.system import System, build_system
from diagnosis_harness.simulator.traffic import request_rate
from diagnosis_harness.toolbox.ports import AlertInfo, ChangeEvent, Series

EPOCH_S = 1_704_096_000.0  # 2024-01-01T08:00:00Z; each world starts some days and hours later
SAMPLES = 160  # requests sampled per part and tick
SPANS_MAX = 20_000
STRONGER = 1.5  # a fault that raises no alert is drawn again this much stronger
ATTEMPTS_MAX = 7
PLACES_MAX = 3  # and one that still raises none is moved to another place, at most this often


@dataclass(frozen=True, slots=True)
class World:
    """The telemetry of one simulated incident and, separately, the right answer."""

    system: System
    metrics: tuple[Series, ...]
    spans: tuple[Span, ...]
    logs: tuple[Line, ...]
    changes: tuple[ChangeEvent, ...]
    alert: AlertInfo
    truth: GroundTruth


@dataclass(frozen=True, slots=True)
class _Stage:
    """Everything that is fixed before anything breaks."""

    system: System
    time_s: NDArray[np.float64]
    rate: NDArray[np.float64]
    onset_s: float
    noise_seed: int


@dataclass(frozen=True, slots=True)
class _Telling:
    """The result of one strength of the fault."""

    fault: Fault | None
    effects: Effects
    parts: dict[str, PartSample]
    metrics: tuple[Series, ...]
    alert: AlertInfo | None


def simulate(kind: FaultKind, *, seed: int) -> World:
    """A world of 70 to 105 minutes whose alert fires in the last quarter of an hour.

    Args:
        kind: what is broken.
        seed: zero or more; determines system, traffic, place, time and strength of the fault, and all noise.
    """
    rng = np.random.default_rng([seed, list(FaultKind).index(kind)])
    time_s, onset_s = _clock(rng)
    rate = request_rate(time_s, rng)
    system = build_system(rng, mean_rate_per_s=float(np.mean(rate)))
    stage = _Stage(system, time_s, rate, onset_s, int(rng.integers(2**32)))
    telling = _play_until_noticed(stage, choose_fault(kind, system, rng, onset_s=onset_s))
    for _ in range(PLACES_MAX):
        if kind is FaultKind.NONE or telling.alert is not None:
            break
        telling = _play_until_noticed(stage, choose_fault(kind, system, rng, onset_s=onset_s))
    window = TimeWindow(float(time_s[0]), float(time_s[-1]))
    spans = trace_requests(system, telling.parts, time_s, rng, spans_max=SPANS_MAX)
    return World(
        system=system,
        metrics=telling.metrics,
        spans=spans,
        logs=write_logs(system, spans, telling.effects, time_s, rng=rng),
        changes=record_changes(system, telling.fault, window, rng, onset_s=onset_s),
        alert=telling.alert or flapping_alert(system, telling.metrics, after_s=onset_s),
        truth=truth_of(telling.fault, system),
    )


def _clock(rng: np.random.Generator) -> tuple[NDArray[np.float64], float]:
    """The timestamps of the recording, and the onset of the fault."""
    tick_s = (15.0, 20.0, 30.0)[int(rng.integers(3))]
    before_s, after_s = rng.uniform(3600.0, 5400.0), rng.uniform(660.0, 900.0)
    start_s = EPOCH_S + tick_s * float(rng.integers(0, int(90 * 86_400 / tick_s)))
    time_s = start_s + tick_s * np.arange(int((before_s + after_s) / tick_s), dtype=np.float64)
    onset_s = float(time_s[int(before_s / tick_s)]) + float(rng.uniform(0.0, tick_s))
    return time_s, onset_s


def _play_until_noticed(stage: _Stage, fault: Fault | None) -> _Telling:
    """Play the world; if a fault raises no alert in time, play it again with more strength."""
    telling = _play(stage, fault)
    attempts = 1
    while fault is not None and attempts < ATTEMPTS_MAX and not _in_time(telling.alert, stage.time_s):
        fault = replace(fault, severity=fault.severity * STRONGER)
        telling = _play(stage, fault)
        attempts += 1
    return telling


def _play(stage: _Stage, fault: Fault | None) -> _Telling:
    rng = np.random.default_rng(stage.noise_seed)
    effects = effects_of(fault, stage.system, stage.time_s, rng)
    parts = sample_requests(stage.system, stage.rate, effects, rng, samples=SAMPLES)
    metrics = scrape(parts, effects, stage.time_s, rng)
    alert = None if fault is None else first_alert(stage.system, metrics, onset_s=stage.onset_s)
    return _Telling(fault, effects, parts, metrics, alert)


def _in_time(alert: AlertInfo | None, time_s: NDArray[np.float64]) -> bool:
    """Whether the alert fired at least two minutes before the end of the recording."""
    return alert is not None and alert.time_s is not None and alert.time_s < float(time_s[-1]) - 120.0
