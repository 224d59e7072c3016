"""The lifecycle: RUNNING, then exactly one end; and the map from reasons to states."""

from __future__ import annotations

from collections.abc import Callable
from itertools import permutations

import pytest

from diagnosis_harness.harness.cancellation import CancellationReason, state_for
from diagnosis_harness.harness.context import RunContext
from diagnosis_harness.harness.lifecycle import TERMINAL_STATES, RunState, RunTermination
from diagnosis_harness.kernel.errors import RunAborted
from diagnosis_harness.testing.runs import Rig, limits
from diagnosis_harness.trace.event import TraceName

R, C = RunState, CancellationReason


def _over_budget(rig: Rig, ctx: RunContext) -> None:
    with pytest.raises(RunAborted):
        rig.core.reserve_bytes(ctx, 1_000_000_000)


CAUSES: dict[str, tuple[Callable[[Rig, RunContext], object], RunState, CancellationReason | None]] = {
    "success": (lambda rig, ctx: rig.core.complete_success(ctx), R.SUCCESS, None),
    "failure": (lambda rig, ctx: rig.core.complete_failure(ctx, "broke"), R.FAILED, C.INTERNAL_FAILURE),
    "user": (lambda rig, ctx: rig.core.cancel(ctx, C.USER_REQUESTED), R.CANCELLED, C.USER_REQUESTED),
    "client": (
        lambda rig, ctx: rig.core.cancel(ctx, C.CLIENT_DISCONNECTED), R.CANCELLED, C.CLIENT_DISCONNECTED,
    ),
    "deadline": (lambda rig, _: rig.clock.advance(60), R.TIMED_OUT, C.DEADLINE_EXCEEDED),
    "budget": (_over_budget, R.BUDGET_EXHAUSTED, C.BUDGET_EXHAUSTED),
}  # fmt: skip


def test_the_states_are_the_closed_set() -> None:
    """The wire values do not change unnoticed; all but RUNNING are terminal."""
    assert [state.value for state in RunState] == [
        "RUNNING", "SUCCESS", "FAILED", "CANCELLED", "TIMED_OUT", "BUDGET_EXHAUSTED",
    ]  # fmt: skip
    assert set(RunState) - {R.RUNNING} == TERMINAL_STATES


def test_every_reason_leads_to_its_state() -> None:
    """The table of the lifecycle document §4, complete."""
    assert {reason.value: state_for(reason).value for reason in CancellationReason} == {
        "CLIENT_DISCONNECTED": "CANCELLED",
        "USER_REQUESTED": "CANCELLED",
        "DEADLINE_EXCEEDED": "TIMED_OUT",
        "BUDGET_EXHAUSTED": "BUDGET_EXHAUSTED",
        "INTERNAL_FAILURE": "FAILED",
    }


@pytest.mark.parametrize("reason", list(CancellationReason))
def test_a_cancel_for_any_reason_ends_the_run_in_its_state(reason: CancellationReason) -> None:
    """The core follows the table as well."""
    rig = Rig()
    ctx = rig.run()
    answer = rig.core.cancel(ctx, reason)
    assert (answer.changed, answer.state, answer.reason) == (True, state_for(reason), reason)
    assert ctx.lifecycle.termination == RunTermination(state_for(reason), reason, rig.clock.now_s())


@pytest.mark.parametrize("cause", CAUSES)
def test_a_run_is_running_until_its_first_end(cause: str) -> None:
    """It starts RUNNING without a termination; the first cause sets state, reason and time."""
    rig = Rig()
    ctx = rig.run(timeout_s=60)
    assert (ctx.lifecycle.state, ctx.lifecycle.termination) == (R.RUNNING, None)
    act, state, reason = CAUSES[cause]
    act(rig, ctx)
    termination = ctx.lifecycle.termination
    assert termination is not None
    assert (ctx.lifecycle.state, termination.state, termination.reason) == (state, state, reason)
    assert termination.at_s == rig.clock.now_s()


@pytest.mark.parametrize(("first", "second"), list(permutations(CAUSES, 2)))
def test_the_first_of_two_causes_is_kept(first: str, second: str) -> None:
    """In every order: state, reason and time of the first stay, and it is reported once."""
    rig = Rig()
    ctx = rig.run(timeout_s=60)
    CAUSES[first][0](rig, ctx)
    ended = ctx.lifecycle.termination
    rig.clock.advance(1)
    CAUSES[second][0](rig, ctx)
    assert ctx.lifecycle.termination is ended
    assert ended is not None
    assert ended.state is CAUSES[first][1]
    assert len(rig.sink.events_named(TraceName.RUN_ENDED)) == 1


def test_success_before_failure_and_cancellation_stays() -> None:
    """Both later attempts report that they changed nothing."""
    rig = Rig()
    ctx = rig.run()
    assert rig.core.complete_success(ctx)
    ended = ctx.lifecycle.termination
    assert not rig.core.complete_failure(ctx, "an exception handler, late")
    assert not rig.core.cancel(ctx, C.USER_REQUESTED).changed
    assert ctx.lifecycle.termination is ended
    assert ended == RunTermination(R.SUCCESS, None, rig.clock.now_s())


def test_budget_exhaustion_before_an_exception_handlers_failure_stays() -> None:
    """With its original reason and time."""
    rig = Rig()
    ctx = rig.run(limits=limits(run_bytes=10))
    exhausted_at_s = rig.clock.now_s()
    with pytest.raises(RunAborted):
        rig.core.reserve_bytes(ctx, 11)
    rig.clock.advance(3)
    assert not rig.core.complete_failure(ctx, "the handler of that exception")
    termination = ctx.lifecycle.termination
    assert termination is not None
    assert (termination.state, termination.reason, termination.at_s) == (
        R.BUDGET_EXHAUSTED, C.BUDGET_EXHAUSTED, exhausted_at_s,
    )  # fmt: skip


def test_a_termination_that_contradicts_itself_cannot_be_made() -> None:
    """State and reason always belong together, and RUNNING is no end."""
    for state, reason in ((R.RUNNING, None), (R.SUCCESS, C.USER_REQUESTED), (R.CANCELLED, None)):
        with pytest.raises(ValueError, match=r"termination|ends a run"):
            RunTermination(state, reason, 0.0)


def test_a_listener_hears_of_the_end_once_also_when_it_comes_late() -> None:
    """However the run ends; one that was taken out hears nothing."""
    rig = Rig()
    ctx = rig.run()
    received: list[str] = []
    ctx.lifecycle.on_end(lambda: received.append("before"))
    take_out = ctx.lifecycle.on_end(lambda: received.append("taken out"))
    take_out()
    rig.core.complete_success(ctx)
    ctx.lifecycle.on_end(lambda: received.append("after"))()
    rig.core.complete_failure(ctx, "late")
    assert received == ["before", "after"]


def test_the_end_of_a_run_disarms_its_deadline() -> None:
    """A finished run leaves nothing in the clock."""
    rig = Rig()
    ctx = rig.run()
    rig.core.complete_success(ctx)
    assert rig.clock._timers.next_at_s() is None
