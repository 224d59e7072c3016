"""A large recording is read block by block, and gives the same grid as one that is read at once."""

from __future__ import annotations

import numpy as np
import pytest

from diagnosis_harness.harness.context import RunContext
from diagnosis_harness.testing.sources import InMemorySources
from diagnosis_harness.toolbox.metric_grid import read_metric_series
from diagnosis_harness.toolbox.metric_table import MetricTable, build_metric_table
from diagnosis_harness.toolbox.ports import Series

STEP_S = 15.0
ONSET_S = 1_500.0


def recording(seed: int) -> InMemorySources:
    """Some twenty entities with gauges, a counter, a gap, and a baseline of most of them."""
    rng = np.random.default_rng(seed)

    def series(entity: str, signal: str, first_s: float) -> Series:
        time_s = np.asarray(first_s + STEP_S * np.arange(120), dtype=np.float64)
        value = rng.normal(100.0, 5.0, 120)
        if signal.endswith("_total"):
            value = np.cumsum(np.abs(value))
        value[rng.integers(1, 118, 5)] = np.nan
        keep = np.ones(120, dtype=np.bool_)
        keep[rng.integers(1, 118, 6)] = False
        return Series(entity, signal, None, time_s[keep], value[keep])

    names = [(f"e{at:02}", signal) for at in range(20) for signal in ("latency_ms", "requests_total", "up")]
    return InMemorySources(
        incident=tuple(series(entity, signal, 0.0) for entity, signal in names),
        baseline=tuple(series(entity, signal, -90_000.0) for entity, signal in names if entity != "e03"),
    )


def table(
    ctx: RunContext, sources: InMemorySources, *, at_once: int, onset_s: float = ONSET_S
) -> MetricTable:
    """The table of a recording that is read by so many points at a time."""
    found = build_metric_table(
        ctx, read_metric_series(ctx, sources, at_once=at_once), onset_s=onset_s, owners={}
    )
    assert found is not None
    return found


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("at_once", [1, 400, 2_000])
def test_blocks_give_the_table_that_one_reading_gives(ctx: RunContext, seed: int, at_once: int) -> None:
    """Whatever their size: rows in the same order, and the same scores."""
    sources = recording(seed)
    whole, blocks = (table(ctx, sources, at_once=points) for points in (10**9, at_once))
    assert blocks.rows == whole.rows
    assert (blocks.split, blocks.end, blocks.step_s) == (whole.split, whole.end, whole.step_s)
    for one, other in (
        (blocks.time_s, whole.time_s),
        (blocks.value, whole.value),
        (blocks.baseline, whole.baseline),
        (blocks.shift.up, whole.shift.up),
        (blocks.shift.null_down, whole.shift.null_down),
    ):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("later_s", [45.0, 7.0])
def test_a_second_onset_gives_the_table_that_it_gives_alone(ctx: RunContext, later_s: float) -> None:
    """Whether it is an edge of the first one's steps or not; only then nothing is read again."""
    sources = recording(0)
    series = read_metric_series(ctx, sources, at_once=400)
    build_metric_table(ctx, series, onset_s=ONSET_S, owners={})
    asked = sources.calls["series"]
    second = build_metric_table(ctx, series, onset_s=ONSET_S + later_s, owners={})
    assert (sources.calls["series"] == asked) == (later_s % STEP_S == 0)
    alone = table(ctx, sources, at_once=400, onset_s=ONSET_S + later_s)
    assert second is not None
    assert (second.split, second.end) == (alone.split, alone.end)
    np.testing.assert_array_equal(second.time_s, alone.time_s)
    np.testing.assert_array_equal(second.value, alone.value)
