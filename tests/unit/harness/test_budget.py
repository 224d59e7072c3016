"""The budget: the caller's limits, exact counters, and usage that stays recorded."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import FrozenInstanceError, fields

import pytest

from diagnosis_harness.harness.budget import BudgetUsage, RunBudgetLimits
from diagnosis_harness.harness.cancellation import CancellationReason
from diagnosis_harness.harness.context import RunContext
from diagnosis_harness.harness.core import DiagnosisHarnessCore
from diagnosis_harness.harness.lease import LeasePhase, TokenUsage
from diagnosis_harness.harness.lifecycle import RunState
from diagnosis_harness.kernel.errors import ContractViolation, InvalidLimits, RunAborted
from diagnosis_harness.testing.runs import AMPLE, Rig, limits

LIMITS = (
    "llm_calls", "tool_calls", "tool_calls_per_tool",
    "input_tokens", "output_tokens", "total_tokens", "run_bytes",
)  # fmt: skip
GIVEN = dict.fromkeys(LIMITS, 5)


@pytest.mark.parametrize("name", LIMITS)
@pytest.mark.parametrize("value", [0, -1, True, 1.0, "3", None])
def test_a_limit_that_is_not_a_positive_whole_number_is_refused(name: str, value: object) -> None:
    """Each of the seven, in each way it can be wrong."""
    with pytest.raises(InvalidLimits, match=name):
        RunBudgetLimits(**{**GIVEN, name: value})  # type: ignore[arg-type]  # the refusal is what is tested


@pytest.mark.parametrize("name", LIMITS)
def test_a_missing_limit_is_refused(name: str) -> None:
    """The caller gives every limit; the core has no default for any."""
    given = {one: value for one, value in GIVEN.items() if one != name}
    with pytest.raises(TypeError, match=name):
        RunBudgetLimits(**given)  # type: ignore[arg-type]  # the refusal is what is tested


def test_a_limit_of_one_tool_is_checked_like_the_others() -> None:
    """It replaces the common limit for that tool, and cannot be changed afterwards."""
    with pytest.raises(InvalidLimits, match="metrics"):
        RunBudgetLimits(**GIVEN, tool_calls_of={"metrics": 0})
    own = {"metrics": 1}
    given = RunBudgetLimits(**GIVEN, tool_calls_of=own)
    own["metrics"] = 100
    assert (given.tool_limit("metrics"), given.tool_limit("logs")) == (1, 5)


@pytest.mark.parametrize("counts", [(-1, 0), (0, -1), (True, 0), (1.5, 0)])
def test_usage_that_is_not_a_count_is_refused(counts: tuple[int, int]) -> None:
    """A provider that reports nonsense is noticed at the door."""
    with pytest.raises(ContractViolation):
        TokenUsage(*counts)


def test_a_usage_snapshot_is_frozen_and_stays_what_it_was() -> None:
    """What happens later shows in a later snapshot."""
    rig = Rig()
    ctx = rig.run()
    rig.core.start_tool_call(ctx, "metrics", "call-1")
    before = ctx.budget.usage()
    rig.core.start_tool_call(ctx, "metrics", "call-2")
    assert before.tool_calls_by_tool == {"metrics": 1}
    assert ctx.budget.usage().tool_calls_by_tool == {"metrics": 2}
    with pytest.raises(FrozenInstanceError):
        before.tool_calls = 0  # type: ignore[misc]  # the refusal is what is tested
    with pytest.raises(TypeError):
        before.tool_calls_by_tool["metrics"] = 0  # type: ignore[index]  # the refusal is what is tested


def _llm(core: DiagnosisHarnessCore, ctx: RunContext) -> None:
    core.start_llm_call(ctx)


def _tool(core: DiagnosisHarnessCore, ctx: RunContext) -> None:
    core.start_tool_call(ctx, "metrics", "call")


def _other_tool(core: DiagnosisHarnessCore, ctx: RunContext) -> None:
    used = ctx.budget.usage().tool_calls
    core.start_tool_call(ctx, f"tool-{used}", "call")


def _tokens(input_tokens: int, output_tokens: int) -> Callable[[DiagnosisHarnessCore, RunContext], None]:
    def use(core: DiagnosisHarnessCore, ctx: RunContext) -> None:
        lease = core.start_llm_call(ctx)
        core.settle_llm_call(ctx, lease, TokenUsage(input_tokens, output_tokens))

    return use


def _bytes(core: DiagnosisHarnessCore, ctx: RunContext) -> None:
    core.reserve_bytes(ctx, 1)


Spend = Callable[[DiagnosisHarnessCore, RunContext], None]

SPENDING: dict[str, tuple[Spend, Callable[[BudgetUsage], int]]] = {
    "llm_calls": (_llm, lambda usage: usage.llm_calls),
    "tool_calls": (_other_tool, lambda usage: usage.tool_calls),
    "tool_calls_per_tool": (_tool, lambda usage: usage.tool_calls_by_tool.get("metrics", 0)),
    "input_tokens": (_tokens(1, 0), lambda usage: usage.input_tokens),
    "output_tokens": (_tokens(0, 1), lambda usage: usage.output_tokens),
    "total_tokens": (_tokens(1, 0), lambda usage: usage.total_tokens),
    "run_bytes": (_bytes, lambda usage: usage.run_bytes),
}


@pytest.mark.parametrize("name", SPENDING)
def test_a_limit_may_be_reached_and_then_stops_all_work(name: str) -> None:
    """Equal is not over. The next unit ends the run, signals every resource and refuses what follows."""
    spend, used = SPENDING[name]
    rig = Rig()
    ctx = rig.run(limits=limits(**{name: 3}))
    reported: list[RunState] = []
    ctx.cancellation.register(lambda: reported.append(ctx.lifecycle.state))
    for _ in range(3):
        spend(rig.core, ctx)
    assert (used(ctx.budget.usage()), ctx.lifecycle.state, reported) == (3, RunState.RUNNING, [])
    try:
        spend(rig.core, ctx)
    except RunAborted as refused:
        assert refused.reason == "BUDGET_EXHAUSTED"  # noqa: PT017 - token usage is over when it settles, and raises nothing
    assert ctx.lifecycle.state is RunState.BUDGET_EXHAUSTED
    assert ctx.cancellation.reason is CancellationReason.BUDGET_EXHAUSTED
    assert reported == [RunState.BUDGET_EXHAUSTED]
    for later, _ in SPENDING.values():
        with pytest.raises(RunAborted):
            later(rig.core, ctx)
    is_actual_usage = name.endswith("_tokens")
    assert used(ctx.budget.usage()) == (4 if is_actual_usage else 3)


def test_one_call_beyond_the_limit_of_a_tool_is_not_reserved() -> None:
    """Total and per-tool usage agree, and the run ends BUDGET_EXHAUSTED."""
    rig = Rig()
    ctx = rig.run(limits=limits(tool_calls_per_tool=2))
    rig.core.start_tool_call(ctx, "metrics", "call-1")
    rig.core.start_tool_call(ctx, "logs", "call-2")
    rig.core.start_tool_call(ctx, "metrics", "call-3")
    with pytest.raises(RunAborted):
        rig.core.start_tool_call(ctx, "metrics", "call-4")
    usage = ctx.budget.usage()
    assert (usage.tool_calls, usage.tool_calls_by_tool) == (3, {"metrics": 2, "logs": 1})
    assert ctx.lifecycle.state is RunState.BUDGET_EXHAUSTED


def test_reported_usage_above_the_limit_stays_recorded() -> None:
    """Input, output and total, as reported; the answer itself was paid for; the next operation is refused."""
    rig = Rig()
    ctx = rig.run(limits=limits(input_tokens=100, output_tokens=100, total_tokens=150))
    reported = TokenUsage(90, 80, 170)

    async def llm(_: RunContext) -> str:
        return "answer"

    async def main() -> None:
        assert await rig.core.call_llm(ctx, llm, usage_of=lambda _: reported) == "answer"
        assert ctx.cancellation.reason is CancellationReason.BUDGET_EXHAUSTED
        with pytest.raises(RunAborted, match="BUDGET_EXHAUSTED"):
            await rig.core.call_llm(ctx, llm, usage_of=lambda _: reported)

    asyncio.run(main())
    usage = ctx.budget.usage()
    assert (usage.input_tokens, usage.output_tokens, usage.total_tokens) == (90, 80, 170)
    assert (usage.llm_calls, usage.is_estimated) == (1, False)


def test_a_token_reservation_is_not_usage_and_refuses_before_anything_is_sent() -> None:
    """Two calls at once may not promise more than there is; what was held and not used is free again."""
    rig = Rig()
    ctx = rig.run(limits=limits(output_tokens=100))
    first = rig.core.start_llm_call(ctx, reserve_output_tokens=100)
    assert ctx.budget.usage().output_tokens == 0
    rig.core.settle_llm_call(ctx, first, TokenUsage(1, 10))
    second = rig.core.start_llm_call(ctx, reserve_output_tokens=90)
    with pytest.raises(RunAborted, match="BUDGET_EXHAUSTED"):
        rig.core.start_llm_call(ctx, reserve_output_tokens=1)
    rig.core.settle_llm_call(ctx, second, TokenUsage(1, 5))
    usage = ctx.budget.usage()
    assert (usage.llm_calls, usage.output_tokens) == (2, 15)


@pytest.mark.parametrize(("reserved", "charged"), [((30, 40), (30, 40)), ((0, 0), (1, 0))])
def test_unreported_usage_is_never_zero(reserved: tuple[int, int], charged: tuple[int, int]) -> None:
    """The reservation is charged, at least one token, and the usage says that it is an estimate."""
    rig = Rig()
    ctx = rig.run()
    lease = rig.core.start_llm_call(ctx, reserve_input_tokens=reserved[0], reserve_output_tokens=reserved[1])
    rig.core.settle_llm_call(ctx, lease, None)
    usage = ctx.budget.usage()
    assert ((usage.input_tokens, usage.output_tokens), usage.estimated_llm_calls) == (charged, 1)
    assert usage.is_estimated


def test_a_call_is_settled_once() -> None:
    """A usage that is reported twice is charged once."""
    rig = Rig()
    ctx = rig.run()
    lease = rig.core.start_llm_call(ctx)
    for _ in range(2):
        rig.core.settle_llm_call(ctx, lease, TokenUsage(10, 10))
    rig.core.settle_llm_call(ctx, lease, None)
    assert ctx.budget.usage().total_tokens == 20


def test_usage_is_recorded_also_after_the_end() -> None:
    """Spent usage stays recorded, whatever ended the run meanwhile; and the first end is kept."""
    rig = Rig()
    ctx = rig.run(limits=limits(total_tokens=10))
    lease = rig.core.start_llm_call(ctx)
    rig.core.cancel(ctx, CancellationReason.USER_REQUESTED)
    rig.core.settle_llm_call(ctx, lease, TokenUsage(50, 50))
    assert ctx.budget.usage().total_tokens == 100
    assert ctx.lifecycle.state is RunState.CANCELLED


def test_a_reservation_goes_back_when_the_call_cannot_begin() -> None:
    """Tool calls counted are invocations: what never reached a backend costs nothing."""
    rig = Rig()
    ctx = rig.run(limits=limits(tool_calls=1))
    lease = rig.core.start_tool_call(ctx, "metrics", "call-1")
    assert rig.core.return_tool_call(ctx, lease)
    assert not rig.core.return_tool_call(ctx, lease)
    assert (ctx.budget.usage().tool_calls, dict(ctx.budget.usage().tool_calls_by_tool)) == (0, {})
    again = rig.core.start_tool_call(ctx, "logs", "call-2")
    rig.core.begin_tool_call(ctx, again)
    assert not rig.core.return_tool_call(ctx, again)
    assert ctx.budget.usage().tool_calls == 1


def test_a_lease_is_begun_once_and_settled_once() -> None:
    """Its phases have one order; a call out of order raises."""
    rig = Rig()
    ctx = rig.run()
    lease = rig.core.start_tool_call(ctx, "metrics", "call-1")
    phases = [lease.phase]
    with pytest.raises(ContractViolation):
        rig.core.settle_tool_call(ctx, lease)
    rig.core.begin_tool_call(ctx, lease)
    with pytest.raises(ContractViolation):
        rig.core.begin_tool_call(ctx, lease)
    assert rig.core.settle_tool_call(ctx, lease)
    assert not rig.core.settle_tool_call(ctx, lease)
    phases.append(lease.phase)
    assert phases == [LeasePhase.RESERVED, LeasePhase.CLOSED]


def test_a_lease_of_another_run_is_refused() -> None:
    """Budgets are never mixed."""
    rig = Rig()
    mine, other = rig.run(), rig.run()
    tool = rig.core.start_tool_call(other, "metrics", "call-1")
    llm = rig.core.start_llm_call(other)
    with pytest.raises(ContractViolation):
        rig.core.begin_tool_call(mine, tool)
    with pytest.raises(ContractViolation):
        rig.core.return_tool_call(mine, tool)
    with pytest.raises(ContractViolation):
        rig.core.settle_llm_call(mine, llm, None)


def test_a_batch_is_admitted_in_order_up_to_the_first_over_a_limit() -> None:
    """The run goes on while the admitted calls settle; the first call left out then ends it."""
    rig = Rig()
    ctx = rig.run(limits=limits(tool_calls=10, tool_calls_per_tool=2))
    batch = [("a", "1"), ("b", "2"), ("a", "3"), ("a", "4"), ("b", "5")]
    leases = rig.core.admit_tool_calls(ctx, batch)
    assert [lease.tool_call_id for lease in leases] == ["1", "2", "3"]
    assert ctx.lifecycle.state is RunState.RUNNING
    for lease in leases:
        rig.core.begin_tool_call(ctx, lease)
        rig.core.settle_tool_call(ctx, lease)
    with pytest.raises(RunAborted, match="BUDGET_EXHAUSTED"):
        rig.core.start_tool_call(ctx, *batch[3])
    assert ctx.budget.usage().tool_calls == 3


def test_the_core_has_no_default_limits() -> None:
    """Every limit of the specification is a field without a default."""
    required = {field.name for field in fields(RunBudgetLimits) if field.name != "tool_calls_of"}
    assert required == set(LIMITS)
    assert AMPLE.tool_calls_of == {}


def test_a_usage_snapshot_starts_at_zero() -> None:
    """Nothing is charged before anything has begun."""
    assert Rig().run().budget.usage() == BudgetUsage(0, 0, {}, 0, 0, 0, 0, 0)
