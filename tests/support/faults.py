"""Things that go wrong at named boundaries: wrappers of the real ports that ask a list of faults first.

A boundary is named by what stands there: `step 2`, `tool t2`, `begin t2`, `finish t2`, `get t2`, `repair 1`,
`judge 1`, and `event RELEASE_DECISION` for the moment right after an event was written. Each fault happens
once.
"""

from __future__ import annotations

import threading
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from diagnosis_harness.diagnosis.draft import DiagnosisDraft
from diagnosis_harness.diagnosis.inquiry import Inquiry
from diagnosis_harness.diagnosis.policy import DiagnosisPolicy, PolicyAnswer, PolicyView
from diagnosis_harness.guards.evidence_repair import EvidenceRepairer
from diagnosis_harness.guards.semantic_guard import SemanticCase, SemanticJudge
from diagnosis_harness.guards.verdict import Finding, Judgement
from diagnosis_harness.harness.budget import TokenUsage
from diagnosis_harness.kernel.errors import StoreFailure, ToolFailure
from diagnosis_harness.tools.invocation import EvidenceRecord
from diagnosis_harness.tools.spec import ArgumentValue, KnowsEntities, Tool, ToolFindings, ToolSpec
from diagnosis_harness.tools.store import EvidenceStore
from diagnosis_harness.trace.event import TraceEvent
from diagnosis_harness.trace.sink import TraceSink

if TYPE_CHECKING:
    from diagnosis_harness.harness.context import RunContext

ALTERED = "altered"
HUNG = "hung"
LOST = "lost"


@dataclass(slots=True)
class Faults:
    """What happens where. An action that returns `ALTERED`, `HUNG` or `LOST` asks the boundary to do that.

    `release` lets go of every tool that hangs: it returns late, to nobody.
    """

    actions: dict[str, Callable[[], str | None]] = field(default_factory=dict)
    happened: list[str] = field(default_factory=list)
    _over: threading.Event = field(default_factory=threading.Event)

    def at(self, place: str) -> str | None:
        """Let happen what was planned for this place."""
        action = self.actions.pop(place, None)
        if action is None:
            return None
        self.happened.append(place)
        return action()

    def hang(self) -> None:
        """Stay until the scene is over."""
        self._over.wait(30)

    def release(self) -> None:
        """The scene is over."""
        self._over.set()


def store_fails() -> str | None:
    """The store says that it cannot."""
    raise StoreFailure("away")


def tool_fails() -> str | None:
    """The backend says that it cannot."""
    raise ToolFailure("away")


def tool_crashes() -> str | None:
    """A bug in a tool."""
    raise KeyError("a bug")


@dataclass(slots=True)
class FaultySink:
    """Keeps every event, then lets happen what was planned for its name."""

    kept: TraceSink
    faults: Faults

    def emit(self, event: TraceEvent) -> None:
        """Keep the record first and report later."""
        self.kept.emit(event)
        self.faults.at(f"event {event.name.value}")


@dataclass(slots=True)
class FaultyPolicy:
    """A policy whose steps are counted from 1."""

    policy: DiagnosisPolicy
    faults: Faults
    steps: int = 0

    async def decide(self, ctx: RunContext, view: PolicyView) -> tuple[PolicyAnswer, TokenUsage]:
        """The other policy's answer."""
        self.steps += 1
        self.faults.at(f"step {self.steps}")
        return await self.policy.decide(ctx, view)


@dataclass(slots=True)
class FaultyStore:
    """A store that fails, hangs, loses or alters as planned; remembers which call began last."""

    kept: EvidenceStore
    faults: Faults
    forever: Callable[[RunContext], Awaitable[None]]
    begun: str = ""

    async def begin(self, ctx: RunContext, record: EvidenceRecord) -> bool:
        """Hangs after the record was stored, which the waiting caller cannot know."""
        self.begun = record.tool_call_id
        asked = self.faults.at(f"begin {record.tool_call_id}")
        created = await self.kept.begin(ctx, record)
        if asked == HUNG:
            await self.forever(ctx)
        return created

    async def finish(self, ctx: RunContext, record: EvidenceRecord) -> bool:
        """Loses it when asked to, and says that all went well."""
        asked = self.faults.at(f"finish {record.tool_call_id}")
        if asked == HUNG:
            await self.forever(ctx)
        return True if asked == LOST else await self.kept.finish(ctx, record)

    async def get(self, ctx: RunContext, key: str) -> EvidenceRecord | None:
        """Alters a byte of what was kept when asked to."""
        record = await self.kept.get(ctx, key)
        asked = self.faults.at(f"get {key.rpartition(':')[2]}")
        if asked == HUNG:
            await self.forever(ctx)
        if asked != ALTERED or record is None or record.projection is None:
            return record
        stored = record.projection.stored.replace(b"items", b"itemz", 1)
        return replace(record, projection=replace(record.projection, stored=stored))

    async def of_run(self, ctx: RunContext) -> tuple[EvidenceRecord, ...]:
        """All records of the run."""
        return await self.kept.of_run(ctx)


@dataclass(slots=True)
class FaultyTool:
    """A tool whose calls are named by the id that the store began last: one call at a time."""

    tool: Tool
    faults: Faults
    store: FaultyStore

    @property
    def spec(self) -> ToolSpec:
        """The other tool's."""
        return self.tool.spec

    def entities(self, ctx: RunContext) -> Collection[str]:
        """The other tool's names, where it knows any."""
        return self.tool.entities(ctx) if isinstance(self.tool, KnowsEntities) else ()

    def run(self, ctx: RunContext, arguments: Mapping[str, ArgumentValue]) -> ToolFindings:
        """The other tool's findings; one that hangs returns them after it was abandoned."""
        if self.faults.at(f"tool {self.store.begun}") == HUNG:
            self.faults.hang()
        return self.tool.run(ctx, arguments)


@dataclass(slots=True)
class FaultyRepairer:
    """A repairer whose attempts are counted from 1."""

    repairer: EvidenceRepairer
    faults: Faults
    calls: int = 0

    async def repair(
        self,
        ctx: RunContext,
        draft: DiagnosisDraft,
        findings: Sequence[Finding],
        records: Sequence[EvidenceRecord],
        *,
        inquiry: Inquiry,
    ) -> tuple[DiagnosisDraft, TokenUsage]:
        """The other repairer's proposal."""
        self.calls += 1
        self.faults.at(f"repair {self.calls}")
        return await self.repairer.repair(ctx, draft, findings, records, inquiry=inquiry)


@dataclass(slots=True)
class FaultyJudge:
    """A judge whose attempts are counted from 1."""

    judge_: SemanticJudge
    faults: Faults
    calls: int = 0

    async def judge(self, ctx: RunContext, case: SemanticCase) -> tuple[Judgement, TokenUsage]:
        """The other judge's word."""
        self.calls += 1
        self.faults.at(f"judge {self.calls}")
        return await self.judge_.judge(ctx, case)


AROUND = (
    *(("cancel", "now"), ("deadline", "now")),
    *((how, place) for how in ("fails", HUNG, LOST, ALTERED) for place in ("begin", "finish", "get")),
    *(
        ("cancel", f"event {name}")
        for name in ("TOOL_INVOCATION", "TOOL_PROGRESS", "SEMANTIC_GUARD_DECISION")
    ),
    *(("deadline", f"event {name}") for name in ("AGENT_MODEL_STEP", "EVIDENCE_GUARD_INITIAL", "STATUS")),
)
"""What may break around a run, and where: now or after an event the run ends, or the store breaks."""
