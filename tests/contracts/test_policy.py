"""Every policy keeps the one contract; a policy that breaks it is caught."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace

import pytest
from tests.support.policy_contract import CHECKS, Check, MakePolicy
from tests.support.wire_policy import OverTheWire

from diagnosis_harness.adapters.evidence_stores.memory import MemoryEvidenceStore
from diagnosis_harness.diagnosis.agent import DiagnosisAgent, DiagnosisTask
from diagnosis_harness.diagnosis.collection import InformationGain
from diagnosis_harness.diagnosis.draft import DiagnosisDraft
from diagnosis_harness.diagnosis.missing import MissingInfo
from diagnosis_harness.diagnosis.policy import AskTools, GiveDraft, PolicyAnswer, PolicyView, WantedCall
from diagnosis_harness.diagnosis.progress import Assessment
from diagnosis_harness.harness.cancellation import CancellationReason
from diagnosis_harness.harness.keys import ToolCallKeyFactory
from diagnosis_harness.kernel.errors import (
    AgentAborted,
    FailureKind,
    LlmFailure,
    MalformedAnswer,
    MalformedDraft,
    PolicyFailed,
)
from diagnosis_harness.players.embedded.analyst import EmbeddedAnalyst
from diagnosis_harness.testing.evidence import change_claim
from diagnosis_harness.testing.runs import Rig
from diagnosis_harness.testing.scripted_policy import ScriptedPolicy
from diagnosis_harness.tools.access import ScopeAccess
from diagnosis_harness.tools.boundary import ToolBoundary


def _assess_as_useless(view: PolicyView) -> tuple[Assessment, ...]:
    """Nothing of what is due helped."""
    return tuple(Assessment(due, InformationGain.NO_GAIN) for due in sorted(view.due))


def _modest(view: PolicyView) -> PolicyAnswer:
    """Ask for the first tool until it may not, then say that a source is missing."""
    if view.stop_required or not view.tools or view.records:
        return GiveDraft(DiagnosisDraft((), (), missing_info=(MissingInfo.SOURCE,)), _assess_as_useless(view))
    return AskTools((WantedCall("call-1", view.tools[0].name, {}),), _assess_as_useless(view))


POLICIES: dict[str, MakePolicy] = {
    "embedded": EmbeddedAnalyst,
    "embedded over the wire": lambda: OverTheWire(EmbeddedAnalyst()),
    "scripted": lambda: ScriptedPolicy(_modest),
    "failing": lambda: ScriptedPolicy(LlmFailure("away", kind=FailureKind.UNAVAILABLE)),
    "malformed": lambda: ScriptedPolicy(MalformedAnswer("no JSON")),
}
each_policy = pytest.mark.parametrize("make", POLICIES.values(), ids=POLICIES)


@each_policy
@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
def test_a_policy_keeps_the_contract(check: Check, make: MakePolicy) -> None:
    """One check against one policy."""
    check(make)


def _always(change: Callable[[PolicyView, PolicyAnswer], PolicyAnswer]) -> MakePolicy:
    """A modest policy whose every answer is changed."""
    return lambda: ScriptedPolicy(lambda view: change(view, _modest(view)))


def _counting() -> MakePolicy:
    """A policy that remembers how often any policy was asked."""
    asked: list[PolicyView] = []

    def answer(view: PolicyView) -> PolicyAnswer:
        asked.append(view)
        return _modest(view) if len(asked) % 2 else GiveDraft(None, _assess_as_useless(view))

    return lambda: ScriptedPolicy(answer)


BROKEN: dict[str, MakePolicy] = {
    "raises an untyped error": lambda: ScriptedPolicy(KeyError("checkout")),
    "gives no answer": _always(lambda view, answer: None),  # type: ignore[arg-type,return-value]  # what it must not
    "never stops asking": _always(
        lambda view, _: AskTools((WantedCall("x", "own_tool", {}),), _assess_as_useless(view))
    ),
    "asks for an unknown tool": _always(
        lambda view, _: AskTools((WantedCall("x", "rm", {}),), _assess_as_useless(view))
    ),
    "uses an id again": _always(
        lambda view, answer: (
            answer
            if view.stop_required or not view.tools
            else AskTools((WantedCall("t1", view.tools[0].name, {}),), _assess_as_useless(view))
        )
    ),
    "asks for nothing": _always(
        lambda view, answer: answer if view.stop_required else AskTools((), _assess_as_useless(view))
    ),
    "assesses nothing": _always(lambda _, answer: replace(answer, assessments=())),
    "cites what is not there": _always(
        lambda view, _: GiveDraft(
            DiagnosisDraft((), (change_claim(tool_call_id="t99"),)), _assess_as_useless(view)
        )
    ),
    "says too much": _always(
        lambda view, _: GiveDraft(
            DiagnosisDraft((), (), missing_names=("x" * 3_000,)), _assess_as_useless(view)
        )
    ),
    "answers by what came before": _counting(),
}


@pytest.mark.parametrize("make", BROKEN.values(), ids=BROKEN)
def test_a_policy_that_breaks_the_contract_is_caught(make: MakePolicy) -> None:
    """One check or another objects to each of the usual faults."""

    def objects(check: Check) -> bool:
        try:
            check(make)
        except (AssertionError, MalformedAnswer, KeyError, AttributeError, TypeError):
            return True
        return False

    assert any(objects(check) for check in CHECKS)


def _agent(rig: Rig, make: MakePolicy) -> DiagnosisAgent:
    boundary = ToolBoundary(
        rig.core,
        tools=(),
        store=MemoryEvidenceStore(),
        access=ScopeAccess({}),
        keys=ToolCallKeyFactory("evidence"),
    )
    return DiagnosisAgent(rig.core, policy=make(), boundary=boundary)


@pytest.mark.parametrize("name", ["embedded", "scripted"])
def test_a_step_costs_one_llm_call_whichever_policy_decides(name: str) -> None:
    """The budget means the same with and without a language model."""
    rig = Rig()
    ctx = rig.run()

    asyncio.run(_agent(rig, POLICIES[name]).diagnose(ctx, DiagnosisTask("why?")))

    assert ctx.budget.usage().llm_calls == 1


@each_policy
def test_a_cancelled_run_asks_no_policy(make: MakePolicy) -> None:
    """The run's end is no failure of the policy, and nothing is charged."""
    rig = Rig()
    ctx = rig.run()
    rig.core.cancel(ctx, CancellationReason.USER_REQUESTED)

    with pytest.raises(AgentAborted):
        asyncio.run(_agent(rig, make).diagnose(ctx, DiagnosisTask("why?")))

    assert ctx.budget.usage().llm_calls == 0


@pytest.mark.parametrize(("name", "failure"), [("failing", PolicyFailed), ("malformed", MalformedDraft)])
def test_a_typed_failure_of_a_policy_ends_the_loop(name: str, failure: type[Exception]) -> None:
    """Nobody else answers in its place, and it is not asked again."""
    rig = Rig()
    ctx = rig.run()

    with pytest.raises(failure):
        asyncio.run(_agent(rig, POLICIES[name]).diagnose(ctx, DiagnosisTask("why?")))

    assert ctx.budget.usage().llm_calls == 1
