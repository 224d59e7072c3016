"""Finds when the trouble of the affected entities was over.

By default an hour after the onset is judged, in which four minutes of trouble would disappear. So if the
affected entities returned to normal and stayed there for longer than the trouble had lasted, nothing after
that is judged.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from diagnosis_harness.analysis.clue import NOISE_FLOOR
from diagnosis_harness.toolbox.metric_table import MetricTable

EPISODE_LEAST = 3
"""Consecutive points beyond normal that make an episode: one or two are a late scrape or a spike."""
EPISODE_CALM = 10
"""Points after it that show that it is over: intermittent trouble rarely pauses for as long."""
EPISODE_BEGINS = 4
"""Points after the onset within which an episode begins: an onset is accurate to a step or two, and trouble
builds
up."""


def end_of_episode(table: MetricTable, rows: Sequence[int], *, also: Sequence[int] = ()) -> float | None:
    """When the episode in these series ended; None if it continues, is not clear, or was long.

    Args:
        rows: the series that show the trouble from outside.
        also: further symptoms of the affected entities, which must be over as well.
    """
    begins, rows = len(rows), [*rows, *also]
    value = table.value[list(rows), table.split : table.end]
    sign = np.array([table.rows[place].meaning.harmful or 1 for place in rows], dtype=np.float64)
    level, width = table.shift.level[list(rows)], table.shift.width[list(rows)]
    beyond = (value - level[:, None]) * sign[:, None] > NOISE_FLOOR * width[:, None]
    affected_rows = [place for place, row in enumerate(beyond[:begins]) if _begins(row)]
    if not affected_rows:
        return None
    least = [2] * begins + [EPISODE_LEAST] * len(also)  # of many further series, some spike twice in a row
    bad = np.any([_in_runs(row, run) for row, run in zip(beyond, least, strict=True)], axis=0)
    last = int(np.flatnonzero(bad)[-1])
    calm = int(np.isfinite(value[affected_rows, last + 1 :]).all(axis=0).sum())  # silence is not calm
    if calm < EPISODE_CALM or calm <= last + 1:
        return None
    return float(table.time_s[table.split + last] + 0.5 * table.step_s)


def _begins(beyond: NDArray[np.bool_]) -> bool:
    """Whether an episode begins near the onset."""
    runs = np.flatnonzero(_in_runs(beyond, EPISODE_LEAST))
    return bool(len(runs)) and int(runs[0]) < EPISODE_BEGINS


def _in_runs(beyond: NDArray[np.bool_], least: int) -> NDArray[np.bool_]:
    """The points that belong to a run of at least `least` points."""
    kept = np.zeros(len(beyond), dtype=np.bool_)
    edges = np.flatnonzero(np.diff(np.concatenate(([False], beyond, [False])).astype(np.int8)))
    for start, end in zip(edges[::2].tolist(), edges[1::2].tolist(), strict=True):
        kept[start:end] = end - start >= least
    return kept
