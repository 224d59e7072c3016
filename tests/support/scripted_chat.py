"""The chat use case over real stores in a file, with paths and a router that a test scripts.

`steps` notes in order everything that reaches the stores, the log and the callback of the start.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from tests.support.scripted_router import ScriptedRouter

from diagnosis_harness.adapters.persistence.archive import SqlRunArchive
from diagnosis_harness.adapters.persistence.database import Database
from diagnosis_harness.adapters.persistence.evidence import SqlEvidenceStore
from diagnosis_harness.adapters.persistence.recovery import SqlRunRecovery
from diagnosis_harness.adapters.persistence.run_log import SqlRunLog
from diagnosis_harness.adapters.persistence.run_store import SqlRunStore
from diagnosis_harness.application.callers.caller import LOCAL, Caller
from diagnosis_harness.application.chat import ChatApplicationUseCase, ChatSettings, Paths
from diagnosis_harness.application.diagnose import DiagnoseUseCase
from diagnosis_harness.application.diagnosis_path import DiagnosisPath, OpenSource
from diagnosis_harness.application.intent import IntentType
from diagnosis_harness.application.path_answer import PathAnswer
from diagnosis_harness.application.router import IntentRouter, Routing
from diagnosis_harness.application.runs.active import ActiveRuns
from diagnosis_harness.application.runs.request import RunKind, RunRequest
from diagnosis_harness.application.runs.row import RunEnding, RunRow
from diagnosis_harness.application.runs.run_stores import RunStores
from diagnosis_harness.application.runs.sources import SourceStamp
from diagnosis_harness.application.status import ChatApplicationStatus, emit_status
from diagnosis_harness.diagnosis.agent import DiagnosisAgent
from diagnosis_harness.diagnosis.claim import FaultKind
from diagnosis_harness.diagnosis.draft import Cause, DiagnosisDraft
from diagnosis_harness.diagnosis.policy import AskTools, DiagnosisPolicy, GiveDraft, WantedCall
from diagnosis_harness.harness.budget import RunBudgetLimits
from diagnosis_harness.harness.core import DiagnosisHarnessCore
from diagnosis_harness.harness.keys import ToolCallKeyFactory
from diagnosis_harness.harness.retry_policy import HarnessRetryPolicies
from diagnosis_harness.harness.workers import WorkerPool
from diagnosis_harness.kernel.language import Language
from diagnosis_harness.llm.role import RoleBoundary
from diagnosis_harness.release.pipeline import ReleasePipeline
from diagnosis_harness.testing.clock import ManualClock
from diagnosis_harness.testing.evidence import WINDOW, cause_claim, cause_item, change_claim, change_item
from diagnosis_harness.testing.ids import CountingIds
from diagnosis_harness.testing.runs import AMPLE
from diagnosis_harness.testing.scripted_policy import ScriptedJudge, ScriptedPolicy, ScriptedRepairer
from diagnosis_harness.testing.scripted_tool import ScriptedTool
from diagnosis_harness.testing.sources import InMemorySources
from diagnosis_harness.tools.access import RoleAccess
from diagnosis_harness.tools.boundary import ToolBoundary
from diagnosis_harness.tools.spec import Tool, ToolFindings
from diagnosis_harness.trace.event import TraceEvent

if TYPE_CHECKING:
    from diagnosis_harness.harness.context import RunContext

LOOK = AskTools((WantedCall("t1", "look", {}),))
DRAFT = DiagnosisDraft(
    conclusion=(Cause("payment", FaultKind.CPU, ("k0", "k1")),),
    claims=(
        cause_claim(cause_item(), tool_call_id="t1"),
        change_claim(change_item("i1", "payment"), tool_call_id="t1"),
    ),
)


def make_findings() -> ToolFindings:
    """What supports the draft."""
    return ToolFindings(
        items=(cause_item(), change_item("i1", "payment"), change_item("i2", "checkout")),
        window=WINDOW,
        looked_at=2,
    )


def concluding() -> dict[str, object]:
    """A diagnosis that ends with a conclusion."""
    return {"policy": ScriptedPolicy(LOOK, GiveDraft(DRAFT)), "tools": (ScriptedTool(make_findings),)}


STAGES = {
    IntentType.SYSTEM_CHAT: (ChatApplicationStatus.SYSTEM_RESPONDING,),
    IntentType.KNOWLEDGE_QUERY: (
        ChatApplicationStatus.KNOWLEDGE_SEARCHING,
        ChatApplicationStatus.KNOWLEDGE_ANSWERING,
    ),
}


@dataclass(slots=True)
class ScriptedPath:
    """Answers with a text after waiting for `go`, which is open unless a test closes it; or raises."""

    core: DiagnosisHarnessCore
    intent: IntentType
    raises: Exception | None = None
    go: asyncio.Event = field(default_factory=asyncio.Event)
    asked: list[str] = field(default_factory=list)
    entered: asyncio.Event = field(default_factory=asyncio.Event)

    def __post_init__(self) -> None:
        self.go.set()

    async def answer(self, ctx: RunContext, question: str, language: Language) -> PathAnswer:
        """The answer, as a controlled operation of the run."""
        for stage in STAGES[self.intent]:
            emit_status(self.core, ctx, stage)
        self.asked.append(question)
        self.entered.set()
        await self.core.wait(ctx, lambda _: self._wait_until_open())
        if self.raises is not None:
            raise self.raises
        return PathAnswer({"kind": self.intent.value, "text": f"{language.value}: {question}"}, None)

    async def _wait_until_open(self) -> None:
        await self.go.wait()


@dataclass(slots=True)
class OneSource:
    """Sources that hold one source with scripted tools."""

    tools: tuple[Tool, ...] = ()
    opened: list[tuple[str | None, float | None]] = field(default_factory=list)
    raises: Exception | None = None
    stamp: SourceStamp | None = None

    async def open(
        self, ctx: RunContext, name: str | None, onset_s: float | None, asked: SourceStamp | None
    ) -> OpenSource:
        """The source."""
        del ctx, asked
        self.opened.append((name, onset_s))
        if self.raises is not None:
            raise self.raises
        return OpenSource(InMemorySources().sources(), self.tools, self.stamp)


class NotedStore(SqlRunStore):
    """The store of rows, noted."""

    def __init__(self, database: Database, log: list[str]) -> None:
        super().__init__(database, owner="me")
        self._steps = log

    async def begin(self, ctx: RunContext, request: RunRequest, *, owner: str, at_s: float) -> bool:
        """Begin."""
        done = await super().begin(ctx, request, owner=owner, at_s=at_s)
        self._steps.append("row RUNNING")
        return done

    async def finish(self, ctx: RunContext, ending: RunEnding) -> bool:
        """Finish."""
        done = await super().finish(ctx, ending)
        self._steps.append(f"row {ending.outcome}" if done else "row ended before")
        return done


@dataclass(slots=True)
class KeptChat:
    """Everything a test of the use case holds. Open it with `open_chat`."""

    database: Database
    clock: ManualClock
    core: DiagnosisHarnessCore
    log: SqlRunLog
    stores: RunStores
    recovery: SqlRunRecovery
    source: OneSource
    system: ScriptedPath
    knowledge: ScriptedPath
    chat: ChatApplicationUseCase
    steps: list[str]

    def request(
        self,
        question: str = "why?",
        *,
        session_id: str = "ses-a",
        caller: Caller = LOCAL,
        kind: RunKind = RunKind.CHAT,
        source: str | None = None,
        onset_s: float | None = None,
    ) -> RunRequest:
        """A request that may be answered."""
        return RunRequest(
            run_id=self.core.ids.new_run_id(),
            session_id=session_id,
            question=question,
            language=Language.EN,
            kind=kind,
            asked_by=caller,
            limit_s=60.0,
            submitted_s=self.clock.now_s(),
            source=source,
            onset_s=onset_s,
        )

    async def ask(self, request: RunRequest | None = None) -> RunRow:
        """Answer one request; the next one is a moment later."""
        row = await self.chat.answer(request or self.request(), lambda _: self.steps.append("started"))
        self.steps.append("returned")
        self.clock.advance(1.0)
        return row

    async def events(self, run_id: str) -> tuple[TraceEvent, ...]:
        """The run's written events."""
        return await self.stores.archive.events(run_id)


def _diagnosing(
    core: DiagnosisHarnessCore, database: Database, policy: DiagnosisPolicy, tools: Sequence[Tool]
) -> DiagnoseUseCase:
    """The diagnosis of one run over these tools, a judge that agrees, a repairer that changes nothing."""

    def agent_for(ctx: RunContext) -> DiagnosisAgent:
        del ctx
        boundary = ToolBoundary(
            core,
            tools=tools,
            store=SqlEvidenceStore(database, owner="me"),
            access=RoleAccess({"admin": frozenset({"*"}), "operator": frozenset({"*"})}),
            keys=ToolCallKeyFactory("evidence"),
        )
        return DiagnosisAgent(core, policy=policy, boundary=boundary)

    pipeline = ReleasePipeline(
        core, RoleBoundary(core), ScriptedRepairer(lambda draft: draft), ScriptedJudge()
    )
    return DiagnoseUseCase(core, agent_for=agent_for, pipeline=pipeline)


def play(folder: Path, act: Callable[[KeptChat], Awaitable[None]], **scripted: object) -> None:
    """Act on the use case over a database in the folder, for a minute at most."""

    async def run_act() -> None:
        async with open_chat(folder, **scripted) as kept:  # type: ignore[arg-type]  # handed through
            await asyncio.wait_for(act(kept), 60)

    asyncio.run(run_act())


@asynccontextmanager
async def open_chat(
    folder: Path,
    *,
    router: IntentRouter | None = None,
    policy: DiagnosisPolicy | None = None,
    tools: Sequence[Tool] = (),
    budget: RunBudgetLimits = AMPLE,
) -> AsyncIterator[KeptChat]:
    """The use case over a database in the folder."""
    reported: list[str] = []
    clock = ManualClock()
    database = await Database.open(f"sqlite:///{folder / 'runs.db'}")
    log = SqlRunLog(database, owner="me", clock=clock)
    log.on_written(lambda _, events: reported.extend(f"event {event.name}" for event in events))
    workers = WorkerPool(threads_max=2)
    core = DiagnosisHarnessCore(clock=clock, ids=CountingIds(), sink=log, workers=workers)
    await log.start()
    source = OneSource(tuple(tools) or (ScriptedTool(),))

    stores = RunStores(
        owner="me",
        store=NotedStore(database, reported),
        log=log,
        archive=SqlRunArchive(database),
        active=ActiveRuns(),
    )
    use_case_over = partial(_diagnosing, core, database, policy or ScriptedPolicy())
    system = ScriptedPath(core, IntentType.SYSTEM_CHAT)
    knowledge = ScriptedPath(core, IntentType.KNOWLEDGE_QUERY)
    chat = ChatApplicationUseCase(
        core,
        routing=Routing(core, RoleBoundary(core), router or ScriptedRouter()),
        paths=Paths(
            system,
            knowledge,
            DiagnosisPath(core, source, use_case_over),
        ),
        stores=stores,
        settings=ChatSettings(budget, HarnessRetryPolicies(), finalise_timeout_s=5.0),
    )
    try:
        yield KeptChat(
            database=database,
            clock=clock,
            core=core,
            log=log,
            stores=stores,
            recovery=SqlRunRecovery(database),
            source=source,
            system=system,
            knowledge=knowledge,
            chat=chat,
            steps=reported,
        )
    finally:
        await log.stop()
        await database.close()
        workers.close()
