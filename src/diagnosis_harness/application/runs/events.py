"""Emits the three events that frame every run: its start, the release decision, and its end."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from diagnosis_harness.harness.context import RunContext
from diagnosis_harness.harness.core import DiagnosisHarnessCore
from diagnosis_harness.kernel.window import utc_text
from diagnosis_harness.release.outcome import FallbackType, ReleaseOutcome
from diagnosis_harness.release.result import ReleaseContent
from diagnosis_harness.trace.event import TraceEventStatus, TraceName, TracePhase


@contextmanager
def fail_on_error(core: DiagnosisHarnessCore, ctx: RunContext) -> Iterator[None]:
    """Wraps the work of an open run: if it raises, the run ends first.

    A run that has ended keeps its end.
    """
    try:
        yield
    except BaseException as error:
        core.complete_failure(ctx, type(error).__name__)
        raise


@contextmanager
def emit_start_and_end(core: DiagnosisHarnessCore, ctx: RunContext, question: str) -> Iterator[None]:
    """As `fail_on_error`, with RUN_STARTED before the work, and RUN_FINISHED after it if it raises.

    Work that succeeds calls `emit_run_finished` itself, with its outcome.
    """
    try:
        with fail_on_error(core, ctx):
            emit_run_started(core, ctx, question)
            yield
    except BaseException:
        emit_run_finished(core, ctx, ReleaseOutcome.FAILED)
        raise


def emit_run_started(core: DiagnosisHarnessCore, ctx: RunContext, question: str) -> None:
    """RUN_STARTED: the first event of a run."""
    limits = ctx.budget.limits
    core.emit(
        ctx,
        TraceName.RUN_STARTED,
        TracePhase.RUN,
        TraceEventStatus.STARTED,
        {"question": question, "limits": {"llm_calls": limits.llm_calls, "tool_calls": limits.tool_calls}},
    )


def emit_release_decision(
    core: DiagnosisHarnessCore,
    ctx: RunContext,
    outcome: ReleaseOutcome,
    fallback: FallbackType | None,
    *,
    content: ReleaseContent | None = None,
) -> None:
    """RELEASE_DECISION: the outcome that may be published, and the claims and causes of a report."""
    core.emit(
        ctx,
        TraceName.RELEASE_DECISION,
        TracePhase.RELEASE,
        TraceEventStatus.SUCCEEDED,
        {
            "outcome": outcome.value,
            "fallback": fallback.value if fallback else None,
            **({"claims": len(content.claims), "causes": len(content.causes)} if content else {}),
        },
    )


def emit_run_finished(core: DiagnosisHarnessCore, ctx: RunContext, outcome: ReleaseOutcome) -> None:
    """RUN_FINISHED: the last event of a run, with outcome, termination and budget account."""
    termination = ctx.lifecycle.termination
    usage = ctx.budget.usage()
    core.emit(
        ctx,
        TraceName.RUN_FINISHED,
        TracePhase.RUN,
        TraceEventStatus.SUCCEEDED,
        {
            "outcome": outcome.value,
            "state": ctx.lifecycle.state.value,
            "reason": termination.reason.value if termination and termination.reason else None,
            "llm_calls": usage.llm_calls,
            "tool_calls": usage.tool_calls,
            "total_tokens": usage.total_tokens,
            "run_bytes": usage.run_bytes,
            "ended_at": utc_text(termination.at_s) if termination else None,
        },
    )
