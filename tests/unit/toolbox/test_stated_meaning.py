"""The meaning of a series: as its source states it, else by its name; and what follows from it."""

from __future__ import annotations

import numpy as np
import pytest

from diagnosis_harness.analysis.meaning import RESOURCES, SignalForm, SignalKind, SignalMeaning, SignalSide
from diagnosis_harness.testing.runs import Rig
from diagnosis_harness.toolbox.clues import metric_resources
from diagnosis_harness.toolbox.metric_grid import MetricSeries
from diagnosis_harness.toolbox.metric_table import MetricTable, build_metric_table, decide_meaning
from diagnosis_harness.toolbox.ports import UNSTATED, Series, SeriesMeaning
from diagnosis_harness.toolbox.signal_item import moves_of, signal_item

ONSET_S = 6_000.0
TIME_S = np.arange(0.0, 9_000.0, 60.0)
BROKEN = TIME_S >= ONSET_S


def _series(
    signal: str, usual: float, then: float, *, entity: str = "shop", meaning: SeriesMeaning = UNSTATED
) -> Series:
    noise = 0.01 * usual * np.sin(TIME_S)
    return Series(entity, signal, None, TIME_S, np.where(BROKEN, then, usual) + noise, meaning)


def _table(*series: Series) -> MetricTable:
    table = build_metric_table(Rig().run(), MetricSeries(series), onset_s=ONSET_S, owners={})
    assert table is not None
    return table


def test_what_is_stated_wins_over_the_name() -> None:
    """Part by part; what is not stated follows from the name."""
    stated = SeriesMeaning(kind=SignalKind.QUEUE, side=SignalSide.OUTGOING, harmful=-1, form=SignalForm.GAUGE)
    decided = decide_meaning("cpu_percent", "percent", stated)
    assert decided == SignalMeaning(SignalKind.QUEUE, SignalSide.OUTGOING, -1, SignalForm.GAUGE)
    assert decide_meaning("cpu_percent", "percent", UNSTATED).kind is SignalKind.CPU


def test_a_stated_kind_has_its_usual_direction() -> None:
    """`widgets` says nothing; as an availability its fall is harm."""
    decided = decide_meaning("widgets", None, SeriesMeaning(kind=SignalKind.AVAILABILITY))
    assert (decided.kind, decided.harmful) == (SignalKind.AVAILABILITY, -1)


@pytest.mark.parametrize(
    ("signal", "usual", "then", "bad"),
    [
        ("disk_free_percent", 60.0, 3.0, True),
        ("disk_free_percent", 60.0, 95.0, False),
        ("cache_hit_ratio", 0.95, 0.2, True),
        ("connections_max", 50.0, 200.0, False),
        ("node_cpu_percent", 20.0, 95.0, False),
        ("requests_per_s", 20.0, 95.0, False),
    ],
)
def test_only_the_harmful_direction_is_bad(signal: str, usual: float, then: float, *, bad: bool) -> None:
    """What is free harms by falling; limits, load and the machine beneath harm in no direction."""
    table = _table(_series(signal, usual, then))
    move = moves_of(table)[0]
    assert move.bad is bad
    assert move.z > 3


def test_a_signal_of_the_host_keeps_its_side_and_blames_nothing() -> None:
    """The item says whose it is; no clue comes of it."""
    table = _table(_series("node_cpu_percent", 20.0, 95.0))
    item = signal_item(table, moves_of(table)[0], "s1", onset_s=ONSET_S, points=10)
    assert item.attributes["kind"] == "cpu"
    assert item.attributes["side"] == "host"
    assert metric_resources(table) == []


@pytest.mark.parametrize(
    ("signal", "fault"),
    [
        ("cpu_percent", "CPU"),
        ("memory_used_bytes", "MEMORY"),
        ("disk_used_percent", "SATURATION"),
        ("queue_depth", "SATURATION"),
        ("pool_waiting_connections", "SATURATION"),
        ("worker_threads_busy", "SATURATION"),
    ],
)
def test_a_resource_is_evidence_for_its_own_kind_of_fault(signal: str, fault: str) -> None:
    """None of them is a latency."""
    clues = metric_resources(_table(_series(signal, 10.0, 90.0)))
    assert [clue.fault_kind for clue in clues] == [fault]


def test_every_resource_has_a_kind_of_fault() -> None:
    """A stated kind is enough to make a clue of a series."""
    for kind in RESOURCES:
        table = _table(_series("widgets", 10.0, 90.0, meaning=SeriesMeaning(kind=kind)))
        assert metric_resources(table)[0].fault_kind in {"CPU", "MEMORY", "SATURATION"}


def test_a_fall_of_replicas_that_are_ready_is_measured_from_zero() -> None:
    """Three of three to one of three is two thirds lost, and no small part of a hundred."""
    table = _table(_series("kube_deployment_status_replicas_available", 3.0, 1.0))
    assert moves_of(table)[0].z > 10


def test_a_counter_by_convention_becomes_a_rate_without_total_in_its_name() -> None:
    """And a gauge whose name ends in `_total` stays what it is."""
    growing = np.cumsum(np.where(BROKEN, 600.0, 60.0))
    table = _table(
        Series("db", "pg_stat_database_deadlocks", None, TIME_S, growing),
        Series("web", "nodejs_active_handles_total", None, TIME_S, growing),
    )
    assert [(row.signal, row.rate) for row in table.rows] == [
        ("pg_stat_database_deadlocks", True),
        ("nodejs_active_handles_total", False),
    ]


def test_a_convention_gives_an_unstated_unit() -> None:
    """CloudWatch's names hold none."""
    table = _table(_series("FreeableMemory", 8e9, 1e8), _series("UserErrors", 1.0, 9.0))
    assert [row.unit for row in table.rows] == ["bytes", None]
