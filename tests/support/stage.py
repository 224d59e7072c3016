"""All players of a run, controlled by a test: the run waits at each until the test answers."""

from __future__ import annotations

import asyncio
import queue
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias, TypeVar

from diagnosis_harness.diagnosis.draft import DiagnosisDraft
from diagnosis_harness.diagnosis.inquiry import Inquiry
from diagnosis_harness.diagnosis.policy import AskTools, GiveDraft, PolicyAnswer, PolicyView
from diagnosis_harness.guards.semantic_guard import SemanticCase
from diagnosis_harness.guards.verdict import Finding, Judgement
from diagnosis_harness.harness.budget import NO_TOKENS, TokenUsage
from diagnosis_harness.testing.scripted_tool import ENTITY_ARG
from diagnosis_harness.tools.invocation import EvidenceRecord
from diagnosis_harness.tools.spec import ArgumentValue, ToolFindings, ToolSpec

if TYPE_CHECKING:
    from diagnosis_harness.harness.context import RunContext

ToolSlot: TypeAlias = "queue.SimpleQueue[ToolFindings | Exception]"
T = TypeVar("T")
Slot: TypeAlias = "asyncio.Future[object] | ToolSlot"


@dataclass(slots=True)
class Stage:
    """All players of the run, played by the state machine: each waits here until it has answered."""

    loop: asyncio.AbstractEventLoop
    asked: str = ""
    view: PolicyView | None = None
    drafts: list[DiagnosisDraft] = field(default_factory=list)
    stuck: list[ToolSlot] = field(default_factory=list)
    moved: asyncio.Event = field(default_factory=asyncio.Event)
    slot: Slot | None = None

    spec: ToolSpec = field(
        default_factory=lambda: ToolSpec("list_changes", "Looks.", parameters=(ENTITY_ARG,))
    )

    def stands(self, asked: str, slot: Slot) -> None:
        """The run now waits for this one; a tool that was called before stays in its thread."""
        self.leaves()
        self.asked, self.slot = asked, slot
        self.moved.set()

    def leaves(self) -> None:
        """Nobody is asked any more; a tool that was stays in its thread."""
        if isinstance(self.slot, queue.SimpleQueue):
            self.stuck.append(self.slot)
        self.asked, self.slot = "", None

    def answers(self, answer: object) -> None:
        """The one who was asked answers, or raises."""
        slot, self.asked, self.slot = self.slot, "", None
        if isinstance(slot, queue.SimpleQueue):
            slot.put(answer if isinstance(answer, Exception) else _of(ToolFindings, answer))
        elif slot is not None and not slot.done():
            slot.set_exception(answer) if isinstance(answer, Exception) else slot.set_result(answer)

    async def _asks(self, asked: str) -> object:
        slot: asyncio.Future[object] = self.loop.create_future()
        self.stands(asked, slot)
        try:
            return await slot
        finally:
            if self.slot is slot:
                self.asked, self.slot = "", None

    async def decide(self, ctx: RunContext, view: PolicyView) -> tuple[PolicyAnswer, TokenUsage]:
        """The policy."""
        del ctx
        self.view = view
        answer = await self._asks("policy")
        if isinstance(answer, AskTools):
            return answer, NO_TOKENS
        given = _of(GiveDraft, answer)
        if given.draft is not None:
            self.drafts.append(given.draft)
        return given, NO_TOKENS

    async def repair(
        self,
        ctx: RunContext,
        draft: DiagnosisDraft,
        findings: Sequence[Finding],
        records: Sequence[EvidenceRecord],
        *,
        inquiry: Inquiry,
    ) -> tuple[DiagnosisDraft, TokenUsage]:
        """The repairer."""
        del ctx, findings, records, inquiry
        mend = await self._asks("repair")
        if not callable(mend):
            raise TypeError("a repairer answers with a function of the draft")
        return _of(DiagnosisDraft, mend(draft)), NO_TOKENS

    async def judge(self, ctx: RunContext, case: SemanticCase) -> tuple[Judgement, TokenUsage]:
        """The judge."""
        del ctx, case
        return _of(Judgement, await self._asks("judge")), NO_TOKENS

    def run(self, ctx: RunContext, arguments: Mapping[str, ArgumentValue]) -> ToolFindings:
        """The tool, in its thread."""
        del ctx, arguments
        slot: ToolSlot = queue.SimpleQueue()
        self.loop.call_soon_threadsafe(self.stands, "tool", slot)
        found = slot.get(timeout=60)
        if isinstance(found, Exception):
            raise found
        return found


def _of(kind: type[T], answer: object) -> T:
    if not isinstance(answer, kind):
        raise TypeError(f"the one who is asked answers with {kind.__name__}, not {type(answer).__name__}")
    return answer
