"""The only place that retries: by typed failures, bounded, and recorded in the trace."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import TypeVar

from diagnosis_harness.harness.callbacks import call_contained
from diagnosis_harness.harness.context import RunContext
from diagnosis_harness.harness.core import DiagnosisHarnessCore
from diagnosis_harness.harness.lifecycle import RunState
from diagnosis_harness.harness.retry_policy import (
    ATTEMPTS_MAX,
    RETRYABLE,
    HarnessRetryPolicies,
    RetryPolicy,
    RetryRole,
)
from diagnosis_harness.harness.waiting import Operation
from diagnosis_harness.kernel.errors import FailureKind, RunAborted, TechnicalFailure
from diagnosis_harness.trace.event import TraceEventStatus, TraceName, TracePhase

__all__ = [
    "ATTEMPTS_MAX",
    "RETRYABLE",
    "AttemptRecord",
    "HarnessRetryExecutor",
    "HarnessRetryPolicies",
    "RetryPolicy",
    "RetryRole",
]

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class AttemptRecord:
    """One attempt that was made.

    Attributes:
        role: who made it.
        number: 1 for the first.
        failure: how it failed; None if it succeeded. UNKNOWN includes every untyped exception.
        error: name of the exception's class; empty when it succeeded.
        started_at_s, ended_at_s: when, in seconds since the epoch, UTC.
    """

    role: RetryRole
    number: int
    failure: FailureKind | None
    error: str
    started_at_s: float
    ended_at_s: float

    @property
    def is_success(self) -> bool:
        """Whether the attempt succeeded."""
        return self.failure is None


class HarnessRetryExecutor:
    """Makes the attempts of a role under the run's policy for it. Every attempt is in the trace.

    A router's attempts are ROUTING_ATTEMPT, a semantic guard's SEMANTIC_GUARD_ATTEMPT, others RETRY_ATTEMPT.
    """

    def __init__(self, core: DiagnosisHarnessCore) -> None:
        self._core = core

    async def run(
        self,
        ctx: RunContext,
        role: RetryRole,
        operation: Operation[T],
        *,
        on_attempt: Callable[[AttemptRecord], None] | None = None,
    ) -> T:
        """Make one attempt, and another one only after a failure that the policy lists.

        Raises:
            RunAborted: the run had ended or ended meanwhile; no further attempt is made then.
            Exception: what the last attempt raised.
        """
        policy = ctx.retry_policies.for_role(role)
        number = 1
        while True:
            try:
                return await self._attempt(ctx, role, operation, number=number, on_attempt=on_attempt)
            except TechnicalFailure as failure:
                if number >= policy.attempts_max or failure.kind not in policy.retry_on:
                    raise
            # If the run has ended meanwhile, the pause and the next attempt's wait both refuse.
            await self._core.pause(ctx, policy.delay_s)
            number += 1

    async def _attempt(
        self,
        ctx: RunContext,
        role: RetryRole,
        operation: Operation[T],
        *,
        number: int,
        on_attempt: Callable[[AttemptRecord], None] | None,
    ) -> T:
        started_at_s: list[float] = []

        async def invoke(ctx: RunContext) -> T:
            started_at_s.append(self._core.clock.now_s())
            return await operation(ctx)

        def record(error: BaseException | None) -> None:
            if started_at_s:  # if the run's end refused the attempt, it was never made
                attempt = AttemptRecord(
                    role=role,
                    number=number,
                    failure=None if error is None else _kind(error),
                    error="" if error is None else type(error).__name__,
                    started_at_s=started_at_s[0],
                    ended_at_s=self._core.clock.now_s(),
                )
                self._emit(ctx, attempt)
                if on_attempt is not None:
                    call_contained(partial(on_attempt, attempt), ctx.lifecycle.journal)

        try:
            value = await self._core.wait(
                ctx, invoke, limit_s=ctx.retry_policies.for_role(role).attempt_timeout_s
            )
        except BaseException as error:
            record(error)
            raise
        record(None)
        return value

    def _emit(self, ctx: RunContext, attempt: AttemptRecord) -> None:
        name, phase = _EVENTS.get(attempt.role, (TraceName.RETRY_ATTEMPT, TracePhase.AGENT))
        self._core.emit(
            ctx,
            name,
            phase,
            TraceEventStatus.SUCCEEDED if attempt.is_success else TraceEventStatus.FAILED,
            {
                "role": attempt.role.value,
                "attempt": attempt.number,
                "failure": None if attempt.failure is None else attempt.failure.value,
                "error": attempt.error,
            },
        )


_EVENTS = {
    RetryRole.ROUTER: (TraceName.ROUTING_ATTEMPT, TracePhase.ROUTING),
    RetryRole.SEMANTIC_GUARD: (TraceName.SEMANTIC_GUARD_ATTEMPT, TracePhase.GUARD),
    RetryRole.EVIDENCE_REPAIR: (TraceName.RETRY_ATTEMPT, TracePhase.GUARD),
    RetryRole.TOOL: (TraceName.RETRY_ATTEMPT, TracePhase.TOOL),
    RetryRole.SYSTEM_RESPONDER: (TraceName.RETRY_ATTEMPT, TracePhase.RUN),
    RetryRole.ANSWER_WRITER: (TraceName.RETRY_ATTEMPT, TracePhase.KNOWLEDGE),
}

_KIND_OF_END = {
    RunState.CANCELLED: FailureKind.CANCELLED,
    RunState.TIMED_OUT: FailureKind.DEADLINE,
    RunState.BUDGET_EXHAUSTED: FailureKind.BUDGET,
}


def _kind(error: BaseException) -> FailureKind:
    match error:
        case TechnicalFailure():
            return error.kind
        case RunAborted():
            return _KIND_OF_END.get(RunState(error.state), FailureKind.UNKNOWN)
        case _:
            return FailureKind.UNKNOWN
