"""The order of a whole run's trace, as the lifecycle document draws it (§13), read from its kept log."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from tests.support.scripted_chat import DRAFT, LOOK, concluding, make_findings, open_chat

from diagnosis_harness.diagnosis.collection import InformationGain
from diagnosis_harness.diagnosis.missing import MissingInfo
from diagnosis_harness.diagnosis.policy import AskTools, GiveDraft, WantedCall
from diagnosis_harness.diagnosis.progress import Assessment
from diagnosis_harness.testing.scripted_policy import ScriptedPolicy
from diagnosis_harness.testing.scripted_tool import ScriptedTool, no_findings
from diagnosis_harness.trace.event import TraceEvent, TraceName

N = TraceName
OURS = {N.STATUS, N.RETRY_ATTEMPT, N.RUN_ENDED}
"""Events between those of the drawing, which it does not name."""


def play_question(folder: Path, **scripted: object) -> tuple[TraceEvent, ...]:
    """The log of one question."""

    async def play() -> tuple[TraceEvent, ...]:
        async with open_chat(folder, **scripted) as kept:  # type: ignore[arg-type]  # handed through
            row = await kept.ask()
            return await kept.events(row.run_id)

    return asyncio.run(play())


def names_in_order(events: Sequence[TraceEvent]) -> list[TraceName]:
    """The names of the drawing, by first appearance."""
    return list(dict.fromkeys(event.name for event in events if event.name not in OURS))


def test_a_success_reads_as_it_is_drawn(tmp_path: Path) -> None:
    """From RUN_STARTED to RUN_FINISHED SUCCESS, by routing, steps, tools and both guards (TR-01)."""
    events = play_question(tmp_path, **concluding())
    assert names_in_order(events) == [
        N.RUN_STARTED,
        N.ROUTING_ATTEMPT,
        N.ROUTING_DECISION,
        N.AGENT_MODEL_STEP,
        N.TOOL_INVOCATION,
        N.TOOL_PROGRESS,
        N.EVIDENCE_GUARD_INITIAL,
        N.SEMANTIC_GUARD_ATTEMPT,
        N.SEMANTIC_GUARD_DECISION,
        N.RELEASE_DECISION,
        N.RUN_FINISHED,
    ]
    assert [event.payload["outcome"] for event in events[-2:]] == ["SUCCESS", "SUCCESS"]


def test_a_fallback_reads_as_it_is_drawn(tmp_path: Path) -> None:
    """Its references are checked, nothing is judged, and RUN_FINISHED says FALLBACK (TR-02)."""
    thin = replace(DRAFT, conclusion=())
    events = play_question(
        tmp_path, policy=ScriptedPolicy(LOOK, GiveDraft(thin)), tools=(ScriptedTool(make_findings),)
    )
    assert names_in_order(events) == [
        N.RUN_STARTED,
        N.ROUTING_ATTEMPT,
        N.ROUTING_DECISION,
        N.AGENT_MODEL_STEP,
        N.TOOL_INVOCATION,
        N.TOOL_PROGRESS,
        N.EVIDENCE_GUARD_INITIAL,
        N.RELEASE_DECISION,
        N.RUN_FINISHED,
    ]
    assert [event.payload["outcome"] for event in events if event.name is N.RELEASE_DECISION] == ["FALLBACK"]
    assert events[-1].payload["outcome"] == "FALLBACK"


def looks(count: int) -> list[AskTools]:
    """One look after the other, each somewhere else."""
    return [AskTools((WantedCall(f"t{n}", "look", {"entity": f"e{n}"}),)) for n in range(1, count + 1)]


def test_a_stop_leaves_its_reason(tmp_path: Path) -> None:
    """COLLECTION_STOP comes between the last tool and the release (TR-02, TR-05)."""
    thin = replace(DRAFT, conclusion=(), claims=(), missing_info=(MissingInfo.ENTITY,))
    policy = ScriptedPolicy(*looks(6), GiveDraft(thin))
    events = play_question(tmp_path, policy=policy, tools=(ScriptedTool(no_findings),))
    stops = [event for event in events if event.name is N.COLLECTION_STOP]
    assert [event.payload["reason"] for event in stops] == ["INFORMATION_SATURATED"]
    names = [event.name for event in events]
    assert names.index(N.COLLECTION_STOP) > max(
        place for place, name in enumerate(names) if name is N.TOOL_INVOCATION
    )


@pytest.mark.parametrize(
    ("call", "code"),
    [
        (WantedCall("t1", "no_such_tool", {}), "UNKNOWN_TOOL"),
        (WantedCall("t1", "look", {"colour": "red"}), "INVALID_REQUEST"),
        (WantedCall("not safe!", "look", {}), "UNSAFE_TOOL_CALL_ID"),
    ],
)
def test_a_refused_request_leaves_its_code(tmp_path: Path, call: WantedCall, code: str) -> None:
    """TOOL_REQUEST_REJECTED, and no invocation (TR-05)."""
    nothing = replace(DRAFT, conclusion=(), claims=(), missing_info=(MissingInfo.ENTITY,))
    events = play_question(tmp_path, policy=ScriptedPolicy(AskTools((call,)), GiveDraft(nothing)))
    rejected = [event for event in events if event.name is N.TOOL_REQUEST_REJECTED]
    assert [event.payload["code"] for event in rejected] == [code]
    assert N.TOOL_INVOCATION not in {event.name for event in events}


def test_phases_and_statuses_say_nothing_of_the_run(tmp_path: Path) -> None:
    """A failed run may end with an event that SUCCEEDED: only the state says how it ended (TR-03)."""
    no_gain = Assessment("t1", InformationGain.NO_GAIN)
    nothing = replace(DRAFT, conclusion=(), claims=())
    policy = ScriptedPolicy(LOOK, GiveDraft(nothing, (no_gain,)))
    events = play_question(tmp_path, policy=policy, tools=(ScriptedTool(make_findings),))
    failed = [event for event in events if event.status.value == "FAILED"]
    assert events[-1].status.value == "SUCCEEDED"
    assert events[-1].payload["state"] == "FAILED"
    assert {event.name for event in failed} == {N.RUN_ENDED}
