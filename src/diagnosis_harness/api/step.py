"""Steps of a run that a host can follow: stages and tool calls, taken from the run's trace."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from diagnosis_harness.trace.event import TraceEvent, TraceEventStatus, TraceName


class RunStepKind(StrEnum):
    """Kinds of steps. Later versions may add members."""

    STAGE = "STAGE"  # the run has entered a stage: DIAGNOSIS_RUNNING, then SAFETY_VALIDATING
    TOOL_STARTED = "TOOL_STARTED"
    TOOL_FINISHED = "TOOL_FINISHED"
    TOOL_REFUSED = "TOOL_REFUSED"  # the call was not allowed, and did not start


@dataclass(frozen=True, slots=True)
class RunStep:
    """One step of a run.

    Attributes:
        name: the stage, or the tool.
        at_s: when, in seconds since the epoch, UTC.
        found: how many items of evidence a finished call brought; None for every other step.
        error_code: why a call failed or was refused; otherwise None.
    """

    kind: RunStepKind
    name: str
    at_s: float
    found: int | None = None
    error_code: str | None = None


def step_of(event: TraceEvent) -> RunStep | None:
    """The step that an event is; None for events that are not shown."""
    payload = event.payload
    match event.name:
        case TraceName.STATUS:
            return RunStep(RunStepKind.STAGE, str(payload["stage"]), event.at_s)
        case TraceName.TOOL_REQUEST_REJECTED:
            code = str(payload["code"])
            return RunStep(RunStepKind.TOOL_REFUSED, str(payload["tool"]), event.at_s, error_code=code)
        case TraceName.TOOL_INVOCATION:
            return _tool_step(event)
        case _:
            return None


def _tool_step(event: TraceEvent) -> RunStep:
    tool = str(event.payload["tool"])
    if event.status is TraceEventStatus.STARTED:
        return RunStep(RunStepKind.TOOL_STARTED, tool, event.at_s)
    items, code = event.payload.get("items"), event.payload.get("error_code")
    return RunStep(
        RunStepKind.TOOL_FINISHED,
        tool,
        event.at_s,
        found=items if isinstance(items, int) else 0,
        error_code=None if code is None else str(code),
    )
