"""Answers of queries in Grafana: every series keeps its name, and none is averaged into another."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence

import pytest

from diagnosis_harness.harness.context import RunContext
from diagnosis_harness.kernel.errors import InvalidInput
from diagnosis_harness.toolbox.ports import Recording, Sources

OpenFolder = Callable[[Mapping[str, str | bytes]], Sources]
RefuseFolder = Callable[[Mapping[str, str | bytes]], InvalidInput]
FIRST_MS = 1_778_056_800_000
TIMES = [FIRST_MS + 60_000 * at for at in range(3)]


def frame(values: Sequence[float], *, name: str = "Value", legend: str = "", **labels: str) -> object:
    """A frame of one series, as Grafana answers it."""
    number = {"name": name, "type": "number", "labels": labels, "config": {"displayNameFromDS": legend}}
    fields = [{"name": "Time", "type": "time", "typeInfo": {"frame": "time.Time"}}, number]
    return {"schema": {"refId": "A", "fields": fields}, "data": {"values": [TIMES, values]}}


def answer(**queries: Sequence[object]) -> str:
    """The answer to several queries."""
    return json.dumps(
        {"results": {query: {"status": 200, "frames": frames} for query, frames in queries.items()}}
    )


def values_of(sources: Sources, ctx: RunContext) -> dict[tuple[str, str], list[float]]:
    """The values of every series."""
    assert sources.metrics is not None
    series = sources.metrics.series(ctx, Recording.INCIDENT)
    return {(one.entity, one.signal): one.value.tolist() for one in series}


def test_queries_of_one_panel_are_told_apart(open_folder: OpenFolder, ctx: RunContext) -> None:
    """Labels alone do not distinguish what two queries asked."""
    text = answer(A=[frame([1, 2, 3], service="cart")], B=[frame([7, 8, 9], service="cart")])
    assert values_of(open_folder({"latency.json": text}), ctx) == {
        ("cart", "latency{query=A}"): [1, 2, 3],
        ("cart", "latency{query=B}"): [7, 8, 9],
    }


def test_a_legend_names_the_service_of_a_panel(open_folder: OpenFolder, ctx: RunContext) -> None:
    """As the same panel saved as CSV is read."""
    text = answer(A=[frame([1, 2, 3], legend="cart"), frame([7, 8, 9], legend="payments p95 latency")])
    assert values_of(open_folder({"Latency p95.json": text}), ctx) == {
        ("cart", "Latency p95"): [1, 2, 3],
        ("payments", "p95 latency"): [7, 8, 9],
    }


def test_rows_of_a_table_over_time_are_series(open_folder: OpenFolder, ctx: RunContext) -> None:
    """As SQL answers them: a column of text says whose a row is."""
    fields = [
        {"name": "time", "type": "time"},
        {"name": "service", "type": "string"},
        {"name": "errors", "type": "number"},
    ]
    cells = [[FIRST_MS, FIRST_MS, FIRST_MS + 60_000], ["cart", "payments", "cart"], [1, 5, 2]]
    text = answer(A=[{"schema": {"fields": fields}, "data": {"values": cells}}])
    assert values_of(open_folder({"panel.json": text}), ctx) == {
        ("cart", "errors"): [1, 2],
        ("payments", "errors"): [5],
    }


def test_series_that_nothing_names_are_numbered(open_folder: OpenFolder, ctx: RunContext) -> None:
    """Two frames without labels or legends, of one query."""
    text = answer(A=[frame([1, 2, 3]), frame([7, 8, 9])])
    assert sorted(values_of(open_folder({"cpu.json": text}), ctx).values()) == [[1, 2, 3], [7, 8, 9]]


@pytest.mark.parametrize("again", [[1.0, 2.0, 3.0], [1.0, 2.0, 4.0]])
def test_an_answer_asked_twice_is_one_series(
    open_folder: OpenFolder, ctx: RunContext, again: list[float]
) -> None:
    """Of Prometheus as well: the same values are one series, others are two."""
    first = [1.0, 2.0, 3.0]
    pages = []
    for values in (first, again):
        samples = [[ms / 1000, str(value)] for ms, value in zip(TIMES, values, strict=True)]
        data = {"resultType": "matrix", "result": [{"metric": {"job": "cart"}, "values": samples}]}
        pages.append({"status": "success", "data": data})
    text = "\n".join(json.dumps(page) for page in pages)
    content = values_of(open_folder({"latency.json": text}), ctx)
    assert list(content.values()) == ([first] if again == first else [first, again])


def test_an_error_that_was_answered_is_said(refuse_folder: RefuseFolder) -> None:
    """A query that failed has no frames."""
    text = json.dumps({"results": {"A": {"error": "bad_data: parse error", "status": 400, "frames": []}}})
    assert "parse error" in refuse_folder({"panel.json": text}).problem
