"""Series as Graphite, VictoriaMetrics and Cloud Monitoring write them: whose they are, and none averaged."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping

import numpy as np
import pytest

from diagnosis_harness.harness.context import RunContext
from diagnosis_harness.toolbox.ports import Recording, Sources

OpenFolder = Callable[[Mapping[str, str | bytes]], Sources]
START_S = 1_778_056_800  # 2026-05-06T08:40:00Z


def series_of(sources: Sources, ctx: RunContext) -> dict[tuple[str, str], list[float]]:
    """Entity and signal → the values that are there."""
    assert sources.metrics is not None
    found = sources.metrics.series(ctx, Recording.INCIDENT)
    return {(one.entity, one.signal): np.round(one.value[~np.isnan(one.value)], 4).tolist() for one in found}


def render(*targets: tuple[str, list[float | None]], **tags: str) -> str:
    """An answer of Graphite's render API, a point a minute."""
    return json.dumps(
        [
            {
                "target": target,
                "tags": {"name": target, **tags},
                "datapoints": [[value, START_S + 60 * at] for at, value in enumerate(values)],
            }
            for target, values in targets
        ]
    )


def test_nodes_that_all_targets_share_are_no_part_of_a_service(
    open_folder: OpenFolder, ctx: RunContext
) -> None:
    """And a statistic at the end of a path belongs to its signal."""
    text = render(("prod.cart.latency.p95", [20, 21]), ("prod.web.latency.p95", [30, None]))

    found = series_of(open_folder({"render.json": text}), ctx)

    assert found == {("cart", "latency.p95"): [20, 21], ("web", "latency.p95"): [30]}


def test_targets_of_one_name_with_other_values_are_two_series(
    open_folder: OpenFolder, ctx: RunContext
) -> None:
    """As two targets with the same alias are."""
    text = render(("shop.cart.errors", [1, 1]), ("shop.cart.errors", [9, 9]))

    assert sorted(series_of(open_folder({"render.json": text}), ctx).values()) == [[1, 1], [9, 9]]


def test_tags_say_whose_a_series_is(open_folder: OpenFolder, ctx: RunContext) -> None:
    """In an answer and behind the name of a line."""
    tagged = json.dumps(
        [
            {
                "target": "x",
                "tags": {"name": "lag", "service": "cart"},
                "datapoints": [[4, START_S], [5, START_S + 60]],
            }
        ]
    )
    line = f"shop.lag;service=web 7 {START_S}\nshop.lag;service=web 8 {START_S + 60}\n"

    found = series_of(open_folder({"render.json": tagged, "lines.txt": line}), ctx)

    assert found == {("cart", "lag"): [4, 5], ("web", "shop.lag"): [7, 8]}


@pytest.mark.parametrize(
    "text",
    [
        f"a.cart.cpu,{START_S},{START_S + 120},60|20.0,90.5\n",
        "a.cart.cpu,2026-05-06 08:40:00,20.0\na.cart.cpu,2026-05-06 08:41:00,90.5\n",
        f"a.cart.cpu 20 {START_S}\na.cart.cpu 90.5 {START_S + 60}\n",
    ],
)
def test_every_form_of_graphite_gives_the_same_series(
    text: str, open_folder: OpenFolder, ctx: RunContext
) -> None:
    """Raw, CSV without a header, and lines as a collector sends them."""
    sources = open_folder({"saved.out": text})

    assert series_of(sources, ctx) == {("cart", "cpu"): [20, 90.5]}
    assert sources.metrics is not None
    assert sources.metrics.series(ctx, Recording.INCIDENT)[0].time_s.tolist() == [START_S, START_S + 60]


def test_blocks_of_one_exported_series_are_one(open_folder: OpenFolder, ctx: RunContext) -> None:
    """VictoriaMetrics writes a long series in several lines."""
    metric = {"__name__": "lag_seconds", "job": "cart"}
    lines = [
        {
            "metric": metric,
            "values": [3, None],
            "timestamps": [1000 * (START_S + 120), 1000 * (START_S + 180)],
        },
        {"metric": metric, "values": [1, 2], "timestamps": [1000 * START_S, 1000 * (START_S + 60)]},
    ]

    found = series_of(open_folder({"export.json": "\n".join(map(json.dumps, lines))}), ctx)

    assert found == {("cart", "lag_seconds"): [1, 2, 3]}


def gcp(kind: str, values: list[dict[str, object]], **labels: str) -> dict[str, object]:
    """One series of Cloud Monitoring, the newest point first."""
    points = [
        {
            "interval": {
                "startTime": f"2026-05-06T08:{40 + at}:00Z",
                "endTime": f"2026-05-06T08:{40 + at + (kind == 'DELTA')}:00Z",
            },
            "value": value,
        }
        for at, value in enumerate(values)
    ]
    return {
        "metric": {"type": "run.googleapis.com/request_count", "labels": labels},
        "resource": {"type": "cloud_run_revision", "labels": {"service_name": "cart", "project_id": "shop"}},
        "metricKind": kind,
        "points": points[::-1],
    }


def test_differences_of_cloud_monitoring_become_rates(open_folder: OpenFolder, ctx: RunContext) -> None:
    """A label of the metric tells series apart; a distribution gives its mean."""
    series = [
        gcp("DELTA", [{"int64Value": "60"}, {"int64Value": "120"}], response_code="200"),
        gcp("DELTA", [{"int64Value": "6"}, {"int64Value": "0"}], response_code="500"),
        gcp("GAUGE", [{"distributionValue": {"count": "3", "mean": 0.25}}, {"distributionValue": {}}]),
    ]

    found = series_of(open_folder({"listed.json": json.dumps({"timeSeries": series})}), ctx)

    assert found == {
        ("cart", "request_count_per_second{response_code=200}"): [1, 2],
        ("cart", "request_count_per_second{response_code=500}"): [0.1, 0],
        ("cart", "request_count"): [0.25],
    }
