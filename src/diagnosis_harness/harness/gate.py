"""The one gate that every start passes, under the run's one lock."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TypeVar

from diagnosis_harness.harness.cancellation import CancellationReason
from diagnosis_harness.harness.context import RunContext
from diagnosis_harness.harness.lease import LlmLease, OpenCall, OverLimit, TokenUsage, ToolLease
from diagnosis_harness.kernel.clock import Clock
from diagnosis_harness.kernel.errors import CapacityRefused

Granted = TypeVar("Granted")


def check_active(ctx: RunContext, clock: Clock) -> None:
    """Return if the run may continue. At the deadline exactly it ends.

    Raises:
        RunAborted: the run has ended, or ends here because its deadline has come.
    """
    if ctx.lifecycle.termination is None:
        now_s = clock.now_s()
        if now_s < ctx.deadline:
            return
        expire(ctx, now_s)
    raise ctx.lifecycle.abort_error()


def expire(ctx: RunContext, now_s: float, *, in_background: bool = True) -> None:
    """End a run whose deadline has come: TIMED_OUT, then DEADLINE_EXCEEDED; see `RunCancellation.signal`."""
    ctx.cancellation.signal(
        CancellationReason.DEADLINE_EXCEEDED,
        at_s=now_s,
        detail="the deadline has come",
        in_background=in_background,
    )


def exhaust(ctx: RunContext, clock: Clock, detail: str) -> None:
    """End a run that exceeded a limit of its budget: BUDGET_EXHAUSTED, then the signal, on another thread.

    A deadline that has come by then takes precedence, even if nothing had checked it.
    """
    now_s = clock.now_s()
    if now_s >= ctx.deadline:
        expire(ctx, now_s)
    else:
        ctx.cancellation.signal(
            CancellationReason.BUDGET_EXHAUSTED, at_s=now_s, detail=detail, in_background=True
        )


def pass_gate(ctx: RunContext, clock: Clock, reserve: Callable[[], Granted | OverLimit]) -> Granted:
    """Allow a start if the run has not ended and every counter allows it; otherwise change nothing.

    Everything that ends a run takes the same lock. So nothing starts on any thread once `cancel()` has
    returned: a start either comes before the end and is counted in its answer, or is refused.

    Raises:
        RunAborted: the run has ended; or a limit is exceeded, which ends it BUDGET_EXHAUSTED.
    """
    refused: OverLimit | None = None
    with ctx.lifecycle.lock:
        if ctx.lifecycle.termination is None and clock.now_s() < ctx.deadline:
            granted = reserve()
            if not isinstance(granted, OverLimit):
                return granted
            refused = granted
    if refused is not None:
        exhaust(ctx, clock, str(refused))
    check_active(ctx, clock)
    raise ctx.lifecycle.abort_error()


def start_llm_call(ctx: RunContext, clock: Clock, reserved: TokenUsage) -> LlmLease:
    """Charge one request to a language model and hold its tokens in reserve; it has begun.

    Raises:
        RunAborted: as `pass_gate`.
    """
    return pass_gate(ctx, clock, partial(ctx.budget.lease_llm_call, reserved))


def start_role_attempt(ctx: RunContext, clock: Clock) -> LlmLease:
    """Charge one attempt of a role; it has begun.

    Raises:
        RunAborted: as `pass_gate`.
    """
    return pass_gate(ctx, clock, ctx.budget.lease_role_attempt)


def settle_llm_call(ctx: RunContext, clock: Clock, lease: LlmLease, usage: TokenUsage | None) -> None:
    """Record what an attempt used, once, and end the run if nothing has ended it before.

    At or after the deadline it ends TIMED_OUT, whatever was used; before it, usage above a limit ends it.
    """
    over = ctx.budget.settle_llm_call(lease, usage)
    if ctx.lifecycle.termination is not None:
        return
    if over is not None:
        exhaust(ctx, clock, str(over))
    elif (now_s := clock.now_s()) >= ctx.deadline:
        expire(ctx, now_s)


def start_tool_call(ctx: RunContext, clock: Clock, call: OpenCall) -> ToolLease:
    """Charge one tool call; it has not begun.

    Raises:
        RunAborted: as `pass_gate`.
    """
    return pass_gate(ctx, clock, partial(ctx.budget.lease_tool_call, call))


def begin_tool_call(ctx: RunContext, clock: Clock, lease: ToolLease) -> ToolLease:
    """The last step before a tool's backend is called, in the task or thread that calls it.

    Raises:
        RunAborted: as `pass_gate`; the reservation is still in hand then.
    """
    return pass_gate(ctx, clock, partial(ctx.budget.begin_tool_call, lease))


def lease_and_begin_tool_call(ctx: RunContext, clock: Clock, call: OpenCall) -> ToolLease:
    """Charge a tool call and begin it in one step.

    Raises:
        RunAborted: as `pass_gate`.
    """

    def reserve() -> ToolLease | OverLimit:
        lease = ctx.budget.lease_tool_call(call)
        return lease if isinstance(lease, OverLimit) else ctx.budget.begin_tool_call(lease)

    return pass_gate(ctx, clock, reserve)


def admit_tool_calls(ctx: RunContext, clock: Clock, asked: Sequence[OpenCall]) -> tuple[ToolLease, ...]:
    """Charge the longest prefix of a batch that the limits allow; meeting a limit here does not end the run.

    Raises:
        RunAborted: the run has ended.
    """

    def reserve() -> tuple[ToolLease, ...]:
        leases: list[ToolLease] = []
        for call in asked:
            lease = ctx.budget.lease_tool_call(call)
            if isinstance(lease, OverLimit):
                break
            leases.append(lease)
        return tuple(leases)

    return pass_gate(ctx, clock, reserve)


def reserve_bytes(ctx: RunContext, clock: Clock, size_bytes: int) -> None:
    """Take bytes of evidence.

    Raises:
        RunAborted: as `pass_gate`.
    """

    def reserve() -> OverLimit | None:
        try:
            ctx.budget.capacity.reserve(size_bytes)
        except CapacityRefused as refused:
            return OverLimit("run_bytes", refused.used_bytes + refused.asked_bytes, refused.limit_bytes)
        return None

    pass_gate(ctx, clock, reserve)
