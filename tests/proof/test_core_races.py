"""The core's races, in the large: no late start, no overshoot, one winner. Threads everywhere, on purpose."""

from __future__ import annotations

import asyncio
import itertools
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from functools import partial

import numpy as np
import pytest

from diagnosis_harness.harness.cancellation import CancellationReason
from diagnosis_harness.harness.context import RunContext
from diagnosis_harness.harness.core import CancelAnswer, DiagnosisHarnessCore
from diagnosis_harness.harness.gate import expire
from diagnosis_harness.harness.lease import ToolLease
from diagnosis_harness.harness.lifecycle import RunState
from diagnosis_harness.harness.workers import WorkerPool
from diagnosis_harness.kernel.errors import RunAborted
from diagnosis_harness.testing.clock import ManualClock
from diagnosis_harness.testing.ids import CountingIds
from diagnosis_harness.testing.runs import AMPLE, limits
from diagnosis_harness.trace.event import TraceName
from diagnosis_harness.trace.sink import MemorySink

pytestmark = [pytest.mark.proof, pytest.mark.timeout(600)]

TRIALS = 10_000
UNITS = 100_000


@pytest.fixture(autouse=True)
def _hasty_threads() -> Iterator[None]:
    """Let the interpreter change threads as often as it can."""
    interval_s = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    yield
    sys.setswitchinterval(interval_s)


class YieldingClock(ManualClock):
    """A clock that hands the interpreter to another thread, often in the middle of a gate.

    The gate reads the clock between "has the run ended?" and "reserve and start": without the run's lock a
    cancel fits in there, and with it it does not.
    """

    def __init__(self) -> None:
        super().__init__()
        self._held = threading.Lock()
        self._held.acquire()

    def now_s(self) -> float:
        """The instant, after everybody else had a turn."""
        self._held.acquire(timeout=2e-5)  # it is never released: this waits, and lets the others run
        return super().now_s()


def _hesitate_at(handle: object, *slots: str) -> None:
    """After each reading of these slots, others have a turn before the reader does anything with it.

    Between a check and the assignment next to it the interpreter changes no thread by itself: without this
    a handle without its lock would win every race.
    """
    known = type(handle)
    others_turn = threading.Lock()
    others_turn.acquire()

    def hesitant(slot: str) -> property:
        original = getattr(known, slot)

        def read(self: object) -> object:
            value = original.__get__(self)
            others_turn.acquire(timeout=5e-4)  # it is never released
            return value

        return property(read, original.__set__)

    handle.__class__ = type(
        f"Hesitant{known.__name__}", (known,), {"__slots__": (), **{slot: hesitant(slot) for slot in slots}}
    )


# ---------------------------------------------------------------- no start after cancel() has returned


@dataclass(slots=True)
class Trial:
    """One run whose starts race with one cancel. `bodies` counts the calls that were really made."""

    core: DiagnosisHarnessCore
    ctx: RunContext
    permits: threading.Semaphore
    bodies: list[str]

    def call_tools(self, leases: Sequence[ToolLease]) -> None:
        """Begin what was admitted, each with a permit, until the run refuses."""
        with suppress(RunAborted):
            for lease in leases:
                self.permits.acquire(timeout=5)
                self.core.begin_tool_call(self.ctx, lease)
                self.bodies.append("tool")
                self.core.settle_tool_call(self.ctx, lease)

    def call_llms(self, times: int) -> None:
        """Ask a language model again and again, each time with a permit, until the run refuses."""
        with suppress(RunAborted):
            for _ in range(times):
                self.permits.acquire(timeout=5)
                lease = self.core.start_llm_call(self.ctx)
                self.bodies.append("llm")
                self.core.settle_llm_call(self.ctx, lease, None)


def test_nothing_starts_once_cancel_has_returned(scale: float) -> None:
    """Every body that ever runs is one that the cancel's own answer had counted: 0 late starts.

    Some starts are let go just before the cancel and race with it, the others right after it has returned.
    The answer is made under the lock that every start takes, so the comparison is exact: it does not depend
    on when a thread happens to be looked at. At least a fifth of the cancels come while starts are pending.
    """
    core = DiagnosisHarnessCore(clock=YieldingClock(), ids=CountingIds())
    chance = np.random.default_rng(20261130)
    trials = round(TRIALS * scale)
    late = pending = raced = 0
    with ThreadPoolExecutor(2) as starters:
        for _ in range(trials):
            tools, llms = int(chance.integers(1, 5)), int(chance.integers(0, 4))
            early = int(chance.integers(0, tools + llms + 1))
            ctx = core.start_run(session_id="s", limits=AMPLE, timeout_s=60)
            trial = Trial(core, ctx, threading.Semaphore(0), [])
            leases = core.admit_tool_calls(ctx, [("metrics", str(number)) for number in range(tools)])
            racing = [
                starters.submit(trial.call_tools, leases),
                starters.submit(trial.call_llms, llms),
            ]
            for _ in range(early):
                trial.permits.release()
            answer = core.cancel(ctx, CancellationReason.USER_REQUESTED)
            trial.permits.release(tools + llms)
            for one in racing:
                one.result()
            late += len(trial.bodies) - answer.begun
            pending += bool(answer.never_started)
            raced += 0 < answer.begun < early
    assert late == 0
    assert pending >= trials / 5
    assert raced > 0  # in some trials the cancel fell right among the starts that were let go before it


def test_no_queued_tool_starts_once_cancel_has_returned(scale: float) -> None:
    """The same through the whole path: 40 blocking tools in one reply, cancelled from another thread."""
    chance = np.random.default_rng(7)
    for _ in range(max(5, round(100 * scale))):
        workers = WorkerPool(threads_max=4)
        core = DiagnosisHarnessCore(clock=YieldingClock(), ids=CountingIds(), workers=workers)
        ctx = core.start_run(session_id="s", limits=AMPLE, timeout_s=60)
        bodies: list[int] = []
        answer = asyncio.run(_reply_of_40(core, ctx, bodies, cancel_after=int(chance.integers(1, 20))))
        workers.close()
        assert len(bodies) == answer.begun < 40
        assert ctx.budget.usage().tool_calls == answer.begun


async def _reply_of_40(
    core: DiagnosisHarnessCore, ctx: RunContext, bodies: list[int], *, cancel_after: int
) -> CancelAnswer:
    loop = asyncio.get_running_loop()
    enough, cancelled = threading.Event(), threading.Event()

    def tool(number: int, _: RunContext) -> None:
        bodies.append(number)
        if len(bodies) >= cancel_after:
            enough.set()
            cancelled.wait(5)

    def cancel() -> CancelAnswer:
        enough.wait(5)
        answer = core.cancel(ctx, CancellationReason.CLIENT_DISCONNECTED)
        cancelled.set()
        return answer

    leases = core.admit_tool_calls(ctx, [("metrics", str(number)) for number in range(40)])
    calls = [
        loop.create_task(core.call_blocking_tool(ctx, lease, partial(tool, number)))
        for number, lease in enumerate(leases)
    ]
    answer = await loop.run_in_executor(None, cancel)
    await asyncio.gather(*calls, return_exceptions=True)
    return answer


# ---------------------------------------------------------------- exactly the limit, for every counter

Unit = Callable[[DiagnosisHarnessCore, RunContext], object]

COUNTERS: dict[str, tuple[Unit, Callable[[RunContext], int]]] = {
    "llm_calls": (
        lambda core, ctx: core.start_llm_call(ctx),
        lambda ctx: ctx.budget.usage().llm_calls,
    ),
    "tool_calls": (
        lambda core, ctx: core.start_tool_call(ctx, f"tool-{threading.get_ident() % 3}", "call"),
        lambda ctx: ctx.budget.usage().tool_calls,
    ),
    "tool_calls_per_tool": (
        lambda core, ctx: core.start_tool_call(ctx, "metrics", "call"),
        lambda ctx: ctx.budget.usage().tool_calls_by_tool["metrics"],
    ),
    "input_tokens": (
        lambda core, ctx: core.start_llm_call(ctx, reserve_input_tokens=1),
        lambda ctx: ctx.budget.open_calls().begun,
    ),
    "output_tokens": (
        lambda core, ctx: core.start_llm_call(ctx, reserve_output_tokens=1),
        lambda ctx: ctx.budget.open_calls().begun,
    ),
    "total_tokens": (
        lambda core, ctx: core.start_llm_call(ctx, reserve_input_tokens=1),
        lambda ctx: ctx.budget.open_calls().begun,
    ),
    "run_bytes": (
        lambda core, ctx: core.reserve_bytes(ctx, 1),
        lambda ctx: ctx.budget.usage().run_bytes,
    ),
}


@pytest.mark.parametrize("counter", COUNTERS)
def test_eight_threads_are_granted_exactly_the_limit(counter: str, scale: float) -> None:
    """They race until the run refuses; what was granted, counted outside, is the limit to the unit."""
    unit, used = COUNTERS[counter]
    units = round(UNITS * scale)
    ample = dict.fromkeys(COUNTERS, 10 * UNITS)
    core = DiagnosisHarnessCore(clock=ManualClock(), ids=CountingIds())
    ctx = core.start_run(session_id="s", limits=limits(**{**ample, counter: units}), timeout_s=60)

    def race() -> int:
        for granted in itertools.count():
            try:
                unit(core, ctx)
            except RunAborted:
                return granted
        raise AssertionError

    with ThreadPoolExecutor(8) as threads:
        granted = [race.result() for race in [threads.submit(race) for _ in range(8)]]
    assert sum(granted) == units == used(ctx)
    assert ctx.lifecycle.state is RunState.BUDGET_EXHAUSTED


def test_totals_and_per_tool_agree_at_every_snapshot(scale: float) -> None:
    """Eight threads charge and give back; every snapshot meanwhile adds up and is within every limit."""
    core = DiagnosisHarnessCore(clock=ManualClock(), ids=CountingIds())
    ctx = core.start_run(
        session_id="s", limits=limits(tool_calls=20, tool_calls_per_tool=9, run_bytes=10**9), timeout_s=60
    )
    rounds = round(5_000 * scale)
    seen = threading.Event()  # a busy machine may let this thread look only after the others are done

    def charge(name: str) -> int:
        kept = 0
        for number in itertools.count():
            if number >= rounds and seen.is_set():
                break
            for lease in core.admit_tool_calls(ctx, [(name, str(number))]):
                kept += not core.return_tool_call(ctx, lease)
        return kept

    with ThreadPoolExecutor(9) as threads:
        racing = [threads.submit(charge, f"tool-{number % 3}") for number in range(8)]
        snapshots = 0
        try:
            while not all(one.done() for one in racing):
                usage = ctx.budget.usage()
                snapshots += 1
                if snapshots > 10:
                    seen.set()
                assert usage.tool_calls == sum(usage.tool_calls_by_tool.values()) <= 20
                assert all(0 < calls <= 9 for calls in usage.tool_calls_by_tool.values())
        finally:
            seen.set()
        assert sum(one.result() for one in racing) == 0
    assert snapshots > 10
    assert (ctx.budget.usage().tool_calls, dict(ctx.budget.usage().tool_calls_by_tool)) == (0, {})


def test_no_snapshot_is_taken_in_the_middle_of_an_update(scale: float) -> None:
    """Who has read one number of the usage is held up before the next, while others charge and give back."""
    core = DiagnosisHarnessCore(clock=ManualClock(), ids=CountingIds())
    ctx = core.start_run(session_id="s", limits=AMPLE, timeout_s=60)
    _hesitate_at(ctx.budget, "_tool_calls")
    enough = threading.Event()

    def charge_and_give_back() -> None:
        while not enough.is_set():
            core.return_tool_call(ctx, core.start_tool_call(ctx, "metrics", "call"))

    with ThreadPoolExecutor(2) as threads:
        racing = [threads.submit(charge_and_give_back) for _ in range(2)]
        try:
            for _ in range(round(1_000 * scale)):
                usage = ctx.budget.usage()
                assert usage.tool_calls == sum(usage.tool_calls_by_tool.values())
        finally:
            enough.set()
        for one in racing:
            one.result()


# ---------------------------------------------------------------- one winner


class TickingClock(YieldingClock):
    """Every reading is a new instant, and the clock remembers which thread has read it."""

    def __init__(self) -> None:
        super().__init__()
        self._ticks = itertools.count(1)
        self.read_by: dict[float, int] = {}

    def now_s(self) -> float:
        """A value of its own; others get a turn between reading and using it."""
        reading = super().now_s() + next(self._ticks) * 1e-3
        self.read_by[reading] = threading.get_ident()
        super().now_s()
        return reading


def _exhaust(core: DiagnosisHarnessCore, ctx: RunContext) -> None:
    with suppress(RunAborted):
        core.reserve_bytes(ctx, 10**9)


def _note_state(ctx: RunContext, states: list[RunState]) -> None:
    states.append(ctx.lifecycle.state)


Cause = Callable[[DiagnosisHarnessCore, RunContext], object]
CAUSES: dict[RunState | CancellationReason, Cause] = {
    RunState.SUCCESS: lambda core, ctx: core.complete_success(ctx),
    CancellationReason.INTERNAL_FAILURE: lambda core, ctx: core.complete_failure(ctx, "broke"),
    CancellationReason.USER_REQUESTED: lambda core, ctx: core.cancel(ctx, CancellationReason.USER_REQUESTED),
    CancellationReason.CLIENT_DISCONNECTED: lambda core, ctx: core.cancel(
        ctx, CancellationReason.CLIENT_DISCONNECTED
    ),
    CancellationReason.DEADLINE_EXCEEDED: lambda core, ctx: expire(ctx, core.clock.now_s()),
    CancellationReason.BUDGET_EXHAUSTED: _exhaust,
}


def _act(cause: Cause, core: DiagnosisHarnessCore, ctx: RunContext, together: threading.Barrier) -> int:
    together.wait(5)
    cause(core, ctx)
    return threading.get_ident()


@pytest.mark.parametrize(("one", "other"), list(itertools.combinations(CAUSES, 2)), ids=str)
def test_a_race_of_two_causes_has_one_winner(
    one: RunState | CancellationReason, other: RunState | CancellationReason, scale: float
) -> None:
    """State, reason and time are the winner's, read by its own thread; trace and resources hear of it once.

    Whoever has looked whether the run has ended is held up before it may act on that.
    """
    with ThreadPoolExecutor(2) as threads:
        for number in range(max(60, round(1_000 * scale))):
            clock = TickingClock()
            trace = MemorySink()
            core = DiagnosisHarnessCore(clock=clock, ids=CountingIds(), sink=trace)
            ctx = core.start_run(session_id="s", limits=AMPLE, timeout_s=10_000)
            together = threading.Barrier(2)
            reported: list[RunState] = []
            ctx.cancellation.register(partial(_note_state, ctx, reported))
            _hesitate_at(ctx.lifecycle, "_termination")
            _hesitate_at(ctx.cancellation, "_reason")

            order = (one, other) if number % 2 else (other, one)
            racing = {cause: threads.submit(_act, CAUSES[cause], core, ctx, together) for cause in order}
            thread_of = {cause: running.result() for cause, running in racing.items()}
            termination = ctx.lifecycle.termination
            assert termination is not None
            winner = RunState.SUCCESS if termination.reason is None else termination.reason
            assert winner in thread_of
            assert clock.read_by[termination.at_s] == thread_of[winner]
            (ended,) = trace.events_named(TraceName.RUN_ENDED)
            assert (ended.payload["state"], ended.payload["at_s"]) == (termination.state, termination.at_s)
            assert reported == ([] if ctx.cancellation.reason is None else [termination.state])
            if termination.reason is not None:
                assert ctx.cancellation.reason is termination.reason
