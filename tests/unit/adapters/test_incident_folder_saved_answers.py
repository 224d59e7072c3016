"""Answers of a platform as tools save them in one object: pods, a log as one text, series, notices."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping

import pytest

from diagnosis_harness.harness.context import RunContext
from diagnosis_harness.toolbox.ports import LogLine, Recording, Sources

OpenFolder = Callable[[Mapping[str, str | bytes]], Sources]
FIRST_S = 1_778_056_800.0  # 2026-05-06T08:40:00Z


def lines_of(sources: Sources, ctx: RunContext) -> tuple[LogLine, ...]:
    """The log lines of a folder."""
    assert sources.logs is not None
    found = sources.logs.search(ctx, Recording.INCIDENT, text=None, entities=None, window=None, limit=9)
    return tuple(found.lines)


def series_of(sources: Sources, ctx: RunContext) -> set[tuple[str, str]]:
    """Entity and signal of all series."""
    assert sources.metrics is not None
    return {(one.entity, one.signal) for one in sources.metrics.signals(ctx, Recording.INCIDENT)}


def test_a_log_that_is_one_text_of_a_pod_is_its_lines(open_folder: OpenFolder, ctx: RunContext) -> None:
    """Joined where a trace of the stack follows, and of the pod that the object names."""
    text = (
        "2026-05-06T08:40:00Z INFO started\n"
        "2026-05-06T08:41:00Z ERROR no connection left\n    at Pool.borrow(Pool.java:7)\n"
    )
    saved = {"pod_name": "cart-6d5f7c9b8d-x2x4z", "namespace": "shop", "logs": text}

    lines = lines_of(open_folder({"pod_output.json": json.dumps(saved)}), ctx)

    assert [line.time_s - FIRST_S for line in lines] == [0.0, 60.0]
    assert {line.entity for line in lines} == {"cart-6d5f7c9b8d-x2x4z"}
    assert "Pool.java:7" in lines[1].message


def test_series_are_known_by_the_name_that_holds_them(open_folder: OpenFolder, ctx: RunContext) -> None:
    """Times and values side by side; what the object says of itself is whose they are."""
    times = [f"2026-05-06T08:{40 + at}:00Z" for at in range(6)]
    saved = {
        "db_instance_identifier": "orders-db",
        "cpu_utilization": {"timestamps": times, "values": [5, 5, 6, 5, 80, 82]},
        "db_load": {"timestamps": times, "values": [1, 1, 1, 1, 9, 9]},
        "cut": {"timestamps": times, "values": [1]},
    }

    found = series_of(open_folder({"answer.json": json.dumps(saved)}), ctx)

    assert found == {("orders-db", "cpu_utilization"), ("orders-db", "db_load")}


def test_performance_insights_keeps_series_of_other_dimensions_separate(
    open_folder: OpenFolder, ctx: RunContext
) -> None:
    """One metric by two wait events is two series."""
    saved = {
        "Identifier": "db-ORDERS",
        "MetricList": [
            {
                "Key": {"Metric": "db.load.avg", "Dimensions": {"db.wait_event.name": name}},
                "DataPoints": [
                    {"Timestamp": f"2026-05-06T08:{40 + at}:00Z", "Value": at * factor} for at in range(6)
                ],
            }
            for name, factor in (("CPU", 1), ("IO:DataFileRead", 3))
        ],
    }

    sources = open_folder({"answer.json": json.dumps(saved)})

    assert sources.metrics is not None
    assert len(tuple(sources.metrics.signals(ctx, Recording.INCIDENT))) == 2


@pytest.mark.parametrize("key", ["rows", "samples"])
def test_rows_inside_an_object_have_what_it_says_of_all_of_them(
    open_folder: OpenFolder, ctx: RunContext, key: str
) -> None:
    """Whatever the list is called; fields of objects inside a row are columns too."""
    rows = [
        {"timestamp": FIRST_S + 60 * at, "latency_ms": 100 + at, "pool": {"waiting": at}} for at in range(6)
    ]

    found = series_of(open_folder({"answer.json": json.dumps({"service": "cart", key: rows})}), ctx)

    assert {entity for entity, _ in found} == {"cart"}
    assert {signal for _, signal in found} == {"latency_ms", "pool.waiting"}
