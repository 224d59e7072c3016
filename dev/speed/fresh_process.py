"""Measurements that need a fresh process: start-up, and peak memory."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def output_of(arguments: Sequence[str]) -> str:
    """The output of `python ARGUMENTS`, run in the project's folder.

    Raises:
        RuntimeError: it did not end with exit code 0; the message contains the end of its output.
    """
    done = subprocess.run(
        [sys.executable, *arguments], cwd=ROOT, check=False, capture_output=True, text=True, timeout=1200
    )
    if done.returncode != 0:
        raise RuntimeError(f"python {' '.join(arguments)} failed:\n{done.stderr[-2000:]}")
    return done.stdout


def answer_of(arguments: Sequence[str]) -> Mapping[str, float]:
    """The output of `python ARGUMENTS` as one JSON object of numbers."""
    answer: Mapping[str, float] = json.loads(output_of(arguments))
    return answer


def cpu_s(command: Sequence[str]) -> float:
    """The CPU seconds of a whole process, from its start to its end.

    Raises:
        RuntimeError: it did not end with exit code 0.
    """
    process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        raise RuntimeError(f"{command[0]} ended with exit code {process.returncode}")
    return used.ru_utime + used.ru_stime
