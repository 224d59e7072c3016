"""The loop by itself: what it does with answers, and the typed ends that are no stop reasons."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field

import pytest
from tests.support.scene import Scene

from diagnosis_harness.adapters.evidence_stores.memory import MemoryEvidenceStore
from diagnosis_harness.diagnosis.collection import CollectionState, CollectionThresholds, DiagnosisStopReason
from diagnosis_harness.diagnosis.collection import InformationGain as Gain
from diagnosis_harness.diagnosis.draft import DiagnosisDraft
from diagnosis_harness.diagnosis.execution import DiagnosisAgentExecution
from diagnosis_harness.diagnosis.policy import AskTools, GiveDraft, PolicyView, WantedCall
from diagnosis_harness.diagnosis.progress import Assessment, ProgressSnapshot
from diagnosis_harness.harness.budget import RunBudgetLimits
from diagnosis_harness.harness.termination import RunState
from diagnosis_harness.kernel.errors import (
    AgentAborted,
    AgentStopped,
    EmptyDraft,
    FailureKind,
    LlmFailure,
    MalformedAnswer,
    MalformedDraft,
    PolicyFailed,
    ToolFailure,
)
from diagnosis_harness.kernel.json_value import JsonValue
from diagnosis_harness.testing.evidence import change_claim
from diagnosis_harness.testing.runs import AMPLE, limits
from diagnosis_harness.testing.scripted_policy import ScriptedAnswer, ScriptedPolicy
from diagnosis_harness.testing.scripted_tool import ENTITY_ARG, ScriptedTool, no_findings, some_findings
from diagnosis_harness.tools.spec import Parameter, ParameterKind, ToolFindings, ToolSpec
from diagnosis_harness.trace.event import TraceName

DRAFT = DiagnosisDraft(conclusion=(), claims=())
SPEC = ToolSpec(
    "look",
    "Looks.",
    (
        ENTITY_ARG,
        Parameter("since", ParameterKind.INSTANT, "From."),
        Parameter("names", ParameterKind.NAMES, "Whom."),
    ),
)


@dataclass
class Loop:
    """One run of the loop alone, with one tool."""

    answers: tuple[ScriptedAnswer, ...]
    tool: ScriptedTool = field(default_factory=lambda: ScriptedTool(some_findings, SPEC))
    limits: RunBudgetLimits = AMPLE
    thresholds: CollectionThresholds = field(default_factory=lambda: CollectionThresholds(2, 2))

    def __post_init__(self) -> None:
        self.policy = ScriptedPolicy(*self.answers)
        self.scene = Scene(
            policy=self.policy,
            store=MemoryEvidenceStore(),
            tools=[self.tool],
            limits=self.limits,
            thresholds=self.thresholds,
        )

    def run(self) -> DiagnosisAgentExecution:
        """How the loop ends."""
        try:
            return asyncio.run(self.scene.play_loop())
        finally:
            self.scene.close()


def ask(call_id: str, *assess: Assessment, **arguments: JsonValue) -> AskTools:
    """One call."""
    return AskTools((WantedCall(call_id, "look", arguments),), assess)


def assess_as_gain(call_id: str) -> Assessment:
    """A gain with its fact."""
    return Assessment(call_id, Gain.GAINED, (change_claim(tool_call_id=call_id, claim_id=f"f-{call_id}"),))


# ------------------------------------------------------------------ typed ends


@pytest.mark.parametrize(
    ("last", "error"),
    [
        (GiveDraft(None, (assess_as_gain("t1"),)), EmptyDraft),
        (AskTools((), (assess_as_gain("t1"),)), EmptyDraft),
        (MalformedAnswer("the answer is not JSON"), MalformedDraft),
        (LlmFailure("away", kind=FailureKind.UNAVAILABLE), PolicyFailed),
        (LlmFailure("bad", kind=FailureKind.INVALID_OUTPUT), PolicyFailed),
    ],
)
def test_an_end_without_a_legal_draft_is_a_typed_exception(
    last: ScriptedAnswer, error: type[AgentStopped]
) -> None:
    """It carries what was learnt, has no stop reason, and the policy is asked no second time."""
    loop = Loop((ask("t1"), last))
    with pytest.raises(error) as caught:
        loop.run()
    snapshot = caught.value.snapshot
    assert isinstance(snapshot, ProgressSnapshot)
    assert (len(snapshot.records), snapshot.stop_reason, len(loop.policy.views)) == (1, None, 2)
    assert TraceName.COLLECTION_STOP not in loop.scene.names()


@pytest.mark.parametrize(("how", "state"), [("cancel", RunState.CANCELLED), ("deadline", RunState.TIMED_OUT)])
def test_cancel_and_deadline_are_aborts_without_a_stop_reason(how: str, state: RunState) -> None:
    """AgentAborted with the snapshot; the draft that came with it is discarded."""
    loop = Loop((ask("t1"), ask("t2", assess_as_gain("t1"), entity="cart"), GiveDraft(DRAFT)))
    loop.scene.faults.actions = {"step 3": getattr(loop.scene, how)}
    with pytest.raises(AgentAborted) as caught:
        loop.run()
    snapshot = caught.value.snapshot
    assert isinstance(snapshot, ProgressSnapshot)
    assert (caught.value.aborted.state, loop.scene.ctx.lifecycle.state) == (state, state)
    assert (len(snapshot.facts), snapshot.stop_reason) == (1, None)


@pytest.mark.parametrize("narrow", [{"llm_calls": 2}, {"tool_calls": 2}, {"tool_calls_per_tool": 2}])
def test_a_spent_budget_is_a_controlled_stop_and_does_not_saturate(narrow: dict[str, int]) -> None:
    """BUDGET_LIMIT_REACHED and BUDGET_EXHAUSTED; collecting is no more SATURATED than it was."""
    loop = Loop(
        (ask("t1"), ask("t2", assess_as_gain("t1"), entity="cart"), ask("t3")), limits=limits(**narrow)
    )
    execution = loop.run()
    assert (execution.draft, execution.stop_reason) == (None, DiagnosisStopReason.BUDGET_LIMIT_REACHED)
    assert execution.snapshot.collection is CollectionState.COLLECTING
    assert loop.scene.ctx.lifecycle.state is RunState.BUDGET_EXHAUSTED


def test_a_budget_spent_after_saturation_leaves_it_saturated() -> None:
    """SATURATED is final; the reason is the one that ended the run."""
    loop = Loop((ask("t1"), ask("t2", Assessment("t1", Gain.NO_GAIN))), limits=limits(llm_calls=2))
    execution = loop.run()
    assert execution.stop_reason is DiagnosisStopReason.BUDGET_LIMIT_REACHED
    assert execution.snapshot.collection is CollectionState.SATURATED


# ------------------------------------------------------------------ collecting and stopping


def test_an_exact_repeat_is_run_charged_and_recorded_and_then_no_gain() -> None:
    """Nothing is answered from memory; the policy has no say in what it is worth."""
    loop = Loop((ask("t1"), ask("t2", assess_as_gain("t1")), GiveDraft(DRAFT)))
    snapshot = loop.run().snapshot
    assert (len(loop.tool.runs), loop.scene.ctx.budget.usage().tool_calls, len(snapshot.records)) == (2, 2, 2)
    assert (snapshot.no_gain, loop.policy.views[-1].due) == (1, frozenset())


@pytest.mark.parametrize(
    "again",
    [
        {"since": "2023-11-14T23:13:20+01:00", "names": ["b", "a"]},
        {"since": 1_700_000_000, "names": ["a", "b", "a"]},
        {"names": ["a", "b"], "since": 1_700_000_000.0, "entity": None},
    ],
)
def test_a_repeat_is_known_however_it_is_written(again: dict[str, JsonValue]) -> None:
    """Order, spelling of an instant, doubles and nulls do not make another question."""
    first: dict[str, JsonValue] = {"since": "2023-11-14T22:13:20Z", "names": ["a", "b"]}
    loop = Loop((ask("t1", **first), ask("t2", assess_as_gain("t1"), **again), GiveDraft(DRAFT)))
    assert loop.run().snapshot.no_gain == 1


def test_another_window_is_another_question() -> None:
    """A second later is not the same."""
    later = ask("t2", assess_as_gain("t1"), since="2023-11-14T22:13:21Z")
    loop = Loop((ask("t1", since="2023-11-14T22:13:20Z"), later, GiveDraft(DRAFT, (assess_as_gain("t2"),))))
    assert loop.run().snapshot.no_gain == 0


def test_a_failed_call_may_be_asked_again() -> None:
    """After ERROR the same request is no repeat, and what it then finds is due."""
    failures = iter([True, False])

    def once() -> ToolFindings:
        if next(failures):
            raise ToolFailure("away")
        return some_findings()

    loop = Loop(
        (ask("t1"), ask("t2"), GiveDraft(DRAFT, (assess_as_gain("t2"),))), tool=ScriptedTool(once, SPEC)
    )
    assert loop.run().snapshot.no_gain == 0
    assert loop.policy.views[-1].due == {"t2"}


def test_no_evidence_saturates_whatever_the_policy_says() -> None:
    """It may call an empty result a gain: that is a violation, and the count is unchanged."""
    says_gain = Assessment("t1", Gain.GAINED, (change_claim(tool_call_id="t1"),))
    loop = Loop(
        (ask("t1"), ask("t2", says_gain, entity="cart"), GiveDraft(DRAFT)),
        tool=ScriptedTool(no_findings, SPEC),
    )
    snapshot = loop.run().snapshot
    assert (snapshot.no_gain, snapshot.violations, snapshot.facts) == (2, 1, ())
    assert snapshot.stop_reason is DiagnosisStopReason.INFORMATION_SATURATED


def test_a_draft_after_saturation_is_completed_without_a_stop_reason() -> None:
    """The one chance that is left; the snapshot and the trace keep why collecting stopped."""
    loop = Loop((ask("t1"), ask("t2", Assessment("t1", Gain.NO_GAIN)), GiveDraft(DRAFT)))
    execution = loop.run()
    assert (execution.draft, execution.stop_reason) == (DRAFT, None)
    assert execution.snapshot.stop_reason is DiagnosisStopReason.INFORMATION_SATURATED
    (stop,) = (event for event in loop.scene.events() if event.name is TraceName.COLLECTION_STOP)
    assert stop.payload["reason"] == "INFORMATION_SATURATED"


def test_stop_is_delivered_once_and_a_request_after_it_is_the_controlled_stop() -> None:
    """The request that comes with the last assessment is refused and reported; only the next one stops."""
    answers = (
        ask("t1"),
        ask("t2", Assessment("t1", Gain.NO_GAIN), entity="cart"),
        ask("t3", Assessment("t2", Gain.NO_GAIN), entity="mail"),
        ask("t4"),
    )
    loop = Loop(answers)
    execution = loop.run()
    assert execution.stop_reason is DiagnosisStopReason.INFORMATION_SATURATED
    assert [view.stop_required for view in loop.policy.views] == [False, False, False, True]
    assert [refused.code for refused in loop.policy.views[-1].refused] == ["STOP_REQUIRED"]
    assert (len(loop.tool.runs), execution.snapshot.stop_required) == (2, True)


def test_violations_saturate_as_well() -> None:
    """Two results in a row without an assessment."""

    def careless(view: PolicyView) -> AskTools:
        number = len(view.records) + len(view.refused) + 1
        return ask(f"t{number}", entity=f"e{number}")

    loop = Loop((careless,))
    execution = loop.run()
    assert execution.stop_reason is DiagnosisStopReason.PROGRESS_PROTOCOL_VIOLATED
    assert execution.snapshot.collection is CollectionState.SATURATED
    assert execution.snapshot.facts == ()
