"""Finding the templates of log lines: CPU time per line, masking and counting included."""

from __future__ import annotations

import tempfile
import time
from pathlib import Path
from statistics import median

import duckdb
from dev.speed.figure import Figure

from diagnosis_harness.adapters.sources.incident_folder import open_incident_folder
from diagnosis_harness.analysis.log_templates import merge_texts
from diagnosis_harness.testing.runs import Rig
from diagnosis_harness.toolbox.ports import Recording

TOPIC = "Comparing log lines"
FIRST_S = 1_700_000_000
STATEMENTS = 40
TARGET_US = 2.0
"""500,000 lines a CPU second."""


def write_lines(path: Path, *, lines: int) -> None:
    """Lines of about 110 characters from forty statements, with an address, a number, an id and a user."""
    with duckdb.connect(":memory:", config={"threads": 1}) as connection:
        connection.execute("SELECT setseed(0.5)")
        connection.execute(
            f"COPY (SELECT {FIRST_S} + line * 0.01 AS time, "  # noqa: S608  # names and paths of our own making
            "'service-' || line % 7 AS service, "
            "CASE line % 50 WHEN 0 THEN 'ERROR' ELSE 'INFO' END AS level, "
            f"'statement ' || chr(97 + (line % {STATEMENTS})::INT // 7) || chr(97 + (line % 7)::INT) "
            "|| ' took ' "
            "|| (random() * 9000)::INT || ' ms for user u' || (random() * 100000)::INT || ' from 10.0.' "
            "|| (random() * 255)::INT || '.' || (random() * 255)::INT || ':8080 request ' "
            "|| uuid() AS message, "
            f"md5((line // 5)::VARCHAR) AS trace_id FROM range({lines}) a(line)) TO '{path}'"
        )


def measure(*, rounds: int = 5, lines: int = 600_000) -> list[Figure]:
    """Open the folder, then build its table and the templates; only the latter are measured."""
    taken = []
    with tempfile.TemporaryDirectory() as folder:
        write_lines(Path(folder).resolve() / "logs.parquet", lines=lines)
        for _ in range(rounds):
            sources = open_incident_folder(Path(folder).resolve())
            if sources.logs is None:
                raise RuntimeError("the folder holds no logs")
            started_s = time.process_time()
            table = sources.logs.table(Rig().run(), Recording.INCIDENT)
            merge_texts({shape.text: 1 for shape in table.shapes})
            taken.append((time.process_time() - started_s) / lines * 1e6)
    cost = median(taken)
    note = f"{lines:,} lines of 110 characters; {1e6 / cost:,.0f} lines a CPU second"
    return [Figure(TOPIC, "a line by template", cost, "µs", TARGET_US, note)]
