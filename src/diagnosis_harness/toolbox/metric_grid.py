"""All series of both recordings on shared steps, read at once or, if there are many, block by block.

The comparison needs one value per series and step. Points take four times as much memory while they are
read, so a large recording is read a few entities at a time and only its steps are kept.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

import numpy as np

from diagnosis_harness.analysis.arrays import Floats
from diagnosis_harness.analysis.series import (
    MOST_STEPS,
    Grid,
    clean,
    empty_grid,
    put_on_grid,
    to_rate,
    usual_step,
)
from diagnosis_harness.harness.context import RunContext
from diagnosis_harness.toolbox.histogram_series import read_histograms_of
from diagnosis_harness.toolbox.metric_row import MetricRow
from diagnosis_harness.toolbox.ports import MetricSelection, MetricSource, Recording, Series, SignalInfo

POINTS_AT_ONCE: Final = 2_000_000
"""Points read at a time: some 150 MB while they are sorted."""
CELLS_MAX: Final = 36_000_000
"""Series times steps: 290 MB. If there would be more, steps grow in whole multiples."""
LEAST_STEPS: Final = 60
"""Minimum number of steps, however many series there are: fewer show no course."""
SAMPLE: Final = 200
"""Number of entities, evenly spread by name, whose points determine the usual step of a large recording."""

MakeRow = Callable[[Series], MetricRow]
"""Makes the row of a series; whether it is a counter depends on its values."""
_Points = tuple[Floats, Floats]


@dataclass(frozen=True, slots=True)
class MetricGrid:
    """Rows, with the incident and the baseline on equal steps; see `Grid`."""

    rows: tuple[MetricRow, ...]
    incident: Grid
    baseline: Grid

    def at_anchor(self, anchor_s: float) -> MetricGrid | None:
        """The same grid if another time is also an edge of its steps; otherwise None."""
        step_s = self.incident.step_s
        steps = (anchor_s - self.incident.anchor_s) / step_s
        exact = all((1024 * number).is_integer() for number in (anchor_s, self.incident.anchor_s, step_s))
        if not exact or not steps.is_integer():
            return None
        first = round((float(self.incident.time_s[0]) - anchor_s) / step_s - 0.5)
        columns = np.arange(len(self.incident.time_s))
        time_s = np.asarray(anchor_s + (first + columns + 0.5) * step_s, dtype=np.float64)
        return replace(self, incident=replace(self.incident, time_s=time_s, anchor_s=anchor_s))


@dataclass(slots=True)
class MetricSeries:
    """The series with a finite value: those of the incident, and the baseline's with the same name.

    Attributes:
        incident, baseline: points of a recording that was read at once.
        blocks: how to read a large recording; only the last grid is kept.
    """

    incident: tuple[Series, ...] = ()
    baseline: Mapping[tuple[str, str], Series] = field(default_factory=dict)
    blocks: MetricBlocks | None = None
    _grid: MetricGrid | None = None

    @property
    def entities(self) -> frozenset[str]:
        """The entities of the series."""
        entities = frozenset(one.entity for one in self.incident)
        return entities if self.blocks is None else self.blocks.entities

    def on_grid(self, ctx: RunContext, row_of: MakeRow, *, anchor_s: float) -> MetricGrid | None:
        """All series on steps with `anchor_s` as an edge; None if there are none."""
        moved = None if self._grid is None else self._grid.at_anchor(anchor_s)
        if moved is None and self.blocks is not None:
            self._grid = None  # keeping two would double the memory
            moved = self.blocks.on_grid(ctx, row_of, anchor_s=anchor_s)
        elif moved is None and self.incident:
            moved = _small_grid(self, row_of, anchor_s)
        self._grid = moved
        return moved


@dataclass(frozen=True, slots=True)
class MetricBlocks:
    """A large recording: the entities to read at a time, and what is known of the whole in advance."""

    source: MetricSource
    infos: tuple[SignalInfo, ...]
    at_once: int = POINTS_AT_ONCE

    @property
    def entities(self) -> frozenset[str]:
        """The entities of the series."""
        return frozenset(info.entity for info in self.infos)

    def on_grid(self, ctx: RunContext, row_of: MakeRow, *, anchor_s: float) -> MetricGrid | None:
        """As `MetricSeries.on_grid`, with the usual step of a sample of the entities."""
        step_s = self._step_s(ctx, row_of)
        base = self.source.signals(ctx, Recording.BASELINE)
        names = {(info.entity, info.signal) for info in self.infos}
        base = tuple(info for info in base if (info.entity, info.signal) in names)
        most = max(LEAST_STEPS, min(MOST_STEPS, CELLS_MAX // len(self.infos)))
        grid = empty_grid(
            len(self.infos), _extent_of(self.infos), step_s=step_s, anchor_s=anchor_s, steps_max=most
        )
        base_extent_s = _extent_of(base)
        normal = empty_grid(
            len(self.infos) if base else 0,
            base_extent_s,
            step_s=grid.step_s,
            anchor_s=base_extent_s[0],
            steps_max=most,
        )
        rows: list[MetricRow] = []
        for entities in _divide(self.infos, self.at_once):
            block = read_block(ctx, self.source, MetricSelection(entities=entities), with_baseline=bool(base))
            found, here, there = _points_of(block, row_of)
            low = len(rows)
            put_on_grid(grid, here, low)
            if base:
                put_on_grid(normal, there, low)
            rows += found
        if not rows:
            return None
        count = len(rows)
        return MetricGrid(
            tuple(rows),
            replace(grid, value=grid.value[:count]),
            replace(normal, value=normal.value[:count] if base else np.full((count, 1), np.nan)),
        )

    def _step_s(self, ctx: RunContext, row_of: MakeRow) -> float:
        names = sorted(self.entities)
        chosen = frozenset(names[:: max(1, len(names) // SAMPLE)])
        block = read_block(ctx, self.source, MetricSelection(entities=chosen), with_baseline=False)
        _, here, _ = _points_of(block, row_of)
        return usual_step([time_s for time_s, _ in here])


def read_metric_series(
    ctx: RunContext, source: MetricSource, *, at_once: int = POINTS_AT_ONCE
) -> MetricSeries:
    """Request every series of the incident, and only those from the baseline.

    Histograms become rates, means and quantiles. If there are more than `at_once` points, only the names
    are read here.
    """
    infos = source.signals(ctx, Recording.INCIDENT)
    if sum(info.points for info in infos) > at_once:
        return MetricSeries(blocks=MetricBlocks(source, infos, at_once))
    return read_block(ctx, source, MetricSelection(), with_baseline=True)


def read_block(
    ctx: RunContext, source: MetricSource, selection: MetricSelection, *, with_baseline: bool
) -> MetricSeries:
    """The selected series of the incident and, if requested, the baseline's series with the same names."""
    incident = _usable(source.series(ctx, Recording.INCIDENT, selection))
    if not incident:
        return MetricSeries()
    same = MetricSelection(
        entities=frozenset(one.entity for one in incident), signals=frozenset(one.signal for one in incident)
    )
    there = source.series(ctx, Recording.BASELINE, same) if with_baseline else ()
    baseline = read_histograms_of(_usable(there))
    of_incident = {id(one) for one in incident}
    whole = read_histograms_of(incident)
    derived = tuple(one for one in whole if id(one) in of_incident or np.isfinite(one.value).any())
    return MetricSeries(derived, {(one.entity, one.signal): one for one in baseline})


def _small_grid(series: MetricSeries, row_of: MakeRow, anchor_s: float) -> MetricGrid:
    rows, here, there = _points_of(series, row_of)
    start_s, end_s = _extent(here)
    step_s = usual_step([time_s for time_s, _ in here])
    grid = empty_grid(len(rows), (start_s, end_s), step_s=step_s, anchor_s=anchor_s)
    base_start_s, base_end_s = _extent(there)
    normal = empty_grid(len(rows), (base_start_s, base_end_s), step_s=grid.step_s, anchor_s=base_start_s)
    put_on_grid(grid, here, 0)
    put_on_grid(normal, there, 0)
    return MetricGrid(tuple(rows), grid, normal)


def _points_of(series: MetricSeries, row_of: MakeRow) -> tuple[list[MetricRow], list[_Points], list[_Points]]:
    """For each series its row and its points in the incident and in the baseline, counters as rates."""
    rows, here, there = [], [], []
    for one in series.incident:
        base = series.baseline.get((one.entity, one.signal))
        row = row_of(one)
        rows.append(row)
        here.append(_points(one, rate=row.rate))
        there.append((np.zeros(0), np.zeros(0)) if base is None else _points(base, rate=row.rate))
    return rows, here, there


def _points(one: Series, *, rate: bool) -> _Points:
    time_s, value = clean(one.time_s, one.value)
    return to_rate(time_s, value) if rate else (time_s, value)


def _usable(series: Sequence[Series]) -> list[Series]:
    return [one for one in series if np.isfinite(one.value).any()]


def _divide(infos: Sequence[SignalInfo], at_once: int) -> Iterator[frozenset[str]]:
    """Split entities, in order of their names, into blocks of at most `at_once` points if possible."""
    taken: set[str] = set()
    points = 0
    for info in infos:
        if taken and info.entity not in taken and points + info.points > at_once:
            yield frozenset(taken)
            taken, points = set(), 0
        taken.add(info.entity)
        points += info.points
    if taken:
        yield frozenset(taken)


def _extent_of(infos: Sequence[SignalInfo]) -> tuple[float, float]:
    firsts, lasts = [info.first_s for info in infos], [info.last_s for info in infos]
    return (min(firsts), max(lasts) + 1e-3) if firsts else (0.0, 0.0)


def _extent(series: Sequence[_Points]) -> tuple[float, float]:
    firsts = [float(time_s[0]) for time_s, _ in series if len(time_s)]
    lasts = [float(time_s[-1]) for time_s, _ in series if len(time_s)]
    return (min(firsts), max(lasts) + 1e-3) if firsts else (0.0, 0.0)
