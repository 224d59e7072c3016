"""Trace events become stages, lines and what is in flight."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from diagnosis_harness.cli.progress import OpenTool, RunProgress, advance
from diagnosis_harness.kernel.json_value import JsonValue
from diagnosis_harness.kernel.language import Language
from diagnosis_harness.trace.event import TraceEvent, TraceEventStatus, TraceName, TracePhase

CALL: dict[str, JsonValue] = {"tool": "signal", "tool_call_id": "t1"}


def advance_by(
    progress: RunProgress,
    name: TraceName,
    payload: Mapping[str, JsonValue],
    *,
    status: TraceEventStatus = TraceEventStatus.STARTED,
    at_s: float = 0.0,
) -> tuple[RunProgress, str | None]:
    """The progress after one event."""
    event = TraceEvent(1, "r1", at_s, name, TracePhase.RUN, status, payload)
    return advance(progress, event, Language.EN)


def test_a_stage_is_named_in_words() -> None:
    """Wire values are not for people."""
    progress, line = advance_by(RunProgress(), TraceName.STATUS, {"stage": "SAFETY_VALIDATING"})

    assert progress.stage == "SAFETY_VALIDATING"
    assert line == "checking what may be published"


def test_a_tool_call_is_in_flight_until_it_comes_back() -> None:
    """With the time it has taken so far."""
    begun, line = advance_by(RunProgress(), TraceName.TOOL_INVOCATION, CALL, at_s=10.0)
    assert line is None
    assert begun.in_flight(12.5) == ("signal 2.5 s",)

    ended, line = advance_by(
        begun, TraceName.TOOL_INVOCATION, {**CALL, "items": 3}, status=TraceEventStatus.SUCCEEDED, at_s=10.85
    )
    assert ended.in_flight(13.0) == ()
    assert ended.tool_calls == 1
    assert line == "signal: 3 findings, 850 ms"


def test_an_empty_answer_and_a_failure_read_differently() -> None:
    """Nothing found is not an error."""
    begun, _ = advance_by(RunProgress(), TraceName.TOOL_INVOCATION, CALL)
    _, empty = advance_by(
        begun, TraceName.TOOL_INVOCATION, {**CALL, "items": 0}, status=TraceEventStatus.SUCCEEDED
    )
    _, failed = advance_by(
        begun,
        TraceName.TOOL_INVOCATION,
        {**CALL, "items": 0, "error_code": "TIMED_OUT"},
        status=TraceEventStatus.FAILED,
    )

    assert empty == "signal: nothing in this scope, 0 s"
    assert failed == "signal: failed (TIMED_OUT), 0 s"


def test_one_finding_is_one() -> None:
    """Not `1 findings`."""
    begun, _ = advance_by(RunProgress(), TraceName.TOOL_INVOCATION, CALL)
    _, line = advance_by(
        begun, TraceName.TOOL_INVOCATION, {**CALL, "items": 1}, status=TraceEventStatus.SUCCEEDED
    )

    assert line == "signal: 1 finding, 0 s"


def test_a_refused_request_prints_a_line_and_is_never_in_flight() -> None:
    """It did not begin."""
    progress, line = advance_by(
        RunProgress(), TraceName.TOOL_REQUEST_REJECTED, {"tool": "rm", "code": "NOT_READ_ONLY"}
    )

    assert line == "rm: refused (NOT_READ_ONLY)"
    assert progress.in_flight(0.0) == ()


def test_the_budget_is_known_from_the_start_of_the_run() -> None:
    """So that the moving line can say `3 of 60`."""
    progress, _ = advance_by(RunProgress(), TraceName.RUN_STARTED, {"limits": {"tool_calls": 60}})

    assert progress.tool_limit == 60


def test_a_stage_line_shows_the_budget() -> None:
    """Where no line moves it is the one place to see it."""
    progress = RunProgress(tool_calls=3, tool_limit=60)

    _, line = advance_by(progress, TraceName.STATUS, {"stage": "SAFETY_VALIDATING"})

    assert line == "checking what may be published, 3 of 60 tool calls"


def test_a_chinese_line_has_chinese_commas() -> None:
    """Between what a call found and how long it took."""
    begun = replace(RunProgress(), open={"t1": OpenTool("signal", 0.0)})
    event = TraceEvent(
        1,
        "r1",
        0.85,
        TraceName.TOOL_INVOCATION,
        TracePhase.RUN,
        TraceEventStatus.SUCCEEDED,
        {**CALL, "items": 9},
    )

    assert advance(begun, event, Language.ZH)[1] == "signal：9 项发现，850 ms"


def test_other_events_change_nothing() -> None:
    """The trace holds more than a person wants to see."""
    assert advance_by(RunProgress(), TraceName.LLM_CALL, {}) == (RunProgress(), None)


def test_the_limit_is_shown_only_in_stages_with_tools() -> None:
    """A greeting calls none."""
    started, _ = advance_by(RunProgress(), TraceName.RUN_STARTED, {"limits": {"tool_calls": 60}})
    routing, line = advance_by(started, TraceName.STATUS, {"stage": "ROUTING"})
    _, diagnosing = advance_by(routing, TraceName.STATUS, {"stage": "DIAGNOSIS_RUNNING"})

    assert (line, routing.call_counts(Language.EN)) == ("routing", "")
    assert diagnosing == "diagnosing, 0 of 60 tool calls"
