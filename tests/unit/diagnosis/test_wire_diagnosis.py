"""Whole diagnoses over the wire format: only text passes between the loop and the policy."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import jsonschema
import pytest
from tests.support.inquiries import inquiry
from tests.support.whole_run import diagnose_whole_run
from tests.support.wire_policy import OverTheWire, WirePolicy

from diagnosis_harness.adapters.evidence_stores.memory import MemoryEvidenceStore
from diagnosis_harness.application.diagnose import DiagnoseUseCase, DiagnosisEnd
from diagnosis_harness.diagnosis.agent import DiagnosisAgent, DiagnosisTask
from diagnosis_harness.diagnosis.collection import CollectionThresholds
from diagnosis_harness.diagnosis.policy import (
    DiagnosisPolicy,
)
from diagnosis_harness.diagnosis.wire_schema import answer_schema
from diagnosis_harness.harness.context import RunContext
from diagnosis_harness.harness.keys import ToolCallKeyFactory
from diagnosis_harness.llm.role import RoleBoundary
from diagnosis_harness.players.embedded.analyst import EmbeddedAnalyst
from diagnosis_harness.players.embedded.judge import EmbeddedJudge
from diagnosis_harness.players.embedded.repairer import EmbeddedRepairer
from diagnosis_harness.release.outcome import FallbackType, ReleaseOutcome
from diagnosis_harness.release.pipeline import ReleasePipeline
from diagnosis_harness.testing.evidence import (
    ONSET_S,
    WINDOW,
    cause_item,
    change_item,
)
from diagnosis_harness.testing.runs import Rig
from diagnosis_harness.testing.scripted_tool import ScriptedTool
from diagnosis_harness.tools.access import ScopeAccess
from diagnosis_harness.tools.boundary import ToolBoundary
from diagnosis_harness.tools.spec import Parameter, ParameterKind, ToolFindings, ToolSpec

SCHEMA = jsonschema.Draft202012Validator(answer_schema())
PAYMENT = replace(change_item("i1", "payment"), attributes={"bad": True, "kind": "cpu"})
ANSWERS: dict[str, Callable[[], ToolFindings]] = {
    "find_changed_signals": lambda: ToolFindings((PAYMENT, change_item("i2")), WINDOW, 2),
    "rank_causes": lambda: ToolFindings((cause_item(),), WINDOW, 2),
    "list_changes": lambda: ToolFindings((), WINDOW, 1),
}


@dataclass
class House:
    """One run of the whole use case with a policy."""

    policy: DiagnosisPolicy
    rig: Rig = field(default_factory=Rig)

    def run(self) -> DiagnosisEnd:
        """Diagnose, in an event loop of its own."""
        pipeline = ReleasePipeline(
            self.rig.core, RoleBoundary(self.rig.core), EmbeddedRepairer(), EmbeddedJudge()
        )
        use_case = DiagnoseUseCase(self.rig.core, agent_for=self.agent, pipeline=pipeline)
        ctx = self.rig.run()
        return asyncio.run(
            diagnose_whole_run(
                self.rig.core, ctx, use_case, DiagnosisTask("why is checkout slow?", inquiry(onset_s=ONSET_S))
            )
        )

    def agent(self, ctx: RunContext) -> DiagnosisAgent:
        """The agent of a run, with the three tools."""
        onset = Parameter("onset", ParameterKind.INSTANT, "When it began.")
        affected = Parameter("alert_entity", ParameterKind.TEXT, "What is affected.")
        boundary = ToolBoundary(
            self.rig.core,
            tools=[
                ScriptedTool(answer, ToolSpec(name, "Looks.", (onset, affected)))
                for name, answer in ANSWERS.items()
            ],
            store=MemoryEvidenceStore(),
            access=ScopeAccess({"local": frozenset({"*"})}),
            keys=ToolCallKeyFactory("evidence"),
        )
        return DiagnosisAgent(
            self.rig.core, policy=self.policy, boundary=boundary, thresholds=CollectionThresholds(4, 3)
        )


def test_the_embedded_analyst_reaches_the_same_release_over_the_wire() -> None:
    """Requests, assessments and draft written as JSON text and read back change nothing of what leaves."""
    wired = OverTheWire(EmbeddedAnalyst())
    end = House(wired).run()
    assert end == House(EmbeddedAnalyst()).run()
    assert end.outcome is ReleaseOutcome.SUCCESS
    assert [cause.entity for cause in end.content.causes] == ["payment"]
    assert len(wired.sent) >= 3
    assert all(SCHEMA.is_valid(json.loads(text)) for text in wired.sent)


def reads_and_writes_json(seen: str) -> str:
    """A player of text alone: asks every tool once, states what each item says, concludes the first cause."""
    view = json.loads(seen)
    found = [
        (record["tool_call_id"], item)
        for record in view["records"]
        for item in (record["found"] or {}).get("items", [])
    ]
    changes = [_claim_of(call, item) for call, item in found if item["kind"] == "SIGNAL_CHANGE"]
    causes = [_claim_of(call, item) for call, item in found if item["kind"] == "CAUSE_SCORE"]
    assessments = [
        {"tool_call_id": due, "gain": "GAINED" if facts else "NO_GAIN", "facts": facts}
        for due in view["due"]
        for facts in [[claim for claim in changes + causes if claim["refs"][0]["tool_call_id"] == due]]
    ]
    asked = {record["tool"] for record in view["records"]}
    wanted = [tool["name"] for tool in view["tools"] if tool["name"] not in asked]
    if wanted:
        call = {
            "tool_call_id": f"json-{len(asked)}",
            "tool": wanted[0],
            "arguments": {"onset": view["onset"]},
        }
        return json.dumps({"calls": [call], "assessments": assessments})
    cause = {
        "entity": causes[0]["entity"],
        "fault_kind": "CPU",
        "claim_ids": [causes[0]["claim_id"], changes[0]["claim_id"]],
    }
    return json.dumps(
        {"draft": {"conclusion": [cause], "claims": causes + changes}, "assessments": assessments}
    )


def _claim_of(call: str, item: dict[str, Any]) -> dict[str, Any]:
    ref = {"tool_call_id": call, "item_id": item["item_id"]}
    claim = {"claim_id": f"c-{call}-{item['item_id']}", "entity": item["entity"], "refs": [ref]}
    if item["kind"] == "CAUSE_SCORE":
        return {**claim, "predicate": "CAUSED", "affected": item["peer"]}
    window = dict(zip(("start", "end"), item["window"], strict=True))
    kept = {name: item[name] for name in ("signal", "value", "baseline", "unit", "direction")}
    return {
        **claim,
        **kept,
        "predicate": "CHANGED",
        "window": window,
        "quotes": [{"ref": ref, "text": item["line"]}],
    }


def test_a_player_of_nothing_but_text_diagnoses_to_a_release() -> None:
    """What a policy needs to know is in the view's text, and what it has to say fits into its answer."""
    policy = WirePolicy(reads_and_writes_json)
    end = House(policy).run()
    assert (end.outcome, [cause.entity for cause in end.content.causes]) == (
        ReleaseOutcome.SUCCESS,
        ["payment"],
    )
    assert len(policy.exchanges) == 4


@pytest.mark.parametrize(
    "message", ["I think payment is at fault.", '{"draft": {"conclusion": []}}', "{" * 10_000_000]
)
def test_a_player_that_misses_the_form_ends_in_a_failure_and_no_content(message: str) -> None:
    """An unreadable answer is no answer; without a fact nothing leaves."""
    end = House(WirePolicy(lambda _: message)).run()
    assert (end.outcome, end.content.causes, end.content.claims) == (ReleaseOutcome.FAILED, (), ())


def test_a_player_that_misses_the_form_late_leaves_its_verified_facts() -> None:
    """What was assessed before is released as a fallback."""

    def good_then_bad(seen: str) -> str:
        return reads_and_writes_json(seen) if len(json.loads(seen)["records"]) < 2 else "{}"

    end = House(WirePolicy(good_then_bad)).run()
    assert (end.outcome, end.fallback) == (ReleaseOutcome.FALLBACK, FallbackType.INSUFFICIENT_EVIDENCE)
    assert end.content.claims
