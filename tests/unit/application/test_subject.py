"""Whether a question holds anything to diagnose."""

from __future__ import annotations

import pytest

from diagnosis_harness.application.intent import IntentType
from diagnosis_harness.application.routing import RoutingDecision, RoutingReason
from diagnosis_harness.application.subject import in_doubt, revise_path
from diagnosis_harness.diagnosis.inquiry import Inquiry, OnsetOrigin
from diagnosis_harness.diagnosis.names import KnownNames
from diagnosis_harness.diagnosis.question_reading import Background, read_question
from diagnosis_harness.kernel.window import TimeWindow
from diagnosis_harness.players.embedded.router import Lexicon, path_of

LEXICON = Lexicon()
RECORDED = TimeWindow(1_700_000_000.0, 1_700_007_200.0)
KNOWN = KnownNames.of(["booking", "seats", "news", "订单"])


def path(question: str, **source: object) -> IntentType:
    """The path of a question about a source that knows `KNOWN`, by the embedded router and the source."""
    reading = read_question(question, Background(KNOWN, recorded=RECORDED))
    inquiry = Inquiry(question=question, reading=reading, **source)  # type: ignore[arg-type]  # by name
    return revise_path(path_of(question, (), LEXICON), inquiry).intent


@pytest.mark.parametrize(
    "question",
    [
        "zzz",
        "show logs and stuff zork",
        "why is the sky blue?",
        "why do cats purr",
        "天空为什么是蓝色的？",
        "随便说点什么吧",
    ],
)
def test_a_question_without_name_time_and_symptom_is_not_diagnosed(question: str) -> None:
    """The answer says what can be asked."""
    assert path(question) is IntentType.SYSTEM_CHAT


@pytest.mark.parametrize(
    "question",
    [
        "why?",
        "what happened?",
        "what is the root cause?",
        "为什么？",
        "what happened to booking?",
        "compare booking and seats",
        "订单怎么了",
        "everything is slow",
        "what happened at 22:20?",
        "why did the zork service stop?",
    ],
)
def test_a_question_with_one_of_them_is_diagnosed(question: str) -> None:
    """Also a bare `why?`, and a question about an unknown service, which is answered as such."""
    assert path(question) is IntentType.DIAGNOSIS


@pytest.mark.parametrize(
    ("question", "intent"),
    [
        ("is news healthy?", IntentType.DIAGNOSIS),
        ("booking vs seats", IntentType.DIAGNOSIS),
        ("22:20 前后有什么不同", IntentType.DIAGNOSIS),
        ("any news on football?", IntentType.SYSTEM_CHAT),
        ("what does booking mean?", IntentType.KNOWLEDGE_QUERY),
        ("show me the runbook of booking", IntentType.KNOWLEDGE_QUERY),
        ("kubernetes vs nomad", IntentType.KNOWLEDGE_QUERY),
    ],
)
def test_a_name_or_a_time_of_the_source_outweighs_a_word(question: str, intent: IntentType) -> None:
    """A service may have a name that is also an ordinary word."""
    assert path(question) is intent


def test_where_the_source_has_an_alert_or_an_onset_any_question_may_be_about_it() -> None:
    """`zork?` under an alert asks about the alert."""
    assert path("zork?", alert_entity="booking") is IntentType.DIAGNOSIS
    assert path("zork?", onset_s=1_700_000_600.0, onset_origin=OnsetOrigin.SOURCE) is IntentType.DIAGNOSIS


@pytest.mark.parametrize(
    "decision",
    [
        RoutingDecision(IntentType.KNOWLEDGE_QUERY, RoutingReason.ASKS_HOW_TO),
        RoutingDecision(IntentType.DIAGNOSIS, RoutingReason.FOLLOWS_BEFORE),
        RoutingDecision(IntentType.DIAGNOSIS, RoutingReason.LLM_JUDGED),
    ],
)
def test_what_names_its_subject_is_not_in_doubt(decision: RoutingDecision) -> None:
    """Another path, a follow-up, and what a language model has judged."""
    assert not in_doubt(decision)
    assert revise_path(decision, Inquiry(question="zork")) is decision


def test_a_revised_decision_says_so() -> None:
    """With what the router had matched."""
    revised = revise_path(
        path_of("why is the sky blue?", (), LEXICON), Inquiry(question="why is the sky blue?")
    )

    assert revised == RoutingDecision(IntentType.SYSTEM_CHAT, RoutingReason.NOTHING_TO_DIAGNOSE, ("why",))
