"""One controlled call of an llm or a tool, from its gate to its charge."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from typing import TypeVar

from diagnosis_harness.harness.context import RunContext
from diagnosis_harness.harness.gate import (
    begin_tool_call,
    lease_and_begin_tool_call,
    settle_llm_call,
)
from diagnosis_harness.harness.lease import LlmLease, OpenCall, TokenUsage, ToolLease
from diagnosis_harness.harness.waiting import Leftover, Operation, WaitLimit, run_in_worker, wait
from diagnosis_harness.harness.workers import WorkerPool
from diagnosis_harness.kernel.clock import Clock
from diagnosis_harness.kernel.errors import ContractViolation, FailureKind, LlmFailure, ToolFailure
from diagnosis_harness.kernel.json_value import JsonValue
from diagnosis_harness.trace.event import TraceEventStatus, TraceName, TracePhase

T = TypeVar("T")


async def call_llm(
    ctx: RunContext,
    operation: Operation[T],
    *,
    clock: Clock,
    start: Callable[[], LlmLease],
    usage_of: Callable[[T], TokenUsage | None],
    limit_s: float | None = None,
) -> T:
    """Start one llm call, make it and charge it; see `DiagnosisHarnessCore.call_llm` and `attempt_role`."""
    lease: LlmLease | None = None

    async def attempt(ctx: RunContext) -> T:
        nonlocal lease
        # The gate is inside the task, so that the event loop cannot switch between the gate and the call.
        lease = start()
        return await operation(ctx)

    def settle(usage: TokenUsage | None) -> None:
        if lease is not None:
            settle_llm_call(ctx, clock, lease, usage)

    def discard(reply: T) -> None:
        try:
            usage = _read_usage(usage_of, reply)
        except Exception:  # noqa: BLE001 - nothing waits for it now; unknown usage is charged as reserved
            usage = None
        settle(usage)
        _refuse_late(ctx, TracePhase.AGENT, {"call": "llm"})

    def leftover() -> Leftover[T]:
        return Leftover(abandoned=_nothing, returned=discard)

    limit = None if limit_s is None else WaitLimit(limit_s, _llm_timed_out)
    try:
        reply = await wait(ctx, attempt, clock=clock, limit=limit, leftover=leftover)
        usage = _read_usage(usage_of, reply)
    except BaseException:
        settle(None)  # no effect if a discarded reply was already charged: the first settlement counts
        raise
    settle(usage)
    return reply


async def call_tool(
    ctx: RunContext, lease: ToolLease, operation: Operation[T], *, clock: Clock, limit_s: float | None
) -> T:
    """Invoke an async tool under its lease; see `DiagnosisHarnessCore.call_tool`."""
    begin = partial(begin_tool_call, ctx, clock, lease)
    try:
        return await _wait_for_tool(
            ctx, lease.call, _invocation(begin, operation), clock=clock, limit_s=limit_s
        )
    finally:
        ctx.budget.return_tool_call(lease)  # changes nothing once the call has begun


def invoke_tool(
    ctx: RunContext, call: OpenCall, operation: Operation[T], *, clock: Clock, limit_s: float | None
) -> Awaitable[T]:
    """Charge, begin and invoke an async tool in one step; see `DiagnosisHarnessCore.invoke_tool`."""
    begin = partial(lease_and_begin_tool_call, ctx, clock, call)
    return _wait_for_tool(ctx, call, _invocation(begin, operation), clock=clock, limit_s=limit_s)


async def call_blocking_tool(
    ctx: RunContext,
    lease: ToolLease,
    operation: Callable[[RunContext], T],
    *,
    clock: Clock,
    workers: WorkerPool,
    limit_s: float | None,
) -> T:
    """Invoke a tool that blocks, on a thread; see `DiagnosisHarnessCore.call_blocking_tool`."""

    def invoke() -> T:
        begin_tool_call(ctx, clock, lease)
        try:
            return operation(ctx)
        finally:
            ctx.budget.settle_tool_call(lease)

    async def in_worker(ctx: RunContext) -> T:
        return await run_in_worker(workers, invoke, _leftover(ctx, lease.call))

    try:
        return await _wait_for_tool(ctx, lease.call, in_worker, clock=clock, limit_s=limit_s)
    finally:
        ctx.budget.return_tool_call(lease)  # changes nothing once the call has begun


def _read_usage(usage_of: Callable[[T], TokenUsage | None], reply: T) -> TokenUsage | None:
    usage = usage_of(reply)
    if usage is not None and not isinstance(usage, TokenUsage):
        raise ContractViolation(f"usage is a TokenUsage or None, not {type(usage).__name__}")
    return usage


def _invocation(begin: Callable[[], ToolLease], operation: Operation[T]) -> Operation[T]:
    async def invoke(ctx: RunContext) -> T:
        lease = begin()
        try:
            return await operation(ctx)
        finally:
            ctx.budget.settle_tool_call(lease)

    return invoke


def _wait_for_tool(
    ctx: RunContext, call: OpenCall, operation: Operation[T], *, clock: Clock, limit_s: float | None
) -> Awaitable[T]:
    limit = None if limit_s is None else WaitLimit(limit_s, _tool_timed_out)
    return wait(ctx, operation, clock=clock, limit=limit, leftover=partial(_leftover, ctx, call))


def _leftover(ctx: RunContext, call: OpenCall) -> Leftover[object]:
    """Record in the trace that a tool outlives its wait, and its late result; its lease stays open."""
    payload = {"tool_name": call.name, "tool_call_id": call.tool_call_id}

    def on_abandon() -> None:
        ctx.lifecycle.journal.emit(
            TraceName.TOOL_ABANDONED, TracePhase.TOOL, TraceEventStatus.FAILED, payload
        )

    def on_return(_: object) -> None:
        _refuse_late(ctx, TracePhase.TOOL, payload)

    return Leftover(abandoned=on_abandon, returned=on_return)


def _refuse_late(ctx: RunContext, phase: TracePhase, call: Mapping[str, JsonValue]) -> None:
    ctx.lifecycle.journal.emit(TraceName.LATE_RESULT_REFUSED, phase, TraceEventStatus.REJECTED, call)


def _llm_timed_out(message: str) -> LlmFailure:
    return LlmFailure(message, kind=FailureKind.TIMEOUT)


def _tool_timed_out(message: str) -> ToolFailure:
    return ToolFailure(message, kind=FailureKind.TIMEOUT, code="TIMEOUT")


def _nothing() -> None:
    """An abandoned llm call is reported by the record of its attempt."""
