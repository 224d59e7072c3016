"""Policies that misbehave in every way, in JSON: each ends in its typed end, and nothing of it leaves."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from tests.support.scene import Scene
from tests.support.wire_policy import WirePolicy

from diagnosis_harness.adapters.evidence_stores.memory import MemoryEvidenceStore
from diagnosis_harness.application.diagnose import DiagnosisEnd
from diagnosis_harness.diagnosis.collection import DiagnosisStopReason
from diagnosis_harness.harness.termination import RunState
from diagnosis_harness.release.decision import WorkEnd
from diagnosis_harness.release.outcome import FallbackType, ReleaseOutcome
from diagnosis_harness.testing.evidence import WINDOW, change_item
from diagnosis_harness.testing.scripted_tool import ENTITY_ARG, ScriptedTool
from diagnosis_harness.tools.spec import ToolFindings, ToolSpec
from diagnosis_harness.trace.event import TraceName

SATURATED = DiagnosisStopReason.INFORMATION_SATURATED
VIOLATED = DiagnosisStopReason.PROGRESS_PROTOCOL_VIOLATED
Json = dict[str, Any]
Policy = Callable[[Json], Json | str]


def make_findings() -> ToolFindings:
    """One change of payment."""
    return ToolFindings((change_item("i1", "payment"),), WINDOW, 1)


def play_run(policy: Policy) -> tuple[Scene, DiagnosisEnd, ScriptedTool]:
    """The run with a policy that sees JSON and says JSON, or text."""

    def says(seen: str) -> str:
        answer = policy(json.loads(seen))
        return answer if isinstance(answer, str) else json.dumps(answer)

    tool = ScriptedTool(make_findings, ToolSpec("look", "Looks.", (ENTITY_ARG,)))
    scene = Scene(policy=WirePolicy(says), store=MemoryEvidenceStore(), tools=[tool])
    return scene, scene.run(), tool


def look(seen: Json, *assess: Json, entity: str | None = None) -> Json:
    """The next call, about another entity each time unless one is named."""
    number = len(seen["records"]) + len(seen["refused"]) + 1
    call = {"tool_call_id": f"t{number}", "tool": "look", "arguments": {"entity": entity or f"e{number}"}}
    return {"calls": [call], "assessments": list(assess)}


def fact(call_id: str, **bent: object) -> Json:
    """What the one item says."""
    claim = {"claim_id": f"f-{call_id}", "predicate": "CHANGED", "entity": "payment", "signal": "latency_p90",
             "value": 3.204, "unit": "s", "refs": [{"tool_call_id": call_id, "item_id": "i1"}]}  # fmt: skip
    return {**claim, **bent}


def assess_as_gain(call_id: str, *facts: Json) -> Json:
    """A gain with its facts."""
    return {"tool_call_id": call_id, "gain": "GAINED", "facts": list(facts or (fact(call_id),))}


def no_gain(call_id: str) -> Json:
    """No gain."""
    return {"tool_call_id": call_id, "gain": "NO_GAIN"}


def never_assesses(seen: Json) -> Json:
    """Look, and say nothing of what was found."""
    return look(seen)


def assesses_what_it_never_asked(seen: Json) -> Json:
    """An assessment of a call that was never made."""
    return look(seen, *([assess_as_gain("t99")] if seen["records"] else []))


def cites_another_run(seen: Json) -> Json:
    """Facts that rest on a call of some other run."""
    of_another = fact("call-of-another-run")
    return look(seen, *(assess_as_gain(call_id, of_another) for call_id in seen["due"]))


def calls_it_a_gain_without_facts(seen: Json) -> Json:
    """A gain that nothing shows."""
    return look(seen, *({"tool_call_id": call_id, "gain": "GAINED", "facts": []} for call_id in seen["due"]))


@pytest.mark.parametrize(
    "policy",
    [never_assesses, assesses_what_it_never_asked, cites_another_run, calls_it_a_gain_without_facts],
)
def test_a_policy_that_breaks_the_protocol_is_stopped(policy: Policy) -> None:
    """After as many violations as the threshold; none of their facts is kept, and the run fails."""
    scene, end, tool = play_run(policy)
    assert (scene.ctx.lifecycle.state, end.outcome, end.stop_reason) == (
        RunState.FAILED, ReleaseOutcome.FAILED, VIOLATED,
    )  # fmt: skip
    assert (end.failure, end.content.claims, len(tool.runs)) == (WorkEnd.PROTOCOL_STOP, (), 2)
    assert scene.names().count(TraceName.COLLECTION_STOP) == 1


def test_a_lie_among_the_facts_is_accepted_by_the_protocol_and_never_shown() -> None:
    """It cites the right item, so the protocol takes it; EvidenceGuard does not."""

    def lies_once(seen: Json) -> Json:
        lies = [assess_as_gain(call_id, fact(call_id, value=9.9)) for call_id in seen["due"]]
        return look(seen) if not seen["records"] else {"draft": None, "assessments": lies}

    scene, end, _ = play_run(lies_once)
    assert (scene.ctx.lifecycle.state, end.outcome, end.content.claims) == (
        RunState.FAILED,
        ReleaseOutcome.FAILED,
        (),
    )


@pytest.mark.parametrize("knows", [False, True], ids=["nothing", "a fact"])
def test_a_policy_that_asks_on_after_stop_is_stopped(knows: bool) -> None:
    """The next request is the controlled stop; what was verified decides what leaves."""

    def asks_on(seen: Json) -> Json:
        first = seen["due"] == ["t1"]
        assess = [assess_as_gain("t1") if first and knows else no_gain(call_id) for call_id in seen["due"]]
        return look(seen, *assess)

    scene, end, tool = play_run(asks_on)
    expected = (
        (RunState.SUCCESS, ReleaseOutcome.FALLBACK, FallbackType.INSUFFICIENT_EVIDENCE)
        if knows
        else (RunState.FAILED, ReleaseOutcome.FAILED, None)
    )
    assert (scene.ctx.lifecycle.state, end.outcome, end.fallback) == expected
    assert end.stop_reason is SATURATED
    assert len(tool.runs) == (3 if knows else 2)
    assert {event.payload["code"] for event in scene.sink.events_named(TraceName.TOOL_REQUEST_REJECTED)} == {
        "STOP_REQUIRED"
    }


def test_endless_identical_calls_end_by_themselves() -> None:
    """The first is worth a look, every other is no gain, and no tool runs after the stop."""

    def the_same_for_ever(seen: Json) -> Json:
        return look(seen, *(assess_as_gain(call_id) for call_id in seen["due"]), entity="payment")

    scene, end, tool = play_run(the_same_for_ever)
    assert (end.outcome, end.fallback, end.stop_reason) == (
        ReleaseOutcome.FALLBACK, FallbackType.INSUFFICIENT_EVIDENCE, SATURATED,
    )  # fmt: skip
    assert (len(tool.runs), scene.ctx.budget.usage().llm_calls) == (3, 4)


TEN_MEGABYTES = json.dumps({"draft": {"conclusion": [], "claims": [fact("t1", wording="x" * 10_000_000)]}})


@pytest.mark.parametrize("knows", [False, True], ids=["nothing", "a fact"])
@pytest.mark.parametrize(
    "last",
    [
        {"draft": None},
        {"calls": []},
        {"draft": {"conclusion": [], "claims": [], "confidence": 1.0}},
        {"draft": {"conclusion": [], "claims": [fact("t1", certainty="high")]}},
        {"thoughts": "payment, surely", "draft": None},
        "Payment is at fault, I am sure.",
        "",
        TEN_MEGABYTES,
    ],
    ids=["null", "no call", "field", "field inside", "field outside", "prose", "nothing", "10 MB"],
)
def test_an_illegal_draft_is_discarded_and_facts_decide(last: Json | str, knows: bool) -> None:
    """Empty, of unknown fields, unreadable, too large: never repaired, asked for once."""

    def ends_badly(seen: Json) -> Json | str:
        if not seen["records"]:
            return look(seen)
        if len(seen["records"]) == 1:
            return look(seen, assess_as_gain("t1") if knows else no_gain("t1"))
        if isinstance(last, str):
            return last
        return {**last, "assessments": [no_gain("t2")]}

    scene, end, _ = play_run(ends_badly)
    expected = (
        (RunState.SUCCESS, ReleaseOutcome.FALLBACK, FallbackType.INSUFFICIENT_EVIDENCE)
        if knows
        else (RunState.FAILED, ReleaseOutcome.FAILED, None)
    )
    assert (scene.ctx.lifecycle.state, end.outcome, end.fallback) == expected
    assert end.failure is (None if knows else WorkEnd.DRAFT_ILLEGAL)
    assert scene.ctx.budget.usage().llm_calls == 3


def test_a_policy_that_invents_tools_and_arguments_gets_refusals() -> None:
    """Each gets a code in the next view, no record and no charge."""

    def invents(seen: Json) -> Json:
        if seen["refused"]:
            return {"draft": {"conclusion": [], "claims": [], "missing_info": ["when it began"]}}
        return {
            "calls": [
                {"tool_call_id": "t1", "tool": "restart"},
                {"tool_call_id": "t2", "tool": "look", "arguments": {"command": "rm -rf /"}},
            ]
        }

    scene, end, tool = play_run(invents)
    codes = [event.payload["code"] for event in scene.sink.events_named(TraceName.TOOL_REQUEST_REJECTED)]
    assert codes == ["UNKNOWN_TOOL", "INVALID_REQUEST"]
    assert (tool.runs, end.snapshot.records, scene.ctx.budget.usage().tool_calls) == ([], (), 0)
    assert end.fallback is FallbackType.MISSING_REQUIRED_CONTEXT
