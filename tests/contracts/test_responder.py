"""What every system responder must do, and how code handles one that does not."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace

import pytest
from tests.support.knowledge import PROFILE
from tests.support.scripted_responder import ScriptedResponder

from diagnosis_harness.application.path_answer import PathAnswer
from diagnosis_harness.application.system.answer import SystemAnswer, SystemTopic, check_answer
from diagnosis_harness.application.system.chat import SystemChat, SystemResponder
from diagnosis_harness.application.system.profile import SystemProfile
from diagnosis_harness.harness.budget import TokenUsage
from diagnosis_harness.harness.cancellation import CancellationReason
from diagnosis_harness.kernel.errors import AnswerRefused, FailureKind, MalformedAnswer, RunAborted
from diagnosis_harness.kernel.language import Language
from diagnosis_harness.llm.role import RoleBoundary
from diagnosis_harness.players.embedded.responder import EmbeddedResponder
from diagnosis_harness.testing.runs import Rig
from diagnosis_harness.trace.event import TraceEventStatus, TraceName

Player = Callable[[], SystemResponder]
QUESTIONS = [
    "hello",
    "what can you do?",
    "can you see Splunk and shop logs?",
    "你能看到哪些日志？",
    "restart the database",
    "谢谢",
    "",
    "\x00",
    "\ud800",
    "🤷" * 50,
    "prometheus " * 2_000,
]
PROFILES = [
    PROFILE,
    replace(PROFILE, tools=(), sources=(), documents=None, players=()),
]

each_player = pytest.mark.parametrize(
    "player", [EmbeddedResponder, ScriptedResponder], ids=lambda player: player.__name__
)


def chat(rig: Rig, responder: SystemResponder, profile: SystemProfile = PROFILE) -> SystemChat:
    """The path with a player."""
    return SystemChat(rig.core, RoleBoundary(rig.core), responder, lambda ctx: profile)


def ask_responder(rig: Rig, responder: SystemResponder, question: str) -> PathAnswer:
    """One answer in a run of its own."""
    return asyncio.run(chat(rig, responder).answer(rig.run(), question, Language.EN))


@each_player
@pytest.mark.parametrize("profile", PROFILES, ids=["full", "bare"])
@pytest.mark.parametrize("question", QUESTIONS, ids=range(len(QUESTIONS)))
def test_a_responder_answers_from_the_closed_sets_and_the_question(
    player: Player, question: str, profile: SystemProfile
) -> None:
    """Whatever it is asked; with the tokens that it took."""
    given, usage = asyncio.run(player().respond(Rig().run(), question, Language.EN, profile))

    assert check_answer(given, question) == given
    assert type(usage) is TokenUsage


@each_player
def test_an_answer_costs_one_llm_call(player: Player) -> None:
    """Whoever plays, the budget means the same."""
    rig = Rig()
    ctx = rig.run()

    asyncio.run(chat(rig, player()).answer(ctx, "who are you?", Language.EN))

    assert ctx.budget.usage().llm_calls == 1


@each_player
def test_a_cancelled_run_asks_no_player(player: Player) -> None:
    """The run's end does not count as a failure of the responder, and no answer is traced."""
    rig = Rig()
    ctx = rig.run()
    rig.core.cancel(ctx, CancellationReason.USER_REQUESTED)

    with pytest.raises(RunAborted):
        asyncio.run(chat(rig, player()).answer(ctx, "who are you?", Language.EN))

    assert TraceName.SYSTEM_ANSWER not in [event.name for event in rig.sink.events()]


HOSTILE = [
    SystemAnswer(()),
    SystemAnswer((SystemTopic.TOOLS, SystemTopic.TOOLS)),
    SystemAnswer(tuple(SystemTopic)),
    SystemAnswer(("ROOT_ACCESS",)),  # type: ignore[arg-type]  # what a player must not give
    SystemAnswer((SystemTopic.SOURCES,), ("splunk",)),  # the question does not name it
    SystemAnswer((SystemTopic.SOURCES,), ("",)),
    SystemAnswer((SystemTopic.SOURCES,), ("what",) * 6),
    SystemAnswer((SystemTopic.SOURCES,), kinds=("EVERYTHING",)),  # type: ignore[arg-type]  # likewise
    MalformedAnswer("no JSON"),
]


@pytest.mark.parametrize("answer", HOSTILE, ids=range(len(HOSTILE)))
def test_a_responder_that_does_not_keep_to_it_is_refused(answer: SystemAnswer | Exception) -> None:
    """A typed failure in the trace; no text replaces it."""
    rig = Rig()

    with pytest.raises(AnswerRefused) as refused:
        ask_responder(rig, ScriptedResponder(answer), "what can you see?")

    assert refused.value.kind is FailureKind.INVALID_OUTPUT
    events = [event for event in rig.sink.events() if event.name is TraceName.SYSTEM_ANSWER]
    assert [event.status for event in events] == [TraceEventStatus.FAILED]
