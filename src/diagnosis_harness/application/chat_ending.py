"""From how the work of a path ended to what is kept of the run: pure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from diagnosis_harness.application.diagnosis_path import DiagnosisAnswer
from diagnosis_harness.application.path_answer import PathAnswer
from diagnosis_harness.application.publish import in_flight
from diagnosis_harness.application.runs.request import RunRequest
from diagnosis_harness.application.runs.row import RUN_CANCELLED, RunEnding, RunFailure, RunSpent
from diagnosis_harness.diagnosis.collection import DiagnosisStopReason
from diagnosis_harness.kernel.errors import ContractViolation
from diagnosis_harness.kernel.json_value import JsonValue
from diagnosis_harness.release.decision import WorkEnd, decide
from diagnosis_harness.release.outcome import FallbackType, ReleaseOutcome
from diagnosis_harness.report.counters import counters
from diagnosis_harness.report.document import plain
from diagnosis_harness.report.failure import failure_sentence

if TYPE_CHECKING:
    from diagnosis_harness.harness.context import RunContext


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatEnd:
    """How a path ended.

    Attributes:
        answer: safe content as JSON; a diagnosis has some however it ended.
        failure: with FAILED and CANCELLED, how the work ended.
    """

    outcome: ReleaseOutcome
    fallback: FallbackType | None = None
    stop_reason: DiagnosisStopReason | None = None
    answer: JsonValue = None
    failure: WorkEnd | None = None
    conclusion: str | None = None
    published_result: JsonValue = None
    agent_steps: int = 0


def diagnosed(answer: DiagnosisAnswer) -> ChatEnd:
    """The end of a diagnosis."""
    end = answer.end
    cancelled = end.outcome is ReleaseOutcome.CANCELLED
    return ChatEnd(
        outcome=end.outcome,
        fallback=end.fallback,
        stop_reason=end.stop_reason,
        answer=answer.body,
        failure=WorkEnd.CANCELLED if cancelled else end.failure,
        conclusion=answer.conclusion,
        published_result=answer.published_result,
        agent_steps=end.snapshot.steps,
    )


def answered(answer: PathAnswer) -> ChatEnd:
    """The end of a path that has its answer."""
    return ChatEnd(outcome=ReleaseOutcome.SUCCESS, answer=answer.body, conclusion=answer.conclusion)


def unanswered(end: WorkEnd) -> ChatEnd:
    """The end of a path that has none, as the release table says it; nothing was verified on it."""
    row = decide(end, facts=False, missing=False)
    return ChatEnd(outcome=row.outcome, fallback=row.fallback, failure=end)


def ending_of(ctx: RunContext, request: RunRequest, end: ChatEnd, *, started_s: float) -> RunEnding:
    """What is kept of an ended run.

    Raises:
        ContractViolation: the run has not ended.
    """
    termination = ctx.lifecycle.termination
    if termination is None:
        raise ContractViolation("a run that goes on has no ending")
    usage = ctx.budget.usage()
    failure = None
    if end.failure is not None:
        code = RUN_CANCELLED if end.failure is WorkEnd.CANCELLED else end.failure.value
        failure = RunFailure(code, failure_sentence(end.failure, request.language))
    return RunEnding(
        outcome=end.outcome,
        termination=termination,
        fallback=end.fallback,
        stop_reason=end.stop_reason,
        answer=end.answer,
        failure=failure,
        conclusion=end.conclusion,
        published_result=end.published_result,
        spent=RunSpent(
            duration_s=round(max(termination.at_s - started_s, 0.0), 6),
            agent_steps=end.agent_steps,
            tool_calls=usage.tool_calls,
            llm_calls=usage.llm_calls,
            input_tokens=usage.input_tokens,
            output_tokens=usage.output_tokens,
            total_tokens=usage.total_tokens,
            counters=[plain(counter) for counter in counters(usage, ctx.budget.limits)],
            is_estimated=usage.is_estimated,
            in_flight=[plain(call) for call in in_flight(ctx)],
        ),
    )
