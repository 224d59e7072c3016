"""Makes series comparable: turns counters into rates, aligns series on one time grid, thins them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import isfinite

import numpy as np

from diagnosis_harness.analysis.arrays import Floats

_SERIES_AT_ONCE = 64
"""Number of series gridded at a time: enough to save Python overhead, few enough for the cache."""
MOST_STEPS = 2_000
"""Maximum number of columns of a grid; a day of minutes fits, and 3,000 series stay below 50 MB."""


@dataclass(frozen=True, slots=True)
class Grid:
    """Series on shared times.

    `time_s` has one time per column, at the middle of equal steps; `value` has one row per series, NaN if
    the series has no point in that step. Several points of a series in one step are averaged.
    """

    time_s: Floats
    step_s: float
    value: Floats
    anchor_s: float
    """A time that is an edge of a step."""
    extent_s: tuple[float, float]
    """Points from the first time (inclusive) to the second (exclusive) are used."""


def clean(time_s: Floats, value: Floats) -> tuple[Floats, Floats]:
    """The series in order of time, with infinities as NaN and only the last value of a repeated time."""
    rising = len(time_s) > 0 and bool((time_s[1:] > time_s[:-1]).all())
    if rising and isfinite(time_s[0]) and isfinite(time_s[-1]):
        instants, values = time_s, value  # the usual case: already in order
    else:
        good = np.isfinite(time_s)
        order = np.argsort(time_s[good], kind="stable")
        instants, values = time_s[good][order], value[good][order]
        last = np.append(np.diff(instants) > 0, True)[: len(instants)]
        instants, values = instants[last], values[last]
    infinite = np.isinf(values)
    return instants, np.where(infinite, np.nan, values) if infinite.any() else values


def is_cumulative(value: Floats) -> bool:
    """Whether values only add up, apart from resets: of eight or more steps, nine in ten do not fall."""
    finite = value[np.isfinite(value)]
    if len(finite) < 8 or finite.min() < 0:
        return False
    steps = np.diff(finite)
    return bool((steps >= 0).mean() >= 0.9 and (steps > 0).mean() >= 0.5 and finite[-1] > finite[0])


def to_rate(time_s: Floats, value: Floats) -> tuple[Floats, Floats]:
    """Growth per second of a counter; a fall is a reset, after which the value itself is the growth.

    One point fewer.
    """
    keep = np.isfinite(value)
    instants, values = time_s[keep], value[keep]
    if len(values) < 2:
        return instants[:0], values[:0]
    grown = np.diff(values)
    grown = np.where(grown < 0, values[1:], grown)
    return instants[1:], grown / np.diff(instants)


def usual_step(times: Sequence[Floats]) -> float:
    """The usual distance between points in seconds, as the median of medians; 60 if unknown."""
    alike: dict[int, list[Floats]] = {}
    for one in times:
        alike.setdefault(len(one), []).append(one)
    medians = [
        np.median(np.diff(np.stack(members[first : first + _SERIES_AT_ONCE]), axis=1), axis=1)
        for points, members in alike.items()
        if points > 1
        for first in range(0, len(members), _SERIES_AT_ONCE)
    ]
    return float(np.median(np.concatenate(medians))) if medians else 60.0


def mean_per_step(time_s: Floats, value: Floats, step_s: float) -> tuple[Floats, Floats]:
    """One point per step, at its start: the mean of its finite values, NaN if there are none.

    Steps begin at whole multiples of `step_s` since the epoch; steps without a point are left out. Times
    must be ascending.
    """
    steps, place = np.unique(np.floor(time_s / step_s), return_inverse=True)
    finite = np.isfinite(value)
    points = np.bincount(place[finite], minlength=len(steps))
    total = np.bincount(place[finite], weights=value[finite], minlength=len(steps))
    mean = np.divide(total, points, out=np.full(len(steps), np.nan), where=points > 0)
    return steps * step_s, mean


def on_grid(
    series: Sequence[tuple[Floats, Floats]], *, start_s: float, end_s: float, step_s: float, anchor_s: float
) -> Grid:
    """Put series on one grid over `[start_s, end_s)` whose step edges include `anchor_s`."""
    grid = empty_grid(len(series), (start_s, end_s), step_s=step_s, anchor_s=anchor_s)
    put_on_grid(grid, series)
    return grid


def empty_grid(
    rows: int,
    extent_s: tuple[float, float],
    *,
    step_s: float,
    anchor_s: float,
    steps_max: int = MOST_STEPS,
) -> Grid:
    """An empty grid over the extent, without its end, whose step edges include `anchor_s`.

    An anchor at the onset keeps every step entirely before or entirely after it. Steps grow in whole
    multiples if more than `steps_max` would be needed.
    """
    start_s, end_s = extent_s
    span_s = max(end_s - start_s, step_s)
    step_s *= max(1.0, np.ceil(span_s / step_s / steps_max))
    first = int(np.floor((start_s - anchor_s) / step_s))
    count = max(1, int(np.ceil((end_s - anchor_s) / step_s)) - first)
    middle = np.asarray(anchor_s + (first + np.arange(count) + 0.5) * step_s, dtype=np.float64)
    return Grid(middle, float(step_s), np.full((rows, count), np.nan), anchor_s, extent_s)


def put_on_grid(grid: Grid, series: Sequence[tuple[Floats, Floats]], row: int = 0) -> None:
    """Fill the rows from `row` on with the series, in place."""
    for first in range(0, len(series), _SERIES_AT_ONCE):
        _fill(grid, series[first : first + _SERIES_AT_ONCE], row + first)


def _fill(grid: Grid, series: Sequence[tuple[Floats, Floats]], row: int) -> None:
    rows, count = len(series), grid.value.shape[1]
    start_s, end_s = grid.extent_s
    first = round((float(grid.time_s[0]) - grid.anchor_s) / grid.step_s - 0.5)
    time_s = np.concatenate([one for one, _ in series])
    value = np.concatenate([one for _, one in series])
    of = np.repeat(np.arange(rows), [len(one) for one, _ in series])
    keep = np.isfinite(value) & (time_s >= start_s) & (time_s < end_s)
    cell = np.floor((time_s[keep] - grid.anchor_s) / grid.step_s).astype(np.int64) - first
    cell += of[keep] * count
    points = np.bincount(cell, minlength=rows * count)
    total = np.bincount(cell, weights=value[keep], minlength=rows * count)
    members = grid.value[row : row + rows].reshape(-1)
    np.divide(total, points, out=members, where=points > 0)


def thin(value: Floats, most: int = 40) -> tuple[float | None, ...]:
    """At most `most` values for a plot, oldest first: means of equal segments, None for an empty one."""
    if len(value) == 0 or most < 1:
        return ()
    parts = np.array_split(value, min(most, len(value)))
    means = [float(np.mean(part[np.isfinite(part)])) if np.isfinite(part).any() else None for part in parts]
    return tuple(None if one is None else float(f"{one:.4g}") for one in means)
