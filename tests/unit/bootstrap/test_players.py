"""Players are chosen by the settings, and say of themselves who plays."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from tests.support.player_material import CASES

from diagnosis_harness.bootstrap import players
from diagnosis_harness.bootstrap.players import build_writer, choose_players
from diagnosis_harness.guards.semantic_guard import SemanticCase
from diagnosis_harness.guards.verdict import Judgement, SemanticVerdict
from diagnosis_harness.harness.budget import TokenUsage
from diagnosis_harness.harness.context import RunContext
from diagnosis_harness.harness.core import DiagnosisHarnessCore
from diagnosis_harness.kernel.errors import InvalidSetting
from diagnosis_harness.llm.messages import ChatMessage, ChatRequest, ChatRole
from diagnosis_harness.llm.metered import MeteredChatModel
from diagnosis_harness.llm.port import ChatModel
from diagnosis_harness.players.embedded.judge import EmbeddedJudge
from diagnosis_harness.settings import Settings, load_settings
from diagnosis_harness.testing.llm import FakeChatModel, says
from diagnosis_harness.testing.runs import Rig
from diagnosis_harness.testing.scripted_policy import ScriptedPolicy
from diagnosis_harness.trace.event import TraceName

CORE = Rig().core
ROLES = ("router", "policy", "repairer", "judge", "responder", "writer")


def _choose(tmp_path: Path, role: str, name: str) -> Settings:
    """Settings in which one role names this player."""
    file = tmp_path / "settings.toml"
    file.write_text(f'[players]\n{role} = "{name}"\n', encoding="utf-8")
    return load_settings(file)


@dataclass(frozen=True, slots=True)
class LlmJudge:
    """A second judge, which asks a language model through the meter."""

    llm: str
    model: ChatModel

    async def judge(self, ctx: RunContext, case: SemanticCase) -> tuple[Judgement, TokenUsage]:
        """Believe everything that the model answers."""
        message = ChatMessage(ChatRole.USER, case.question)
        reply = await self.model.complete(ctx, ChatRequest(messages=(message,)))
        return Judgement(SemanticVerdict(reply.text)), reply.usage or TokenUsage(0, 0)


def test_the_shipped_settings_choose_the_embedded_players() -> None:
    """All six, and each profile says that no language model plays."""
    built = choose_players(load_settings())(CORE)

    assert isinstance(built.judge, EmbeddedJudge)
    assert [profile.llm for profile in built.profiles()] == [None] * len(ROLES)
    assert {profile.role for profile in built.profiles()} == {
        "ROUTER",
        "SEMANTIC_GUARD",
        "DIAGNOSIS_AGENT",
        "EVIDENCE_REPAIR",
        "SYSTEM_RESPONDER",
        "ANSWER_WRITER",
    }


@pytest.mark.parametrize("role", ROLES)
def test_a_player_that_does_not_exist_is_refused(tmp_path: Path, role: str) -> None:
    """One sentence names the key, the value and the players that there are."""
    settings = _choose(tmp_path, role, "oracle")

    with pytest.raises(InvalidSetting, match=rf"players\.{role}.*'oracle'.*embedded"):
        choose_players(settings)


def test_the_writer_alone_is_the_one_that_the_settings_choose(tmp_path: Path) -> None:
    """Questions to the runbooks on the command line need no other player."""
    assert type(build_writer(CORE, load_settings())) is type(choose_players(load_settings())(CORE).writer)
    with pytest.raises(InvalidSetting, match=r"players\.writer"):
        build_writer(CORE, _choose(tmp_path, "writer", "oracle"))


def test_a_second_player_is_one_entry_of_its_table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The settings choose it by its name, and its profile names the language model that it asks."""
    rig = Rig()

    def make(core: DiagnosisHarnessCore, settings: Settings) -> LlmJudge:
        del settings
        return LlmJudge("acme-7b", MeteredChatModel(core, FakeChatModel([says("SUPPORTED")])))

    monkeypatch.setattr(players, "JUDGES", {**players.JUDGES, "llm": make})

    built = choose_players(_choose(tmp_path, "judge", "llm"))(rig.core)

    judgement, usage = asyncio.run(built.judge.judge(rig.run(), next(iter(CASES.values()))))
    assert judgement == Judgement(SemanticVerdict.SUPPORTED)
    assert usage == TokenUsage(10, 5)
    assert TraceName.LLM_CALL in {event.name for event in rig.sink.events()}
    assert {profile.role: profile.llm for profile in built.profiles()}["SEMANTIC_GUARD"] == "acme-7b"


def test_an_own_policy_plays_and_is_named() -> None:
    """The profile never calls a role embedded that another implementation plays."""
    own = ScriptedPolicy()

    built = choose_players(load_settings(), policy=own)(CORE)

    assert built.policy is own
    assert {profile.role: profile.llm for profile in built.profiles()}["DIAGNOSIS_AGENT"] == "ScriptedPolicy"
    assert replace(built, policy=choose_players(load_settings())(CORE).policy).profiles() != built.profiles()
