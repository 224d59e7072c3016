"""From how a path ended to what is stored of the run: pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from diagnosis_harness.application.path_answer import PathAnswer, PathEnd
from diagnosis_harness.application.publish import in_flight
from diagnosis_harness.application.runs.request import RunRequest
from diagnosis_harness.application.runs.row import RUN_CANCELLED, RunEnding, RunFailure, RunSpent
from diagnosis_harness.kernel.errors import ContractViolation
from diagnosis_harness.release.decision import WorkEnd, decide
from diagnosis_harness.release.outcome import ReleaseOutcome
from diagnosis_harness.report.counters import counters
from diagnosis_harness.report.document import plain
from diagnosis_harness.report.failure import failure_sentence

if TYPE_CHECKING:
    from diagnosis_harness.harness.context import RunContext


def end_with_answer(answer: PathAnswer) -> PathEnd:
    """The end of a path that has its answer."""
    return PathEnd(outcome=ReleaseOutcome.SUCCESS, answer=answer.body, conclusion=answer.conclusion)


def end_without_answer(end: WorkEnd) -> PathEnd:
    """The end of a path without an answer, as the release table decides it; nothing was verified."""
    row = decide(end, facts=False, missing=False)
    return PathEnd(outcome=row.outcome, fallback=row.fallback, failure=end)


def ending_of(ctx: RunContext, request: RunRequest, end: PathEnd, *, started_s: float) -> RunEnding:
    """What is stored of an ended run.

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
