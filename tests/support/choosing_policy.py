"""A policy that chooses what it asks: a world with an older trouble, and conclusions from any ranking."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np
from tests.support.small_incident import CPU_FAULT, ONSET_S, STEP_S, small_incident
from tests.support.whole_run import diagnose_whole_run

from diagnosis_harness.adapters.evidence_stores.memory import MemoryEvidenceStore
from diagnosis_harness.application.diagnose import DiagnoseUseCase, DiagnosisEnd
from diagnosis_harness.application.inquiry import resolve_inquiry
from diagnosis_harness.application.publish import RunFacts, publish
from diagnosis_harness.diagnosis.agent import DiagnosisAgent, DiagnosisTask
from diagnosis_harness.diagnosis.draft import DiagnosisDraft
from diagnosis_harness.diagnosis.policy import AskTools, GiveDraft, PolicyAnswer, PolicyView, WantedCall
from diagnosis_harness.guards.semantic_guard import SemanticJudge
from diagnosis_harness.guards.verdict import SemanticReason
from diagnosis_harness.harness.budget import TokenUsage
from diagnosis_harness.harness.keys import ToolCallKeyFactory
from diagnosis_harness.kernel.json_value import JsonValue
from diagnosis_harness.kernel.language import Language
from diagnosis_harness.llm.role import RoleBoundary
from diagnosis_harness.players.embedded.drafting import draft_from
from diagnosis_harness.players.embedded.reading import Reading
from diagnosis_harness.players.embedded.repairer import EmbeddedRepairer
from diagnosis_harness.release.pipeline import ReleasePipeline
from diagnosis_harness.report.document import RunDocument
from diagnosis_harness.testing.runs import Rig
from diagnosis_harness.testing.scripted_policy import ScriptedJudge
from diagnosis_harness.testing.sources import InMemorySources
from diagnosis_harness.toolbox.catalog import build_tools
from diagnosis_harness.toolbox.ports import Series
from diagnosis_harness.tools.access import ScopeAccess
from diagnosis_harness.tools.boundary import ToolBoundary
from diagnosis_harness.trace.event import TraceName

if TYPE_CHECKING:
    from diagnosis_harness.harness.context import RunContext

OLDER_S = ONSET_S - 7_200.0
"""When catalog was in trouble for ten minutes; payment is from `ONSET_S` on."""
_AGO = 240  # steps of the recording before the small incident's own: two hours

Call = tuple[str, Mapping[str, JsonValue]]
Concludes = Callable[[PolicyView], DiagnosisDraft | None]


def two_troubles() -> InMemorySources:
    """Metrics of three hours: catalog in trouble two hours ago, payment now; the alert is about now."""
    sources = small_incident(CPU_FAULT, spans=False)
    return replace(sources, incident=tuple(_longer(each) for each in sources.incident))


def _longer(one: Series) -> Series:
    usual = one.value[:120]
    old = np.concatenate((usual, usual[::-1]))
    hit = slice(_AGO // 2, _AGO // 2 + 20)
    if one.entity == "catalog-7d9f" and one.signal == "cpu_percent":
        old[hit] = np.minimum(old[hit] * 5.0, 100.0)
    if one.signal == "latency_p90" and one.entity in ("catalog", "shop"):
        old[hit] *= 6.0 if one.entity == "catalog" else 3.0
    time_s = np.concatenate((one.time_s[0] - STEP_S * np.arange(_AGO, 0, -1), one.time_s))
    return replace(one, time_s=time_s, value=np.concatenate((old, one.value)))


@dataclass(slots=True)
class Shopper:
    """Asks what it likes, all in one step, then says whatever `concludes` makes of the records."""

    calls: Sequence[Call]
    concludes: Concludes

    async def decide(self, ctx: RunContext, view: PolicyView) -> tuple[PolicyAnswer, TokenUsage]:
        """The calls, then the draft."""
        del ctx
        if not view.records and not view.refused:
            wanted = (WantedCall(f"t{n}", name, args) for n, (name, args) in enumerate(self.calls, start=1))
            return AskTools(tuple(wanted)), TokenUsage(0, 0)
        return GiveDraft(self.concludes(view)), TokenUsage(0, 0)


def from_records(*tool_call_ids: str) -> Concludes:
    """Conclude as an honest analyst would that has seen these records and no others."""

    def concludes(view: PolicyView) -> DiagnosisDraft | None:
        seen = [record for record in view.records if record.tool_call_id in tool_call_ids]
        return draft_from(Reading(seen))

    return concludes


@dataclass(slots=True)
class Shopping:
    """One run of a policy that chooses its calls, behind the real boundary, guards and release.

    The judge believes everything, as a language model may: what stops a conclusion is code.
    """

    calls: Sequence[Call]
    concludes: Concludes
    question: str = "why is it slow?"
    onset_s: float | None = None
    telemetry: InMemorySources = field(default_factory=two_troubles)
    judge: SemanticJudge = field(default_factory=ScriptedJudge)
    rig: Rig = field(default_factory=Rig)

    def run(self) -> tuple[DiagnosisEnd, RunDocument]:
        """Diagnose."""
        core, sources, ctx = self.rig.core, self.telemetry.sources(), self.rig.run()
        boundary = ToolBoundary(
            core,
            tools=build_tools(sources),
            store=MemoryEvidenceStore(),
            access=ScopeAccess({"local": frozenset({"*"})}),
            keys=ToolCallKeyFactory("evidence"),
        )
        policy = Shopper(self.calls, self.concludes)
        pipeline = ReleasePipeline(core, RoleBoundary(core), EmbeddedRepairer(), self.judge)
        use_case = DiagnoseUseCase(
            core,
            agent_for=lambda _: DiagnosisAgent(core, policy=policy, boundary=boundary),
            pipeline=pipeline,
        )
        inquiry = resolve_inquiry(ctx, sources, self.question, self.onset_s)
        end = asyncio.run(diagnose_whole_run(core, ctx, use_case, DiagnosisTask(self.question, inquiry)))
        facts = RunFacts(
            question=self.question,
            language=Language.EN,
            started_s=core.clock.now_s(),
            limit_s=60.0,
            inquiry=inquiry,
            tools=tuple(spec.name for spec in boundary.specs),
            summary=sources.summary.summary(ctx),
        )
        return end, publish(ctx, facts, end, self.rig.sink.events())

    def causes(self) -> list[str]:
        """Who is released as the cause."""
        return [cause.entity for cause in self.run()[0].content.causes]

    def objections(self) -> set[str]:
        """The objections of the guards: findings of EvidenceGuard and reasons of SemanticGuard."""
        self.run()
        found: set[str] = set()
        for event in self.rig.sink.events_named(TraceName.EVIDENCE_GUARD_INITIAL):
            found |= {str(each).partition(": ")[2] for each in event.payload["findings"]}  # type: ignore[union-attr]  # a list
        for event in self.rig.sink.events_named(TraceName.SEMANTIC_GUARD_DECISION):
            found |= {SemanticReason(str(each)).value for each in event.payload["reasons"]}  # type: ignore[union-attr]  # a list
        return found
