"""Retry: typed, bounded, recorded, and in one place."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import FrozenInstanceError, dataclass, field

import pytest

from diagnosis_harness.harness.cancellation import CancellationReason
from diagnosis_harness.harness.context import RunContext
from diagnosis_harness.harness.lifecycle import RunState
from diagnosis_harness.harness.retry import (
    ATTEMPTS_MAX,
    RETRYABLE,
    AttemptRecord,
    HarnessRetryExecutor,
    HarnessRetryPolicies,
    RetryPolicy,
    RetryRole,
)
from diagnosis_harness.kernel.errors import (
    CapacityRefused,
    FailureKind,
    InvalidRetryPolicy,
    LlmFailure,
    RunAborted,
    StoreFailure,
    TechnicalFailure,
    ToolFailure,
)
from diagnosis_harness.testing.runs import Rig, limits
from diagnosis_harness.trace.event import TraceEventStatus, TraceName

TRANSPORT = LlmFailure("connection reset", kind=FailureKind.TRANSPORT)
TWICE = (RetryRole.ROUTER, RetryRole.SEMANTIC_GUARD)
ONCE = (
    RetryRole.DIAGNOSIS_AGENT,
    RetryRole.TOOL,
    RetryRole.EVIDENCE_REPAIR,
    RetryRole.SYSTEM_RESPONDER,
    RetryRole.ANSWER_WRITER,
)
FOUR = [FailureKind.TRANSPORT, FailureKind.TIMEOUT, FailureKind.RATE_LIMITED, FailureKind.UNAVAILABLE]
NEVER = [kind for kind in FailureKind if kind not in FOUR]


@dataclass
class Attempts:
    """Runs a scripted operation under a role, and keeps what was recorded."""

    outcomes: list[object]
    rig: Rig = field(default_factory=Rig)
    before: Callable[[RunContext], None] = lambda _: None
    invoked: int = 0
    records: list[AttemptRecord] = field(default_factory=list)

    async def operation(self, ctx: RunContext) -> object:
        """The next outcome: raised when it is an exception."""
        self.invoked += 1
        self.before(ctx)
        outcome = self.outcomes[self.invoked - 1]
        if isinstance(outcome, BaseException):
            raise outcome
        return outcome

    def run(self, role: RetryRole, ctx: RunContext | None = None) -> object:
        """All attempts the policy allows."""

        async def main() -> object:
            executor = HarnessRetryExecutor(self.rig.core)
            run = self.rig.run() if ctx is None else ctx
            return await executor.run(run, role, self.operation, on_attempt=self.records.append)

        return asyncio.run(main())


def test_policies_are_immutable() -> None:
    """Neither a policy, nor what it lists, nor the set of policies of a run can be changed."""
    policies = HarnessRetryPolicies()
    with pytest.raises(FrozenInstanceError):
        policies.router = RetryPolicy(attempts_max=1)  # type: ignore[misc]  # the refusal is what is tested
    with pytest.raises(FrozenInstanceError):
        policies.router.attempts_max = 3  # type: ignore[misc]  # the refusal is what is tested
    assert isinstance(policies.router.retry_on, frozenset)


def test_every_attempt_is_recorded_with_its_outcome_and_times() -> None:
    """In the trace as well, under the name of the role's attempts."""
    attempts = Attempts([TRANSPORT, "decided"])
    attempts.before = lambda _: attempts.rig.clock.advance(2)
    attempts.run(RetryRole.ROUTER)
    start_s = 1_700_000_000.0
    assert attempts.records == [
        AttemptRecord(RetryRole.ROUTER, 1, FailureKind.TRANSPORT, "LlmFailure", start_s, start_s + 2),
        AttemptRecord(RetryRole.ROUTER, 2, None, "", start_s + 2, start_s + 4),
    ]
    assert [event.status for event in attempts.rig.sink.events_named(TraceName.ROUTING_ATTEMPT)] == [
        TraceEventStatus.FAILED,
        TraceEventStatus.SUCCEEDED,
    ]


@pytest.mark.parametrize("role", list(RetryRole))
def test_a_first_success_is_one_recorded_attempt(role: RetryRole) -> None:
    """Also where nothing is ever tried again."""
    attempts = Attempts(["done"])
    assert attempts.run(role) == "done"
    assert [record.is_success for record in attempts.records] == [True]


@pytest.mark.parametrize("kind", FOUR)
@pytest.mark.parametrize("role", TWICE)
def test_router_and_guard_have_two_attempts_after_a_technical_failure(
    role: RetryRole, kind: FailureKind
) -> None:
    """Two and no third, for each of the four kinds."""
    failure = TechnicalFailure("no answer", kind=kind)
    attempts = Attempts([failure, failure, "never reached"])
    with pytest.raises(TechnicalFailure):
        attempts.run(role)
    assert (attempts.invoked, [record.failure for record in attempts.records]) == (2, [kind, kind])


def test_each_attempt_passes_the_gate_and_costs_one_llm_call() -> None:
    """A budget of one call leaves no second attempt."""
    rig = Rig()
    ctx = rig.run(limits=limits(llm_calls=1))
    invoked: list[int] = []

    async def failing(_: RunContext) -> str:
        invoked.append(1)
        raise TRANSPORT

    async def attempt(ctx: RunContext) -> str:
        return await rig.core.call_llm(ctx, failing, usage_of=lambda _: None)

    async def main() -> None:
        await HarnessRetryExecutor(rig.core).run(ctx, RetryRole.SEMANTIC_GUARD, attempt)

    with pytest.raises(RunAborted, match="BUDGET_EXHAUSTED"):
        asyncio.run(main())
    assert (len(invoked), ctx.budget.usage().llm_calls) == (1, 1)


@pytest.mark.parametrize("role", ONCE)
def test_agent_tool_and_repair_have_one_attempt(role: RetryRole) -> None:
    """Whatever the failure, and the failure comes through as it was."""
    attempts = Attempts([TRANSPORT, "never reached"])
    with pytest.raises(LlmFailure, match="connection reset"):
        attempts.run(role)
    assert attempts.invoked == 1


@pytest.mark.parametrize("role", ONCE)
def test_a_second_attempt_for_agent_tool_or_repair_cannot_be_configured(role: RetryRole) -> None:
    """The policies of a run refuse it when they are built."""
    twice = RetryPolicy(attempts_max=2, retry_on=RETRYABLE)
    with pytest.raises(InvalidRetryPolicy, match=role):
        HarnessRetryPolicies(**{role.lower(): twice})
    assert ATTEMPTS_MAX[role] == 1


@pytest.mark.parametrize("kind", NEVER)
def test_a_policy_that_lists_what_is_never_retried_cannot_be_built(kind: FailureKind) -> None:
    """Cancellation, deadline, budget, NO_EVIDENCE, rejection, invalid output, unknown."""
    with pytest.raises(InvalidRetryPolicy, match=kind):
        RetryPolicy(attempts_max=2, retry_on=frozenset({FailureKind.TRANSPORT, kind}))


@pytest.mark.parametrize("attempts_max", [0, 3, True, -1])
def test_a_policy_has_one_attempt_or_two(attempts_max: int) -> None:
    """None, or three, cannot be built."""
    with pytest.raises(InvalidRetryPolicy):
        RetryPolicy(attempts_max=attempts_max)


@pytest.mark.parametrize("kind", NEVER)
@pytest.mark.parametrize("failure", [TechnicalFailure, LlmFailure, ToolFailure, StoreFailure])
def test_a_failure_that_is_not_a_technical_one_is_never_retried(
    failure: type[TechnicalFailure], kind: FailureKind
) -> None:
    """Whatever raises it: a router's attempt, a tool's, a store's."""
    attempts = Attempts([failure("no", kind=kind), "never reached"])
    with pytest.raises(failure):
        attempts.run(RetryRole.ROUTER)
    assert [record.failure for record in attempts.records] == [kind]


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (ValueError("a bug"), FailureKind.UNKNOWN),
        (TimeoutError("untyped"), FailureKind.UNKNOWN),
        (ConnectionError("untyped"), FailureKind.UNKNOWN),
        (CapacityRefused(asked_bytes=1, used_bytes=1, limit_bytes=1), FailureKind.UNKNOWN),
        (RunAborted("CANCELLED", "USER_REQUESTED"), FailureKind.CANCELLED),
        (RunAborted("TIMED_OUT", "DEADLINE_EXCEEDED"), FailureKind.DEADLINE),
        (RunAborted("BUDGET_EXHAUSTED", "BUDGET_EXHAUSTED"), FailureKind.BUDGET),
    ],
)
def test_an_error_without_a_technical_kind_is_final(error: Exception, kind: FailureKind) -> None:
    """Retry decides by type, never by text: an untyped error is unknown, and unknown is not retried."""
    attempts = Attempts([error, "never reached"])
    with pytest.raises(type(error)):
        attempts.run(RetryRole.ROUTER)
    assert [record.failure for record in attempts.records] == [kind]


def test_a_routers_transport_failure_is_followed_by_success() -> None:
    """The second result comes back; exactly one failed and one successful attempt are recorded."""
    attempts = Attempts([TRANSPORT, "DIAGNOSIS"])
    assert attempts.run(RetryRole.ROUTER) == "DIAGNOSIS"
    assert [record.is_success for record in attempts.records] == [False, True]


def test_a_tools_first_failure_is_final() -> None:
    """One failed attempt recorded, raised, and the tool is not invoked again."""
    attempts = Attempts([ToolFailure("backend down", kind=FailureKind.UNAVAILABLE), "never reached"])
    with pytest.raises(ToolFailure, match="backend down"):
        attempts.run(RetryRole.TOOL)
    assert attempts.invoked == 1
    assert [record.failure for record in attempts.records] == [FailureKind.UNAVAILABLE]


def test_a_run_that_is_cancelled_between_attempts_makes_no_second_one() -> None:
    """The next attempt is refused and the operation not invoked."""
    rig = Rig()
    ctx = rig.run()
    attempts = Attempts([TRANSPORT, "never reached"], rig=rig)

    def cancel_after(record: AttemptRecord) -> None:
        attempts.records.append(record)
        rig.core.cancel(ctx, CancellationReason.USER_REQUESTED)

    async def main() -> None:
        executor = HarnessRetryExecutor(rig.core)
        await executor.run(ctx, RetryRole.ROUTER, attempts.operation, on_attempt=cancel_after)

    with pytest.raises(RunAborted, match="USER_REQUESTED"):
        asyncio.run(main())
    assert attempts.invoked == 1
    assert [record.number for record in attempts.records] == [1]


def _pausing(delay_s: float) -> HarnessRetryPolicies:
    return HarnessRetryPolicies(router=RetryPolicy(attempts_max=2, retry_on=RETRYABLE, delay_s=delay_s))


@pytest.mark.parametrize("ending", ["cancel", "deadline"])
def test_the_pause_between_attempts_ends_with_the_run(ending: str) -> None:
    """At cancel at once; and a pause never leads beyond the deadline."""
    rig = Rig()
    ctx = rig.run(timeout_s=30, retry_policies=_pausing(60))
    attempts = Attempts([TRANSPORT, "never reached"], rig=rig)

    async def main() -> None:
        failed = asyncio.Event()
        executor = HarnessRetryExecutor(rig.core)
        task = asyncio.get_running_loop().create_task(
            executor.run(ctx, RetryRole.ROUTER, attempts.operation, on_attempt=lambda _: failed.set())
        )
        await failed.wait()
        if ending == "cancel":
            rig.core.cancel(ctx, CancellationReason.USER_REQUESTED)
        else:
            rig.clock.advance(30)
        with pytest.raises(RunAborted):
            await task

    asyncio.run(main())
    assert attempts.invoked == 1
    assert ctx.lifecycle.state is (RunState.CANCELLED if ending == "cancel" else RunState.TIMED_OUT)


def test_the_second_attempt_comes_after_the_pause() -> None:
    """The clock drives the pause: no sooner, no later."""
    rig = Rig()
    ctx = rig.run(retry_policies=_pausing(5))
    attempts = Attempts([TRANSPORT, "decided"], rig=rig)

    async def main() -> object:
        failed = asyncio.Event()
        executor = HarnessRetryExecutor(rig.core)

        def note(record: AttemptRecord) -> None:
            attempts.records.append(record)
            failed.set()

        task = asyncio.get_running_loop().create_task(
            executor.run(ctx, RetryRole.ROUTER, attempts.operation, on_attempt=note)
        )
        await failed.wait()
        rig.clock.advance(5)
        return await task

    assert asyncio.run(main()) == "decided"
    assert attempts.records[1].started_at_s == 1_700_000_005.0


def test_an_attempts_own_time_out_is_retryable_and_the_runs_deadline_is_not() -> None:
    """The attempt's limit ends the attempt with TIMEOUT; the second may still succeed."""
    rig = Rig()
    policy = RetryPolicy(attempts_max=2, retry_on=RETRYABLE, attempt_timeout_s=2)
    ctx = rig.run(retry_policies=HarnessRetryPolicies(semantic_guard=policy))
    records: list[AttemptRecord] = []

    async def main() -> str:
        begun = asyncio.Event()

        async def judge(_: RunContext) -> str:
            if records:
                return "SUPPORTED"
            begun.set()
            await asyncio.Event().wait()
            return "never"

        executor = HarnessRetryExecutor(rig.core)
        task = asyncio.get_running_loop().create_task(
            executor.run(ctx, RetryRole.SEMANTIC_GUARD, judge, on_attempt=records.append)
        )
        await begun.wait()
        rig.clock.advance(2)
        return await task

    assert asyncio.run(main()) == "SUPPORTED"
    assert [record.failure for record in records] == [FailureKind.TIMEOUT, None]
