"""Builds the stored end of a run; pure."""

from __future__ import annotations

from diagnosis_harness.application.path_answer import PathAnswer
from diagnosis_harness.application.publish import in_flight
from diagnosis_harness.application.runs.row import RUN_CANCELLED, RunEnding, RunFailure, RunSpent
from diagnosis_harness.harness.context import RunContext
from diagnosis_harness.harness.termination import RunTermination
from diagnosis_harness.kernel.errors import ContractViolation
from diagnosis_harness.kernel.language import Language
from diagnosis_harness.release.decision import WorkEnd, decide
from diagnosis_harness.release.outcome import ReleaseOutcome
from diagnosis_harness.report.counters import counters
from diagnosis_harness.report.document import plain_json
from diagnosis_harness.report.failure import failure_sentence


def end_with_answer(ctx: RunContext, answer: PathAnswer, *, started_s: float) -> RunEnding:
    """The end of a run with an answer."""
    return RunEnding(
        outcome=ReleaseOutcome.SUCCESS,
        termination=termination_of(ctx),
        spent=usage_of_run(ctx, started_s=started_s),
        answer=answer.body,
        conclusion=answer.conclusion,
    )


def end_without_answer(ctx: RunContext, end: WorkEnd, language: Language, *, started_s: float) -> RunEnding:
    """The end of a run without an answer, as the release table decides it; nothing was verified."""
    row = decide(end, facts=False, missing=False)
    return RunEnding(
        outcome=row.outcome,
        termination=termination_of(ctx),
        spent=usage_of_run(ctx, started_s=started_s),
        fallback=row.fallback,
        failure=failure_of(end, language),
    )


def failure_of(end: WorkEnd, language: Language) -> RunFailure:
    """The failure of a run with this end, in words."""
    code = RUN_CANCELLED if end is WorkEnd.CANCELLED else end.value
    return RunFailure(code, failure_sentence(end, language))


def termination_of(ctx: RunContext) -> RunTermination:
    """The run's own end.

    Raises:
        ContractViolation: the run has not ended.
    """
    if ctx.lifecycle.termination is None:
        raise ContractViolation("a run that goes on has no ending")
    return ctx.lifecycle.termination


def usage_of_run(ctx: RunContext, *, started_s: float, agent_steps: int = 0) -> RunSpent:
    """What an ended run used.

    Raises:
        ContractViolation: the run has not ended.
    """
    usage = ctx.budget.usage()
    return RunSpent(
        duration_s=round(max(termination_of(ctx).at_s - started_s, 0.0), 6),
        agent_steps=agent_steps,
        tool_calls=usage.tool_calls,
        llm_calls=usage.llm_calls,
        input_tokens=usage.input_tokens,
        output_tokens=usage.output_tokens,
        total_tokens=usage.total_tokens,
        counters=[plain_json(counter) for counter in counters(usage, ctx.budget.limits)],
        is_estimated=usage.is_estimated,
        in_flight=[plain_json(call) for call in in_flight(ctx)],
    )
