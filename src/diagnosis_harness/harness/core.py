"""The harness core: opens a run, gates every start, bounds every wait, and ends the run once."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TypeVar

from diagnosis_harness.harness import calls, waiting
from diagnosis_harness.harness.budget import NO_TOKENS, RunBudget, RunBudgetLimits
from diagnosis_harness.harness.cancellation import CancelAnswer, CancellationReason, RunCancellation
from diagnosis_harness.harness.context import OPENING, RunContext, require_identity, require_instant
from diagnosis_harness.harness.gate import (
    admit_tool_calls,
    begin_tool_call,
    check_active,
    expire,
    reserve_bytes,
    settle_llm_call,
    start_llm_call,
    start_role_attempt,
    start_tool_call,
)
from diagnosis_harness.harness.journal import RunJournal
from diagnosis_harness.harness.lease import LlmLease, OpenCall, TokenUsage, ToolLease
from diagnosis_harness.harness.lifecycle import RunLifecycle, RunState, RunTermination
from diagnosis_harness.harness.numbers import finite
from diagnosis_harness.harness.open_runs import OpenRuns
from diagnosis_harness.harness.retry_policy import HarnessRetryPolicies
from diagnosis_harness.harness.waiting import Operation, WaitLimit
from diagnosis_harness.harness.workers import WorkerPool
from diagnosis_harness.kernel.clock import Clock
from diagnosis_harness.kernel.closing import Closing
from diagnosis_harness.kernel.errors import ContractViolation, FailureKind, TechnicalFailure
from diagnosis_harness.kernel.ids import IdSource
from diagnosis_harness.kernel.json_value import JsonValue
from diagnosis_harness.trace.event import TraceEventStatus, TraceName, TracePhase
from diagnosis_harness.trace.sink import NullSink, TraceSink

__all__ = ["CancelAnswer", "DiagnosisHarnessCore"]

T = TypeVar("T")

CLOSED = "the core was closed"


class DiagnosisHarnessCore(Closing):
    """Runs of one process. It holds no state of a run: that is all in the `RunContext`. Safe from any thread.

    Close it after use, best as a context manager: that ends its threads.

    Args:
        clock: the time of all comparisons and waits; `close` closes it.
        ids: where run ids come from when the caller gives none.
        sink: where the trace goes; nowhere by default.
        workers: threads for blocking tools; a pool of its own by default. `close` closes it.
    """

    def __init__(
        self, *, clock: Clock, ids: IdSource, sink: TraceSink | None = None, workers: WorkerPool | None = None
    ) -> None:
        self._clock = clock
        self._ids = ids
        self._sink = NullSink() if sink is None else sink
        self._workers = WorkerPool() if workers is None else workers
        self._computing = WorkerPool(threads_max=1)  # apart: tools that block keep no computation waiting
        self._open = OpenRuns(clock)

    @property
    def clock(self) -> Clock:
        """The clock of all runs."""
        return self._clock

    @property
    def ids(self) -> IdSource:
        """Where ids come from."""
        return self._ids

    def start_run(
        self,
        *,
        session_id: str,
        limits: RunBudgetLimits,
        timeout_s: float | None = None,
        deadline_s: float | None = None,
        retry_policies: HarnessRetryPolicies | None = None,
        run_id: str | None = None,
    ) -> RunContext:
        """Open a run. Give either `timeout_s` from now or the time `deadline_s`.

        The clock ends the run at the deadline, even if no gate is passed.

        Raises:
            InvalidIdentity: a blank or unsafe id; nothing of the run exists then.
            ContractViolation: not exactly one of timeout and deadline, or one that is not finite; or the core
            is closed, or this process is a fork of the one that made it.
        """
        self._open.require_usable()
        run_id = self._ids.new_run_id() if run_id is None else run_id
        require_identity(session_id, run_id)
        if (timeout_s is None) == (deadline_s is None):
            raise ContractViolation("a run has either a timeout or a deadline")
        deadline = require_instant(
            deadline_s if timeout_s is None else self._clock.now_s() + finite("a timeout", timeout_s)
        )
        lock = threading.RLock()
        lifecycle = RunLifecycle(lock, RunJournal(run_id, clock=self._clock, sink=self._sink))
        ctx = RunContext(
            session_id=session_id,
            run_id=run_id,
            deadline=deadline,
            cancellation=RunCancellation(lock, lifecycle),
            budget=RunBudget(lock, limits),
            retry_policies=HarnessRetryPolicies() if retry_policies is None else retry_policies,
            lifecycle=lifecycle,
            opened_by=OPENING,
        )
        disarm = self._clock.call_at(ctx.deadline, lambda: expire(ctx, self._clock.now_s()))
        if not self._open.hold(ctx, disarm):
            self.complete_failure(ctx, CLOSED)
        return ctx

    def close(self) -> None:
        """End all open runs (FAILED, "the core was closed"), open no more, and let all threads end.

        It waits for no thread: one that is inside a tool ends when the tool returns. May be called twice.
        """
        for ctx in self._open.close():
            self.complete_failure(ctx, CLOSED)
        self._workers.close()
        self._computing.close()
        self._clock.close()

    def complete_success(self, ctx: RunContext) -> bool:
        """End the run SUCCESS; at or after the deadline it ends TIMED_OUT instead.

        Returns:
            Whether this call ended the run SUCCESS; False if it had another end.
        """
        now_s = self._clock.now_s()
        if now_s >= ctx.deadline:
            expire(ctx, now_s, in_background=False)  # resources have been notified when this returns
            return False
        return ctx.lifecycle.finish(RunTermination(RunState.SUCCESS, None, now_s))

    def complete_failure(self, ctx: RunContext, detail: str) -> bool:
        """End the run FAILED, then signal INTERNAL_FAILURE; at or after the deadline it ends TIMED_OUT.

        Returns:
            Whether this call ended the run FAILED; False if it had another end.
        """
        return self._signal(ctx, CancellationReason.INTERNAL_FAILURE, detail).changed

    def cancel(self, ctx: RunContext, reason: CancellationReason, detail: str = "") -> CancelAnswer:
        """End the run for a reason and notify every registered resource. After it returns, nothing starts.

        It is cooperative: later gates refuse, waits through the core end, callbacks are called. It
        does not claim that work inside a provider or a thread has stopped.
        """
        return self._signal(ctx, reason, detail)

    def check_active(self, ctx: RunContext) -> None:
        """Return if the run may continue; called before and after every boundary.

        Raises:
            RunAborted: the run has ended; at the deadline exactly it ends here, TIMED_OUT.
        """
        check_active(ctx, self._clock)

    def start_llm_call(
        self, ctx: RunContext, *, reserve_input_tokens: int = 0, reserve_output_tokens: int = 0
    ) -> LlmLease:
        """The gate of one attempt at a language model: charges the call and holds the tokens in reserve.

        Raises:
            RunAborted: the run has ended; or the call or its tokens are over a limit, which ends the run
                BUDGET_EXHAUSTED and charges nothing.
        """
        reserved = TokenUsage(reserve_input_tokens, reserve_output_tokens)
        return start_llm_call(ctx, self._clock, reserved)

    def settle_llm_call(self, ctx: RunContext, lease: LlmLease, usage: TokenUsage | None) -> None:
        """Record what an attempt used, also above a limit and also after the run's end; once for each lease.

        Unreported usage (None) is not zero: the reservation is charged, at least one token, and the usage is
        flagged as estimated. Usage above a limit ends the run BUDGET_EXHAUSTED; equal does not.
        """
        settle_llm_call(ctx, self._clock, lease, usage)

    def start_tool_call(self, ctx: RunContext, tool_name: str, tool_call_id: str) -> ToolLease:
        """The gate of one tool call: charges it to the total and to its tool, both or neither.

        The lease is then given to `call_tool` or `call_blocking_tool`, or back with `return_tool_call`. Who
        invokes the tool by other means begins and settles it (`begin_tool_call`, `settle_tool_call`).

        Raises:
            RunAborted: the run has ended; or the call is over a limit, which charges nothing and ends the run
                BUDGET_EXHAUSTED.
        """
        return start_tool_call(ctx, self._clock, OpenCall(tool_name, tool_call_id))

    def admit_tool_calls(self, ctx: RunContext, requests: Sequence[tuple[str, str]]) -> tuple[ToolLease, ...]:
        """Reserve a batch of (tool name, tool call id) in order, up to the first that exceeds a limit.

        Reaching a limit here does not end the run: the admitted calls settle first. Then the caller passes
        the first call that was left out to `start_tool_call`, which ends the run.

        Raises:
            RunAborted: the run has ended.
        """
        return admit_tool_calls(ctx, self._clock, [OpenCall(name, call_id) for name, call_id in requests])

    def return_tool_call(self, ctx: RunContext, lease: ToolLease) -> bool:
        """Give back the reservation of a call that will not start; False if it started and stays charged."""
        return ctx.budget.return_tool_call(lease)

    def begin_tool_call(self, ctx: RunContext, lease: ToolLease) -> None:
        """The gate of the invocation itself, in the task or thread that makes it; then the charge is final.

        Raises:
            RunAborted: the run has ended; the reservation is still in hand.
            ContractViolation: the lease has begun or ended before.
        """
        begin_tool_call(ctx, self._clock, lease)

    def settle_tool_call(self, ctx: RunContext, lease: ToolLease) -> bool:
        """Close the lease of a finished invocation, however it ended; False if it was already closed."""
        return ctx.budget.settle_tool_call(lease)

    def reserve_bytes(self, ctx: RunContext, size_bytes: int) -> None:
        """The gate of evidence bytes.

        Raises:
            RunAborted: the run has ended; or the bytes would pass the limit, which ends the run
                BUDGET_EXHAUSTED and reserves nothing.
        """
        reserve_bytes(ctx, self._clock, size_bytes)

    # ------------------------------------------------------------------ bounded waits

    async def wait(self, ctx: RunContext, operation: Operation[T], *, limit_s: float | None = None) -> T:
        """Wait for work that is not charged to the budget, such as a store call, until it or the run ends.

        Raises:
            RunAborted: the run had ended, or ended meanwhile; a result that came with it is discarded.
            TechnicalFailure: TIMEOUT, when `limit_s` has passed before.
        """

        async def check_and_run(ctx: RunContext) -> T:
            self.check_active(ctx)
            return await operation(ctx)

        limit = None if limit_s is None else WaitLimit(limit_s, _timed_out)
        return await waiting.wait(ctx, check_and_run, clock=self._clock, limit=limit)

    async def finalise(self, ctx: RunContext, operation: Operation[T], *, limit_s: float) -> T:
        """Wait for bookkeeping (ending a record, persisting), which continues after the run's end.

        Raises:
            TechnicalFailure: TIMEOUT, when `limit_s` has passed before.
        """
        limit = WaitLimit(limit_s, _timed_out)
        return await waiting.wait_after_end(ctx, operation, clock=self._clock, limit=limit)

    async def pause(self, ctx: RunContext, delay_s: float) -> None:
        """Wait for a time; ends at once when the run does.

        Raises:
            RunAborted: the run had ended, or ended meanwhile.
        """
        await waiting.pause(ctx, self._clock, delay_s)

    async def compute(self, ctx: RunContext, call: Callable[[], T]) -> T:
        """Make a pure, bounded computation on a thread, also after the run's end; in place if closed."""
        del ctx
        return await waiting.compute(self._computing, call)

    async def call_llm(
        self,
        ctx: RunContext,
        operation: Operation[T],
        *,
        usage_of: Callable[[T], TokenUsage | None],
        reserve: TokenUsage = NO_TOKENS,
        limit_s: float | None = None,
    ) -> T:
        """One request to a language model: gate, call, and the charge. `operation` is called once at most.

        A request that fails or is abandoned is charged its reservation; a reply that is discarded is
        charged what it reports. A reply that itself passes a token limit is still returned: it was paid for,
        and the next gate refuses.

        Raises:
            RunAborted: the run had ended, ended meanwhile, or has no budget for this.
            LlmFailure: TIMEOUT, when `limit_s` has passed before.
            Exception: what the operation raised.
        """
        start = partial(start_llm_call, ctx, self._clock, reserve)
        return await calls.call_llm(
            ctx, operation, clock=self._clock, start=start, usage_of=usage_of, limit_s=limit_s
        )

    async def attempt_role(
        self, ctx: RunContext, operation: Operation[T], *, usage_of: Callable[[T], TokenUsage | None]
    ) -> T:
        """One attempt of a role: gate, call, and the charge of one llm call.

        The first `call_llm` during the attempt takes over that charge, and every further one is charged a
        call of its own. Tokens are then charged by `call_llm` alone, otherwise as `usage_of` reports them.

        Raises:
            RunAborted, Exception: as `call_llm`.
        """
        start = partial(start_role_attempt, ctx, self._clock)
        return await calls.call_llm(ctx, operation, clock=self._clock, start=start, usage_of=usage_of)

    async def call_tool(
        self, ctx: RunContext, lease: ToolLease, operation: Operation[T], *, limit_s: float | None = None
    ) -> T:
        """Invoke an async tool under its lease, once; wait no longer than the run and `limit_s`.

        Raises:
            RunAborted: the run had ended or ended meanwhile; the lease goes back when the tool had not begun.
            ToolFailure: TIMEOUT, if `limit_s` passes first; the run continues.
            Exception: what the operation raised.
        """
        return await calls.call_tool(ctx, lease, operation, clock=self._clock, limit_s=limit_s)

    async def invoke_tool(
        self,
        ctx: RunContext,
        tool_name: str,
        tool_call_id: str,
        operation: Operation[T],
        *,
        limit_s: float | None = None,
    ) -> T:
        """Gate, charge and invoke an async tool in one step, for a call that has no record to begin first.

        A call that the gate has granted does start, even if a limit is reached in the meantime.

        Raises:
            RunAborted, ToolFailure, Exception: as `start_tool_call` and `call_tool`.
        """
        call = OpenCall(tool_name, tool_call_id)
        return await calls.invoke_tool(ctx, call, operation, clock=self._clock, limit_s=limit_s)

    async def call_blocking_tool(
        self,
        ctx: RunContext,
        lease: ToolLease,
        operation: Callable[[RunContext], T],
        *,
        limit_s: float | None = None,
    ) -> T:
        """The same for a tool that blocks: on a thread of the pool, with the gate inside the thread.

        A thread that outlives the wait is recorded (TOOL_ABANDONED); what it returns later is refused.

        Raises:
            RunAborted, ToolFailure, Exception: as `call_tool`.
        """
        return await calls.call_blocking_tool(
            ctx, lease, operation, clock=self._clock, workers=self._workers, limit_s=limit_s
        )

    def emit(  # noqa: PLR0917 - who, what, where, how: the same order as in the event
        self,
        ctx: RunContext,
        name: TraceName,
        phase: TracePhase,
        status: TraceEventStatus,
        payload: Mapping[str, JsonValue] | None = None,
    ) -> None:
        """Write one event of this run's trace, also after its end; the payload is bounded."""
        ctx.lifecycle.journal.emit(name, phase, status, payload or {})

    def _signal(self, ctx: RunContext, reason: CancellationReason, detail: str) -> CancelAnswer:
        now_s = self._clock.now_s()
        if now_s >= ctx.deadline:
            expire(ctx, now_s, in_background=False)  # the deadline came first, even if nothing had checked it
        with ctx.lifecycle.lock:
            signal = ctx.cancellation.latch(reason, at_s=now_s, detail=detail)
            calls = ctx.budget.open_calls()
        ctx.cancellation.notify(signal)
        end = ctx.lifecycle.termination
        return CancelAnswer(
            changed=signal.ended_run,
            state=ctx.lifecycle.state,
            reason=None if end is None else end.reason,
            begun=calls.begun,
            never_started=calls.waiting,
            in_flight=calls.in_flight,
            notified=len(signal.callbacks),
        )


_timed_out = partial(TechnicalFailure, kind=FailureKind.TIMEOUT)
