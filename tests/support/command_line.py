"""Run the command line in the test's own process."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import pytest

from diagnosis_harness.cli.main import run_command


@dataclass(frozen=True, slots=True)
class CommandResult:
    """What a command printed, and its exit code."""

    code: int
    out: str
    err: str


Diagnose: TypeAlias = Callable[..., CommandResult]


def command_runner(capture: pytest.CaptureFixture[bytes]) -> Diagnose:
    """A function that runs `diagnose` with some arguments."""

    def diagnose(*arguments: str) -> CommandResult:
        capture.readouterr()
        code = run_command([*arguments])
        out, err = capture.readouterr()
        return CommandResult(code, out.decode(), err.decode())

    return diagnose
