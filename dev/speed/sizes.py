"""Measures `diagnose ask` on large folders, in its own process: CPU time and peak memory."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Final

from dev.speed.figure import Figure
from dev.speed.size_folders import write_logs, write_series, write_spans

TOPIC = "`ask` on large folders"
CPU_MOST_S = 30.0
MEMORY_MOST_MB = 1_000.0


_ANSWERS: Final = (0, 3)
"""Exit codes of a run that answered: with a conclusion, or that the evidence shows none."""


def _ask(folder: Path) -> tuple[float, float, str]:
    """CPU seconds, peak memory in MB, and why these do not measure an answer; empty if they do."""
    command = [str(Path(sys.executable).with_name("diagnose")), "ask", "why is s0 slow?", "--no-keep"]
    with tempfile.TemporaryFile() as document:
        process = subprocess.Popen(
            [*command, "--json", "--from", str(folder)], stdout=document, stderr=subprocess.DEVNULL
        )
        _, status, used = os.wait4(process.pid, 0)
        document.seek(0)
        failure = failure_of(os.waitstatus_to_exitcode(status), document.read())
    return used.ru_utime + used.ru_stime, used.ru_maxrss / 1024, failure


def failure_of(code: int, document: bytes) -> str:
    """Why a run gave no answer to measure: its exit code, or tools that failed; empty if it answered."""
    if code not in _ANSWERS:
        return f"exit code {code}"
    records = json.loads(document)["records"]
    failed = [f"{each['tool']} ({each['error_code']})" for each in records if each["error_code"] is not None]
    return f"failed: {', '.join(failed)}" if failed else ""


def measure(*, share: float = 1.0) -> list[Figure]:
    """Measure the required sizes, or `share` of each for a quick run."""
    spans, series, lines = int(5_000_000 * share), int(60_000 * share), int(10_000_000 * share)
    writers: dict[str, tuple[Callable[[Path], None], float]] = {
        f"{spans // 5:,} spans": (partial(write_spans, spans=spans // 5), 2.0),
        f"{spans:,} spans": (partial(write_spans, spans=spans), CPU_MOST_S),
        f"{series:,} series of 480 points": (partial(write_series, series=series), CPU_MOST_S),
        f"{lines:,} log lines": (partial(write_logs, lines=lines), CPU_MOST_S),
    }
    figures = []
    for name, (write, most_s) in writers.items():
        with tempfile.TemporaryDirectory() as folder:
            write(Path(folder).resolve())
            cpu_s, memory_mb, failure = _ask(Path(folder).resolve())
        figures += [
            Figure(TOPIC, name, None if failure else cpu_s, "s CPU", most_s, failure),
            Figure(TOPIC, "  peak memory", None if failure else memory_mb, "MB", MEMORY_MOST_MB, failure),
        ]
    return figures
