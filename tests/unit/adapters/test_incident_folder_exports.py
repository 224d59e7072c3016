"""Files as people save them from Grafana, Kibana, logcli and hosts, under the names that these give."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping

import pytest

from diagnosis_harness.harness.context import RunContext
from diagnosis_harness.toolbox.ports import LogLine, Recording, Sources

OpenFolder = Callable[[Mapping[str, str | bytes]], Sources]
FIRST_S = 1_778_056_800.0  # 2026-05-06T08:40:00Z


def first_line(sources: Sources, ctx: RunContext) -> LogLine:
    """The first log line of a folder."""
    assert sources.logs is not None
    return sources.logs.search(ctx, Recording.INCIDENT, text=None, entities=None, window=None, limit=1).lines[
        0
    ]


def series_of(sources: Sources, ctx: RunContext) -> dict[tuple[str, str], str | None]:
    """Entity and signal of all series, with their units."""
    assert sources.metrics is not None
    return {(one.entity, one.signal): one.unit for one in sources.metrics.signals(ctx, Recording.INCIDENT)}


def test_panels_of_grafana_are_named_after_their_files(open_folder: OpenFolder, ctx: RunContext) -> None:
    """Columns are services; a word behind them belongs to the signal."""
    latency = '"Time","checkout","payments"\n' + "".join(
        f"2026-05-06 08:{40 + at}:00,{110 + at} ms,{0.9 + at / 10:.2f} s\n" for at in range(6)
    )
    pool = '"Time","payments-db active","payments-db waiting"\n' + "".join(
        f"2026-05-06 08:{40 + at}:00,{30 + at},{at}\n" for at in range(6)
    )
    sources = open_folder(
        {
            "Response time (p95)-data-2026-05-06 11_31_00.csv": latency,
            "DB connections-data-as-joinbyfield-2026-05-06 11_31_00.csv": pool,
        }
    )
    assert series_of(sources, ctx) == {
        ("checkout", "Response time (p95)"): "s",
        ("payments", "Response time (p95)"): "s",
        ("payments-db", "DB connections active"): None,
        ("payments-db", "DB connections waiting"): None,
    }


EXPORTS: dict[str, tuple[str, str | bytes]] = {
    "Explore, JSON": (
        "explore.json",
        json.dumps(
            [
                {
                    "line": "pool exhausted",
                    "timestamp": "1778056800000000000",
                    "date": "2026-05-06T08:40:00.000Z",
                    "fields": {"app": "shop", "level": "error"},
                }
            ]
        ),
    ),
    "logcli": ("out.txt", '2026-05-06T08:40:00Z {app="shop", level="error"} pool exhausted\n'),
    "logcli, JSON": (
        "out.jsonl",
        json.dumps(
            {
                "labels": {"app": "shop", "level": "error"},
                "line": "pool exhausted",
                "timestamp": "2026-05-06T08:40:00Z",
            }
        ),
    ),
    "Kibana": (
        "On_demand_report.csv",
        (
            '"@timestamp","kubernetes.deployment.name","log.level",message\n'
            '"May 6, 2026 @ 08:40:00.000",shop,error,"pool exhausted"\n'
        ),
    ),
    "klog": ("shop.log", "E0506 08:40:00.000000       1 pool.go:138] pool exhausted\n"),
    "nginx": ("shop.log", "2026/05/06 08:40:00 [error] 12#12: *1 pool exhausted\n"),
    "log4j": ("shop.log", "2026-05-06 08:40:00,000 [worker-3] ERROR Shop - pool exhausted\n"),
    "syslog": ("messages", "May  6 08:40:00 host1 shop[12]: error: pool exhausted\n"),
    "logfmt": ("shop.log", 'time=2026-05-06T08:40:00Z level=error msg="pool exhausted"\n'),
    "PostgreSQL": ("shop.log", "2026-05-06 08:40:00.000 UTC [12] ERROR:  pool exhausted\n"),
    "kubectl logs": ("logs.txt", "[pod/shop/app] 2026-05-06T08:40:00.000000000Z ERROR pool exhausted\n"),
    "Redis": ("shop.log", "1:M 06 May 2026 08:40:00.000 # ERROR pool exhausted\n"),
    "Tomcat": ("shop.log", "06-May-2026 08:40:00.000 SEVERE [main] pool exhausted\n"),
    "UTF-16": ("shop.log", "2026-05-06 08:40:00 ERROR pool exhausted\n".encode("utf-16")),
}


@pytest.mark.parametrize("what", EXPORTS)
def test_a_log_is_read_as_its_tool_writes_it(open_folder: OpenFolder, ctx: RunContext, what: str) -> None:
    """Time, service and text are found; the level as well, where one is written."""
    name, content = EXPORTS[what]
    line = first_line(open_folder({name: content}), ctx)
    assert (line.time_s, line.entity) == (FIRST_S, "shop")
    assert "pool exhausted" in line.message
    assert what == "syslog" or (line.level or "").upper() in {"ERROR", "SEVERE"}


def test_lines_of_a_stack_trace_belong_to_their_entry(open_folder: OpenFolder, ctx: RunContext) -> None:
    """They are one line to a reader, and are not counted by themselves."""
    content = "2026-05-06 08:40:00,000 ERROR cannot answer\nOutOfMemory\n\tat a.b(C.java:1)\n"
    sources = open_folder({"shop.log": content + "2026-05-06 08:41:00,000 INFO fine\n"})
    assert sources.summary.summary(ctx).log_lines == 2
    assert "OutOfMemory" in first_line(sources, ctx).message
    assert "C.java" in first_line(sources, ctx).message


def test_columns_of_sar_are_percentages(open_folder: OpenFolder, ctx: RunContext) -> None:
    """Their names begin with the sign."""
    content = "time,host,%user,%idle\n" + "".join(f"{FIRST_S + 60 * at:.0f},pay-1,30,60\n" for at in range(3))
    assert set(series_of(open_folder({"x.csv": content}), ctx).values()) == {"percent"}


def test_a_table_whose_lines_end_in_different_ways_is_read(open_folder: OpenFolder, ctx: RunContext) -> None:
    """As after an edit of the header on another system."""
    rows = "".join(f"{FIRST_S + 60 * at:.0f},shop,x_ms,{at}\r\n" for at in range(5))
    sources = open_folder({"metrics.csv": "time,entity,signal,value\n" + rows})
    assert sources.metrics is not None
    (series,) = sources.metrics.series(ctx, Recording.INCIDENT)
    assert series.value.tolist() == [0.0, 1.0, 2.0, 3.0, 4.0]
