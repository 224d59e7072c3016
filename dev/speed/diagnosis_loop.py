"""The whole diagnosis loop on a scripted policy: agent, protocol, tool boundary, records, store, trace."""

from __future__ import annotations

from dev.speed.core_loop import LIMITS

from diagnosis_harness.adapters.evidence_stores.memory import MemoryEvidenceStore
from diagnosis_harness.diagnosis.agent import DiagnosisAgent, DiagnosisTask
from diagnosis_harness.diagnosis.collection import InformationGain
from diagnosis_harness.diagnosis.draft import DiagnosisDraft
from diagnosis_harness.diagnosis.policy import AskTools, GiveDraft, PolicyAnswer, PolicyView, WantedCall
from diagnosis_harness.diagnosis.progress import Assessment
from diagnosis_harness.harness.core import DiagnosisHarnessCore
from diagnosis_harness.harness.keys import ToolCallKeyFactory
from diagnosis_harness.testing.evidence import change_claim
from diagnosis_harness.testing.scripted_policy import ScriptedPolicy
from diagnosis_harness.testing.scripted_tool import ScriptedTool
from diagnosis_harness.tools.access import ScopeAccess
from diagnosis_harness.tools.boundary import ToolBoundary


async def diagnose_steps(core: DiagnosisHarnessCore, steps: int) -> None:
    """One diagnosis: `steps` tool calls, each with a new scope and a gain, then a draft."""

    def answer(view: PolicyView) -> PolicyAnswer:
        made = len(view.records)
        assessed = tuple(
            Assessment(call_id, InformationGain.GAINED, (change_claim(tool_call_id=call_id),))
            for call_id in view.due
        )
        if made >= steps:
            return GiveDraft(DiagnosisDraft(conclusion=(), claims=()), assessed)
        return AskTools((WantedCall(f"t{made}", "look", {"entity": f"e{made}"}),), assessed)

    ctx = core.start_run(session_id="bench", limits=LIMITS, timeout_s=3600)
    boundary = ToolBoundary(
        core,
        tools=[ScriptedTool()],
        store=MemoryEvidenceStore(),
        access=ScopeAccess({"local": frozenset({"*"})}),
        keys=ToolCallKeyFactory("evidence"),
    )
    agent = DiagnosisAgent(core, policy=ScriptedPolicy(answer), boundary=boundary)
    execution = await agent.diagnose(ctx, DiagnosisTask("why?"))
    if len(execution.snapshot.records) != steps or execution.draft is None:
        raise RuntimeError(f"the loop was to make {steps} steps and a draft, not {execution}")
    core.complete_success(ctx)
