"""The entity whose metrics changed most: a simple method for comparison.

It shares no code with the product's analysis, so that it stays the same when that changes. Each series is
compared before and after the stated time, in the widths by which it usually varies; an entity is as loud as
its loudest series. A series that never moved has no width: its scale is the largest value or move of its
signal anywhere, so that a move counts for its size beside those of the same signal. Entities that are equally
loud are ordered by all their series together.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from math import fsum
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from diagnosis_harness.bench.case import Loud
from diagnosis_harness.bootstrap.diagnosis import Diagnosis
from diagnosis_harness.toolbox.ports import Recording, Series, SourceSummary

BEFORE_ALERT_S = 300.0  # an alert fires some minutes after the change that raised it
LATER_PART = 0.75  # with nothing stated, the last quarter of the recording counts as the incident
POINTS_MIN = 3  # fewer points before give no spread
FLOOR = 0.01  # no series varies by less than one percent of its scale
KEPT = 10  # the scorer leaves some out, and looks for ties
MAD_TO_DEVIATION = 1.4826  # of a normal distribution


def find_known(diagnosis: Diagnosis) -> tuple[str, ...]:
    """Every entity that the telemetry of the folder behind a diagnosis names."""
    ctx = diagnosis.workplace.start_run(diagnosis.workplace.settings.run.timeout_s)
    return tuple(sorted(diagnosis.sources.summary.summary(ctx).entities))


def find_loudest(diagnosis: Diagnosis) -> tuple[Loud, ...]:
    """The loudest entities of the folder behind a diagnosis, loudest first, with how loud each is.

    An instance stands for its service. Empty if there are no metrics, or none of them moved.
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
    return rank_loud(loud, owners)


def _split_s(summary: SourceSummary) -> float:
    """The assumed onset: the stated time, or else a time in the last part of the recording."""
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
) -> dict[str, tuple[float, ...]]:
    """By entity, how many usual widths each of its series moved at `split_s`."""
    moves = [
        (one, move)
        for one in series
        if (move := _move(one, before.get((one.entity, one.signal)), split_s)) is not None
    ]
    scales: dict[str, float] = {}
    for one, move in moves:
        scales[one.signal] = max(scales.get(one.signal, 0.0), abs(move.level), move.shift)
    loud: dict[str, tuple[float, ...]] = {}
    for one, move in moves:
        # A series that rests, and moves further than from zero to where it rests, has no scale of its own.
        rests = move.width == 0.0 and move.shift > abs(move.level)
        scale = scales[one.signal] if rests else max(abs(move.level), move.shift)
        widths = move.shift / max(move.width, FLOOR * scale) if move.shift else 0.0
        loud[one.entity] = (*loud.get(one.entity, ()), widths)
    return loud


class Move(NamedTuple):
    """The former level of a series, its usual deviation from it, and how far it moved."""

    level: float
    width: float
    shift: float


def _move(one: Series, before: NDArray[np.float64] | None, split_s: float) -> Move | None:
    """The move of a series; None if it has too few points."""
    after = one.time_s >= split_s
    usual, now = one.value[~after], one.value[after]
    if np.isfinite(usual).sum() < POINTS_MIN and before is not None:
        usual = before
    usual, now = usual[np.isfinite(usual)], now[np.isfinite(now)]
    if len(usual) < POINTS_MIN or not len(now):
        return None
    level = float(np.median(usual))
    width = MAD_TO_DEVIATION * float(np.median(np.abs(usual - level)))
    return Move(level, width, abs(float(np.median(now)) - level))


def rank_loud(loud: Mapping[str, Sequence[float]], owners: Mapping[str, str]) -> tuple[Loud, ...]:
    """The loudest entities; an instance stands for its service, which its series count for."""
    services: dict[str, list[float]] = {}
    for entity, widths in loud.items():
        services.setdefault(owners.get(entity, entity), []).extend(widths)
    found = [Loud(name, round(max(widths), 6), round(fsum(widths), 6)) for name, widths in services.items()]
    found.sort(key=lambda each: (-each.widths, -each.together, each.entity))
    return tuple(each for each in found[:KEPT] if each.widths > 0.0)
