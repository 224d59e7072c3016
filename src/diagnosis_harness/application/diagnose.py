"""One diagnosis, start to end: the run, the loop, the release, and the document that is published."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

from diagnosis_harness.application.runs.events import emit_release_decision
from diagnosis_harness.application.status import ChatApplicationStatus, emit_status
from diagnosis_harness.diagnosis.agent import DiagnosisAgent, DiagnosisTask
from diagnosis_harness.diagnosis.collection import DiagnosisStopReason
from diagnosis_harness.diagnosis.execution import DiagnosisAgentExecution
from diagnosis_harness.diagnosis.inquiry import Inquiry
from diagnosis_harness.diagnosis.progress import ProgressSnapshot
from diagnosis_harness.harness.context import RunContext
from diagnosis_harness.harness.core import DiagnosisHarnessCore
from diagnosis_harness.harness.termination import RunState
from diagnosis_harness.kernel.errors import (
    AgentStopped,
    EmptyDraft,
    MalformedDraft,
    MaskingFailed,
    NothingToRelease,
    PolicyFailed,
    RunAborted,
)
from diagnosis_harness.kernel.masking import mask
from diagnosis_harness.release.decision import Row, WorkEnd, decide, end_of_state
from diagnosis_harness.release.outcome import FallbackType, ReleaseOutcome
from diagnosis_harness.release.pipeline import ReleasePipeline, end_of_stop, facts_beyond, is_denied
from diagnosis_harness.release.result import DiagnosisReleaseResult, ReleaseContent
from diagnosis_harness.release.standing import number_claims, standing_of
from diagnosis_harness.release.work import do_release_work


@dataclass(frozen=True, slots=True)
class DiagnosisEnd:
    """How one diagnosis ended, and which parts of it may be shown.

    Attributes:
        outcome: what is published; independent of the run's state.
        failure: with FAILED, how the work ended; the report turns it into words.
    """

    outcome: ReleaseOutcome
    fallback: FallbackType | None
    stop_reason: DiagnosisStopReason | None
    snapshot: ProgressSnapshot
    content: ReleaseContent
    failure: WorkEnd | None = None


class DiagnoseUseCase:
    """Diagnoses inside runs that the caller opened. Holds no state between runs.

    Args:
        agent_for: creates the agent of one run, with its own tool boundary.
    """

    def __init__(
        self,
        core: DiagnosisHarnessCore,
        *,
        agent_for: Callable[[RunContext], DiagnosisAgent],
        pipeline: ReleasePipeline,
    ) -> None:
        self._core = core
        self._agent_for = agent_for
        self._pipeline = pipeline

    async def diagnose(self, ctx: RunContext, task: DiagnosisTask) -> DiagnosisEnd:
        """Diagnose and release inside a run whose start, stage and end the caller emits.

        The run has its terminal state when this returns; when it raises, the caller ends the run.

        Raises:
            CancelledError, KeyboardInterrupt: of the host.
            Exception: a bug in a player or in this package.
        """
        try:
            question = mask(task.question).text
        except MaskingFailed:
            return await self._without_result(ctx, task.inquiry, WorkEnd.INTERNAL_FAILURE, ProgressSnapshot())
        inquiry = replace(task.inquiry, question=question)
        task = replace(task, question=question, inquiry=inquiry)
        try:
            execution = await self._agent_for(ctx).diagnose(ctx, task)
        except AgentStopped as stopped:
            snapshot = stopped.snapshot
            if not isinstance(snapshot, ProgressSnapshot):
                raise
            return await self._without_result(ctx, inquiry, _end_of_exception(ctx, stopped), snapshot)
        emit_status(self._core, ctx, ChatApplicationStatus.SAFETY_VALIDATING)
        try:
            result = await self._pipeline.release(ctx, execution, inquiry=inquiry)
        except NothingToRelease:
            end = (
                WorkEnd.NO_CONCLUSION if execution.stop_reason is None else end_of_stop(execution.stop_reason)
            )
            return await self._without_result(ctx, inquiry, end, execution.snapshot, execution=execution)
        except RunAborted:
            end = end_of_state(ctx.lifecycle.state)
            return await self._without_result(ctx, inquiry, end, execution.snapshot, execution=execution)
        if result.fallback is FallbackType.MISSING_REQUIRED_CONTEXT and execution.snapshot.store_failed:
            end = WorkEnd.NO_CONCLUSION
            return await self._without_result(ctx, inquiry, end, execution.snapshot, execution=execution)
        return await self._with_result(ctx, inquiry, execution, result)

    async def _with_result(
        self,
        ctx: RunContext,
        inquiry: Inquiry,
        execution: DiagnosisAgentExecution,
        result: DiagnosisReleaseResult,
    ) -> DiagnosisEnd:
        """Complete the run; if it had ended otherwise, the prepared content is not published."""
        spent = execution.stop_reason is DiagnosisStopReason.BUDGET_LIMIT_REACHED
        if not spent and not self._core.complete_success(ctx):
            end = end_of_state(ctx.lifecycle.state)
            return await self._without_result(ctx, inquiry, end, execution.snapshot, execution=execution)
        emit_release_decision(self._core, ctx, result.outcome, result.fallback, content=result.content)
        return DiagnosisEnd(
            outcome=result.outcome,
            fallback=result.fallback,
            stop_reason=execution.snapshot.stop_reason,
            snapshot=execution.snapshot,
            content=result.content,
        )

    async def _without_result(
        self,
        ctx: RunContext,
        inquiry: Inquiry,
        end: WorkEnd,
        snapshot: ProgressSnapshot,
        *,
        execution: DiagnosisAgentExecution | None = None,
    ) -> DiagnosisEnd:
        """End the run according to the table, by pure code without further calls."""
        find = partial(facts_beyond, (), snapshot, run_id=ctx.run_id, inquiry=inquiry)
        facts = await do_release_work(ctx, self._core, find, claims=len(snapshot.facts))
        if not facts and snapshot.store_failed and end in _FOR_WANT_OF_EVIDENCE:
            end = WorkEnd.EVIDENCE_STORE_UNAVAILABLE
        row = decide(end, facts=bool(facts), missing=False)
        row = self._complete(ctx, row, facts=bool(facts))
        draft = execution.draft if execution else None
        denied = execution is not None and is_denied(execution)
        beside = standing_of(draft, snapshot.records, run_id=ctx.run_id, inquiry=inquiry, denied=denied)
        content = replace(beside, claims=number_claims(facts)[0])
        emit_release_decision(self._core, ctx, row.outcome, row.fallback, content=content)
        return DiagnosisEnd(
            outcome=row.outcome,
            fallback=row.fallback,
            stop_reason=_stop_reason(ctx.lifecycle.state, snapshot),
            snapshot=snapshot,
            content=content,
            failure=row.end if row.outcome is ReleaseOutcome.FAILED else None,
        )

    def _complete(self, ctx: RunContext, row: Row, *, facts: bool) -> Row:
        """Complete the run with the row's state; return the row of the earlier end if there was one."""
        match row.state:
            case RunState.SUCCESS:
                done = self._core.complete_success(ctx)
            case RunState.FAILED:
                done = self._core.complete_failure(ctx, row.end.value)
            case _:
                done = True  # the run has ended already
        if done or ctx.lifecycle.state is row.state:
            return row
        return decide(end_of_state(ctx.lifecycle.state), facts=facts, missing=False)


_FOR_WANT_OF_EVIDENCE = frozenset(
    {WorkEnd.NO_CONCLUSION, WorkEnd.SATURATED, WorkEnd.PROTOCOL_STOP, WorkEnd.DRAFT_ILLEGAL}
)
"""Ends that look like the analyst's own, but that a failing evidence store can also cause."""


def _stop_reason(state: RunState, snapshot: ProgressSnapshot) -> DiagnosisStopReason | None:
    """Why collecting stopped, as stored in the run's row.

    An exhausted budget is the reason wherever it was exhausted, also during release (seed: lifecycle and
    states, §8.1); deadline and cancel have none.
    """
    match state:
        case RunState.TIMED_OUT | RunState.CANCELLED:
            return None
        case RunState.BUDGET_EXHAUSTED:
            return DiagnosisStopReason.BUDGET_LIMIT_REACHED
        case _:
            return snapshot.stop_reason


def _end_of_exception(ctx: RunContext, stopped: AgentStopped) -> WorkEnd:
    match stopped:
        case EmptyDraft() | MalformedDraft():
            return WorkEnd.DRAFT_ILLEGAL
        case PolicyFailed():
            return WorkEnd.POLICY_FAILED
        case _:
            return end_of_state(ctx.lifecycle.state)
