"""Endings of runs that never started or whose process died. Pure."""

from __future__ import annotations

from diagnosis_harness.application.runs.request import RunRequest
from diagnosis_harness.application.runs.row import (
    RUN_CANCELLED,
    CancelRequest,
    RunEnding,
    RunFailure,
    RunSpent,
)
from diagnosis_harness.harness.termination import CancellationReason, RunState, RunTermination, state_for
from diagnosis_harness.kernel.json_value import JsonValue
from diagnosis_harness.kernel.language import Language
from diagnosis_harness.kernel.window import utc_text
from diagnosis_harness.release.outcome import ReleaseOutcome
from diagnosis_harness.report.earlier_sentences import in_current_words
from diagnosis_harness.trace.event import TraceEvent, TraceEventStatus, TraceName, TracePhase, bound_payload

_CANCELLED = (
    "The run was cancelled before it began.",
    "运行在开始之前已被取消。",
)
_NEVER_BEGAN = (
    "The run did not start before its start deadline.",
    "运行未能在规定的时间内开始。",
)
_NOT_SERVED = (
    (
        "No process that takes queued runs has this source, so the run did not start before its start "
        "deadline."
    ),
    "处理排队运行的进程都没有该数据源，因此运行未能在规定的时间内开始。",
)
_GIVEN_UP = (
    (
        "The run was interrupted: its process died, or could not reach the database. No step was repeated; "
        "you can ask again."
    ),
    "运行中断：处理它的进程已退出，或无法访问数据库。没有重复执行任何步骤；可以重新提问。",
)


SOURCE_NOT_SERVED = "SOURCE_NOT_SERVED"
"""Failure code of a run that never started because no process had its source."""


def early_failures(language: Language) -> frozenset[str]:
    """The failure messages of runs that this module ended."""
    return frozenset(_in_language(each, language) for each in (_NEVER_BEGAN, _NOT_SERVED, _GIVEN_UP))


def was_not_served(failure: str | None, language: Language) -> bool:
    """Whether this is the failure message of a run whose source no process had."""
    return failure is not None and in_current_words([failure]) == (_in_language(_NOT_SERVED, language),)


BEFORE_IT_BEGAN = "before it began"


def ending_in_queue(
    request: RunRequest, cancel: CancelRequest, *, detail: str = BEFORE_IT_BEGAN
) -> RunEnding:
    """The end of a run that was cancelled while it was queued. It never started, so nothing was spent."""
    state = state_for(cancel.reason)
    cancelled = state is RunState.CANCELLED
    return RunEnding(
        outcome=ReleaseOutcome.CANCELLED if cancelled else ReleaseOutcome.FAILED,
        termination=RunTermination(state, cancel.reason, cancel.at_s, detail),
        spent=RunSpent(duration_s=0.0),
        failure=RunFailure(
            RUN_CANCELLED if cancelled else cancel.reason.value,
            _in_language(_CANCELLED if cancelled else _NEVER_BEGAN, request.language),
        ),
    )


def ending_not_started(request: RunRequest, *, at_s: float, is_served: bool) -> RunEnding:
    """The end of a run that did not start in time.

    Args:
        is_served: whether some process has its source, and only room was missing.
    """
    if is_served:
        return ending_in_queue(request, CancelRequest(CancellationReason.DEADLINE_EXCEEDED, at_s))
    reason = CancellationReason.INTERNAL_FAILURE
    return RunEnding(
        outcome=ReleaseOutcome.FAILED,
        termination=RunTermination(state_for(reason), reason, at_s, "no process has its source"),
        spent=RunSpent(duration_s=0.0),
        failure=RunFailure(SOURCE_NOT_SERVED, _in_language(_NOT_SERVED, request.language)),
    )


def ending_of_abandoned(
    request: RunRequest, spent: RunSpent, *, at_s: float, ended: RunTermination | None
) -> RunEnding:
    """The end of a run whose process is dead.

    Args:
        spent: the usage that the log and the records show.
        ended: the termination in its log, if any, which is kept; the outcome is FAILED either way.
    """
    reason = CancellationReason.INTERNAL_FAILURE
    return RunEnding(
        outcome=ReleaseOutcome.FAILED,
        termination=ended or RunTermination(state_for(reason), reason, at_s, "its process is gone"),
        spent=spent,
        failure=RunFailure(reason.value, _in_language(_GIVEN_UP, request.language)),
    )


def closing_events(
    run_id: str, ending: RunEnding, *, after: tuple[int, float], ended_is_logged: bool
) -> tuple[TraceEvent, ...]:
    """RUN_ENDED, unless it is in the log, and RUN_FINISHED, as the run itself would have written them.

    Args:
        after: seq of the last event and its time; no event is earlier than the one before it.
    """
    termination, spent = ending.termination, ending.spent
    reason = None if termination.reason is None else termination.reason.value
    events: list[tuple[TraceName, TraceEventStatus, dict[str, JsonValue]]] = []
    if not ended_is_logged:
        good = termination.state is RunState.SUCCESS
        events.append(
            (
                TraceName.RUN_ENDED,
                TraceEventStatus.SUCCEEDED if good else TraceEventStatus.FAILED,
                {
                    "state": termination.state.value,
                    "reason": reason,
                    "at_s": termination.at_s,
                    "detail": termination.detail,
                },
            )
        )
    events.append(
        (
            TraceName.RUN_FINISHED,
            TraceEventStatus.SUCCEEDED,
            {
                "outcome": ending.outcome.value,
                "state": termination.state.value,
                "reason": reason,
                "llm_calls": spent.llm_calls,
                "tool_calls": spent.tool_calls,
                "total_tokens": spent.total_tokens,
                "ended_at": utc_text(termination.at_s),
            },
        )
    )
    seq, last_at_s = after
    return tuple(
        TraceEvent(
            seq=seq + number,
            run_id=run_id,
            at_s=max(last_at_s, termination.at_s),
            name=name,
            phase=TracePhase.RUN,
            status=status,
            payload=bound_payload(payload),
        )
        for number, (name, status, payload) in enumerate(events, start=1)
    )


def _in_language(sentence: tuple[str, str], language: Language) -> str:
    return sentence[1] if language is Language.ZH else sentence[0]
