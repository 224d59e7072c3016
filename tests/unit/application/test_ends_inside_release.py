"""Budget, deadline and cancel inside release: facts decide, whatever was about to be released."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import pytest
from tests.support.scene import Scene

from diagnosis_harness.adapters.evidence_stores.memory import MemoryEvidenceStore
from diagnosis_harness.diagnosis.claim import FaultKind
from diagnosis_harness.diagnosis.collection import DiagnosisStopReason, InformationGain
from diagnosis_harness.diagnosis.draft import Cause, DiagnosisDraft
from diagnosis_harness.diagnosis.policy import AskTools, GiveDraft, WantedCall
from diagnosis_harness.diagnosis.progress import Assessment
from diagnosis_harness.guards.semantic_guard import SemanticCase
from diagnosis_harness.guards.verdict import Judgement, SemanticReason, SemanticVerdict
from diagnosis_harness.harness.budget import TokenUsage
from diagnosis_harness.harness.context import RunContext
from diagnosis_harness.harness.termination import RunState
from diagnosis_harness.release.outcome import FallbackType, ReleaseOutcome
from diagnosis_harness.testing.evidence import WINDOW, cause_claim, cause_item, change_claim, change_item
from diagnosis_harness.testing.runs import limits
from diagnosis_harness.testing.scripted_policy import ScriptedJudge, ScriptedPolicy, ScriptedRepairer
from diagnosis_harness.testing.scripted_tool import ScriptedTool
from diagnosis_harness.tools.spec import ToolFindings
from diagnosis_harness.trace.event import TraceName

COSTLY = TokenUsage(10_000, 0)
YES = Judgement(SemanticVerdict.SUPPORTED)
NO = Judgement(SemanticVerdict.UNSUPPORTED, (SemanticReason.WEAK,))
CHANGE = change_claim(change_item("i1", "payment"), tool_call_id="t1")
TRUE = DiagnosisDraft(
    conclusion=(Cause("payment", FaultKind.CPU, ("k0", "k1")),),
    claims=(cause_claim(cause_item(), tool_call_id="t1"), CHANGE),
)
FALSE = replace(TRUE, claims=(*TRUE.claims, replace(CHANGE, claim_id="k2", value=9.9)))
OPEN = replace(TRUE, conclusion=(), claims=(CHANGE,))


class CostlyJudge(ScriptedJudge):
    """Says its word and spends every token."""

    async def judge(self, ctx: RunContext, case: SemanticCase) -> tuple[Judgement, TokenUsage]:
        """SUPPORTED, for a lot of tokens."""
        judgement, _ = await super().judge(ctx, case)
        return judgement, COSTLY


def scene(draft: DiagnosisDraft, *, knows: bool, judge: ScriptedJudge | None = None, **narrow: int) -> Scene:
    """One look, then the draft; what was looked at was worth a fact, or nothing."""
    fact = replace(CHANGE, claim_id="f1")
    gain = (
        Assessment("t1", InformationGain.GAINED, (fact,))
        if knows
        else Assessment("t1", InformationGain.NO_GAIN)
    )
    found = ToolFindings(
        (cause_item(), change_item("i1", "payment"), change_item("i2", "checkout")), WINDOW, 2
    )
    return Scene(
        policy=ScriptedPolicy(AskTools((WantedCall("t1", "look", {}),)), GiveDraft(draft, (gain,))),
        store=MemoryEvidenceStore(),
        tools=[ScriptedTool(lambda: found)],
        judge=judge or ScriptedJudge(YES),
        repairer=ScriptedRepairer(lambda given: replace(given, claims=given.claims[:2])),
        limits=limits(**narrow),
    )


@dataclass(frozen=True)
class End:
    """Where in release the run ends, and how."""

    draft: DiagnosisDraft
    place: str
    how: str = "deadline"
    judge: Callable[[], ScriptedJudge] = lambda: ScriptedJudge(YES)
    narrow: tuple[tuple[str, int], ...] = ()
    unheard: TraceName | None = None
    """What the guard that was cut off never says."""


ENDS = {
    "deadline before the evidence guard": End(TRUE, "event STATUS"),
    "deadline in the evidence guard": End(TRUE, "event EVIDENCE_GUARD_INITIAL"),
    "deadline in repair": End(FALSE, "repair 1", unheard=TraceName.EVIDENCE_GUARD_RECHECK),
    "deadline in the recheck": End(FALSE, "event EVIDENCE_GUARD_RECHECK"),
    "deadline in the judge": End(TRUE, "judge 1", unheard=TraceName.SEMANTIC_GUARD_DECISION),
    "deadline after SUPPORTED": End(TRUE, "event SEMANTIC_GUARD_DECISION"),
    "deadline after UNSUPPORTED": End(TRUE, "event SEMANTIC_GUARD_DECISION", judge=lambda: ScriptedJudge(NO)),
    "deadline where nothing is concluded": End(OPEN, "event EVIDENCE_GUARD_INITIAL"),
    "budget in repair": End(FALSE, "", narrow=(("llm_calls", 2),), unheard=TraceName.EVIDENCE_GUARD_RECHECK),
    "budget in the judge": End(
        TRUE, "", narrow=(("llm_calls", 2),), unheard=TraceName.SEMANTIC_GUARD_DECISION
    ),
    "budget in the judge after a repair": End(
        FALSE, "", narrow=(("llm_calls", 3),), unheard=TraceName.SEMANTIC_GUARD_DECISION
    ),
    "budget spent by a SUPPORTED": End(
        TRUE,
        "",
        judge=CostlyJudge,
        narrow=(("input_tokens", 100),),
        unheard=TraceName.SEMANTIC_GUARD_DECISION,
    ),
}


@pytest.mark.parametrize("knows", [True, False], ids=["facts", "no facts"])
@pytest.mark.parametrize("name", ENDS)
def test_the_end_of_the_run_decides_and_no_guard_is_blamed(name: str, knows: bool) -> None:
    """INSUFFICIENT_EVIDENCE with facts, FAILED without; no cause, never a guard's fallback type (RL-29)."""
    planned = ENDS[name]
    run = scene(planned.draft, knows=knows, judge=planned.judge(), **dict(planned.narrow))
    if planned.place == "event STATUS":  # the one of SAFETY_VALIDATING: the first is over by step 2
        run.faults.actions = {"step 2": lambda: run.faults.actions.update({"event STATUS": run.deadline})}
    elif planned.place:
        run.faults.actions = {planned.place: run.deadline}
    end = run.run()
    state = RunState.BUDGET_EXHAUSTED if planned.narrow else RunState.TIMED_OUT
    expected = (
        (ReleaseOutcome.FALLBACK, FallbackType.INSUFFICIENT_EVIDENCE)
        if knows
        else (ReleaseOutcome.FAILED, None)
    )
    assert (run.ctx.lifecycle.state, end.outcome, end.fallback) == (state, *expected)
    assert (end.content.causes, len(end.content.claims)) == ((), int(knows))
    reason = DiagnosisStopReason.BUDGET_LIMIT_REACHED if planned.narrow else None
    assert end.stop_reason is reason
    if planned.unheard is not None:
        assert planned.unheard not in run.names()


@pytest.mark.parametrize(
    ("draft", "place"),
    [(TRUE, "event SEMANTIC_GUARD_DECISION"), (OPEN, "event EVIDENCE_GUARD_INITIAL"), (TRUE, "judge 1")],
)
def test_content_that_was_prepared_for_a_cancelled_run_is_not_published(
    draft: DiagnosisDraft, place: str
) -> None:
    """The run was over before it could be completed: the outcome follows that end (RL-30)."""
    run = scene(draft, knows=True)
    run.faults.actions = {place: run.cancel}
    end = run.run()
    assert (run.ctx.lifecycle.state, end.outcome) == (RunState.CANCELLED, ReleaseOutcome.CANCELLED)
    assert (end.content.causes, end.fallback) == ((), None)
    assert run.sink.events_named(TraceName.RELEASE_DECISION)[0].payload["outcome"] == "CANCELLED"


@pytest.mark.parametrize("where", ["the policy", "the judge"])
def test_a_bug_inside_fails_the_run_and_is_raised(where: str) -> None:
    """Run and release are FAILED, as the last event says; there is no answer (RL-21)."""
    run = scene(TRUE, knows=True, judge=ScriptedJudge(RuntimeError("a bug")))
    if where == "the policy":
        run.policy = ScriptedPolicy(RuntimeError("a bug"))
    with pytest.raises(RuntimeError, match="a bug"):
        run.run()
    finished = run.events()[-1]
    assert (finished.name, finished.payload["outcome"]) == (TraceName.RUN_FINISHED, "FAILED")
    assert (run.ctx.lifecycle.state, finished.payload["state"]) == (RunState.FAILED, "FAILED")
