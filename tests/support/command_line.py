"""A command line that a test types in its own process."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import pytest

from diagnosis_harness.cli.main import run


@dataclass(frozen=True, slots=True)
class Said:
    """What a command printed, and its exit code."""

    code: int
    out: str
    err: str


Diagnose: TypeAlias = Callable[..., Said]


def typing(capture: pytest.CaptureFixture[bytes]) -> Diagnose:
    """What types a command line: its words in, what it said out."""

    def typed(*words: str) -> Said:
        capture.readouterr()
        code = run([*words])
        out, err = capture.readouterr()
        return Said(code, out.decode(), err.decode())

    return typed
