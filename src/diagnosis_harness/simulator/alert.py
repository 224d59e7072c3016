"""The alert rule: an indicator of the entry above its usual level for two consecutive ticks."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from diagnosis_harness.simulator.system import System
from diagnosis_harness.toolbox.ports import AlertInfo, Series

INDICATORS = ("error_rate", "latency_p90", "latency_p99")


def first_alert(system: System, metrics: Iterable[Series], *, onset_s: float) -> AlertInfo | None:
    """The first alert that fires after the onset; None if the entry changes too little."""
    fired: list[tuple[float, int, AlertInfo]] = []
    for series in _indicators(system, metrics):
        before = series.value[series.time_s < onset_s]
        limit = _limit(series.signal, before)
        above = (series.value > limit) & (series.time_s >= onset_s)
        twice = np.flatnonzero(above[1:] & above[:-1]) + 1
        if len(twice):
            alert = _alert(series, int(twice[0]), limit)
            fired.append((float(series.time_s[twice[0]]), INDICATORS.index(series.signal), alert))
    return min(fired, key=lambda entry: entry[:2])[2] if fired else None


def flapping_alert(system: System, metrics: Iterable[Series], *, after_s: float) -> AlertInfo:
    """The alert of a healthy world: the highest latency within five minutes, which passes again."""
    best: tuple[float, AlertInfo] | None = None
    for series in _indicators(system, metrics):
        if series.signal == "error_rate":
            continue
        late = np.flatnonzero((series.time_s >= after_s) & (series.time_s < after_s + 300.0))
        peak = int(late[np.argmax(series.value[late])])
        height = float(series.value[peak] / np.median(series.value))
        if best is None or height > best[0]:
            best = (height, _alert(series, peak, 0.96 * float(series.value[peak])))
    if best is None:
        raise ValueError("the entry has no latency")
    return best[1]


def _limit(signal: str, before: np.ndarray[tuple[int], np.dtype[np.float64]]) -> float:
    middle = float(np.median(before))
    spread = 1.4826 * float(np.median(np.abs(before - middle)))
    highest_pair = float(np.max(np.minimum(before[1:], before[:-1])))
    if signal == "error_rate":
        return max(0.03, 1.5 * highest_pair)
    return max(1.3 * middle, middle + 5.0 * spread, 1.05 * highest_pair)


def _indicators(system: System, metrics: Iterable[Series]) -> list[Series]:
    return [s for s in metrics if s.entity == system.entry.name and s.signal in INDICATORS]


def _alert(series: Series, index: int, limit: float) -> AlertInfo:
    signal, _, statistic = series.signal.partition("_p")
    tick_s = float(series.time_s[1] - series.time_s[0])
    return AlertInfo(
        entity=series.entity,
        signal=signal,
        statistic=f"p{statistic}" if statistic else None,
        time_s=float(series.time_s[index]) + tick_s,  # known only after the interval
        direction="up",
        summary=f"{series.entity} {series.signal} above {limit:.3g}",
    )
