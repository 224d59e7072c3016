"""One diagnosis, start to end, with a scripted policy: run state, outcome and fallback type of every end."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial

import pytest
from tests.support.whole_run import diagnose_whole_run

from diagnosis_harness.adapters.evidence_stores.memory import MemoryEvidenceStore
from diagnosis_harness.application.diagnose import DiagnoseUseCase, DiagnosisEnd
from diagnosis_harness.diagnosis.agent import DiagnosisAgent, DiagnosisTask
from diagnosis_harness.diagnosis.claim import FaultKind
from diagnosis_harness.diagnosis.collection import CollectionThresholds, DiagnosisStopReason, InformationGain
from diagnosis_harness.diagnosis.draft import Cause, DiagnosisDraft
from diagnosis_harness.diagnosis.missing import MissingInfo
from diagnosis_harness.diagnosis.policy import AskTools, GiveDraft, PolicyAnswer, PolicyView, WantedCall
from diagnosis_harness.diagnosis.progress import Assessment
from diagnosis_harness.guards.semantic_guard import SemanticCase
from diagnosis_harness.guards.verdict import Judgement, SemanticReason, SemanticVerdict
from diagnosis_harness.harness.budget import RunBudgetLimits, TokenUsage
from diagnosis_harness.harness.cancellation import CancellationReason
from diagnosis_harness.harness.context import RunContext
from diagnosis_harness.harness.core import DiagnosisHarnessCore
from diagnosis_harness.harness.keys import ToolCallKeyFactory
from diagnosis_harness.harness.termination import RunState
from diagnosis_harness.kernel.errors import FailureKind, LlmFailure, MalformedAnswer
from diagnosis_harness.llm.role import RoleBoundary
from diagnosis_harness.release.outcome import FallbackType, ReleaseOutcome
from diagnosis_harness.release.pipeline import ReleasePipeline
from diagnosis_harness.testing.clock import ManualClock
from diagnosis_harness.testing.evidence import WINDOW, cause_claim, cause_item, change_claim, change_item
from diagnosis_harness.testing.ids import CountingIds
from diagnosis_harness.testing.scripted_policy import (
    ScriptedAnswer,
    ScriptedJudge,
    ScriptedPolicy,
    ScriptedRepairer,
)
from diagnosis_harness.testing.scripted_tool import ENTITY_ARG, ScriptedTool
from diagnosis_harness.tools.access import ScopeAccess
from diagnosis_harness.tools.boundary import ToolBoundary
from diagnosis_harness.tools.spec import ToolFindings, ToolSpec
from diagnosis_harness.trace.event import TraceName
from diagnosis_harness.trace.sink import MemorySink

LIMITS = RunBudgetLimits(
    llm_calls=20,
    tool_calls=10,
    tool_calls_per_tool=10,
    input_tokens=10**6,
    output_tokens=10**6,
    total_tokens=10**6,
    run_bytes=10**6,
)
UNAVAILABLE = LlmFailure("away", kind=FailureKind.UNAVAILABLE)


def make_findings() -> ToolFindings:
    """A ranking and the change that supports it, in one record."""
    items = (cause_item(), change_item("i1", "payment"), change_item("i2", "checkout"))
    return ToolFindings(items=items, window=WINDOW, looked_at=2)


def ask(*call_ids: str, assess: tuple[Assessment, ...] = (), entity: str | None = None) -> AskTools:
    """Ask `look` once for each id."""
    arguments = {} if entity is None else {"entity": entity}
    return AskTools(tuple(WantedCall(call_id, "look", {**arguments}) for call_id in call_ids), assess)


def assess_as_gain(call_id: str = "t1") -> Assessment:
    """A gain with its fact."""
    fact = change_claim(change_item("i1", "payment"), tool_call_id=call_id, claim_id=f"f-{call_id}")
    return Assessment(call_id, InformationGain.GAINED, (fact,))


TRUTHFUL = DiagnosisDraft(
    conclusion=(Cause("payment", FaultKind.CPU, ("k0", "k1")),),
    claims=(
        cause_claim(cause_item(), tool_call_id="t1"),
        change_claim(change_item("i1", "payment"), tool_call_id="t1"),
    ),
)
FALSE = replace(TRUTHFUL, claims=(TRUTHFUL.claims[0], replace(TRUTHFUL.claims[1], value=9.0)))
OPEN = replace(TRUTHFUL, conclusion=(), claims=())


def give(draft: DiagnosisDraft | None, *assess: Assessment) -> GiveDraft:
    """End with a draft."""
    return GiveDraft(draft, assess or (assess_as_gain(),))


@dataclass
class House:
    """One run of the whole use case."""

    answers: tuple[ScriptedAnswer, ...]
    tool: ScriptedTool = field(
        default_factory=lambda: ScriptedTool(make_findings, ToolSpec("look", "Looks.", (ENTITY_ARG,)))
    )
    limits: RunBudgetLimits = LIMITS
    judge: ScriptedJudge = field(default_factory=ScriptedJudge)
    repairer: ScriptedRepairer = field(default_factory=lambda: ScriptedRepairer(lambda draft: draft))
    thresholds: CollectionThresholds = field(default_factory=lambda: CollectionThresholds(2, 2))

    def __post_init__(self) -> None:
        self.clock, self.sink = ManualClock(), MemorySink()
        self.core = DiagnosisHarnessCore(clock=self.clock, ids=CountingIds(), sink=self.sink)
        self.ctx = self.core.start_run(session_id="s1", timeout_s=60, limits=self.limits)
        self.policy = ScriptedPolicy(*self.answers)

    def agent(self, ctx: RunContext) -> DiagnosisAgent:
        """The agent of a run."""
        boundary = ToolBoundary(
            self.core,
            tools=[self.tool],
            store=MemoryEvidenceStore(),
            access=ScopeAccess({"local": frozenset({"*"})}),
            keys=ToolCallKeyFactory("evidence"),
        )
        return DiagnosisAgent(self.core, policy=self.policy, boundary=boundary, thresholds=self.thresholds)

    def run(self) -> DiagnosisEnd:
        """Diagnose, in an event loop of its own."""
        pipeline = ReleasePipeline(self.core, RoleBoundary(self.core), self.repairer, self.judge)
        use_case = DiagnoseUseCase(self.core, agent_for=self.agent, pipeline=pipeline)
        return asyncio.run(diagnose_whole_run(self.core, self.ctx, use_case, DiagnosisTask("why?")))

    def names(self) -> list[TraceName]:
        """The trace, by name."""
        return [event.name for event in self.sink.events()]


def is_end(
    house: House, state: RunState, outcome: ReleaseOutcome, fallback: FallbackType | None = None
) -> DiagnosisEnd:
    """Run, and check all three of the table's columns."""
    end = house.run()
    assert (house.ctx.lifecycle.state, end.outcome, end.fallback) == (state, outcome, fallback)
    assert bool(end.content.causes) == (outcome is ReleaseOutcome.SUCCESS)
    assert house.names().count(TraceName.RUN_FINISHED) == 1
    assert house.names()[-1] is TraceName.RUN_FINISHED
    return end


def test_a_supported_conclusion_is_released() -> None:
    """SUCCESS / SUCCESS, with the seed's order of events and one judge's look."""
    house = House((ask("t1"), give(TRUTHFUL)))
    end = is_end(house, RunState.SUCCESS, ReleaseOutcome.SUCCESS)
    assert [cause.entity for cause in end.content.causes] == ["payment"]
    order = [name for name in house.names() if name in ORDER]
    assert order == list(ORDER)
    assert (house.repairer.calls, len(house.judge.cases)) == (0, 1)


ORDER = (
    TraceName.RUN_STARTED,
    TraceName.EVIDENCE_GUARD_INITIAL,
    TraceName.SEMANTIC_GUARD_ATTEMPT,
    TraceName.SEMANTIC_GUARD_DECISION,
    TraceName.RELEASE_DECISION,
    TraceName.RUN_FINISHED,
)


def test_a_false_number_that_no_repair_fixes_is_not_released() -> None:
    """EVIDENCE_VALIDATION_FAILED after exactly one repair; the judge is not asked; true facts are shown."""
    house = House((ask("t1"), give(FALSE)))
    end = is_end(house, RunState.SUCCESS, ReleaseOutcome.FALLBACK, FallbackType.EVIDENCE_VALIDATION_FAILED)
    assert (house.repairer.calls, len(house.judge.cases)) == (1, 0)
    assert all(claim.value != 9.0 for claim in end.content.claims)


def test_a_repair_that_drops_the_false_claim_may_be_released() -> None:
    """The recheck sees what is left, and what is left is true and enough."""
    extra = replace(
        TRUTHFUL, claims=(*TRUTHFUL.claims, replace(TRUTHFUL.claims[1], claim_id="k2", value=9.0))
    )
    repairer = ScriptedRepairer(lambda draft: replace(draft, claims=draft.claims[:2]))
    house = House((ask("t1"), give(extra)), repairer=repairer)
    end = is_end(house, RunState.SUCCESS, ReleaseOutcome.SUCCESS)
    assert [claim.value for claim in end.content.claims] == [None, TRUTHFUL.claims[1].value]


def test_a_repair_may_not_change_a_number() -> None:
    """A repairer that writes the true number in is not believed: the claim is dropped instead."""
    repairer = ScriptedRepairer(lambda _: TRUTHFUL)
    house = House((ask("t1"), give(FALSE)), repairer=repairer)
    is_end(house, RunState.SUCCESS, ReleaseOutcome.FALLBACK, FallbackType.EVIDENCE_VALIDATION_FAILED)


def test_a_repair_that_fails_counts_as_still_invalid() -> None:
    """One attempt, no second one."""
    repairer = ScriptedRepairer(UNAVAILABLE)
    house = House((ask("t1"), give(FALSE)), repairer=repairer)
    is_end(house, RunState.SUCCESS, ReleaseOutcome.FALLBACK, FallbackType.EVIDENCE_VALIDATION_FAILED)
    assert repairer.calls == 1


def test_an_unsupported_conclusion_is_not_released() -> None:
    """SEMANTIC_UNSUPPORTED, with the facts that stand."""
    no = Judgement(SemanticVerdict.UNSUPPORTED, (SemanticReason.WEAK,))
    house = House((ask("t1"), give(TRUTHFUL)), judge=ScriptedJudge(no))
    end = is_end(house, RunState.SUCCESS, ReleaseOutcome.FALLBACK, FallbackType.SEMANTIC_UNSUPPORTED)
    assert end.content.claims


def test_a_judge_that_is_unavailable_twice_means_no_release() -> None:
    """Two attempts on a listed failure, then SEMANTIC_UNAVAILABLE."""
    house = House((ask("t1"), give(TRUTHFUL)), judge=ScriptedJudge(UNAVAILABLE))
    is_end(house, RunState.SUCCESS, ReleaseOutcome.FALLBACK, FallbackType.SEMANTIC_UNAVAILABLE)
    assert len(house.judge.cases) == 2


def test_a_judge_that_comes_back_is_believed() -> None:
    """One failed and one successful attempt."""
    judge = ScriptedJudge(UNAVAILABLE, Judgement(SemanticVerdict.SUPPORTED))
    is_end(House((ask("t1"), give(TRUTHFUL)), judge=judge), RunState.SUCCESS, ReleaseOutcome.SUCCESS)


def test_no_conclusion_with_facts_is_insufficient_evidence() -> None:
    """What was verified is shown; no guard beyond the references is asked."""
    house = House((ask("t1"), give(OPEN)))
    end = is_end(house, RunState.SUCCESS, ReleaseOutcome.FALLBACK, FallbackType.INSUFFICIENT_EVIDENCE)
    assert [claim.entity for claim in end.content.claims] == ["payment"]
    assert (house.repairer.calls, len(house.judge.cases)) == (0, 0)


def test_missing_context_without_a_single_tool_is_a_legal_end() -> None:
    """MISSING_REQUIRED_CONTEXT names what was missing."""
    draft = replace(OPEN, missing_info=(MissingInfo.TIME,))
    house = House((GiveDraft(draft),))
    end = is_end(house, RunState.SUCCESS, ReleaseOutcome.FALLBACK, FallbackType.MISSING_REQUIRED_CONTEXT)
    assert end.content.missing_info == (MissingInfo.TIME,)


def test_a_draft_that_says_nothing_at_all_fails() -> None:
    """No conclusion, no fact, nothing missing."""
    is_end(House((GiveDraft(OPEN),)), RunState.FAILED, ReleaseOutcome.FAILED)


@pytest.mark.parametrize(
    "last",
    [GiveDraft(None, (assess_as_gain(),)), AskTools((), (assess_as_gain(),)), MalformedAnswer("no JSON")],
)
def test_an_illegal_draft_leaves_the_facts(last: PolicyAnswer | Exception) -> None:
    """The draft is discarded; verified facts make an INSUFFICIENT_EVIDENCE fallback."""
    answers: tuple[ScriptedAnswer, ...] = (ask("t1"), ask("t2", assess=(assess_as_gain(),), entity="x"), last)
    if not isinstance(last, Exception):
        answers = (answers[0], last)
    end = is_end(
        House(answers), RunState.SUCCESS, ReleaseOutcome.FALLBACK, FallbackType.INSUFFICIENT_EVIDENCE
    )
    assert end.content.claims


def test_an_illegal_draft_without_facts_fails() -> None:
    """Nothing verified, nothing to show."""
    is_end(House((MalformedAnswer("no JSON"),)), RunState.FAILED, ReleaseOutcome.FAILED)


def test_a_failing_llm_is_asked_once_and_fails_the_run_even_with_facts() -> None:
    """One attempt for the agent; its facts stay readable as evidence."""
    house = House((ask("t1"), ask("t2", assess=(assess_as_gain(),), entity="x"), UNAVAILABLE))
    end = is_end(house, RunState.FAILED, ReleaseOutcome.FAILED)
    assert (len(house.policy.views), len(end.snapshot.records)) == (3, 2)


def test_saturation_delivers_stop_once_and_a_draft_may_still_come() -> None:
    """The view after the threshold says stop; the draft is then released like any other."""
    no_gain = Assessment("t1", InformationGain.NO_GAIN)
    answers: tuple[ScriptedAnswer, ...] = (
        ask("t1"),
        ask("t2", assess=(no_gain,)),  # an exact repeat: the second NO_GAIN
        GiveDraft(TRUTHFUL),
    )
    house = House(answers)
    end = is_end(house, RunState.SUCCESS, ReleaseOutcome.SUCCESS)
    assert [view.stop_required for view in house.policy.views] == [False, False, True]
    assert end.stop_reason is DiagnosisStopReason.INFORMATION_SATURATED
    assert house.names().count(TraceName.COLLECTION_STOP) == 1


def endless(view: PolicyView) -> PolicyAnswer:
    """Ask the same for ever, and assess nothing as a gain."""
    due = tuple(Assessment(call_id, InformationGain.NO_GAIN) for call_id in sorted(view.due))
    return ask(f"t{len(view.records) + len(view.refused) + 1}", assess=due)


def test_a_tool_request_after_stop_is_a_controlled_stop() -> None:
    """Endless identical calls end by themselves, without facts as FAILED, and no tool runs after the stop."""
    house = House((endless,))
    end = is_end(house, RunState.FAILED, ReleaseOutcome.FAILED)
    assert end.stop_reason is DiagnosisStopReason.INFORMATION_SATURATED
    assert len(house.tool.runs) == 2


def test_a_controlled_stop_with_facts_is_insufficient_evidence() -> None:
    """A gain first, then nothing new."""

    def wanders(view: PolicyView) -> PolicyAnswer:
        due = tuple(
            assess_as_gain(call_id) if call_id == "t1" else Assessment(call_id, InformationGain.NO_GAIN)
            for call_id in sorted(view.due)
        )
        return ask(f"t{len(view.records) + 1}", assess=due)

    is_end(House((wanders,)), RunState.SUCCESS, ReleaseOutcome.FALLBACK, FallbackType.INSUFFICIENT_EVIDENCE)


def test_a_policy_that_never_assesses_is_stopped() -> None:
    """Two answers without the assessment that was due: PROGRESS_PROTOCOL_VIOLATED."""

    def careless(view: PolicyView) -> PolicyAnswer:
        number = len(view.records) + len(view.refused) + 1
        return ask(f"t{number}", entity=f"e{number}")

    end = is_end(House((careless,)), RunState.FAILED, ReleaseOutcome.FAILED)
    assert end.stop_reason is DiagnosisStopReason.PROGRESS_PROTOCOL_VIOLATED


@pytest.mark.parametrize(
    ("first", "outcome", "fallback"),
    [
        (assess_as_gain(), ReleaseOutcome.FALLBACK, FallbackType.INSUFFICIENT_EVIDENCE),
        (Assessment("t1", InformationGain.NO_GAIN), ReleaseOutcome.FAILED, None),
    ],
)
def test_a_spent_budget_keeps_what_was_verified(
    first: Assessment, outcome: ReleaseOutcome, fallback: FallbackType | None
) -> None:
    """BUDGET_EXHAUSTED stays; with facts it releases them, without it fails."""
    house = House(
        (ask("t1"), ask("t2", "t3", assess=(first,), entity="x")), limits=replace(LIMITS, tool_calls=2)
    )
    end = is_end(house, RunState.BUDGET_EXHAUSTED, outcome, fallback)
    assert end.stop_reason is DiagnosisStopReason.BUDGET_LIMIT_REACHED
    assert len(end.snapshot.records) == 2


def ending(how: Callable[[], object], answer: PolicyAnswer) -> ScriptedAnswer:
    """An answer during which something happens to the run."""

    def act(view: PolicyView) -> PolicyAnswer:
        del view
        how()
        return answer

    return act


@pytest.mark.parametrize(
    ("first", "outcome", "fallback"),
    [
        (assess_as_gain(), ReleaseOutcome.FALLBACK, FallbackType.INSUFFICIENT_EVIDENCE),
        (Assessment("t1", InformationGain.NO_GAIN), ReleaseOutcome.FAILED, None),
    ],
)
def test_the_deadline_keeps_what_was_verified(
    first: Assessment, outcome: ReleaseOutcome, fallback: FallbackType | None
) -> None:
    """TIMED_OUT stays, the stop reason is null, and the answer that came at the deadline is discarded."""
    house = House((ask("t1"), ask("t2", assess=(first,), entity="x"), GiveDraft(TRUTHFUL)))
    late = ending(lambda: house.clock.advance(60), GiveDraft(TRUTHFUL))
    house.policy = ScriptedPolicy(*house.answers[:2], late)
    end = is_end(house, RunState.TIMED_OUT, outcome, fallback)
    assert end.stop_reason is None


def test_a_cancelled_run_publishes_no_conclusion() -> None:
    """CANCELLED / CANCELLED, whatever the answer would have been."""
    house = House((ask("t1"),))
    cancel = partial(house.core.cancel, house.ctx, CancellationReason.USER_REQUESTED)
    house.policy = ScriptedPolicy(*house.answers, ending(cancel, GiveDraft(TRUTHFUL)))
    is_end(house, RunState.CANCELLED, ReleaseOutcome.CANCELLED)


def test_a_deadline_inside_the_judge_is_never_called_unavailable() -> None:
    """Facts decide, even though the last reply said SUPPORTED."""
    house = House((ask("t1"), give(TRUTHFUL)))

    class LateJudge(ScriptedJudge):
        async def judge(self, ctx: RunContext, case: SemanticCase) -> tuple[Judgement, TokenUsage]:
            house.clock.advance(60)
            return await super().judge(ctx, case)

    house.judge = LateJudge()
    is_end(house, RunState.TIMED_OUT, ReleaseOutcome.FALLBACK, FallbackType.INSUFFICIENT_EVIDENCE)


def test_a_bug_in_a_player_fails_the_run_and_is_raised() -> None:
    """No answer is made of it; the run is FAILED and finished."""
    house = House((RuntimeError("a bug"),))
    with pytest.raises(RuntimeError, match="a bug"):
        house.run()
    assert house.ctx.lifecycle.state is RunState.FAILED
    assert house.names()[-1] is TraceName.RUN_FINISHED
