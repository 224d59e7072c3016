"""The run context: explicit, frozen, one of a kind."""

from __future__ import annotations

import asyncio
import copy
import pickle
import threading
from dataclasses import FrozenInstanceError, fields, replace

import pytest

from diagnosis_harness.harness.budget import RunBudget
from diagnosis_harness.harness.cancellation import RunCancellation
from diagnosis_harness.harness.context import RunContext
from diagnosis_harness.harness.lifecycle import RunLifecycle, RunState
from diagnosis_harness.harness.retry_policy import HarnessRetryPolicies
from diagnosis_harness.kernel.errors import ContractViolation, InvalidIdentity
from diagnosis_harness.testing.runs import AMPLE, Rig

SEVEN = ("session_id", "run_id", "deadline", "cancellation", "budget", "retry_policies", "lifecycle")


def test_the_context_holds_exactly_the_seven_handles() -> None:
    """Each of its type, and nothing else: no free dictionary, no room for an eighth."""
    ctx = Rig().run(timeout_s=60)
    assert tuple(field.name for field in fields(ctx)) == SEVEN
    assert (ctx.session_id, ctx.run_id, ctx.deadline) == ("session", "run-1", 1_700_000_060.0)
    assert isinstance(ctx.cancellation, RunCancellation)
    assert isinstance(ctx.budget, RunBudget)
    assert isinstance(ctx.retry_policies, HarnessRetryPolicies)
    assert isinstance(ctx.lifecycle, RunLifecycle)
    assert not hasattr(ctx, "__dict__")


@pytest.mark.parametrize("name", [*SEVEN, "another"])
def test_nothing_of_the_context_can_be_set(name: str) -> None:
    """Its structure is immutable: neither a field nor anything new."""
    ctx = Rig().run()
    with pytest.raises((FrozenInstanceError, TypeError)):
        setattr(ctx, name, None)


@pytest.mark.parametrize("blank", ["", " ", "\t\n", "\u3000"])
@pytest.mark.parametrize("which", ["session_id", "run_id"])
def test_a_blank_id_is_refused_before_anything_of_the_run_exists(which: str, blank: str) -> None:
    """No timer is armed, no event written: nothing was published that could be used."""
    rig = Rig()
    with pytest.raises(InvalidIdentity):
        rig.core.start_run(
            session_id=blank if which == "session_id" else "session",
            run_id=blank if which == "run_id" else "run-1",
            limits=AMPLE,
            timeout_s=60,
        )
    assert rig.clock._timers.next_at_s() is None
    assert rig.sink.events() == ()


@pytest.mark.parametrize("run_id", ["a:b", "a b", "ä", "x" * 129])
def test_a_run_id_that_could_not_stand_in_a_key_is_refused(run_id: str) -> None:
    """It would be refused at the first tool call anyway, when the run has begun."""
    with pytest.raises(InvalidIdentity):
        Rig().core.start_run(session_id="s", run_id=run_id, limits=AMPLE, timeout_s=60)


@pytest.mark.parametrize(
    ("timeout_s", "deadline_s"), [(None, None), (1.0, 1.0), (float("nan"), None), (None, float("inf"))]
)
def test_a_run_has_one_finite_deadline(timeout_s: float | None, deadline_s: float | None) -> None:
    """Neither none, nor two, nor one that never comes."""
    with pytest.raises(ContractViolation):
        Rig().core.start_run(session_id="s", limits=AMPLE, timeout_s=timeout_s, deadline_s=deadline_s)


def test_a_tool_on_another_thread_sees_the_same_handles() -> None:
    """The context crosses threads as an argument, and nothing of it is copied on the way."""
    rig = Rig()
    ctx = rig.run()
    seen: list[RunContext] = []

    def tool(given: RunContext) -> int:
        seen.append(given)
        return threading.get_ident()

    async def main() -> int:
        lease = rig.core.start_tool_call(ctx, "metrics", "call-1")
        return await rig.core.call_blocking_tool(ctx, lease, tool)

    assert asyncio.run(main()) != threading.get_ident()
    assert all(getattr(seen[0], name) is getattr(ctx, name) for name in SEVEN)


@pytest.mark.parametrize("duplicate", [copy.copy, copy.deepcopy])
def test_a_copy_is_the_same_run(duplicate: object) -> None:
    """The context, each of its handles, and a container that holds it: all lead to the one run."""
    assert callable(duplicate)
    ctx = Rig().run()
    for one in (ctx, ctx.cancellation, ctx.budget, ctx.budget.capacity, ctx.lifecycle):
        assert duplicate(one) is one
    assert copy.deepcopy({"ctx": [ctx]})["ctx"][0] is ctx


def test_a_run_cannot_be_pickled() -> None:
    """Neither the context nor a handle leaves the process: a second state of the run would be born there."""
    ctx = Rig().run()
    for one in (ctx, ctx.cancellation, ctx.budget, ctx.budget.capacity, ctx.lifecycle):
        with pytest.raises(ContractViolation, match="cannot be pickled"):
            pickle.dumps(one)


def test_a_run_cannot_be_replaced_or_made_by_hand() -> None:
    """`dataclasses.replace`, with or without changes, and the bare constructor make no second context.

    Python's own refusal is a ValueError up to 3.12, and a TypeError from 3.13 on.
    """
    ctx = Rig().run()
    with pytest.raises((TypeError, ValueError), match="opened_by"):
        replace(ctx)  # type: ignore[call-arg]  # the refusal is what is tested
    with pytest.raises((TypeError, ValueError), match="opened_by"):
        replace(ctx, deadline=0.0)  # type: ignore[call-arg]  # the refusal is what is tested
    with pytest.raises(ContractViolation):
        replace(ctx, opened_by=object())
    assert ctx.lifecycle.state is RunState.RUNNING
