"""The live view writes to its console, and a broken pipe does not disturb the run."""

from __future__ import annotations

import io
from dataclasses import replace

from rich.console import Console

from diagnosis_harness.cli.live import LiveView
from diagnosis_harness.kernel.json_value import JsonValue
from diagnosis_harness.kernel.language import Language
from diagnosis_harness.testing.clock import ManualClock
from diagnosis_harness.trace.event import TraceEvent, TraceEventStatus, TraceName, TracePhase

STAGE = TraceEvent(
    1, "r1", 0.0, TraceName.STATUS, TracePhase.RUN, TraceEventStatus.STARTED, {"stage": "DIAGNOSIS_RUNNING"}
)


def view_on(stream: io.StringIO, clock: ManualClock, *, terminal: bool = False) -> LiveView:
    """A live view over a text stream."""
    console = Console(file=stream, force_terminal=terminal, width=80, color_system=None)
    return LiveView(console, clock=clock, language=Language.EN)


def test_without_a_terminal_each_stage_is_one_plain_line() -> None:
    """A log file gets no live line."""
    stream, clock = io.StringIO(), ManualClock(1000.0)
    with view_on(stream, clock) as view:
        clock.advance(1.5)
        view.emit(STAGE)

    assert stream.getvalue() == "[  1.5 s] diagnosing\n"


def test_reading_prints_a_line_only_if_it_takes_long() -> None:
    """Two seconds without a word are enough; each file is named once."""
    stream, clock = io.StringIO(), ManualClock(1000.0)
    with view_on(stream, clock) as view:
        view.show_loading("metrics.csv", 0, 10)
        clock.advance(2.0)
        view.show_loading("traces.csv", 1, 10)
        view.show_loading("traces.csv", 5, 10)

    assert stream.getvalue() == "[  2.0 s] reading traces.csv\n"


def test_on_a_terminal_the_cursor_is_restored() -> None:
    """The live line leaves the terminal as it was."""
    stream, clock = io.StringIO(), ManualClock(1000.0)
    with view_on(stream, clock, terminal=True) as view:
        view.show_loading("metrics.csv", 3, 10)
        clock.advance(3.0)
        view.emit(STAGE)

    hidden, shown = stream.getvalue().rfind("\x1b[?25l"), stream.getvalue().rfind("\x1b[?25h")
    assert 0 <= hidden < shown
    assert "diagnosing" in stream.getvalue()


def test_a_narrow_terminal_cuts_off_calls_in_flight_and_never_the_budget() -> None:
    """The budget comes before them."""
    stream, clock = io.StringIO(), ManualClock(1000.0)
    started = replace(STAGE, name=TraceName.RUN_STARTED, payload={"limits": {"tool_calls": 60}})
    with view_on(stream, clock, terminal=True) as view:
        view.emit(started)
        view.emit(STAGE)
        for call in range(6):
            payload: dict[str, JsonValue] = {"tool": "find_changed_signals", "tool_call_id": f"t{call}"}
            view.emit(replace(STAGE, name=TraceName.TOOL_INVOCATION, payload=payload))

    assert "diagnosing · 0.0 s · 0 of 60 tool calls · find_changed_signals" in stream.getvalue()


def test_a_closed_stream_does_not_disturb_the_run() -> None:
    """A sink never raises."""
    stream, clock = io.StringIO(), ManualClock(1000.0)
    view = view_on(stream, clock)
    stream.close()

    view.emit(STAGE)
    view.print_cancelling()
