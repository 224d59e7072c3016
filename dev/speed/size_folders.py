"""Incident folders of any size: a tree of services with a fault at one leaf, written by duckdb.

Every value comes from a hash of its position, so the same numbers make the same folder on any machine.
"""

from __future__ import annotations

import json
from pathlib import Path

import duckdb

FIRST_S = 1_700_000_000
FANOUT = 3
SIGNALS = ("latency_ms", "error_rate", "request_count", "cpu_percent", "memory_bytes")
STEP_S = 15
POINTS = 480
"""Points of a series: two hours."""
TRACE_SERVICES = 20
"""Services that every trace passes: twenty server spans, and a client span for each call but the first."""
SPANS_PER_TRACE = 2 * TRACE_SERVICES - 1
RECORDED_S = 1_200
ONSET_S = FIRST_S + 600
"""The onset of the fault in spans and log lines."""
SERIES_ONSET_S = FIRST_S + POINTS * STEP_S * 3 // 4


def write_spans(folder: Path, *, spans: int) -> None:
    """`traces.parquet`: calls through a tree of services; the last one is slow after the onset."""
    traces = max(1, spans // SPANS_PER_TRACE)
    columns = []
    for number in reversed(range(TRACE_SERVICES)):
        slow = f" * CASE WHEN began > {ONSET_S} THEN 8 ELSE 1 END" if number == TRACE_SERVICES - 1 else ""
        own = f"(2 + 6 * {_random(f'trace * 64 + {number}')}){slow}"
        below = ", ".join(f"c{child}" for child in _children(number, TRACE_SERVICES))
        columns.append(f"{own} AS o{number}")
        columns.append(
            f"o{number} + greatest(0, {below}) AS d{number}" if below else f"o{number} AS d{number}"
        )
        columns.append(f"d{number} + 0.5 + {_random(f'trace * 64 + {number} + 32')} AS c{number}")
    starts = ["began AS s0"]
    for number in range(1, TRACE_SERVICES):
        above = (number - 1) // FANOUT
        starts.append(f"s{above} + o{above} / 4000 AS k{number}, k{number} + 0.0002 AS s{number}")
    rows = [_span("0", "NULL", 0, start="s0", duration="d0")]
    for number in range(1, TRACE_SERVICES):
        above = (number - 1) // FANOUT
        rows.append(
            _span(
                f"1{number:02}", f"{above}", above, start=f"k{number}", duration=f"c{number}", callee=number
            )
        )
        rows.append(_span(f"{number}", f"1{number:02}", number, start=f"s{number}", duration=f"d{number}"))
    _copy(
        f"WITH timed AS (SELECT trace, {FIRST_S} + trace * {RECORDED_S / traces!r} AS began "  # noqa: S608  # names and numbers of our own making
        f"FROM range({traces}) a(trace)), lasting AS (SELECT *, {', '.join(columns)} FROM timed), "
        f"placed AS (SELECT *, {', '.join(starts)} FROM lasting) "
        f"SELECT md5(trace::VARCHAR) AS trace_id, unnest([{', '.join(rows)}], recursive := true) FROM placed",
        folder / "traces.parquet",
    )
    _write_alert(folder, at_s=ONSET_S + 60)


def write_series(folder: Path, *, series: int, points: int = POINTS, own_times: bool = False) -> None:
    """`metrics.parquet` and `topology.csv`: a tree of services with five signals each, the last one at fault.

    `own_times` moves every series off the common grid by its own fraction of the step.
    """
    services = max(2, series // len(SIGNALS))
    usual = ("40", "0.01", "900", "35", "3e8")
    names = ", ".join(f"'{signal}'" for signal in SIGNALS)
    level = ", ".join(usual)
    culprit = services - 1
    above = [culprit]
    while above[-1]:
        above.append((above[-1] - 1) // FANOUT)
    victims = ", ".join(map(str, above))
    hurt = (
        f"CASE WHEN step * {STEP_S} >= {SERIES_ONSET_S - FIRST_S} "
        f"AND ((signal = 0 AND service IN ({victims})) OR (signal = 3 AND service = {culprit})) "
        "THEN 2.5 ELSE 1 END"
    )
    moved = f" + (service * 5 + signal) % 997 * {STEP_S / 1000!r}" if own_times else ""
    _copy(
        f"SELECT {FIRST_S} + step * {STEP_S}{moved} AS time, 's' || service AS entity, "  # noqa: S608  # names and numbers of our own making
        f"([{names}])[signal + 1] AS signal, ([{level}])[signal + 1] * {hurt} * "
        f"(0.9 + 0.2 * {_random('(service * 5 + signal) * 100000 + step')}) AS value "
        f"FROM range({points}) a(step), range({services}) b(service), range({len(SIGNALS)}) c(signal)",
        folder / "metrics.parquet",
    )
    edges = "".join(f"s{(number - 1) // FANOUT},s{number}\n" for number in range(1, services))
    (folder / "topology.csv").write_text("caller,callee\n" + edges, encoding="utf-8")
    _write_alert(folder, at_s=SERIES_ONSET_S + 60, signal="latency_ms")


def write_logs(folder: Path, *, lines: int, csv: bool = False) -> None:
    """`logs.parquet` or `.csv`: forty statements of seven services; one of them fails after the onset."""
    failing = f"line % 7 = 6 AND line % 5 = 0 AND began > {ONSET_S}"
    _copy(
        f"SELECT began AS time, 's' || line % 7 AS service, "  # noqa: S608  # names and numbers of our own making
        f"CASE WHEN {failing} THEN 'ERROR' ELSE 'INFO' END AS level, "
        f"CASE WHEN {failing} THEN 'could not take a connection from the pool within ' || line % 900 "
        "ELSE 'statement ' || chr(97 + (line % 40)::INT // 7) || chr(97 + (line % 7)::INT) || ' took ' || "
        f"({_random('line')} * 9000)::INT || ' ms for user u' || (line * 7919 % 100000) || ' from 10.0.' || "
        "line % 251 || '.' || line % 13 || ':8080 request ' || md5(line::VARCHAR) END AS message, "
        f"md5((line // 5)::VARCHAR) AS trace_id "
        f"FROM (SELECT line, {FIRST_S} + line * {RECORDED_S / lines!r} AS began FROM range({lines}) a(line))",
        folder / ("logs.csv" if csv else "logs.parquet"),
    )
    _write_alert(folder, at_s=ONSET_S + 60)


def _children(number: int, services: int) -> list[int]:
    return [child for child in range(FANOUT * number + 1, FANOUT * number + FANOUT + 1) if child < services]


def _random(key: str) -> str:
    """SQL: a number from 0 to 1 that depends only on the key."""
    return f"((hash({key}) % 1000003) / 1000003.0)"


def _span(number: str, parent: str, service: int, *, start: str, duration: str, callee: int = -1) -> str:
    """SQL: one span of a trace; a call to `callee` if one is given."""
    name = service if callee < 0 else callee
    above = "NULL" if parent == "NULL" else f"printf('%08x%08x', trace::INT, {parent}::INT)"
    return (
        f"{{'span_id': printf('%08x%08x', trace::INT, {number}::INT), 'parent_id': {above}, "
        f"'service': 's{service}', 'operation': 'GET /s{name}', 'start': {start}, "
        f"'duration_ms': {duration}, 'status': CASE WHEN {_random(f'trace * 128 + {number}')} < 0.002 "
        "THEN 'error' ELSE 'ok' END}"
    )


def _copy(select: str, path: Path) -> None:
    with duckdb.connect(":memory:", config={"threads": 2}) as connection:
        connection.execute(f"COPY ({select}) TO '{path}'")


def _write_alert(folder: Path, *, at_s: float, signal: str | None = None) -> None:
    alert: dict[str, object] = {"time": at_s, "entity": "s0"}
    if signal is not None:
        alert["signal"] = signal
    (folder / "alert.json").write_text(json.dumps(alert), encoding="utf-8")
