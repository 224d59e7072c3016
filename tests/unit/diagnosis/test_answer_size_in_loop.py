"""An answer beyond the bounds ends the loop as one that cannot be read, also where no JSON is involved."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest

from diagnosis_harness.adapters.evidence_stores.memory import MemoryEvidenceStore
from diagnosis_harness.diagnosis.agent import DiagnosisAgent, DiagnosisTask
from diagnosis_harness.diagnosis.answer_size import CLAIMS_MAX
from diagnosis_harness.diagnosis.draft import DiagnosisDraft
from diagnosis_harness.diagnosis.policy import GiveDraft
from diagnosis_harness.harness.core import DiagnosisHarnessCore
from diagnosis_harness.harness.keys import ToolCallKeyFactory
from diagnosis_harness.kernel.errors import MalformedDraft
from diagnosis_harness.testing.clock import ManualClock
from diagnosis_harness.testing.evidence import change_claim
from diagnosis_harness.testing.ids import CountingIds
from diagnosis_harness.testing.runs import AMPLE
from diagnosis_harness.testing.scripted_policy import ScriptedPolicy
from diagnosis_harness.tools.access import ScopeAccess
from diagnosis_harness.tools.boundary import ToolBoundary
from diagnosis_harness.trace.sink import MemorySink


@pytest.mark.parametrize("beyond", [0, 1])
def test_a_policy_that_says_too_much_is_not_read(beyond: int) -> None:
    """A library's own policy is held to the bounds that the wire has."""
    core = DiagnosisHarnessCore(clock=ManualClock(), ids=CountingIds(), sink=MemorySink())
    ctx = core.start_run(session_id="s1", limits=AMPLE, timeout_s=60)
    boundary = ToolBoundary(
        core,
        tools=[],
        store=MemoryEvidenceStore(),
        access=ScopeAccess({}),
        keys=ToolCallKeyFactory("evidence"),
    )
    claims = tuple(replace(change_claim(), claim_id=f"k{place}") for place in range(CLAIMS_MAX + beyond))
    policy = ScriptedPolicy(lambda _view: GiveDraft(DiagnosisDraft((), claims)))
    agent = DiagnosisAgent(core, policy=policy, boundary=boundary)

    if beyond:
        with pytest.raises(MalformedDraft, match=f"more than {CLAIMS_MAX} claims"):
            asyncio.run(agent.diagnose(ctx, DiagnosisTask("why?")))
    else:
        execution = asyncio.run(agent.diagnose(ctx, DiagnosisTask("why?")))
        assert execution.draft == DiagnosisDraft((), claims)
