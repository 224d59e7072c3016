"""Measures start-up in fresh processes: the import of the core, and `diagnose --help`."""

from __future__ import annotations

import sys
from pathlib import Path
from statistics import median

from dev.speed.figure import Figure
from dev.speed.fresh_process import answer_of, cpu_s

TOPIC = "Starting"
TIMED_IMPORT = """
import json, time
before_s = time.process_time()
import {name}
print(json.dumps({{"cpu_ms": (time.process_time() - before_s) * 1e3}}))
"""


def measure(*, rounds: int) -> list[Figure]:
    """CPU time of imports and of the shortest command, with byte code as after the first use."""
    ours, rival, help_s, bare_s = [], [], [], []
    command = [str(Path(sys.executable).with_name("diagnose")), "--help"]
    for _ in range(rounds + 1):
        ours.append(_import_ms("diagnosis_harness.harness.core"))
        rival.append(_import_ms("pydantic_ai"))
        help_s.append(cpu_s(command))
        bare_s.append(cpu_s([sys.executable, "-c", ""]))
    # The first round wrote the byte code.
    return [
        Figure(TOPIC, "import of the core", median(ours[1:]), "ms", 100),
        Figure(TOPIC, "  import pydantic_ai", median(rival[1:]), "ms"),
        Figure(TOPIC, "diagnose --help, the whole process", median(help_s[1:]), "s", 0.3),
        Figure(TOPIC, "  python that does nothing", median(bare_s[1:]), "s"),
    ]


def _import_ms(name: str) -> float:
    return answer_of(["-c", TIMED_IMPORT.format(name=name)])["cpu_ms"]
