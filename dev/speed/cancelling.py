"""Measures what starts after `cancel()` has returned, and how soon the wait ends."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from statistics import median

from dev.speed.core_loop import LIMITS, USAGE, system_core
from dev.speed.figure import Figure
from pydantic_ai import Agent, CancellationToken, Tool
from pydantic_ai.exceptions import RunCancelled
from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart, ToolCallPart
from pydantic_ai.models.function import AgentInfo, FunctionModel

from diagnosis_harness.harness.budget import TokenUsage
from diagnosis_harness.harness.cancellation import CancellationReason
from diagnosis_harness.harness.context import RunContext
from diagnosis_harness.harness.waiting import gather_bounded
from diagnosis_harness.kernel.errors import RunAborted

WIDE = 200
TOOL_S = 0.005
PAUSE_S = 0.001
# Long enough for every thread that was at work to end, and for whatever might still begin to begin.
SETTLE_S = 0.03
TOPIC = "Cancel to last start"


@dataclass(slots=True)
class Trial:
    """One cancelled run. Instants are those of the performance counter.

    Attributes:
        started_s: when each llm and tool body began.
        called_s, returned_s: just before and just after the call of `cancel()`.
        ended_s: when the run's code was refused further work.
        admitted: how many starts had passed the gate according to `cancel()`; None if it does not report
        this.
    """

    started_s: list[float] = field(default_factory=list)
    called_s: float = 0.0
    returned_s: float = 0.0
    ended_s: float = 0.0
    admitted: int | None = None

    def start(self) -> None:
        """Record that a body began."""
        self.started_s.append(time.perf_counter())

    def cancel(self, cancel: Callable[[], int | None]) -> None:
        """Cancel, and record when."""
        self.called_s = time.perf_counter()
        self.admitted = cancel()
        self.returned_s = time.perf_counter()

    @property
    def late(self) -> int:
        """How many bodies began after `cancel()` had returned."""
        return sum(at_s > self.returned_s for at_s in self.started_s)

    @property
    def unadmitted(self) -> int:
        """How many bodies ran beyond those that `cancel()` counted: they passed the gate after it."""
        return 0 if self.admitted is None else max(0, len(self.started_s) - self.admitted)

    @property
    def return_ms(self) -> float:
        """Milliseconds from the call of `cancel()` to the return of the run."""
        return (self.ended_s - self.called_s) * 1e3


class OurRun:
    """A run on our core that continues until it is cancelled."""

    def __init__(self, trial: Trial) -> None:
        self._trial = trial
        self._core = system_core()
        self._ctx = self._core.start_run(session_id="bench", limits=LIMITS, timeout_s=600)

    def cancel(self) -> int:
        """Cancel it, and return how many starts had passed the gate."""
        return self._core.cancel(self._ctx, CancellationReason.USER_REQUESTED).begun

    async def steps(self) -> None:
        """Alternate llm calls and async tool calls."""
        number = 0
        try:
            while True:
                number += 1
                await self._core.call_llm(self._ctx, self._complete, usage_of=lambda usage: usage)
                await self._core.invoke_tool(self._ctx, "look", f"t{number}", self._look)
        except RunAborted:
            self._trial.ended_s = time.perf_counter()

    async def wide(self) -> None:
        """Run one reply that calls many blocking tools."""
        leases = self._core.admit_tool_calls(self._ctx, [("look", f"t{number}") for number in range(WIDE)])
        calls = [
            partial(self._core.call_blocking_tool, self._ctx, lease, self._blocking_look) for lease in leases
        ]
        try:
            await gather_bounded(calls, parallel_max=WIDE)
        except RunAborted:
            self._trial.ended_s = time.perf_counter()

    async def _complete(self, ctx: RunContext) -> TokenUsage:
        del ctx
        self._trial.start()
        await asyncio.sleep(PAUSE_S)
        return USAGE

    async def _look(self, ctx: RunContext) -> None:
        del ctx
        self._trial.start()
        await asyncio.sleep(PAUSE_S)

    def _blocking_look(self, ctx: RunContext) -> None:
        del ctx
        self._trial.start()
        time.sleep(TOOL_S)


class RivalRun:
    """A run of pydantic-ai's agent with one reply that calls many blocking tools."""

    def __init__(self, trial: Trial) -> None:
        self._trial = trial
        self._token = CancellationToken()

        def complete(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
            del info
            if len(messages) > 1:
                return ModelResponse(parts=[TextPart("done")])
            return ModelResponse(parts=[ToolCallPart("look", {}, tool_call_id=f"t{n}") for n in range(WIDE)])

        self._agent = Agent(FunctionModel(complete), tools=[Tool(self._look, name="look")])

    def cancel(self) -> None:
        """Cancel it."""
        self._token.cancel()

    async def wide(self) -> None:
        """The run."""
        try:
            await self._agent.run("why?", cancellation_token=self._token)
        except RunCancelled:
            self._trial.ended_s = time.perf_counter()

    def _look(self) -> str:
        self._trial.start()
        time.sleep(TOOL_S)
        return "ok"


async def _cancel_and_wait(
    trial: Trial,
    work: Callable[[], Awaitable[None]],
    cancel: Callable[[], int | None],
    *,
    delay_s: float,
    from_thread: bool,
) -> None:
    """Let the run continue for a while after its first start, cancel it, and wait until nothing runs."""

    async def run() -> None:
        await work()

    task = asyncio.create_task(run())
    while not trial.started_s:  # noqa: ASYNC110 - an event would need the loop's thread, and bodies have others
        await asyncio.sleep(0)
    if from_thread:

        def later() -> None:
            time.sleep(delay_s)
            trial.cancel(cancel)

        thread = threading.Thread(target=later)
        thread.start()
        await task
        thread.join()
    else:
        await asyncio.sleep(delay_s)
        trial.cancel(cancel)
        await task
    await asyncio.sleep(SETTLE_S)
    if not trial.ended_s:
        raise RuntimeError("the run was over before it was cancelled")


def _trials(kind: type[OurRun | RivalRun], *, wide: bool, from_thread: bool, times: int) -> list[Trial]:
    trials = []
    for number in range(times):
        trial = Trial()
        run = kind(trial)
        work = run.steps if isinstance(run, OurRun) and not wide else run.wide
        delay_s = 0.012 * (number * 0.618_034 % 1.0)  # spread evenly, the same in every run of the bench
        asyncio.run(_cancel_and_wait(trial, work, run.cancel, delay_s=delay_s, from_thread=from_thread))
        trials.append(trial)
    return trials


def measure(*, times: int) -> list[Figure]:
    """Late starts and times to return: from the same and another thread, with one tool and with many."""
    figures: list[Figure] = []
    for where, from_thread in (("the same thread", False), ("another thread", True)):
        what = f"one call at a time, cancel from {where}"
        figures += _ours(
            what, _trials(OurRun, wide=False, from_thread=from_thread, times=times), at_most_ms=5
        )
    for where, from_thread in (("the same thread", False), ("another thread", True)):
        what = f"{WIDE} blocking tools in one reply, from {where}"
        few = max(3, times // 10)
        figures += _ours(what, _trials(OurRun, wide=True, from_thread=from_thread, times=few))
        figures += _rival(_trials(RivalRun, wide=True, from_thread=from_thread, times=few))
    return figures


def _ours(what: str, trials: Sequence[Trial], *, at_most_ms: float | None = None) -> list[Figure]:
    late, ran_late = sum(trial.unadmitted for trial in trials), sum(trial.late for trial in trials)
    starts = sum(len(trial.started_s) for trial in trials)
    return_ms = [trial.return_ms for trial in trials]
    note = f"{len(trials)} trials, {starts:,} starts"
    if ran_late:
        note += f"; {ran_late} passed the gate before and reached their first line after"
    return [
        Figure(TOPIC, f"late starts: {what}", late, "", 0, note),
        Figure(TOPIC, "  cancel() to the run's return, median", median(return_ms), "ms", at_most_ms),
        Figure(TOPIC, "  the same, longest", max(return_ms), "ms"),
    ]


def _rival(trials: Sequence[Trial]) -> list[Figure]:
    late, median_ms = sum(trial.late for trial in trials), median(trial.return_ms for trial in trials)
    note = f"{len(trials)} trials; first lines that ran after cancel() had returned"
    return [
        Figure(TOPIC, "  pydantic-ai: late starts", late, "", note=note),
        Figure(TOPIC, "  pydantic-ai: cancel() to the run's return, median", median_ms, "ms"),
    ]
