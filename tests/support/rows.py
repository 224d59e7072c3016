"""Requests, ends and processes made by hand, for tests of what is kept of a run."""

from __future__ import annotations

from dataclasses import dataclass, replace

from diagnosis_harness.application.alerts.inbox import AlertInbox
from diagnosis_harness.application.callers.caller import Caller, CallerRole
from diagnosis_harness.application.runs.request import RunKind, RunRequest
from diagnosis_harness.application.runs.row import RunEnding, RunFailure, RunSpent
from diagnosis_harness.application.runs.sources import SourceStamp
from diagnosis_harness.application.runs.store import RunArchive, RunFeed, RunLog, RunRecovery, RunStore
from diagnosis_harness.diagnosis.collection import DiagnosisStopReason
from diagnosis_harness.harness.context import RunContext
from diagnosis_harness.harness.core import DiagnosisHarnessCore
from diagnosis_harness.harness.termination import CancellationReason, RunState, RunTermination
from diagnosis_harness.kernel.language import Language
from diagnosis_harness.release.outcome import FallbackType, ReleaseOutcome
from diagnosis_harness.testing.clock import ManualClock
from diagnosis_harness.testing.runs import AMPLE
from diagnosis_harness.tools.store import EvidenceStore
from diagnosis_harness.trace.event import TraceEventStatus, TraceName, TracePhase

SUBMITTED_S = 1_700_000_000.25


def a_request(
    run_id: str = "r1", *, fingerprint: str | None = None, submitted_s: float = SUBMITTED_S
) -> RunRequest:
    """A request with something in every field."""
    return RunRequest(
        run_id=run_id,
        session_id="会话 1",
        question="为什么 checkout 变慢?",
        language=Language.ZH,
        kind=RunKind.BACKGROUND,
        asked_by=Caller("ops-1", CallerRole.OPERATOR),
        limit_s=120.5,
        submitted_s=submitted_s,
        source="shop",
        stamp=SourceStamp("sha256:shop", "sha256:monday"),
        onset_s=SUBMITTED_S - 600.125,
        start_by_s=SUBMITTED_S + 60,
        fingerprint=fingerprint,
        retry_of="r0",
    )


def a_fallback(*, at_s: float = SUBMITTED_S + 9) -> RunEnding:
    """An end whose status, outcome and state all differ, with something in every field that may hold it."""
    return RunEnding(
        outcome=ReleaseOutcome.FALLBACK,
        termination=RunTermination(
            RunState.BUDGET_EXHAUSTED, CancellationReason.BUDGET_EXHAUSTED, at_s, "预算 llm_calls"
        ),
        spent=RunSpent(
            duration_s=8.75,
            agent_steps=3,
            tool_calls=4,
            llm_calls=5,
            input_tokens=6_000_000_000,
            output_tokens=7,
            total_tokens=8,
            counters=[{"name": "llm_calls", "used": 5, "limit": 5}],
            is_estimated=True,
            in_flight=[{"tool": "find_changed_signals", "call": "t4"}],
        ),
        fallback=FallbackType.INSUFFICIENT_EVIDENCE,
        stop_reason=DiagnosisStopReason.BUDGET_LIMIT_REACHED,
        answer={"kind": "DIAGNOSIS", "z": [1, 1.0, None, True, "结\u0000"], "a": {}},
        conclusion="checkout 变慢",
        published_result={"causes": []},
    )


def a_success(*, at_s: float = SUBMITTED_S + 9) -> RunEnding:
    """A plain success."""
    return RunEnding(
        outcome=ReleaseOutcome.SUCCESS,
        termination=RunTermination(RunState.SUCCESS, None, at_s),
        spent=RunSpent(duration_s=1.0),
        answer={"kind": "SYSTEM_CHAT"},
    )


def a_failure(reason: CancellationReason, state: RunState, outcome: ReleaseOutcome) -> RunEnding:
    """An end that released nothing."""
    return RunEnding(
        outcome=outcome,
        termination=RunTermination(state, reason, SUBMITTED_S + 9, "detail"),
        spent=RunSpent(duration_s=1.0),
        failure=RunFailure(reason.value, "没有答案"),
    )


@dataclass(frozen=True, slots=True)
class Process:
    """What one process incarnation works with."""

    owner: str
    core: DiagnosisHarnessCore
    store: RunStore
    log: RunLog
    feed: RunFeed
    evidence: EvidenceStore

    def open(self, run_id: str, *, session_id: str = "会话 1") -> RunContext:
        """A run in memory; nothing of it is kept yet."""
        return self.core.start_run(session_id=session_id, limits=AMPLE, timeout_s=600, run_id=run_id)

    async def begin_run(self, run_id: str, request: RunRequest | None = None) -> RunContext:
        """A run that is RUNNING, with RUN_STARTED in its log."""
        ctx = self.open(run_id)
        self.tell(ctx, TraceName.RUN_STARTED, status=TraceEventStatus.STARTED)
        request = replace(request or a_request(), run_id=run_id)
        if not await self.store.begin(ctx, request, owner=self.owner, at_s=self.core.clock.now_s()):
            raise AssertionError("a new run begins")
        self.log.open(ctx)
        await self.log.flush(ctx)
        return ctx

    def tell(
        self,
        ctx: RunContext,
        name: TraceName = TraceName.TOOL_PROGRESS,
        *,
        status: TraceEventStatus = TraceEventStatus.SUCCEEDED,
        **payload: str | int | None,
    ) -> None:
        """Write one event of the run's trace."""
        self.core.emit(ctx, name, TracePhase.RUN, status, payload)


@dataclass(frozen=True, slots=True)
class Kept:
    """Two processes that share what they keep.

    Attributes:
        inboxes: of both processes.
    """

    clock: ManualClock
    archive: RunArchive
    recovery: RunRecovery
    one: Process
    two: Process
    inboxes: tuple[AlertInbox, AlertInbox]
