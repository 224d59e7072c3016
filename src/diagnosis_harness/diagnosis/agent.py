"""The diagnosis loop: gets each decision from a pure function and carries it out (DESIGN §6)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from diagnosis_harness.diagnosis.answer_size import check_size
from diagnosis_harness.diagnosis.collection import CollectionState, CollectionThresholds, DiagnosisStopReason
from diagnosis_harness.diagnosis.execution import DiagnosisAgentExecution
from diagnosis_harness.diagnosis.inquiry import Inquiry
from diagnosis_harness.diagnosis.policy import DiagnosisPolicy, PolicyAnswer, PolicyView, Refused, WantedCall
from diagnosis_harness.diagnosis.progress import (
    ProgressNote,
    ProgressSnapshot,
    after_assessments,
    after_records,
    with_budget_stop,
    with_step,
    with_stop_delivered,
    with_store_failure,
)
from diagnosis_harness.diagnosis.step import (
    Complete,
    EndEmpty,
    RefuseCalls,
    RunTools,
    StopControlled,
    next_action,
)
from diagnosis_harness.harness.context import RunContext
from diagnosis_harness.harness.core import DiagnosisHarnessCore
from diagnosis_harness.harness.retry import RetryRole
from diagnosis_harness.harness.termination import RunState
from diagnosis_harness.kernel.errors import (
    AgentAborted,
    EmptyDraft,
    MalformedAnswer,
    MalformedDraft,
    PolicyFailed,
    RunAborted,
    TechnicalFailure,
)
from diagnosis_harness.kernel.faults import error_text
from diagnosis_harness.llm.role import RoleBoundary
from diagnosis_harness.tools.boundary import ToolBoundary, ToolBoundaryResult
from diagnosis_harness.tools.invocation import ErrorCode
from diagnosis_harness.tools.preflight import RefusalCode
from diagnosis_harness.tools.spec import ToolRequest
from diagnosis_harness.trace.event import TraceEventStatus, TraceName, TracePhase


@dataclass(frozen=True, slots=True)
class DiagnosisTask:
    """What one diagnosis is asked to do. `caller` is set by the application, never by the policy."""

    question: str
    inquiry: Inquiry = field(default_factory=Inquiry)
    """The question as code resolved it. An empty inquiry knows no entity, so nothing can be concluded."""
    caller: str = "local"


@dataclass(slots=True)
class _Turn:
    """The state of the loop between two steps of one run."""

    snapshot: ProgressSnapshot = field(default_factory=ProgressSnapshot)
    refused: tuple[Refused, ...] = ()


class DiagnosisAgent:
    """Runs one policy over one tool boundary. Every step is one attempt; nothing is retried here."""

    def __init__(
        self,
        core: DiagnosisHarnessCore,
        *,
        policy: DiagnosisPolicy,
        boundary: ToolBoundary,
        thresholds: CollectionThresholds | None = None,
    ) -> None:
        self._core = core
        self._policy = policy
        self._boundary = boundary
        self._thresholds = thresholds or CollectionThresholds()
        self._roles = RoleBoundary(core)

    async def diagnose(self, ctx: RunContext, task: DiagnosisTask) -> DiagnosisAgentExecution:
        """Ask the policy, run its tool calls and accept its assessments, until a draft or a controlled stop.

        Raises:
            EmptyDraft, MalformedDraft, PolicyFailed, AgentAborted: with the ProgressSnapshot reached.
        """
        turn = _Turn()
        try:
            while True:
                if (ended := await self._step(ctx, task, turn)) is not None:
                    return ended
        except RunAborted as aborted:
            if aborted.state == RunState.BUDGET_EXHAUSTED:
                return self._budget_stop(ctx, turn)
            raise AgentAborted(aborted, snapshot=turn.snapshot) from aborted
        finally:
            await self._boundary.settle(ctx)

    async def _step(
        self, ctx: RunContext, task: DiagnosisTask, turn: _Turn
    ) -> DiagnosisAgentExecution | None:
        self._deliver_stop(turn)
        answer = await self._ask_policy(ctx, task, turn)
        had_stopped = turn.snapshot.stop_reason
        turn.snapshot, notes = after_assessments(turn.snapshot, answer.assessments, self._thresholds)
        self._emit_progress(ctx, notes, turn.snapshot, had_stopped)
        match next_action(turn.snapshot, answer):
            case Complete(draft=draft):
                return DiagnosisAgentExecution(turn.snapshot, draft=draft, refused=turn.refused)
            case RunTools(calls=calls):
                await self._look(ctx, task, turn, calls)
            case RefuseCalls(refused=calls):
                self._refuse(ctx, turn, calls)
            case StopControlled(refused=calls, reason=reason):
                self._refuse(ctx, turn, calls)
                return DiagnosisAgentExecution(turn.snapshot, stop_reason=reason, refused=turn.refused)
            case EndEmpty():
                raise EmptyDraft("the policy ended without a draft", snapshot=turn.snapshot)
        return None

    async def _ask_policy(self, ctx: RunContext, task: DiagnosisTask, turn: _Turn) -> PolicyAnswer:
        view = PolicyView(
            question=task.question,
            onset_s=task.inquiry.stated_s,
            tools=self._boundary.specs,
            records=turn.snapshot.records,
            refused=turn.refused,
            due=turn.snapshot.due,
            stop_required=turn.snapshot.stop_required,
            affected=task.inquiry.affected,
            asks_of_unknown=task.inquiry.asks_of_unknown,
            form=task.inquiry.reading.form,
            until_s=task.inquiry.until_s,
        )
        turn.snapshot = with_step(turn.snapshot)
        self._emit_step(ctx, TraceEventStatus.STARTED)
        try:
            answer = await self._roles.play(
                ctx, RetryRole.DIAGNOSIS_AGENT, lambda ctx: self._policy.decide(ctx, view)
            )
            check_size(answer)
        except MalformedAnswer as malformed:
            self._emit_step(ctx, TraceEventStatus.REJECTED)
            raise MalformedDraft(error_text(malformed), snapshot=turn.snapshot) from malformed
        except TechnicalFailure as failure:
            self._emit_step(ctx, TraceEventStatus.FAILED)
            raise PolicyFailed(error_text(failure), snapshot=turn.snapshot) from failure
        self._emit_step(ctx, TraceEventStatus.SUCCEEDED)
        return answer

    async def _look(
        self, ctx: RunContext, task: DiagnosisTask, turn: _Turn, calls: Sequence[WantedCall]
    ) -> None:
        requests = [
            ToolRequest(call.tool_call_id, call.tool_name, call.arguments, caller=task.caller)
            for call in calls
        ]
        results = await self._boundary.invoke(ctx, requests)
        records = [result.record for result in results if result.record is not None]
        had_stopped = turn.snapshot.stop_reason
        turn.snapshot, notes = after_records(turn.snapshot, records, self._thresholds)
        if any(map(_was_lost, results)):
            turn.snapshot = with_store_failure(turn.snapshot)
        turn.refused += tuple(
            Refused(
                result.request.tool_call_id,
                result.request.tool_name,
                result.refusal.code.value,
                result.refusal.message,
            )
            for result in results
            if result.refusal is not None
        )
        self._emit_progress(ctx, notes, turn.snapshot, had_stopped)
        self._core.check_active(ctx)

    def _deliver_stop(self, turn: _Turn) -> None:
        """Set STOP_REQUIRED in the next view, once: nothing more may be collected."""
        if turn.snapshot.collection is CollectionState.SATURATED and not turn.snapshot.stop_required:
            turn.snapshot = with_stop_delivered(turn.snapshot)

    def _refuse(self, ctx: RunContext, turn: _Turn, calls: Sequence[WantedCall]) -> None:
        message = "collecting has stopped; give a draft"
        for call in calls:
            self._core.emit(
                ctx,
                TraceName.TOOL_REQUEST_REJECTED,
                TracePhase.AGENT,
                TraceEventStatus.REJECTED,
                {"tool": call.tool_name, "tool_call_id": call.tool_call_id, "code": "STOP_REQUIRED"},
            )
        turn.refused += tuple(
            Refused(call.tool_call_id, call.tool_name, "STOP_REQUIRED", message) for call in calls
        )

    def _budget_stop(self, ctx: RunContext, turn: _Turn) -> DiagnosisAgentExecution:
        turn.snapshot = with_budget_stop(turn.snapshot)
        self._emit_stop(ctx, DiagnosisStopReason.BUDGET_LIMIT_REACHED)
        reason = DiagnosisStopReason.BUDGET_LIMIT_REACHED
        return DiagnosisAgentExecution(turn.snapshot, stop_reason=reason, refused=turn.refused)

    def _emit_step(self, ctx: RunContext, status: TraceEventStatus) -> None:
        self._core.emit(ctx, TraceName.AGENT_MODEL_STEP, TracePhase.AGENT, status)

    def _emit_progress(
        self,
        ctx: RunContext,
        notes: Sequence[ProgressNote],
        snapshot: ProgressSnapshot,
        had_stopped: DiagnosisStopReason | None,
    ) -> None:
        for note in notes:
            self._core.emit(
                ctx,
                TraceName.TOOL_PROGRESS,
                TracePhase.AGENT,
                TraceEventStatus.SUCCEEDED if note.gain else TraceEventStatus.SKIPPED,
                {
                    "tool_call_id": note.tool_call_id,
                    "gain": note.gain.value if note.gain else None,
                    "why": note.why,
                },
            )
        if snapshot.stop_reason is not None and had_stopped is None:
            self._emit_stop(ctx, snapshot.stop_reason)

    def _emit_stop(self, ctx: RunContext, reason: DiagnosisStopReason) -> None:
        self._core.emit(
            ctx,
            TraceName.COLLECTION_STOP,
            TracePhase.AGENT,
            TraceEventStatus.SUCCEEDED,
            {"reason": reason.value},
        )


def _was_lost(result: ToolBoundaryResult) -> bool:
    """Whether a call has no evidence because the store failed."""
    if result.refusal is not None:
        return result.refusal.code is RefusalCode.STORE_UNAVAILABLE
    return result.record is not None and result.record.error_code is ErrorCode.STORE_FAILED
