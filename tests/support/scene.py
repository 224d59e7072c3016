"""One whole diagnosis with everything scripted: run, loop, boundary, guards, release and every fault."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING

from tests.support.faults import (
    HUNG,
    Faults,
    FaultyJudge,
    FaultyPolicy,
    FaultyRepairer,
    FaultySink,
    FaultyStore,
    FaultyTool,
)
from tests.support.inquiries import inquiry
from tests.support.statements import EVERYTHING
from tests.support.whole_run import diagnose_whole_run

from diagnosis_harness.application.diagnose import DiagnoseUseCase, DiagnosisEnd
from diagnosis_harness.diagnosis.agent import DiagnosisAgent, DiagnosisTask
from diagnosis_harness.diagnosis.collection import CollectionThresholds
from diagnosis_harness.diagnosis.execution import DiagnosisAgentExecution
from diagnosis_harness.diagnosis.policy import DiagnosisPolicy
from diagnosis_harness.guards.evidence_repair import EvidenceRepairer
from diagnosis_harness.guards.semantic_guard import SemanticJudge
from diagnosis_harness.harness.budget import RunBudgetLimits
from diagnosis_harness.harness.core import DiagnosisHarnessCore
from diagnosis_harness.harness.keys import ToolCallKeyFactory
from diagnosis_harness.harness.termination import CancellationReason
from diagnosis_harness.harness.workers import WorkerPool
from diagnosis_harness.kernel.ids import IdSource
from diagnosis_harness.llm.role import RoleBoundary
from diagnosis_harness.release.pipeline import ReleasePipeline
from diagnosis_harness.testing.clock import ManualClock
from diagnosis_harness.testing.ids import CountingIds
from diagnosis_harness.testing.runs import AMPLE
from diagnosis_harness.testing.scripted_policy import ScriptedJudge, ScriptedRepairer
from diagnosis_harness.tools.access import ScopeAccess
from diagnosis_harness.tools.boundary import BoundarySettings, ToolBoundary
from diagnosis_harness.tools.spec import Tool
from diagnosis_harness.tools.store import EvidenceStore
from diagnosis_harness.trace.event import TraceEvent, TraceName
from diagnosis_harness.trace.sink import MemorySink

if TYPE_CHECKING:
    from diagnosis_harness.harness.context import RunContext

TIMEOUT_S = 60.0


@dataclass(slots=True)
class Scene:
    """A run that waits to be played. One tool call at a time, so that its trace has one order.

    Args:
        store: a real one; faults are put around it.
    """

    policy: DiagnosisPolicy
    store: EvidenceStore
    tools: Sequence[Tool]
    judge: SemanticJudge = field(default_factory=ScriptedJudge)
    repairer: EvidenceRepairer = field(default_factory=lambda: ScriptedRepairer(lambda draft: draft))
    limits: RunBudgetLimits = AMPLE
    thresholds: CollectionThresholds = field(default_factory=lambda: CollectionThresholds(2, 2))
    task: DiagnosisTask = field(
        default_factory=lambda: DiagnosisTask("why?", inquiry(also_known=(EVERYTHING, "cart", "mail")))
    )
    faults: Faults = field(default_factory=Faults)
    clock: ManualClock = field(default_factory=ManualClock)
    sink: MemorySink = field(default_factory=MemorySink)
    ids: IdSource = field(default_factory=CountingIds)
    workers: WorkerPool = field(default_factory=lambda: WorkerPool(threads_max=2))
    core: DiagnosisHarnessCore = field(init=False)
    ctx: RunContext = field(init=False)
    _loop: asyncio.AbstractEventLoop = field(init=False)
    _thread: threading.Thread = field(init=False)

    def __post_init__(self) -> None:
        self.core = DiagnosisHarnessCore(
            clock=self.clock,
            ids=self.ids,
            sink=FaultySink(self.sink, self.faults),
            workers=self.workers,
        )
        self.ctx = self.core.start_run(session_id="session", timeout_s=TIMEOUT_S, limits=self.limits)

    # ------------------------------------------------------------------ what may happen at a boundary

    def cancel(self) -> str | None:
        """The user stops the run; a tool at work does not notice."""
        return self._at_once(partial(self.core.cancel, self.ctx, CancellationReason.USER_REQUESTED))

    def disconnect(self) -> str | None:
        """The client goes away."""
        return self._at_once(partial(self.core.cancel, self.ctx, CancellationReason.CLIENT_DISCONNECTED))

    def deadline(self) -> str | None:
        """The run's time is over."""
        return self._at_once(partial(self.clock.advance, TIMEOUT_S))

    def slow(self) -> str | None:
        """Longer than any single call may take, shorter than the run."""
        return self._at_once(partial(self.clock.advance, 31.0))

    def _at_once(self, happens: Callable[[], object]) -> str:
        """Let it happen whole before any wait goes on, also when a tool's thread asks for it."""
        if threading.current_thread() is self._thread:
            happens()
        else:
            self._loop.call_soon_threadsafe(happens)
        return HUNG

    # ------------------------------------------------------------------ playing it

    def agent(self, ctx: RunContext) -> DiagnosisAgent:
        """The agent of the run."""
        del ctx
        store = FaultyStore(self.store, self.faults, self._forever)
        boundary = ToolBoundary(
            self.core,
            tools=[FaultyTool(tool, self.faults, store) for tool in self.tools],
            store=store,
            access=ScopeAccess({"local": frozenset({"*"})}),
            keys=ToolCallKeyFactory("evidence"),
            settings=BoundarySettings(parallel=1, finalise_timeout_s=5.0),
        )
        policy = FaultyPolicy(self.policy, self.faults)
        return DiagnosisAgent(self.core, policy=policy, boundary=boundary, thresholds=self.thresholds)

    async def play_loop(self) -> DiagnosisAgentExecution:
        """The agent's loop alone, without release; raises what it raises."""
        self._loop, self._thread = asyncio.get_running_loop(), threading.current_thread()
        return await self.agent(self.ctx).diagnose(self.ctx, self.task)

    async def play(self) -> DiagnosisEnd:
        """Diagnose."""
        self._loop, self._thread = asyncio.get_running_loop(), threading.current_thread()
        pipeline = ReleasePipeline(
            self.core,
            RoleBoundary(self.core),
            FaultyRepairer(self.repairer, self.faults),
            FaultyJudge(self.judge, self.faults),
        )
        use_case = DiagnoseUseCase(self.core, agent_for=self.agent, pipeline=pipeline)
        return await diagnose_whole_run(self.core, self.ctx, use_case, self.task)

    def run(self) -> DiagnosisEnd:
        """Diagnose in an event loop of its own, then let go of what hangs."""
        try:
            return asyncio.run(self.play())
        finally:
            self.close()

    def close(self) -> None:
        """Let go of what hangs, and of the threads."""
        self.faults.release()
        self.workers.close()

    async def _forever(self, ctx: RunContext) -> None:
        """Never answer; the clock passes the store's limit as soon as everybody waits."""
        del ctx
        self._loop.call_soon(self.clock.advance, 6.0)
        await self._loop.create_future()

    # ------------------------------------------------------------------ what it left

    def events(self) -> tuple[TraceEvent, ...]:
        """The trace."""
        return self.sink.events()

    def names(self) -> list[TraceName]:
        """The trace, by name."""
        return [event.name for event in self.sink.events()]
