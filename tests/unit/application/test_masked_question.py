"""What a person asks is masked before anybody sees or keeps it."""

from __future__ import annotations

import asyncio

from tests.support.whole_run import diagnose_whole_run

from diagnosis_harness.adapters.evidence_stores.memory import MemoryEvidenceStore
from diagnosis_harness.application.diagnose import DiagnoseUseCase, DiagnosisEnd
from diagnosis_harness.diagnosis.agent import DiagnosisAgent, DiagnosisTask
from diagnosis_harness.diagnosis.draft import DiagnosisDraft
from diagnosis_harness.diagnosis.missing import MissingInfo
from diagnosis_harness.diagnosis.policy import GiveDraft
from diagnosis_harness.harness.context import RunContext
from diagnosis_harness.harness.keys import ToolCallKeyFactory
from diagnosis_harness.harness.termination import RunState
from diagnosis_harness.llm.role import RoleBoundary
from diagnosis_harness.release.outcome import ReleaseOutcome
from diagnosis_harness.release.pipeline import ReleasePipeline
from diagnosis_harness.testing.runs import Rig
from diagnosis_harness.testing.scripted_policy import ScriptedJudge, ScriptedPolicy, ScriptedRepairer
from diagnosis_harness.tools.access import ScopeAccess
from diagnosis_harness.tools.boundary import ToolBoundary
from diagnosis_harness.trace.event import TraceName

ASKED = "why does login fail with password=hunter2-x9 for alice@example.com?"
MASKED = "why does login fail with password=[masked:secret] for [masked:email]?"


class House:
    """One run whose policy gives an empty draft at once."""

    def __init__(self) -> None:
        self.rig = Rig()
        self.ctx = self.rig.run()
        self.policy = ScriptedPolicy(GiveDraft(DiagnosisDraft((), (), missing_info=(MissingInfo.TIME,))))

    def run(self, question: str) -> DiagnosisEnd:
        """Diagnose."""
        core = self.rig.core
        pipeline = ReleasePipeline(
            core, RoleBoundary(core), ScriptedRepairer(lambda draft: draft), ScriptedJudge()
        )
        use_case = DiagnoseUseCase(core, agent_for=self.agent, pipeline=pipeline)
        return asyncio.run(diagnose_whole_run(core, self.ctx, use_case, DiagnosisTask(question)))

    def agent(self, ctx: RunContext) -> DiagnosisAgent:
        """The agent of a run without tools."""
        boundary = ToolBoundary(
            self.rig.core,
            tools=[],
            store=MemoryEvidenceStore(),
            access=ScopeAccess({}),
            keys=ToolCallKeyFactory("evidence"),
        )
        return DiagnosisAgent(self.rig.core, policy=self.policy, boundary=boundary)


def test_policy_and_trace_see_the_question_masked() -> None:
    """Neither a prompt nor a log holds what the person pasted by accident."""
    house = House()
    house.run(ASKED)
    assert [view.question for view in house.policy.views] == [MASKED]
    assert [event.payload["question"] for event in house.rig.sink.events_named(TraceName.RUN_STARTED)] == [
        MASKED
    ]


def test_a_question_that_cannot_be_masked_ends_the_run_before_anybody_is_asked() -> None:
    """Closed: FAILED, and the policy never saw it."""
    house = House()
    end = house.run(b"why?")  # type: ignore[arg-type]  # what masking cannot read
    assert (end.outcome, house.ctx.lifecycle.state) == (ReleaseOutcome.FAILED, RunState.FAILED)
    assert house.policy.views == []
