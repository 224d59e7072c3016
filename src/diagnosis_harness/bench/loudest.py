"""The entity whose metrics changed most: a simple method for comparison.

It shares no code with the product's analysis, so that it stays the same when that changes. Each series is
compared before and after the stated time; an entity is as loud as its loudest series.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np
from numpy.typing import NDArray

from diagnosis_harness.bootstrap.diagnosis import Diagnosis
from diagnosis_harness.toolbox.ports import Recording, Series, SourceSummary

BEFORE_ALERT_S = 300.0  # an alert fires some minutes after the change that raised it
LATER_PART = 0.75  # with nothing stated, the last quarter of the recording counts as the incident
POINTS_MIN = 3  # fewer points before give no spread
FLOOR = 0.01  # the spread of a series that never moved is one percent of its level
KEPT = 10  # the scorer leaves some out, and looks for ties
MAD_TO_DEVIATION = 1.4826  # of a normal distribution


def find_loudest(diagnosis: Diagnosis) -> tuple[tuple[str, float], ...]:
    """The loudest entities of the folder behind a diagnosis, loudest first, with how loud each is.

    An instance stands for its service. Empty where there are no metrics, or none of them moved.
    """
    sources = diagnosis.sources
    if sources.metrics is None:
        return ()
    ctx = diagnosis.workplace.start_run(diagnosis.workplace.settings.run.timeout_s)
    summary = sources.summary.summary(ctx)
    owners = {} if sources.topology is None else sources.topology.owners(ctx)
    before = () if summary.baseline is None else sources.metrics.series(ctx, Recording.BASELINE)
    loud = loudness(
        sources.metrics.series(ctx, Recording.INCIDENT),
        before={(series.entity, series.signal): series.value for series in before},
        split_s=_split_s(summary),
    )
    return _services(loud, owners)


def _split_s(summary: SourceSummary) -> float:
    """The assumed beginning of the incident: the stated time, else the last part of the recording."""
    if summary.onset_s is not None:
        return summary.onset_s
    if summary.alert.time_s is not None:
        return summary.alert.time_s - BEFORE_ALERT_S
    if summary.incident is None:
        return 0.0
    start_s, end_s = summary.incident.start_s, summary.incident.end_s
    return start_s + LATER_PART * (end_s - start_s)


def loudness(
    series: Iterable[Series], *, before: Mapping[tuple[str, str], NDArray[np.float64]], split_s: float
) -> dict[str, float]:
    """By entity, how many usual widths its loudest series moved at `split_s`."""
    loud: dict[str, float] = {}
    for one in series:
        after = one.time_s >= split_s
        usual = one.value[~after]
        if np.isfinite(usual).sum() < POINTS_MIN:
            usual = before.get((one.entity, one.signal), usual)
        moved = _widths(usual, one.value[after])
        loud[one.entity] = max(loud.get(one.entity, 0.0), moved)
    return loud


def _widths(usual: NDArray[np.float64], now: NDArray[np.float64]) -> float:
    usual, now = usual[np.isfinite(usual)], now[np.isfinite(now)]
    if len(usual) < POINTS_MIN or not len(now):
        return 0.0
    level = float(np.median(usual))
    width = MAD_TO_DEVIATION * float(np.median(np.abs(usual - level)))
    shift = abs(float(np.median(now)) - level)
    floor = FLOOR * max(abs(level), shift)  # of an all-zero series the shift itself is the scale
    return shift / max(width, floor) if shift else 0.0


def _services(loud: Mapping[str, float], owners: Mapping[str, str]) -> tuple[tuple[str, float], ...]:
    services: dict[str, float] = {}
    for entity, widths in loud.items():
        name = owners.get(entity, entity)
        services[name] = max(services.get(name, 0.0), widths)
    ordered = sorted(services.items(), key=lambda each: (-each[1], each[0]))
    return tuple((name, round(widths, 6)) for name, widths in ordered[:KEPT] if widths > 0.0)
