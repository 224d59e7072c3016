"""One question through the service: the order of everything, each path, and every way to end."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from tests.support.scripted_chat import DRAFT, LOOK, KeptChat, concluding, make_findings, play
from tests.support.scripted_router import ScriptedRouter

from diagnosis_harness.application.callers.caller import Caller, CallerRole
from diagnosis_harness.application.intent import IntentType
from diagnosis_harness.application.routing import RoutingDecision, RoutingReason
from diagnosis_harness.application.runs.row import RunStatus
from diagnosis_harness.diagnosis.missing import MissingInfo
from diagnosis_harness.diagnosis.policy import GiveDraft
from diagnosis_harness.harness.termination import RunState
from diagnosis_harness.kernel.errors import (
    FailureKind,
    LlmFailure,
    StoreFailure,
)
from diagnosis_harness.release.outcome import ReleaseOutcome
from diagnosis_harness.testing.scripted_policy import ScriptedPolicy
from diagnosis_harness.testing.scripted_tool import ScriptedTool
from diagnosis_harness.trace.event import TraceName

SYSTEM = RoutingDecision(IntentType.SYSTEM_CHAT, RoutingReason.GREETING)
KNOWLEDGE = RoutingDecision(IntentType.KNOWLEDGE_QUERY, RoutingReason.NAMES_DOCUMENT)
AWAY = LlmFailure("away", kind=FailureKind.UNAVAILABLE)


# ---------------------------------------------------------------- order


def test_a_run_begins_in_the_order_of_the_lifecycle(tmp_path: Path) -> None:
    """The row is RUNNING, then RUN_STARTED is written, then metadata may leave, then it is routed (LC-01)."""

    async def act(kept: KeptChat) -> None:
        await kept.ask()
        first = kept.steps[:3]
        assert first == ["row RUNNING", "event RUN_STARTED", "started"]
        assert kept.steps.index("started") < kept.steps.index("event ROUTING_ATTEMPT")

    play(tmp_path, act, router=ScriptedRouter(SYSTEM))


def test_a_run_ends_in_the_order_of_the_lifecycle(tmp_path: Path) -> None:
    """Release, complete, persist, RUN_FINISHED, and only then is there anything to show (LC-10)."""

    async def act(kept: KeptChat) -> None:
        await kept.ask()
        assert kept.steps[-5:] == [
            "event RUN_ENDED",
            "event RELEASE_DECISION",
            "row SUCCESS",
            "event RUN_FINISHED",
            "returned",
        ]

    play(tmp_path, act, **concluding())


def test_the_session_is_read_before_there_is_a_run(tmp_path: Path) -> None:
    """A session that cannot be read is no run: nothing was started, and nothing is kept."""

    async def act(kept: KeptChat) -> None:
        await kept.database.close()
        with pytest.raises(StoreFailure):
            await kept.ask()
        assert kept.steps == []
        assert len(kept.stores.active) == 0

    play(tmp_path, act)


# ---------------------------------------------------------------- the paths


@pytest.mark.parametrize(
    ("decision", "expected"),
    [
        (SYSTEM, ["ROUTING", "SYSTEM_RESPONDING"]),
        (KNOWLEDGE, ["ROUTING", "KNOWLEDGE_SEARCHING", "KNOWLEDGE_ANSWERING"]),
    ],
    ids=["system", "knowledge"],
)
def test_a_path_shows_its_stages(tmp_path: Path, decision: RoutingDecision, expected: list[str]) -> None:
    """Each path has its own, after ROUTING (LC-09)."""

    async def act(kept: KeptChat) -> None:
        row = await kept.ask()
        events = await kept.events(row.run_id)
        shown = [event.payload["stage"] for event in events if event.name is TraceName.STATUS]
        assert shown == expected
        assert row.intent is decision.intent

    play(tmp_path, act, router=ScriptedRouter(decision))


def test_a_question_without_a_subject_is_not_diagnosed(tmp_path: Path) -> None:
    """What the source knows nothing of takes the path that says what can be asked, and is kept as such."""

    async def act(kept: KeptChat) -> None:
        row = await kept.ask(kept.request("zork?"))
        assert row.intent is IntentType.SYSTEM_CHAT
        events = [each for each in await kept.events(row.run_id) if each.name is TraceName.ROUTING_DECISION]
        assert [each.payload["reason"] for each in events] == ["NOTHING_TO_DIAGNOSE"]

    in_doubt = RoutingDecision(IntentType.DIAGNOSIS, RoutingReason.NOTHING_RECOGNISED)
    play(tmp_path, act, router=ScriptedRouter(in_doubt))


def test_a_diagnosis_shows_its_stages(tmp_path: Path) -> None:
    """ROUTING, DIAGNOSIS_RUNNING, SAFETY_VALIDATING (LC-09)."""

    async def act(kept: KeptChat) -> None:
        row = await kept.ask()
        events = await kept.events(row.run_id)
        shown = [event.payload["stage"] for event in events if event.name is TraceName.STATUS]
        assert shown == ["ROUTING", "DIAGNOSIS_RUNNING", "SAFETY_VALIDATING"]

    play(tmp_path, act, **concluding())


def test_a_diagnosis_that_concludes_is_kept_whole(tmp_path: Path) -> None:
    """Outcome, content, conclusion, what the next turn may see, and what it spent (PE-03)."""

    async def act(kept: KeptChat) -> None:
        row = await kept.ask()
        ending = row.ending
        assert ending is not None
        assert (row.status, ending.outcome, ending.state) == (
            RunStatus.SUCCESS,
            ReleaseOutcome.SUCCESS,
            RunState.SUCCESS,
        )
        assert isinstance(ending.answer, dict)
        assert ending.answer["kind"] == "DIAGNOSIS"
        assert ending.conclusion is not None
        assert "payment" in ending.conclusion
        assert isinstance(ending.published_result, dict)
        assert ending.published_result["conclusion"] == ending.conclusion
        assert ending.published_result["affected"] == []  # the question names nobody
        assert (ending.spent.agent_steps, ending.spent.tool_calls, ending.spent.llm_calls) == (2, 1, 4)

    play(tmp_path, act, **concluding())


def test_what_is_not_a_diagnosis_publishes_nothing_for_the_next_turn(tmp_path: Path) -> None:
    """Only a diagnosis that ended SUCCESS does (PE-03)."""

    async def act(kept: KeptChat) -> None:
        row = await kept.ask()
        assert row.ending is not None
        assert row.ending.outcome is ReleaseOutcome.SUCCESS
        assert row.ending.published_result is None
        assert row.ending.conclusion is None

    play(tmp_path, act, router=ScriptedRouter(KNOWLEDGE))


# ---------------------------------------------------------------- follow-ups


def test_the_router_sees_the_session_and_no_other(tmp_path: Path) -> None:
    """Its own earlier questions, oldest first; not those of another session or caller."""
    router = ScriptedRouter(SYSTEM)

    async def act(kept: KeptChat) -> None:
        other = Caller("bob", CallerRole.OPERATOR)
        await kept.ask(kept.request("one"))
        await kept.ask(kept.request("elsewhere", session_id="ses-b"))
        await kept.ask(kept.request("of another", caller=other))
        await kept.ask(kept.request("two"))
        await kept.ask(kept.request("three"))
        assert [turn.question for turn in router.histories[-1]] == ["one", "two"]

    play(tmp_path, act, router=router)


def test_a_follow_up_takes_over_the_onset_of_the_turn_before(tmp_path: Path) -> None:
    """Only that of a diagnosis that ended SUCCESS, and only of the same source (PE-04).

    The policy sees it; the source is opened with what this caller stated, which is nothing.
    """

    async def act(kept: KeptChat) -> None:
        await kept.ask(kept.request("why?", onset_s=1_700_000_000.0))
        await kept.ask(kept.request("and payment?"))
        await kept.ask(kept.request("and there?", source="elsewhere"))
        assert [onset_s for _, onset_s in kept.source.opened] == [1_700_000_000.0, None, None]
        assert [view.onset_s for view in policy.views[::2]] == [1_700_000_000.0, 1_700_000_000.0, None]

    policy = ScriptedPolicy(LOOK, GiveDraft(DRAFT), LOOK, GiveDraft(DRAFT), LOOK, GiveDraft(DRAFT))
    play(tmp_path, act, policy=policy, tools=(ScriptedTool(make_findings),))


def test_a_fallback_hands_nothing_on(tmp_path: Path) -> None:
    """Its onset was stated all the same; it does not enter the next turn (PE-04)."""

    async def act(kept: KeptChat) -> None:
        row = await kept.ask(kept.request("why?", onset_s=1_700_000_000.0))
        assert row.ending is not None
        assert row.ending.outcome is ReleaseOutcome.FALLBACK
        assert row.ending.published_result is None
        await kept.ask(kept.request("and payment?"))
        assert kept.source.opened[-1] == (None, None)
        assert policy.views[-1].onset_s is None

    nothing = replace(DRAFT, conclusion=(), claims=(), missing_info=(MissingInfo.ENTITY,))
    policy = ScriptedPolicy(GiveDraft(nothing))
    play(tmp_path, act, policy=policy)
