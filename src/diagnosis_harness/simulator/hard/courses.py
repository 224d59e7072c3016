"""The strength of a fault over time, from 0 (absent) to 1 (full): at once, slowly, on and off, or briefly."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from diagnosis_harness.simulator.hard.scene import Values

Course = Callable[[Values, float], Values]
"""The share of the fault at each of these timestamps, for an onset."""

FLAPPING_EVERY_S, FLAPPING_ON_S = 300.0, 60.0
BRIEF_S = 240.0


def at_once(time_s: Values, onset_s: float) -> Values:
    """Full strength from the onset on."""
    return np.asarray(time_s >= onset_s, dtype=np.float64)


def slowly(time_s: Values, onset_s: float) -> Values:
    """Linear growth from the onset to the end of the recording."""
    return np.asarray(np.clip((time_s - onset_s) / (time_s[-1] - onset_s), 0.0, 1.0), dtype=np.float64)


def on_and_off(time_s: Values, onset_s: float) -> Values:
    """For a minute of every five."""
    inside = (time_s - onset_s) % FLAPPING_EVERY_S < FLAPPING_ON_S
    return np.asarray((time_s >= onset_s) & inside, dtype=np.float64)


def briefly(time_s: Values, onset_s: float) -> Values:
    """Full strength for four minutes, then none."""
    return np.asarray((time_s >= onset_s) & (time_s < onset_s + BRIEF_S), dtype=np.float64)
