"""SYSTEM_CHAT: one answer on the system, which names nothing that the system does not have."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.support.knowledge import PROFILE
from tests.support.scripted_responder import ScriptedResponder

from diagnosis_harness.application.system.answer import SystemAnswer, SystemTopic
from diagnosis_harness.application.system.chat import SystemChat
from diagnosis_harness.application.system.profile import (
    Holding,
    PlayerProfile,
    SourceProfile,
    SystemProfile,
    TelemetryKind,
    ToolProfile,
)
from diagnosis_harness.application.system.source_profile import source_profile
from diagnosis_harness.application.system.text import system_text
from diagnosis_harness.kernel.canonical import canonical_json
from diagnosis_harness.kernel.language import Language, language_of
from diagnosis_harness.kernel.window import TimeWindow
from diagnosis_harness.llm.role import RoleBoundary
from diagnosis_harness.players.embedded.responder import EmbeddedResponder
from diagnosis_harness.players.embedded.responder_words import PRODUCTS
from diagnosis_harness.testing.runs import Rig
from diagnosis_harness.toolbox.ports import AlertInfo, SourceSummary
from diagnosis_harness.trace.event import TraceEventStatus, TraceName

BARE = replace(PROFILE, tools=(), sources=(), documents=None)


def ask(question: str, profile: SystemProfile = PROFILE, rig: Rig | None = None) -> dict[str, Any]:
    """The body of the embedded player's answer."""
    rig = rig or Rig()
    chat = SystemChat(rig.core, RoleBoundary(rig.core), EmbeddedResponder(), lambda ctx: profile)
    answer = asyncio.run(chat.answer(rig.run(), question, language_of(question)))
    assert isinstance(answer.body, dict)
    assert answer.conclusion is None
    assert canonical_json(answer.body)
    return answer.body


@pytest.mark.parametrize(
    ("question", "topic"),
    [
        ("hello", "GREETING"),
        ("您好", "GREETING"),
        ("thanks!", "THANKS"),
        ("谢谢", "THANKS"),
        ("bye", "FAREWELL"),
        ("who are you?", "IDENTITY"),
        ("你是谁", "IDENTITY"),
        ("which llm are you running on", "PLAYERS"),
        ("你用的是哪个大模型", "PLAYERS"),
        ("what can you do", "ABILITIES"),
        ("你能做什么", "ABILITIES"),
        ("which tools can you use", "TOOLS"),
        ("which data can you see?", "SOURCES"),
        ("你能看到哪些数据", "SOURCES"),
        ("how many runbooks do you have?", "RUNBOOKS"),
        ("what are your limits?", "LIMITS"),
        ("can you restart checkout?", "READ_ONLY"),
        ("please roll back the last release", "READ_ONLY"),
        ("你能帮我重启数据库吗", "READ_ONLY"),
        ("帮我把 checkout 回滚", "READ_ONLY"),
        ("do you store my data", "PRIVACY"),
        ("how do I use you?", "HOW_TO_ASK"),
        ("tell me a joke", "OUT_OF_SCOPE"),
        ("讲个笑话", "OUT_OF_SCOPE"),
    ],
)
def test_what_is_asked_is_what_is_spoken_of(question: str, topic: str) -> None:
    """In English and in Chinese."""
    assert ask(question)["topics"][0] == topic


def test_one_answer_and_one_call() -> None:
    """One stage, one answer in the trace, one call of the player."""
    rig, responder = Rig(), ScriptedResponder()
    ctx = rig.run()
    chat = SystemChat(rig.core, RoleBoundary(rig.core), responder, lambda ctx: PROFILE)
    asyncio.run(chat.answer(ctx, "who are you?", Language.EN))

    events = rig.sink.events()
    assert responder.asked == ctx.budget.usage().llm_calls == 1
    assert [one.payload["stage"] for one in events if one.name is TraceName.STATUS] == ["SYSTEM_RESPONDING"]
    assert [one.status for one in events if one.name is TraceName.SYSTEM_ANSWER] == [
        TraceEventStatus.SUCCEEDED
    ]


def test_a_source_it_has_is_reported_with_what_it_holds() -> None:
    """Kinds and counts as they are."""
    text = ask("which data can you see?")["text"]

    assert "shop: 12 metric series, 3,400 log lines" in text


def test_a_source_it_lacks_is_denied() -> None:
    """By the name that was asked, whatever the player knows of the world."""
    body = ask("can you see Splunk?")

    assert body["asked_about"] == [{"name": "splunk", "held": False}]
    assert "I have no source or tool named “splunk”." in body["text"]


def test_a_kind_of_telemetry_it_lacks_is_denied() -> None:
    """And one that it has is counted."""
    text = ask("do you have access to traces and logs?")["text"]

    assert "None of my sources holds spans." in text
    assert "shop holds 3,400 log lines." in text


@pytest.mark.parametrize(
    "question", ["which data can you see?", "你能看到哪些数据", "which tools can you use", "你能做什么"]
)
def test_a_bare_system_claims_nothing(question: str) -> None:
    """No source, no tool, no runbooks: it says so, and names none."""
    text = ask(question, BARE)["text"]

    assert "shop" not in text
    assert "search_logs" not in text
    assert not any(str(count) in text for count in (12, 3_400))


def test_a_request_to_act_is_refused() -> None:
    """It only reads, and says so in the language of the question."""
    assert ask("can you restart checkout?")["text"].startswith("No: I only read.")
    assert ask("帮我重启 checkout")["text"].startswith("不能：我只读取。")


def test_language_models_are_named_as_they_are_wired() -> None:
    """Or that there is none."""
    wired = replace(PROFILE, players=(PlayerProfile("ROUTER"), PlayerProfile("DIAGNOSIS_AGENT", "acme-7b")))

    assert ask("which llm do you use?")["text"].startswith("No language model")
    assert "- diagnosis: acme-7b" in ask("which llm do you use?", wired)["text"]
    assert "acme-7b" in ask("where does my data go?", wired)["text"]
    assert "neither your questions" in ask("where does my data go?")["text"]


NAMES = st.text(st.characters(categories=["Ll", "Nd"], max_codepoint=122), min_size=3, max_size=8).map(
    "q".__add__
)
PROFILES = st.builds(
    lambda tools, sources: replace(PROFILE, tools=tools, sources=sources),
    st.lists(st.builds(ToolProfile, NAMES, st.just("Does.")), max_size=3).map(tuple),
    st.lists(st.builds(SourceProfile, NAMES, st.just((Holding(TelemetryKind.METRICS, 1),))), max_size=3).map(
        tuple
    ),
)


@given(
    PROFILES, st.sets(st.sampled_from(list(SystemTopic)), min_size=1, max_size=4), st.sampled_from(Language)
)
def test_no_answer_names_what_the_profile_does_not(
    profile: SystemProfile, topics: set[SystemTopic], language: Language
) -> None:
    """Neither a product of the world nor a tool of the toolbox, unless it is wired."""
    text = system_text(SystemAnswer(tuple(sorted(topics))), profile, language)
    words = set(text.lower().replace("，", " ").replace("：", " ").split())

    assert not words & (PRODUCTS - set(profile.names))
    assert not {"search_logs", "rank_causes", "shop"} & words


@pytest.mark.parametrize("topic", SystemTopic)
@pytest.mark.parametrize("profile", [PROFILE, BARE], ids=["full", "bare"])
def test_every_topic_is_said_in_both_languages(topic: SystemTopic, profile: SystemProfile) -> None:
    """Nothing is left to fill in."""
    texts = [system_text(SystemAnswer((topic,)), profile, language) for language in Language]

    assert texts[0] != texts[1]
    assert all(text and "{" not in text for text in texts)


def test_a_source_is_shown_with_the_kinds_that_it_holds() -> None:
    """A kind that it holds nothing of is not there."""
    window = TimeWindow(0.0, 60.0)
    summary = SourceSummary(
        name="shop",
        alert=AlertInfo(),
        onset_s=None,
        incident=window,
        baseline=None,
        metric_series=3,
        log_lines=0,
        spans=9,
        edges=0,
        changes=0,
        entities=(),
        files=(),
    )

    assert source_profile(summary) == SourceProfile(
        "shop", (Holding(TelemetryKind.METRICS, 3), Holding(TelemetryKind.SPANS, 9)), window
    )
