"""The lines of a folder by shape: the same as the lines themselves, masked one by one."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pytest

from diagnosis_harness.adapters.sources.incident_folder import log_table
from diagnosis_harness.adapters.sources.incident_folder.database import Database
from diagnosis_harness.harness.context import RunContext
from diagnosis_harness.kernel.errors import ToolFailure
from diagnosis_harness.toolbox.log_lines import table_of_lines
from diagnosis_harness.toolbox.ports import LogLine, LogTable, Recording, Sources

OpenFolder = Callable[[Mapping[str, str | bytes]], Sources]

WORDS = tuple(enumerate(("cart", "pay", "cart")))
FIRST = 1_700_000_000
MESSAGES = (
    "order 17 took 12 ms",
    "order 18 took 9000 ms",
    'GET /api/v1/users/77 HTTP/1.1" 503 12',
    "GET /cart status=404 in 3 ms",
    "retry\njava.lang.IllegalStateException: x\n\tat A.b(A.java:3)",
    "10:00:01 WARN o.s.OrderService#120 slow",
    "user 'u1' said \"hi 5\" — 订单 42 失败",
    "",
    "x" * 500,
)


def rows_of(table: LogTable) -> list[tuple[float, str | None, str | None, str, bool]]:
    """The lines in order, without their examples."""
    return [
        (
            time_s,
            table.shapes[shape].entity,
            table.shapes[shape].level,
            table.shapes[shape].text,
            context >= 0,
        )
        for shape, time_s, context in zip(
            table.shape.tolist(), table.time_s.tolist(), table.context.tolist(), strict=True
        )
    ]


def test_a_folder_masks_as_the_lines_are_masked_one_by_one(open_folder: OpenFolder, ctx: RunContext) -> None:
    """Two ways to one table: SQL where the lines lie, Python where a source has only lines."""
    lines = [
        LogLine(
            FIRST + place // 2, f"pod-{place % 2}", None if place % 3 else "warn", message, f"s{place // 4}"
        )
        for place, message in enumerate(MESSAGES * 3)
        if message
    ]
    file = "\n".join(
        json.dumps(
            {
                "time": line.time_s,
                "service": line.entity,
                "message": line.message,
                "span_id": line.context,
                **({"level": line.level} if line.level else {}),
            }
        )
        for line in lines
    )
    logs = open_folder({"logs.jsonl": file}).logs
    assert logs is not None
    table, expected = logs.table(ctx, Recording.INCIDENT), table_of_lines(lines)
    assert rows_of(table) == rows_of(expected)
    same = [
        [one == other for other in content.context[:12]]
        for content in (table, expected)
        for one in content.context[:12]
    ]
    assert same[:12] == same[12:]


def test_lines_of_one_instant_keep_the_order_of_the_file(open_folder: OpenFolder, ctx: RunContext) -> None:
    """Most logs count milliseconds; what follows what is the order of the file."""
    words = ["begin", "check", "save", "end"] * 50
    file = "time,service,message,trace_id\n" + "\n".join(
        f"{FIRST},shop,{word},t{at // 4}" for at, word in enumerate(words)
    )
    logs = open_folder({"logs.csv": file}).logs
    assert logs is not None
    table = logs.table(ctx, Recording.INCIDENT)
    assert [table.shapes[shape].text for shape in table.shape.tolist()] == words


def test_a_recording_without_logs_has_an_empty_table(open_folder: OpenFolder, ctx: RunContext) -> None:
    """Here the baseline."""
    logs = open_folder({"logs.csv": f"time,service,message\n{FIRST},shop,hello\n"}).logs
    assert logs is not None
    assert len(logs.table(ctx, Recording.BASELINE)) == 0
    assert len(logs.table(ctx, Recording.INCIDENT)) == 1


def test_an_example_is_printable_and_bounded(open_folder: OpenFolder, ctx: RunContext) -> None:
    """A log line may be written by an attacker."""
    file = json.dumps({"time": FIRST, "service": "shop", "message": "\x1b[31mred\n" + "y" * 9_000})
    logs = open_folder({"logs.jsonl": file}).logs
    assert logs is not None
    (shape,) = logs.table(ctx, Recording.INCIDENT).shapes
    assert "\x1b" not in shape.example
    assert len(shape.example) <= 2_100


def test_shapes_that_are_looked_up_block_by_block_are_the_same(
    open_folder: OpenFolder, ctx: RunContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Blocks bound the memory; they change nothing."""
    rows = [
        {"time": FIRST + place, "service": f"s{place % 3}", "message": message, "trace_id": f"t{place % 4}"}
        for place, message in enumerate(MESSAGES * 4)
    ]
    file = {"logs.jsonl": "\n".join(map(json.dumps, rows))}

    def read() -> tuple[list[object], list[int], list[str]]:
        logs = open_folder(file).logs
        assert logs is not None
        table = logs.table(ctx, Recording.INCIDENT)
        return [*rows_of(table)], table.context.tolist(), [shape.example for shape in table.shapes]

    whole = read()
    monkeypatch.setattr(log_table, "_AT_ONCE", 5)
    assert read() == whole
    assert len(set(whole[1])) == 12, "a trace has a context of its own in each service"


def test_lines_that_come_back_in_another_order_are_refused(
    open_folder: OpenFolder, ctx: RunContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first line of a shape is read a second time; another line would give the shape another text."""
    read = Database.rows

    def read_other_lines(
        self: Database, sql: str, parameters: Sequence[object] = ()
    ) -> list[tuple[Any, ...]]:
        found = read(self, sql, parameters)
        return found[::-1] if "row_number" in sql else found

    file = "\n".join(f'{{"time": {FIRST + n}, "service": "s", "message": "line of {w}"}}' for n, w in WORDS)
    logs = open_folder({"logs.jsonl": file}).logs
    assert logs is not None
    monkeypatch.setattr(Database, "rows", read_other_lines)
    with pytest.raises(ToolFailure):
        logs.table(ctx, Recording.INCIDENT)
