"""Load on the entry: a daily curve, slow drift, short noise, and sometimes a harmless step."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

DAY_S = 86_400.0


def wandering(rng: np.random.Generator, count: int, *, memory: float, size: float) -> NDArray[np.float64]:
    """First-order autoregressive noise around zero with standard deviation `size`."""
    noise = rng.normal(0.0, size * np.sqrt(1.0 - memory**2), count)
    out = np.empty(count)
    level = rng.normal(0.0, size)
    for step in range(count):
        level = memory * level + noise[step]
        out[step] = level
    return out


def request_rate(time_s: NDArray[np.float64], rng: np.random.Generator) -> NDArray[np.float64]:
    """Requests per second that reach the entry at each timestamp, all above zero."""
    mean = rng.uniform(120.0, 400.0)
    swing = rng.uniform(0.1, 0.35)
    phase_s = rng.uniform(0.0, DAY_S)
    daily = 1.0 + swing * np.sin(2.0 * np.pi * (time_s - phase_s) / DAY_S)
    wander = np.exp(wandering(rng, len(time_s), memory=0.97, size=rng.uniform(0.03, 0.07)))
    noise = np.exp(rng.normal(0.0, rng.uniform(0.01, 0.04), len(time_s)))
    rate = mean * daily * wander * noise
    if rng.random() < 0.3:  # a campaign or a crawler: more load, nothing broken
        begin = int(rng.integers(0, len(time_s)))
        rate[begin : begin + int(rng.integers(10, 40))] *= rng.uniform(1.08, 1.2)
    return np.asarray(rate, dtype=np.float64)
