"""What a callback, a listener or a sink raises, or how long it takes, is never the run's affair."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from functools import partial
from typing import NoReturn

import pytest
from tests.support.unspeakable import UNSPEAKABLE

from diagnosis_harness.harness.cancellation import CancellationReason
from diagnosis_harness.harness.context import RunContext
from diagnosis_harness.harness.core import DiagnosisHarnessCore
from diagnosis_harness.harness.gate import expire
from diagnosis_harness.harness.lease import TokenUsage
from diagnosis_harness.harness.lifecycle import RunState
from diagnosis_harness.kernel.clock import SystemClock
from diagnosis_harness.kernel.errors import RunAborted
from diagnosis_harness.testing.clock import ManualClock
from diagnosis_harness.testing.ids import CountingIds
from diagnosis_harness.testing.runs import AMPLE, Rig
from diagnosis_harness.trace.event import TraceEvent, TraceEventStatus, TraceName, TracePhase
from diagnosis_harness.trace.sink import FanOutSink, MemorySink, TraceSink

R, C = RunState, CancellationReason
PATIENCE_S = 20.0
"""How long a test waits for another thread before it fails; nothing is measured by it."""

RAISED = [ValueError, asyncio.CancelledError, SystemExit, KeyboardInterrupt, GeneratorExit, MemoryError]


@pytest.fixture(name="reported")
def collect_reports(monkeypatch: pytest.MonkeyPatch) -> list[type[BaseException]]:
    """The faults that were handed to `threading.excepthook`."""
    faults: list[type[BaseException]] = []
    monkeypatch.setattr(threading, "excepthook", lambda told: faults.append(told.exc_type))
    return faults


def raising(error: type[BaseException]) -> Callable[..., NoReturn]:
    """A function that raises it, whatever it is given."""

    def raise_broken(*_: object) -> NoReturn:
        raise error

    return raise_broken


class RaisingSink:
    """Raises on every event, or on those of one name."""

    def __init__(self, error: type[BaseException], only: TraceName | None = None) -> None:
        self._error = error
        self._only = only

    def emit(self, event: TraceEvent) -> None:
        """Raise."""
        if self._only in {None, event.name}:
            raise self._error


class NotingSink:
    """Notes names in a list that others write to as well."""

    def __init__(self, seen: list[str]) -> None:
        self._seen = seen

    def emit(self, event: TraceEvent) -> None:
        """Note it."""
        self._seen.append(event.name.value)


def core_over(*sinks: TraceSink) -> DiagnosisHarnessCore:
    """A core whose time is manual and whose events go to all of the sinks."""
    return DiagnosisHarnessCore(clock=ManualClock(), ids=CountingIds(), sink=FanOutSink(sinks))


def finish(ctx: RunContext) -> None:
    """The application's last word on a run."""
    ctx.lifecycle.journal.emit(TraceName.RUN_FINISHED, TracePhase.RUN, TraceEventStatus.SUCCEEDED, {})


# ------------------------------------------------------------------ callbacks and listeners


@pytest.mark.parametrize("error", [*RAISED, *UNSPEAKABLE])
def test_whatever_a_callback_raises_the_others_are_called(error: type[BaseException]) -> None:
    """A resource that raises CancelledError in its clean-up must not keep another one's socket open."""
    rig = Rig()
    ctx = rig.run()
    reported: list[str] = []
    for place in ("first", "second"):
        ctx.cancellation.register(partial(reported.append, place))
        ctx.cancellation.register(raising(error))

    answer = rig.core.cancel(ctx, C.USER_REQUESTED)
    ctx.cancellation.register(raising(error))

    assert (answer.changed, answer.notified, reported) == (True, 4, ["first", "second"])
    assert [event.name for event in rig.sink.events()] == [TraceName.RUN_ENDED] + 3 * [
        TraceName.CALLBACK_FAILED
    ]
    assert {event.payload["error"] for event in rig.sink.events()[1:]} == {error.__name__}


@pytest.mark.parametrize("error", [*RAISED, *UNSPEAKABLE])
def test_whatever_a_listener_raises_the_others_hear_of_the_end(error: type[BaseException]) -> None:
    """SUCCESS has no cancellation; its listeners are as safe from each other."""
    rig = Rig()
    ctx = rig.run()
    received: list[str] = []
    ctx.lifecycle.on_end(raising(error))
    ctx.lifecycle.on_end(lambda: received.append("end"))

    assert rig.core.complete_success(ctx)
    ctx.lifecycle.on_end(raising(error))

    assert received == ["end"]
    assert [event.name for event in rig.sink.events()] == [TraceName.RUN_ENDED] + 2 * [
        TraceName.CALLBACK_FAILED
    ]


def test_a_callback_that_ends_the_run_again_changes_nothing() -> None:
    """It cancels, registers and completes inside the cancel: the first reason is kept."""
    rig = Rig()
    ctx = rig.run()
    reported: list[str] = []

    def meddle() -> None:
        ctx.cancellation.register(lambda: reported.append("late"))
        assert not rig.core.cancel(ctx, C.CLIENT_DISCONNECTED).changed
        assert not rig.core.complete_success(ctx)

    ctx.cancellation.register(meddle)
    ctx.cancellation.register(lambda: reported.append("next"))

    assert rig.core.cancel(ctx, C.USER_REQUESTED).changed
    assert (reported, ctx.cancellation.reason, ctx.lifecycle.state) == (
        ["late", "next"],
        C.USER_REQUESTED,
        R.CANCELLED,
    )


# ------------------------------------------------------------------ sinks


@pytest.mark.parametrize("error", RAISED)
@pytest.mark.parametrize("only", [None, TraceName.RUN_ENDED])
def test_whatever_a_sink_raises_the_run_ends_and_all_are_notified(
    error: type[BaseException], only: TraceName | None, reported: list[type[BaseException]]
) -> None:
    """The other sinks get every event, the resources are notified, and the cancel returns its answer."""
    kept = MemorySink()
    core = core_over(RaisingSink(error, only), kept, RaisingSink(error, only))
    ctx = core.start_run(session_id="s", limits=AMPLE, timeout_s=60)
    events: list[str] = []
    ctx.cancellation.register(lambda: events.append("resource"))

    assert core.cancel(ctx, C.USER_REQUESTED).changed
    finish(ctx)

    assert events == ["resource"]
    assert [event.name for event in kept.events()] == [TraceName.RUN_ENDED, TraceName.RUN_FINISHED]
    assert reported == [error] * (1 if only else 2)


def test_nothing_is_written_behind_the_last_event() -> None:
    """What a stuck tool returns after the end is refused in every sink, not in the service's log alone."""
    first, second = MemorySink(), MemorySink()
    core = core_over(first, second)
    ctx = core.start_run(session_id="s", limits=AMPLE, timeout_s=60)
    core.complete_success(ctx)
    finish(ctx)

    finish(ctx)
    core.emit(ctx, TraceName.LATE_RESULT_REFUSED, TracePhase.TOOL, TraceEventStatus.REJECTED)
    ctx.cancellation.register(raising(ValueError))
    core.cancel(ctx, C.USER_REQUESTED)

    for sink in (first, second):
        assert [event.name for event in sink.events()] == [TraceName.RUN_ENDED, TraceName.RUN_FINISHED]


def test_what_follows_an_end_comes_after_it_in_the_trace() -> None:
    """A callback's own event comes after RUN_ENDED, though callbacks are called before any sink is asked."""
    seen: list[str] = []
    core = core_over(NotingSink(seen))
    ctx = core.start_run(session_id="s", limits=AMPLE, timeout_s=60)
    ctx.cancellation.register(lambda: seen.append("first callback"))
    ctx.cancellation.register(
        lambda: core.emit(ctx, TraceName.STATUS, TracePhase.RUN, TraceEventStatus.SUCCEEDED)
    )

    core.cancel(ctx, C.USER_REQUESTED)

    assert seen == ["first callback", "RUN_ENDED", "STATUS"]


# ------------------------------------------------------------------ what blocks


class Blockade:
    """Somebody who is inside until the test lets go."""

    def __init__(self) -> None:
        self.inside = threading.Event()
        self.go_on = threading.Event()

    def __call__(self) -> None:
        """Block."""
        self.inside.set()
        assert self.go_on.wait(PATIENCE_S)


class BlockingSink:
    """Blocks on the end of one run and passes all other events by."""

    def __init__(self, blockade: Blockade) -> None:
        self.blockade = blockade
        self.run_id = ""

    def emit(self, event: TraceEvent) -> None:
        """Block, if it is that run's end."""
        if event.run_id == self.run_id and event.name is TraceName.RUN_ENDED:
            self.blockade()


@pytest.mark.parametrize("blocked", ["callback", "listener", "sink"])
def test_one_that_blocks_delays_no_other_runs_deadline(blocked: str) -> None:
    """Run A is stuck in its resources at its deadline; run B ends at its own and notifies its resources."""
    blockade = Blockade()
    sink = BlockingSink(blockade)
    with DiagnosisHarnessCore(clock=SystemClock(), ids=CountingIds(), sink=sink) as core:
        stuck = core.start_run(session_id="s", limits=AMPLE, timeout_s=PATIENCE_S * 10, run_id="stuck")
        if blocked == "callback":
            stuck.cancellation.register(blockade)
        elif blocked == "listener":
            stuck.lifecycle.on_end(blockade)
        else:
            sink.run_id = "stuck"
        core.clock.call_at(0.0, partial(_expire_by_the_clock, core, stuck))
        assert blockade.inside.wait(PATIENCE_S)

        notified, waited = threading.Event(), threading.Event()
        other = core.start_run(session_id="s", limits=AMPLE, timeout_s=0.05)
        other.cancellation.register(notified.set)
        other.lifecycle.listen(object(), waited.set)

        assert notified.wait(PATIENCE_S)
        assert waited.wait(PATIENCE_S)
        assert (other.lifecycle.state, stuck.lifecycle.state) == (R.TIMED_OUT, R.TIMED_OUT)
        assert not blockade.go_on.is_set()
        blockade.go_on.set()


def _expire_by_the_clock(core: DiagnosisHarnessCore, ctx: RunContext) -> None:
    """What the clock's thread does at a deadline, whatever the deadline is."""
    expire(ctx, core.clock.now_s())


def test_a_gate_that_meets_the_deadline_waits_for_no_callback() -> None:
    """Whoever asks at a gate works for other runs too: an event loop must not stand still in a resource."""
    blockade = Blockade()
    with DiagnosisHarnessCore(clock=SystemClock(), ids=CountingIds()) as core:
        ctx = core.start_run(session_id="s", limits=AMPLE, deadline_s=core.clock.now_s() + 3600)
        ctx.cancellation.register(blockade)
        with pytest.raises(RunAborted, match="BUDGET_EXHAUSTED"):
            core.reserve_bytes(ctx, AMPLE.run_bytes + 1)

        assert blockade.inside.wait(PATIENCE_S)
        assert not blockade.go_on.is_set()
        blockade.go_on.set()


def test_a_cancel_has_notified_every_resource_when_it_returns() -> None:
    """By the system's clock too: who cancels gets what was promised, in the order of registration."""
    reported: list[int] = []
    with DiagnosisHarnessCore(clock=SystemClock(), ids=CountingIds()) as core:
        ctx = core.start_run(session_id="s", limits=AMPLE, timeout_s=3600)
        for number in range(20):
            ctx.cancellation.register(partial(reported.append, number))

        core.cancel(ctx, C.USER_REQUESTED)

        assert reported == list(range(20))


# ------------------------------------------------------------------ usage


class DeafClock(ManualClock):
    """A clock that never calls back: the next check after the deadline is the first to notice it."""

    def call_at(self, at_s: float, callback: Callable[[], object]) -> Callable[[], None]:
        """Forget the callback."""
        del at_s, callback
        return lambda: None


def test_usage_reported_at_the_deadline_ends_the_run_timed_out() -> None:
    """The deadline was first, even without a check: never BUDGET_EXHAUSTED at or after it."""
    for past_s, used in ((0.0, 10), (5.0, 10), (0.0, AMPLE.total_tokens + 1), (5.0, AMPLE.total_tokens + 1)):
        clock = DeafClock()
        core = DiagnosisHarnessCore(clock=clock, ids=CountingIds())
        ctx = core.start_run(session_id="s", limits=AMPLE, timeout_s=60)
        lease = core.start_llm_call(ctx)
        clock.advance(60 + past_s)

        core.settle_llm_call(ctx, lease, TokenUsage(used, 0))

        termination = ctx.lifecycle.termination
        assert termination is not None
        assert (termination.state, termination.reason) == (R.TIMED_OUT, C.DEADLINE_EXCEEDED)
        assert termination.at_s >= ctx.deadline
        assert ctx.budget.usage().input_tokens == used


async def _reply(_: RunContext) -> str:
    return "reply"


@pytest.mark.parametrize("error", [ValueError, AttributeError, asyncio.CancelledError, SystemExit])
def test_usage_that_cannot_be_read_settles_its_call(error: type[BaseException]) -> None:
    """The reservation is charged, nothing stays in flight, and the error is the caller's to see."""
    rig = Rig()
    ctx = rig.run()

    async def main() -> None:
        with pytest.raises(error):
            await rig.core.call_llm(ctx, _reply, usage_of=raising(error), reserve=TokenUsage(200, 0))

    asyncio.run(main())
    usage = ctx.budget.usage()
    assert (usage.total_tokens, usage.is_estimated) == (200, True)
    assert ctx.budget.open_calls().in_flight == ()


def test_usage_of_the_wrong_form_settles_its_call() -> None:
    """A number in place of a usage is a bug of the caller, and is said as one."""
    rig = Rig()
    ctx = rig.run()

    async def main() -> None:
        with pytest.raises(Exception, match="usage is a TokenUsage or None, not int"):
            await rig.core.call_llm(ctx, _reply, usage_of=lambda _: 7)  # type: ignore[arg-type,return-value]  # that is the fault

    asyncio.run(main())
    assert ctx.budget.open_calls().in_flight == ()


def test_usage_of_a_discarded_reply_that_cannot_be_read_is_charged_as_reserved() -> None:
    """The run had ended while the model answered: the call is settled, and its result refused."""
    rig = Rig()
    ctx = rig.run()

    async def late(_: RunContext) -> str:
        rig.core.cancel(ctx, C.USER_REQUESTED)
        return "reply"

    async def main() -> None:
        with pytest.raises(RunAborted):
            await rig.core.call_llm(ctx, late, usage_of=raising(ValueError), reserve=TokenUsage(50, 0))

    asyncio.run(main())
    assert ctx.budget.usage().total_tokens == 50
    assert ctx.budget.open_calls().in_flight == ()
    assert len(rig.sink.events_named(TraceName.LATE_RESULT_REFUSED)) == 1
