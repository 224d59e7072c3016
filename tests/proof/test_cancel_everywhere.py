"""A host may cancel at any point: a whole diagnosis is cancelled at each of its await points in turn."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Coroutine, Generator
from dataclasses import dataclass
from functools import partial
from types import coroutine
from typing import Any

import pytest
from tests.support.whole_run import diagnose_whole_run

from diagnosis_harness.adapters.evidence_stores.memory import MemoryEvidenceStore
from diagnosis_harness.application.diagnose import DiagnoseUseCase
from diagnosis_harness.diagnosis.agent import DiagnosisAgent, DiagnosisTask
from diagnosis_harness.diagnosis.claim import FaultKind
from diagnosis_harness.diagnosis.collection import InformationGain
from diagnosis_harness.diagnosis.draft import Cause, DiagnosisDraft
from diagnosis_harness.diagnosis.policy import AskTools, GiveDraft, PolicyAnswer, PolicyView, WantedCall
from diagnosis_harness.diagnosis.progress import Assessment
from diagnosis_harness.harness.budget import TokenUsage
from diagnosis_harness.harness.context import RunContext
from diagnosis_harness.harness.core import DiagnosisHarnessCore
from diagnosis_harness.harness.keys import ToolCallKeyFactory
from diagnosis_harness.harness.lifecycle import RunState
from diagnosis_harness.kernel.clock import SystemClock
from diagnosis_harness.llm.role import RoleBoundary
from diagnosis_harness.release.pipeline import ReleasePipeline
from diagnosis_harness.testing.evidence import WINDOW, cause_claim, cause_item, change_claim, change_item
from diagnosis_harness.testing.ids import CountingIds
from diagnosis_harness.testing.runs import AMPLE
from diagnosis_harness.testing.scripted_policy import ScriptedJudge, ScriptedPolicy, ScriptedRepairer
from diagnosis_harness.testing.scripted_tool import ENTITY_ARG, ScriptedTool
from diagnosis_harness.tools.access import ScopeAccess
from diagnosis_harness.tools.boundary import BoundarySettings, ToolBoundary
from diagnosis_harness.tools.evidence import InvocationStatus
from diagnosis_harness.tools.invocation import EvidenceRecord
from diagnosis_harness.tools.spec import ToolFindings, ToolSpec
from diagnosis_harness.trace.event import TraceName
from diagnosis_harness.trace.sink import MemorySink

pytestmark = [pytest.mark.proof, pytest.mark.timeout(600)]

POINTS_AT_LEAST = 45
"""A diagnosis with fewer points than this would not be the whole of one."""

POINTS_AT_MOST = 2_000


class YieldingStore(MemoryEvidenceStore):
    """A store that waits, before and after what it does, as one behind a network would."""

    async def begin(self, ctx: RunContext, record: EvidenceRecord) -> bool:
        """Keep it, in the middle of two waits."""
        await _turn()
        begun = await super().begin(ctx, record)
        await _turn()
        return begun

    async def finish(self, ctx: RunContext, record: EvidenceRecord) -> bool:
        """End it, in the middle of two waits."""
        await _turn()
        taken = await super().finish(ctx, record)
        await _turn()
        return taken

    async def get(self, ctx: RunContext, key: str) -> EvidenceRecord | None:
        """Read it after a wait."""
        await _turn()
        return await super().get(ctx, key)


class YieldingPolicy(ScriptedPolicy):
    """A policy that waits before it answers."""

    async def decide(self, ctx: RunContext, view: PolicyView) -> tuple[PolicyAnswer, TokenUsage]:
        """The next answer, after two waits."""
        await _turn()
        await _turn()
        return await super().decide(ctx, view)


async def _turn() -> None:
    await asyncio.sleep(0)  # noqa: TID251 - one await point and no time


@dataclass
class Host:
    """Runs a coroutine as a task and cancels it when the run has come to a given number of await points.

    Every await point of every task that the run makes is counted, by a task factory, in the order in which
    they are reached. The cancel comes so many `turns` of the loop after the point.
    """

    points: tuple[int, ...]
    turns: int = 0
    passed: int = 0
    main: asyncio.Task[Any] | None = None

    async def run(self, work: Coroutine[Any, Any, object]) -> bool:
        """Whether the run was cancelled; False when it ended before it came to the point."""
        loop = asyncio.get_running_loop()
        loop.set_task_factory(self._make_task)
        self.main = loop.create_task(work)
        loop.set_task_factory(self._make_task)
        try:
            await asyncio.wait((self.main,))
        finally:
            loop.set_task_factory(None)
        if self.main.cancelled():
            return True
        self.main.result()
        return False

    def _make_task(self, loop: asyncio.AbstractEventLoop, work: Any, **options: Any) -> asyncio.Task[Any]:
        return asyncio.Task(self._drive(work), loop=loop, **options)

    async def _drive(self, work: Coroutine[Any, Any, Any]) -> Any:
        """A coroutine around the generator below, since from Python 3.13 on a task takes nothing else."""
        return await self._count_waits(work)

    @coroutine
    def _count_waits(self, work: Coroutine[Any, Any, Any]) -> Generator[Any, Any, Any]:
        """Drive `work` and count each time that it waits."""
        step: Callable[[], Any] = lambda: work.send(None)  # noqa: E731 - the next step, whatever it is
        while True:
            try:
                waited_for = step()
            except StopIteration as ended:
                return ended.value
            self.passed += 1
            if self.passed in self.points and self.main is not None:
                self._cancel_after(self.turns, self.main)
            try:
                yield waited_for
            except BaseException as error:  # noqa: BLE001 - handed on into the work, as the loop does
                step = _throwing(work, error)
            else:
                step = lambda: work.send(None)  # noqa: E731 - as above

    def _cancel_after(self, turns: int, main: asyncio.Task[Any]) -> None:
        loop = asyncio.get_running_loop()
        loop.call_soon(partial(self._cancel_after, turns - 1, main) if turns else main.cancel)


def _throwing(work: Coroutine[Any, Any, Any], error: BaseException) -> Callable[[], Any]:
    return lambda: work.throw(error)


def make_findings() -> ToolFindings:
    """A ranking and the change that supports it."""
    return ToolFindings(
        items=(cause_item(), change_item("i1", "payment"), change_item("i2", "checkout")),
        window=WINDOW,
        looked_at=2,
    )


def _want_calls(*call_ids: str) -> tuple[WantedCall, ...]:
    return tuple(WantedCall(call_id, "look", {"entity": call_id}) for call_id in call_ids)


def _assess_as_gain(call_id: str) -> Assessment:
    fact = change_claim(change_item("i1", "payment"), tool_call_id=call_id, claim_id=f"f-{call_id}")
    return Assessment(call_id, InformationGain.GAINED, (fact,))


TRUTHFUL = DiagnosisDraft(
    conclusion=(Cause("payment", FaultKind.CPU, ("k0", "k1")),),
    claims=(
        cause_claim(cause_item(), tool_call_id="t1"),
        change_claim(change_item("i1", "payment"), tool_call_id="t1"),
    ),
)


class Whole:
    """One whole diagnosis: three calls of which two find a place, then one more, a draft, and its release."""

    def __init__(self, core: DiagnosisHarnessCore, sink: MemorySink) -> None:
        self.core, self.sink, self.store = core, sink, YieldingStore()
        self.ctx = core.start_run(session_id="s", timeout_s=3600, limits=AMPLE)

    def _agent(self, ctx: RunContext) -> DiagnosisAgent:
        del ctx
        policy = YieldingPolicy(
            AskTools(_want_calls("t1", "t2", "t3"), ()),
            AskTools(
                _want_calls("t4"), (_assess_as_gain("t1"), _assess_as_gain("t2"), _assess_as_gain("t3"))
            ),
            GiveDraft(TRUTHFUL, (_assess_as_gain("t4"),)),
        )
        boundary = ToolBoundary(
            self.core,
            tools=[ScriptedTool(make_findings, ToolSpec("look", "Looks.", parameters=(ENTITY_ARG,)))],
            store=self.store,
            access=ScopeAccess({"local": frozenset({"*"})}),
            keys=ToolCallKeyFactory("evidence"),
            settings=BoundarySettings(parallel=2),
        )
        return DiagnosisAgent(self.core, policy=policy, boundary=boundary)

    def work(self) -> Coroutine[Any, Any, object]:
        """The whole of it."""
        repairer = ScriptedRepairer(lambda draft: draft)
        pipeline = ReleasePipeline(self.core, RoleBoundary(self.core), repairer, ScriptedJudge())
        use_case = DiagnoseUseCase(self.core, agent_for=self._agent, pipeline=pipeline)
        return diagnose_whole_run(self.core, self.ctx, use_case, DiagnosisTask("why?"))


async def _cancel_at(
    core: DiagnosisHarnessCore, sink: MemorySink, points: tuple[int, ...], *, turns: int
) -> tuple[Whole, bool]:
    whole = Whole(core, sink)
    was_cancelled = await Host(points, turns).run(whole.work())
    left = [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]
    if left:
        await asyncio.wait(left, timeout=20)
    assert all(task.done() for task in left), f"tasks go on after {points}: {left}"
    return whole, was_cancelled


async def _check(whole: Whole, *, was_cancelled: bool, points: tuple[int, ...]) -> None:
    names = [event.name for event in whole.sink.events(whole.ctx.run_id)]
    records = await whole.store.of_run(whole.ctx)
    assert names.count(TraceName.RUN_FINISHED) == 1, points
    assert names[-1] is TraceName.RUN_FINISHED, points
    assert names.count(TraceName.RUN_ENDED) == 1, points
    assert not [r.tool_call_id for r in records if r.invocation is InvocationStatus.PROJECTING], points
    assert whole.ctx.budget.open_calls().waiting == (), points
    assert whole.ctx.lifecycle.state in {RunState.FAILED, RunState.SUCCESS}, points
    if not was_cancelled:
        assert whole.ctx.lifecycle.state is RunState.SUCCESS, points


@pytest.mark.parametrize("again_after", [None, 1, 3], ids=["once", "and again", "and again later"])
@pytest.mark.parametrize("turns", [0, 1, 2])
def test_a_host_may_cancel_at_every_await_point(again_after: int | None, turns: int) -> None:
    """No record stays PROJECTING, no lease stays reserved, RUN_FINISHED comes once and last: at each of them.

    A second cancel falls into the bookkeeping of the first.
    """

    async def walk() -> int:
        sink = MemorySink()
        with DiagnosisHarnessCore(clock=SystemClock(), ids=CountingIds(), sink=sink) as core:
            for point in range(1, POINTS_AT_MOST):
                points = (point,) if again_after is None else (point, point + again_after)
                whole, was_cancelled = await _cancel_at(core, sink, points, turns=turns)
                await _check(whole, was_cancelled=was_cancelled, points=points)
                if not was_cancelled:
                    return point
        raise AssertionError("a diagnosis has no end of points")

    assert asyncio.run(walk()) >= POINTS_AT_LEAST


def test_ten_thousand_runs_leave_no_thread(scale: float) -> None:
    """Whatever ends them: success, a cancel, the deadline on the clock's thread, a limit at a gate."""
    runs = round(10_000 * scale)
    with DiagnosisHarnessCore(clock=SystemClock(), ids=CountingIds()) as core:
        before = set(threading.enumerate())
        notified = threading.Semaphore(0)
        for number in range(runs):
            ctx = core.start_run(session_id="s", limits=AMPLE, timeout_s=0.0 if number % 4 == 0 else 60)
            ctx.lifecycle.on_end(notified.release)
            if number % 4 == 1:
                core.complete_success(ctx)
            elif number % 4 == 2:
                core.complete_failure(ctx, "broke")
            elif number % 4 == 3:
                _spend_all(core, ctx)
        for _ in range(runs):
            assert notified.acquire(timeout=20)
    for thread in set(threading.enumerate()) - before:
        if thread.ident is not None:  # another test's, between its making and its start
            thread.join(20)
    assert set(threading.enumerate()) <= before


def _spend_all(core: DiagnosisHarnessCore, ctx: RunContext) -> None:
    with pytest.raises(Exception, match="BUDGET_EXHAUSTED"):
        core.reserve_bytes(ctx, AMPLE.run_bytes + 1)
