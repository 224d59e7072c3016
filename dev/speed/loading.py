"""Loading an incident folder against a bare duckdb scan of the same file: CPU time, in turns.

The bare scan is `min` and `max` of every column with duckdb's own type detection. For Parquet duckdb
answers that from the footer alone; the compared scan has this shortcut disabled, and the footer's time is
reported beside it. Alone: `python -m dev.speed.loading [--json] [--rounds N] [--megabytes
N]`.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from collections.abc import Callable
from dataclasses import asdict
from functools import partial
from pathlib import Path

import duckdb
from dev.speed.figure import Figure, as_text
from dev.speed.rounds import Workload, in_turns

from diagnosis_harness.adapters.sources.incident_folder import open_incident_folder
from diagnosis_harness.testing.runs import Rig
from diagnosis_harness.toolbox.ports import Recording

TOPIC = "Loading an incident folder"
FIRST_S = 1_700_000_000
SIGNALS = ("cpu_percent", "memory_bytes", "latency_ms", "request_count", "error_count")
ENTITIES = 500
WIDE_COLUMNS = 300
BYTES_PER_LONG_ROW = 43
BYTES_PER_WIDE_ROW = 2340
PARQUET_ROWS_PER_MEGABYTE = 62_500


def connect() -> duckdb.DuckDBPyConnection:
    """A plain duckdb with one thread, like that of the source."""
    return duckdb.connect(":memory:", config={"threads": 1})


def write_long(path: Path, *, rows: int, iso: bool = False, instants: str = "") -> None:
    """Rows of time, entity, signal, value; `instants` is SQL that moves a row off the common grid."""
    steps = max(1, rows // (ENTITIES * len(SIGNALS)))
    moment = f"{FIRST_S} + step * 15{instants}"
    if iso:
        moment = f"strftime(make_timestamp(({moment}) * 1000000), '%Y-%m-%dT%H:%M:%SZ')"
    names = ", ".join(f"'{signal}'" for signal in SIGNALS)
    with connect() as connection:
        connection.execute("SELECT setseed(0.5)")
        connection.execute(
            f"COPY (SELECT {moment} AS time, "  # noqa: S608  # names and paths of our own making
            f"'service-' || entity AS entity, ([{names}])[signal + 1] AS signal, "
            f"round(random() * 1000, 3) AS value FROM range({steps}) a(step), range({ENTITIES}) b(entity), "
            f"range({len(SIGNALS)}) c(signal)) TO '{path}'"
        )


def write_wide(path: Path, *, rows: int) -> None:
    """One row for each time, one column for each series."""
    columns = ", ".join(
        f'round(random() * 1000, 3) AS "service-{number // 5}.{SIGNALS[number % 5]}"'
        for number in range(WIDE_COLUMNS)
    )
    with connect() as connection:
        connection.execute("SELECT setseed(0.5)")
        connection.execute(
            f"COPY (SELECT {FIRST_S} + step * 15 AS time, {columns} FROM range({rows}) a(step)) TO '{path}'"  # noqa: S608  # names and paths of our own making
        )


def load(folder: Path) -> None:
    """Open the folder and list its series: roles, types, units, clocks, missing and doubled values."""
    sources = open_incident_folder(folder)
    if sources.metrics is not None:
        sources.metrics.signals(Rig().run(), Recording.INCIDENT)


def scan(path: Path, *, footer: bool = False) -> None:
    """The least and the greatest value of every column."""
    with connect() as connection:
        if not footer:
            connection.execute("SET disabled_optimizers = 'statistics_propagation'")
        names = [row[0] for row in connection.execute(f"DESCRIBE FROM '{path}'").fetchall()]
        wanted = ", ".join(f'min("{name}"), max("{name}")' for name in names)
        connection.execute(f"SELECT {wanted} FROM '{path}'").fetchall()  # noqa: S608  # names and paths of our own making


def compare(name: str, path: Path, *, rounds: int) -> list[Figure]:
    """Measure both in turns."""
    workloads = {"loading": Workload(partial(load, path.parent), 1), "scan": Workload(partial(scan, path), 1)}
    if path.suffix == ".parquet":
        workloads["footer"] = Workload(partial(scan, path, footer=True), 1)
    taken = in_turns(workloads, rounds=rounds)
    seconds = {key: taken.cost(key) / 1e6 for key in workloads}
    note = f"{path.stat().st_size / 1e6:.0f} MB; {seconds['loading']:.2f} s against {seconds['scan']:.2f} s"
    if "footer" in seconds:
        note += f" (from the footer alone {seconds['footer']:.3f} s)"
    return [Figure(TOPIC, name, taken.ratio("loading", to="scan"), "×", 2, note)]


def measure(*, rounds: int = 5, megabytes: int = 64) -> list[Figure]:
    """Write the files, read them, and report the time; `megabytes` is the size of each CSV file."""
    long_rows = megabytes * 1_000_000 // BYTES_PER_LONG_ROW
    wide_rows = megabytes * 1_000_000 // BYTES_PER_WIDE_ROW
    parquet_rows = megabytes * PARQUET_ROWS_PER_MEGABYTE
    by_entity = " + entity % 13"
    by_series = " + (entity * 5 + signal) * 15.0 / 2500"
    files: dict[str, tuple[str, Callable[[Path], None]]] = {
        "long CSV": ("metrics.csv", partial(write_long, rows=long_rows)),
        "long CSV, ISO times, each entity with its own timestamps": (
            "metrics.csv",
            partial(write_long, rows=long_rows * 4 // 5, iso=True, instants=by_entity),
        ),
        f"wide CSV of {WIDE_COLUMNS} columns": ("metrics.csv", partial(write_wide, rows=wide_rows)),
        "long Parquet": ("metrics.parquet", partial(write_long, rows=parquet_rows)),
        "long Parquet, each entity with its own timestamps": (
            "metrics.parquet",
            partial(write_long, rows=parquet_rows, instants=by_entity),
        ),
        "long Parquet, each series with its own timestamps": (
            "metrics.parquet",
            partial(write_long, rows=parquet_rows, instants=by_series),
        ),
    }
    figures = []
    for name, (file, write) in files.items():
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder).resolve() / file
            write(path)
            figures += compare(name, path, rounds=rounds)
    return figures


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true", help="one JSON document instead of a table")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--megabytes", type=int, default=64, help="size of each CSV file")
    options = parser.parse_args()
    figures = measure(rounds=options.rounds, megabytes=options.megabytes)
    if options.json:
        print(json.dumps([asdict(figure) for figure in figures], indent=2, ensure_ascii=False))
    else:
        print(as_text(figures))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
