"""What a foreign error says, and who is told of a fault that has no caller."""

from __future__ import annotations

import asyncio
import threading
from typing import NoReturn

import pytest
from tests.support.unspeakable import UNSPEAKABLE

from diagnosis_harness.kernel.clock import SystemClock
from diagnosis_harness.kernel.detached import DetachedCalls
from diagnosis_harness.kernel.faults import ERROR_TEXT_MAX, error_text, report_fault

RAISED = [ValueError, asyncio.CancelledError, SystemExit, KeyboardInterrupt, GeneratorExit, MemoryError]


def test_what_an_error_says_is_bounded_and_kept() -> None:
    """The beginning of a long text; the whole of a short one."""
    assert error_text(ValueError("no such table")) == "no such table"
    assert error_text(ValueError("a" * ERROR_TEXT_MAX)) == "a" * ERROR_TEXT_MAX
    assert error_text(ValueError("a" * 10 * ERROR_TEXT_MAX)) == "a" * (ERROR_TEXT_MAX - 1) + "…"
    assert [error_text(error()) for error in UNSPEAKABLE] == [""] * len(UNSPEAKABLE)


@pytest.fixture(name="broken_hook", params=RAISED)
def break_hook(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """The program's own hook for faults of threads raises."""

    def fail(_: object) -> NoReturn:
        raise request.param

    monkeypatch.setattr(threading, "excepthook", fail)


def fail_on_call() -> NoReturn:
    """A callback of somebody else, broken."""
    raise RuntimeError("the fault itself")


@pytest.mark.usefixtures("broken_hook")
def test_a_fault_that_the_programs_hook_cannot_take_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    """As Python prints one; and who reports it goes on."""
    report_fault(ValueError("a sink is full"))

    assert "ValueError: a sink is full" in capsys.readouterr().err


@pytest.mark.usefixtures("broken_hook")
def test_a_hook_that_raises_stops_no_timer_and_no_call() -> None:
    """The thread that reports a fault serves every run of the process."""
    clock, calls = SystemClock(), DetachedCalls(threads_max=1)
    rung, made = threading.Event(), threading.Event()

    clock.call_at(clock.now_s(), fail_on_call)
    clock.call_at(clock.now_s() + 0.01, rung.set)
    calls.submit(fail_on_call)
    calls.submit(made.set)

    assert rung.wait(10)
    assert made.wait(10)
    clock.close()


@pytest.mark.usefixtures("broken_hook")
def test_a_fault_is_reported_without_a_stream_to_print_it_on(monkeypatch: pytest.MonkeyPatch) -> None:
    """A program without standard error, or with one that is broken, loses the words and nothing else."""
    for stream in (None, object()):
        monkeypatch.setattr("sys.stderr", stream)

        report_fault(ValueError("a sink is full"))
