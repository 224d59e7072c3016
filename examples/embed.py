"""The harness around an agent of your own: one run, one budget, one boundary, one checked release.

Run it with `python examples/embed.py`. The tool and the policy stand for yours; everything between them is
the harness.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Mapping

from diagnosis_harness.adapters.evidence_stores.memory import MemoryEvidenceStore
from diagnosis_harness.diagnosis.agent import DiagnosisAgent, DiagnosisTask
from diagnosis_harness.diagnosis.claim import Claim, EvidenceRef, Predicate
from diagnosis_harness.diagnosis.collection import InformationGain
from diagnosis_harness.diagnosis.draft import DiagnosisDraft
from diagnosis_harness.diagnosis.inquiry import Inquiry
from diagnosis_harness.diagnosis.policy import AskTools, GiveDraft, PolicyAnswer, PolicyView, WantedCall
from diagnosis_harness.diagnosis.progress import Assessment
from diagnosis_harness.guards.evidence_guard import check_claims
from diagnosis_harness.harness.budget import RunBudgetLimits, TokenUsage
from diagnosis_harness.harness.context import RunContext
from diagnosis_harness.harness.core import DiagnosisHarnessCore
from diagnosis_harness.harness.keys import ToolCallKeyFactory
from diagnosis_harness.kernel.clock import SystemClock
from diagnosis_harness.kernel.ids import RandomIds
from diagnosis_harness.kernel.language import Language
from diagnosis_harness.kernel.window import TimeWindow
from diagnosis_harness.report.sentence import sentence
from diagnosis_harness.tools.access import ScopeAccess
from diagnosis_harness.tools.boundary import ToolBoundary
from diagnosis_harness.tools.evidence import Direction, EvidenceItem, ItemKind
from diagnosis_harness.tools.spec import ArgumentValue, ToolFindings, ToolSpec

LIMITS = RunBudgetLimits(
    llm_calls=5,
    tool_calls=3,
    tool_calls_per_tool=2,
    input_tokens=10_000,
    output_tokens=2_000,
    total_tokens=12_000,
    run_bytes=50_000,
)


LOOKED_S = 1_704_117_900.0
"""When your tool looked: what was observed says when, or it bears no claim about the incident."""


class QueueDepth:
    """Your tool: read-only, synchronous, typed findings. The boundary records every call of it."""

    spec = ToolSpec(name="queue_depth", description="Depth of the work queue.", scope_names=("queue:read",))

    def run(self, ctx: RunContext, arguments: Mapping[str, ArgumentValue]) -> ToolFindings:
        """Ask the queue; here a constant stands for it."""
        deep = EvidenceItem(
            item_id="depth",
            kind=ItemKind.SIGNAL_CHANGE,
            line="worker queue_depth rose from 12 to 4800",
            entity="worker",
            signal="queue_depth",
            value=4800.0,
            baseline=12.0,
            direction=Direction.UP,
            window=TimeWindow(LOOKED_S, LOOKED_S + 600.0),
        )
        return ToolFindings(items=(deep,), looked_at=1)


class TwoSteps:
    """Your agent: looks once, then says what it saw, and one thing that it did not see."""

    async def decide(self, ctx: RunContext, view: PolicyView) -> tuple[PolicyAnswer, TokenUsage]:
        """Ask the tool first; then a draft with one true and one invented claim."""
        if not view.records:
            return AskTools((WantedCall("call-1", "queue_depth", {}),)), TokenUsage(0, 0)
        true = Claim(
            claim_id="true",
            predicate=Predicate.CHANGED,
            entity="worker",
            refs=(EvidenceRef("call-1", "depth"),),
            signal="queue_depth",
            value=4800.0,
            baseline=12.0,
            direction=Direction.UP,
        )
        invented = Claim(
            claim_id="invented",
            predicate=Predicate.CHANGED,
            entity="worker",
            refs=(EvidenceRef("call-1", "depth"),),
            signal="queue_depth",
            value=9999.0,
            direction=Direction.UP,
        )
        assessed = Assessment("call-1", InformationGain.GAINED, (true,))
        return GiveDraft(DiagnosisDraft((), (true, invented)), (assessed,)), TokenUsage(0, 0)


QUESTION = "why is the worker behind?"


async def main() -> None:
    """One run: what the agent said, and what of it stands. The core's threads end with the block."""
    with DiagnosisHarnessCore(clock=SystemClock(), ids=RandomIds()) as core:
        await ask(core)


async def ask(core: DiagnosisHarnessCore) -> None:
    """Open the run, let the agent work in it, and end it."""
    ctx = core.start_run(session_id="example", timeout_s=10, limits=LIMITS)
    boundary = ToolBoundary(
        core,
        tools=[QueueDepth()],
        store=MemoryEvidenceStore(),
        access=ScopeAccess({"me": frozenset({"queue:read"})}),
        keys=ToolCallKeyFactory("example"),
    )
    agent = DiagnosisAgent(core, policy=TwoSteps(), boundary=boundary)
    execution = await agent.diagnose(ctx, DiagnosisTask(QUESTION, caller="me"))
    core.complete_success(ctx)
    said = execution.draft.claims if execution.draft else ()
    standing = check_claims(said, execution.snapshot.records, run_id=ctx.run_id, inquiry=Inquiry(QUESTION))
    for claim in said:
        verdict = "stands  " if claim in standing else "refused "
        sys.stdout.write(f"{verdict} {sentence(claim, Language.EN)}\n")
    usage = ctx.budget.usage()
    sys.stdout.write(f"{ctx.lifecycle.state}: {usage.llm_calls} steps, {usage.tool_calls} tool call\n")


if __name__ == "__main__":
    asyncio.run(main())
