"""Cancellation: the first reason, every resource once, and no claim more."""

from __future__ import annotations

import asyncio
import threading
from dataclasses import fields

import pytest

from diagnosis_harness.harness.cancellation import CancellationReason
from diagnosis_harness.harness.context import RunContext
from diagnosis_harness.harness.core import CancelAnswer
from diagnosis_harness.harness.lifecycle import RunState
from diagnosis_harness.kernel.errors import RunAborted
from diagnosis_harness.testing.runs import Rig, limits
from diagnosis_harness.trace.event import TraceName

R, C = RunState, CancellationReason


def test_the_first_reason_is_kept() -> None:
    """A second cancel, for another reason, changes nothing."""
    rig = Rig()
    ctx = rig.run()
    assert not ctx.cancellation.is_cancelled
    rig.core.cancel(ctx, C.CLIENT_DISCONNECTED)
    assert not rig.core.cancel(ctx, C.USER_REQUESTED).changed
    assert ctx.cancellation.reason is C.CLIENT_DISCONNECTED


def test_every_registered_callback_is_called_once() -> None:
    """In the order of registration; one that was taken out is not; a late one is called at once."""
    rig = Rig()
    ctx = rig.run()
    called: list[str] = []
    ctx.cancellation.register(lambda: called.append("first"))
    ctx.cancellation.register(lambda: called.append("taken out"))()
    ctx.cancellation.register(lambda: called.append("second"))
    assert rig.core.cancel(ctx, C.USER_REQUESTED).notified == 2
    assert rig.core.cancel(ctx, C.USER_REQUESTED).notified == 0
    ctx.cancellation.register(lambda: called.append("late"))()
    assert called == ["first", "second", "late"]


def test_a_callback_that_raises_is_recorded_and_stops_nothing() -> None:
    """The others are called, the cancel returns, the trace records it; also if it registers late."""
    rig = Rig()
    ctx = rig.run()
    called: list[str] = []

    def raise_broken() -> None:
        raise OSError("already closed")

    ctx.cancellation.register(raise_broken)
    ctx.cancellation.register(lambda: called.append("next"))
    assert rig.core.cancel(ctx, C.USER_REQUESTED).changed
    ctx.cancellation.register(raise_broken)
    assert called == ["next"]
    failures = rig.sink.events_named(TraceName.CALLBACK_FAILED)
    assert [event.payload["error"] for event in failures] == ["OSError", "OSError"]


def test_callbacks_run_without_the_runs_lock() -> None:
    """A resource may take its time and ask the run things from another thread meanwhile."""
    rig = Rig()
    ctx = rig.run()
    states: list[RunState] = []

    def ask_from_another_thread() -> None:
        def ask() -> None:
            ctx.budget.usage()
            states.append(ctx.lifecycle.state)

        thread = threading.Thread(target=ask)
        thread.start()
        thread.join(5)

    ctx.cancellation.register(ask_from_another_thread)
    rig.core.cancel(ctx, C.USER_REQUESTED)
    assert states == [R.CANCELLED]


@pytest.mark.parametrize("reason", [C.CLIENT_DISCONNECTED, C.USER_REQUESTED])
def test_a_person_or_a_gone_client_ends_the_run_cancelled(reason: CancellationReason) -> None:
    """One CANCELLED termination with that reason."""
    rig = Rig()
    ctx = rig.run()
    answer = rig.core.cancel(ctx, reason)
    assert (answer.changed, answer.state, answer.reason) == (True, R.CANCELLED, reason)


@pytest.mark.parametrize("reason", [C.CLIENT_DISCONNECTED, C.USER_REQUESTED])
def test_a_cancel_after_an_earlier_end_notifies_resources_but_changes_no_outcome(
    reason: CancellationReason,
) -> None:
    """SUCCESS stays; callbacks that are still registered are notified that the run is over."""
    rig = Rig()
    ctx = rig.run()
    called: list[str] = []
    ctx.cancellation.register(lambda: called.append("told"))
    rig.core.complete_success(ctx)
    assert called == []
    answer = rig.core.cancel(ctx, reason)
    assert (answer.changed, answer.state, answer.reason) == (False, R.SUCCESS, None)
    assert (called, ctx.cancellation.reason) == (["told"], reason)


def test_a_disconnected_client_stops_all_later_work() -> None:
    """Callbacks run, later llm and tool boundaries are refused, and there is one CANCELLED outcome."""
    rig = Rig()
    ctx = rig.run()
    called: list[str] = []
    invoked: list[str] = []
    ctx.cancellation.register(lambda: called.append("stream closed"))
    lease = rig.core.start_tool_call(ctx, "metrics", "call-1")

    async def work(_: RunContext) -> None:
        invoked.append("work")

    async def main() -> None:
        with pytest.raises(RunAborted):
            await rig.core.call_llm(ctx, work, usage_of=lambda _: None)
        with pytest.raises(RunAborted):
            await rig.core.call_tool(ctx, lease, work)
        with pytest.raises(RunAborted):
            rig.core.start_tool_call(ctx, "metrics", "call-2")

    rig.core.cancel(ctx, C.CLIENT_DISCONNECTED)
    asyncio.run(main())
    assert (called, invoked) == (["stream closed"], [])
    assert ctx.lifecycle.state is R.CANCELLED
    assert len(rig.sink.events_named(TraceName.RUN_ENDED)) == 1


@pytest.mark.parametrize("cause", ["deadline", "budget", "failure", "client"])
def test_a_callback_already_sees_the_state_its_reason_maps_to(cause: str) -> None:
    """The terminal state is set first, the signal comes second, whatever the cause."""
    rig = Rig()
    ctx = rig.run(timeout_s=10, limits=limits(run_bytes=1))
    seen: list[tuple[RunState, CancellationReason | None]] = []
    ctx.cancellation.register(lambda: seen.append((ctx.lifecycle.state, ctx.cancellation.reason)))
    match cause:
        case "deadline":
            rig.clock.advance(10)
        case "budget":
            with pytest.raises(RunAborted):
                rig.core.reserve_bytes(ctx, 2)
        case "failure":
            assert rig.core.complete_failure(ctx, "broke")
        case _:
            rig.core.cancel(ctx, C.CLIENT_DISCONNECTED)
    assert seen == [
        {
            "deadline": (R.TIMED_OUT, C.DEADLINE_EXCEEDED),
            "budget": (R.BUDGET_EXHAUSTED, C.BUDGET_EXHAUSTED),
            "failure": (R.FAILED, C.INTERNAL_FAILURE),
            "client": (R.CANCELLED, C.CLIENT_DISCONNECTED),
        }[cause]
    ]


def test_the_answer_to_a_cancel_names_what_is_still_in_flight() -> None:
    """A blocking call goes on inside its thread: the answer says so, and claims nothing about it."""
    rig = Rig()
    ctx = rig.run()
    inside, go_on, notified = threading.Event(), threading.Event(), threading.Event()
    ctx.cancellation.register(notified.set)

    def tool(_: RunContext) -> str:
        inside.set()
        go_on.wait(5)
        return "late"

    async def main() -> CancelAnswer:
        running = rig.core.start_tool_call(ctx, "metrics", "call-1")
        rig.core.start_tool_call(ctx, "logs", "call-2")
        loop = asyncio.get_running_loop()
        call = loop.create_task(rig.core.call_blocking_tool(ctx, running, tool))
        await loop.run_in_executor(None, inside.wait, 5)
        answer = rig.core.cancel(ctx, C.USER_REQUESTED)
        with pytest.raises(RunAborted):
            await call
        return answer

    answer = asyncio.run(main())
    assert [(call.name, call.tool_call_id) for call in answer.in_flight] == [("metrics", "call-1")]
    assert [(call.name, call.tool_call_id) for call in answer.never_started] == [("logs", "call-2")]
    assert (answer.begun, answer.notified, notified.is_set()) == (1, 1, True)
    assert [call.name for call in ctx.budget.open_calls().in_flight] == ["metrics"]
    go_on.set()


def test_the_answer_to_a_cancel_has_no_word_for_stopped_work() -> None:
    """Its fields are what the core knows; "stopped" is not among them."""
    assert [field.name for field in fields(CancelAnswer)] == [
        "changed", "state", "reason", "begun", "never_started", "in_flight", "notified",
    ]  # fmt: skip
