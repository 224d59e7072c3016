"""Call graphs, deploys, flags and commits under any file name: their columns say what they are."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping

import pytest

from diagnosis_harness.harness.context import RunContext
from diagnosis_harness.toolbox.ports import CallEdge, Sources

OpenFolder = Callable[[Mapping[str, str | bytes]], Sources]

FIRST = 1_700_000_000
METRICS = "time,entity,signal,value\n" + "".join(f"{FIRST + 60 * i},shop,latency_ms,{i}\n" for i in range(10))
DEPLOYED = {"timestamp": "2023-11-14T22:14:00Z", "service": "pay", "commit_sha": "7b8e1c4", "version": "v2.1"}
SWITCHED = {
    "timestamp": "2023-11-14T22:15:00Z",
    "flag": "fast-lane",
    "service": "shop",
    "change": "off->on",
    "actor": "wei",
}
COMMITTED = {
    "sha": "0fa0f11",
    "author": "wei",
    "timestamp": "2023-11-14T22:10:00Z",
    "message": "Cut the pool",
    "files_changed": ["pay/pool.go"],
}


@pytest.mark.parametrize(
    "graph",
    [
        "Source,Target,Weight\nshop,pay,1\npay,bank,3\n",
        "from,to\nshop,pay\npay,bank\n",
        ",shop,pay,bank\nshop,0,1,0\npay,0,0,1\nbank,0,0,0\n",
    ],
)
def test_a_call_graph_is_known_by_its_columns(open_folder: OpenFolder, ctx: RunContext, graph: str) -> None:
    """Pairs of ends, or a matrix whose first column names the others."""
    sources = open_folder({"metrics.csv": METRICS, "graph-of-monday.csv": graph})
    assert sources.topology is not None
    assert sources.topology.edges(ctx) == (CallEdge("pay", "bank"), CallEdge("shop", "pay"))


@pytest.mark.parametrize(
    ("row", "kind", "summary", "entity"),
    [
        (DEPLOYED, "deploy", "v2.1", "pay"),
        (SWITCHED, "flag", "fast-lane off->on", "shop"),
        (COMMITTED, "commit", "Cut the pool", None),
    ],
)
def test_a_list_of_changes_is_known_by_its_columns(
    open_folder: OpenFolder, ctx: RunContext, row: Mapping[str, object], kind: str, summary: str, entity: str
) -> None:
    """No column says the kind, and the name of the file is anybody's."""
    sources = open_folder({"metrics.csv": METRICS, "monday.json": json.dumps([row, row])})
    assert sources.changes is not None
    change = sources.changes.changes(ctx, window=None)[0]
    assert (change.kind, change.summary, change.entity) == (kind, summary, entity)


@pytest.mark.parametrize(
    "line",
    [
        {"time": FIRST, "level": "ERROR", "service": "pay", "version": "v2", "message": "refused"},
        {"time": FIRST, "service": "pay", "version": "v2", "message": "refused"},
        {"time": FIRST, "service": "pay", "commit": "7b8e1c4", "message": "refused"},
        {"time": FIRST, "level": "INFO", "sha": "7b8e1c4", "user": "wei", "message": "signed in"},
    ],
)
def test_log_lines_that_name_a_version_stay_log_lines(
    open_folder: OpenFolder, line: Mapping[str, object]
) -> None:
    """A version or a commit beside a message is where the line came from."""
    sources = open_folder({"metrics.csv": METRICS, "monday.jsonl": f"{json.dumps(line)}\n" * 2})
    assert sources.logs is not None
    assert sources.changes is None


def test_numbers_beside_a_version_stay_metrics(open_folder: OpenFolder) -> None:
    """Latencies by version are measured, not deployed."""
    rows = "time,service,version,latency_ms\n" + "".join(
        f"{FIRST + 60 * i},pay,v{i % 2},{i}\n" for i in range(9)
    )
    sources = open_folder({"monday.csv": rows})
    assert sources.metrics is not None
    assert sources.changes is None
