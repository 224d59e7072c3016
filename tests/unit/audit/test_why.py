"""Why a run went as it did: every question, for runs of every kind, resting on what its document holds."""

from __future__ import annotations

import re
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest
from tests.support import documents
from tests.support.inquiries import inquiry
from tests.support.scene import TIMEOUT_S
from tests.support.script import read

from diagnosis_harness.adapters.evidence_stores.memory import MemoryEvidenceStore
from diagnosis_harness.application.publish import RunFacts, publish
from diagnosis_harness.audit.why.answer import WhyAnswer, WhyQuestion
from diagnosis_harness.audit.why.answers import why
from diagnosis_harness.audit.why.phrases import Phrase
from diagnosis_harness.audit.why.stream import StreamSeen
from diagnosis_harness.harness.termination import RunState
from diagnosis_harness.kernel.json_value import JsonValue
from diagnosis_harness.kernel.language import Language
from diagnosis_harness.release.outcome import ReleaseOutcome
from diagnosis_harness.report.document import RunDocument
from diagnosis_harness.toolbox.ports import AlertInfo, SourceSummary
from diagnosis_harness.tools.evidence import EvidenceStatus, InvocationStatus
from diagnosis_harness.tools.invocation import ErrorCode

SCENARIOS = Path(__file__).parents[2] / "scenarios"
NAMES = sorted(file.stem for file in SCENARIOS.glob("*.txt"))
SUMMARY = SourceSummary(
    name="a test", alert=AlertInfo(), onset_s=None, incident=None, baseline=None, metric_series=0,
    log_lines=0, spans=0, edges=0, changes=0, entities=(), files=(),
)  # fmt: skip


@cache
def play_scenario(scenario: str) -> RunDocument:
    """The document of a scenario's run."""
    script, _, _ = (SCENARIOS / f"{scenario}.txt").read_text(encoding="utf-8").partition("\n----\n")
    scene = read(script).scene(MemoryEvidenceStore())
    facts = RunFacts(
        question=scene.task.question,
        language=Language.EN,
        started_s=scene.clock.now_s(),
        limit_s=TIMEOUT_S,
        inquiry=inquiry(),
        tools=("look",),
        summary=SUMMARY,
    )
    return publish(scene.ctx, facts, scene.run(), scene.events())


HAND_MADE = {
    "success": documents.success(),
    "fallback": documents.fallback(),
    "cancelled": documents.document_of_cancel(),
    "failed": documents.document_of_end(ReleaseOutcome.FAILED, RunState.FAILED),
    "timed out": documents.document_of_end(ReleaseOutcome.FAILED, RunState.TIMED_OUT),
    "budget": documents.document_of_end(ReleaseOutcome.FAILED, RunState.BUDGET_EXHAUSTED),
}


def answer(
    document: RunDocument, question: WhyQuestion, *, stream: StreamSeen = StreamSeen.COMMAND_LINE
) -> WhyAnswer:
    """The answer to one of the questions."""
    return next(each for each in why(document, stream=stream) if each.question is question)


def phrases_of(found: WhyAnswer) -> list[Phrase]:
    """What an answer says, without its words."""
    return [sentence.phrase for sentence in found.sentences]


def english(found: WhyAnswer) -> str:
    """An answer as it is read."""
    return " ".join(found.says(Language.EN))


@pytest.mark.parametrize(
    ("scenario", "expected"),
    [
        ("a-truthful-draft-is-released", [Phrase.NO_FALLBACK_SUCCESS]),
        ("the-language-model-fails", [Phrase.NO_FALLBACK_FAILED]),
        ("the-user-cancels-between-steps", [Phrase.NO_FALLBACK_CANCELLED]),
        ("context-is-missing", [Phrase.FALLBACK_CONTEXT]),
        ("context-is-missing-in-words-of-its-own", [Phrase.NO_FALLBACK_FAILED]),
        ("evidence-is-thin", [Phrase.FALLBACK_NO_CONCLUSION, Phrase.FACTS_INCLUDED]),
        ("an-unreadable-answer-with-facts", [Phrase.FALLBACK_UNREADABLE, Phrase.FACTS_INCLUDED]),
        ("saturated-with-facts", [Phrase.FALLBACK_SATURATED, Phrase.FACTS_INCLUDED]),
        ("the-protocol-is-broken-with-facts", [Phrase.FALLBACK_PROTOCOL, Phrase.FACTS_INCLUDED]),
        ("a-limit-of-bytes", [Phrase.FALLBACK_BUDGET, Phrase.FACTS_INCLUDED]),
        ("a-limit-reached-after-saturation", [Phrase.FALLBACK_BUDGET, Phrase.FACTS_INCLUDED]),
        ("the-deadline-comes-in-the-judge", [Phrase.FALLBACK_TIME, Phrase.FACTS_INCLUDED]),
        (
            "a-false-number-is-not-released",
            [Phrase.FALLBACK_CITATIONS, Phrase.REPAIR_FAILED, Phrase.FACTS_INCLUDED],
        ),
        ("the-judge-says-no", [Phrase.FALLBACK_UNSUPPORTED, Phrase.FACTS_INCLUDED]),
        ("the-judge-is-away", [Phrase.FALLBACK_UNAVAILABLE, Phrase.FACTS_INCLUDED]),
    ],
)
def test_why_a_fallback(scenario: str, expected: list[Phrase]) -> None:
    """By its type, and for thin evidence by what kept it thin."""
    assert phrases_of(answer(play_scenario(scenario), WhyQuestion.FALLBACK)) == expected


@pytest.mark.parametrize(
    ("scenario", "expected"),
    [
        ("context-is-missing", [Phrase.NEVER_CALLED]),
        ("a-truthful-draft-is-released", [Phrase.STOP_DRAFTED]),
        ("saturated-with-facts", [Phrase.STOP_SATURATED, Phrase.REQUESTS_REFUSED]),
        ("a-limit-reached-after-saturation", [Phrase.STOP_SATURATED]),
        ("the-protocol-is-broken-with-facts", [Phrase.STOP_PROTOCOL, Phrase.REQUESTS_REFUSED]),
        ("a-limit-of-steps-with-facts", [Phrase.STOP_BUDGET]),
        ("a-limit-reached-at-the-judge", [Phrase.STOP_DRAFTED]),
        ("an-unreadable-answer-with-facts", [Phrase.STOP_UNREADABLE]),
        ("the-language-model-fails", [Phrase.STOP_POLICY_FAILED]),
        ("the-deadline-comes-in-a-tool-with-facts", [Phrase.STOP_TIME]),
        ("the-deadline-comes-in-the-judge", [Phrase.STOP_DRAFTED]),
        ("the-user-cancels-between-steps", [Phrase.STOP_CANCELLED]),
        ("a-cancel-while-a-record-begins", [Phrase.STOP_CANCELLED, Phrase.REQUESTS_REFUSED]),
    ],
)
def test_why_the_agent_stopped_calling_tools(scenario: str, expected: list[Phrase]) -> None:
    """What came first counts: an end that came while guards checked did not stop the agent."""
    assert phrases_of(answer(play_scenario(scenario), WhyQuestion.STOPPED_CALLING)) == expected


@pytest.mark.parametrize(
    ("scenario", "expected"),
    [
        ("context-is-missing", [Phrase.NONE_CALLED]),
        ("a-truthful-draft-is-released", [Phrase.ALL_FOUND]),
        ("nothing-seen-is-said-with-its-scope", [Phrase.CALL_EMPTY]),
        ("a-tool-crashes-and-one-hangs", [Phrase.CALL_EXECUTION_FAILED, Phrase.CALL_TIMED_OUT]),
        ("a-limit-of-bytes", [Phrase.CALL_BUDGET_EXHAUSTED]),
        ("the-client-goes-away-during-a-tool", [Phrase.CALL_RUN_ENDED]),
        ("requests-are-refused", [Phrase.CALL_REFUSED] * 3),
    ],
)
def test_why_a_tool_has_no_evidence(scenario: str, expected: list[Phrase]) -> None:
    """Each call and each refused request by itself; empty, failed and refused are three things."""
    assert phrases_of(answer(play_scenario(scenario), WhyQuestion.NO_EVIDENCE)) == expected


def test_a_refused_request_is_named() -> None:
    """Which call, of which tool, by which code: read from the trace, as it has no record."""
    found = english(answer(play_scenario("requests-are-refused"), WhyQuestion.NO_EVIDENCE))

    assert "t2 (restart) was refused before it started (UNKNOWN_TOOL)" in found


@pytest.mark.parametrize("code", [*ErrorCode, "OF_A_LATER_VERSION"])
def test_every_error_code_has_words(code: str) -> None:
    """One that is not known is named as it is."""
    document = play_scenario("a-truthful-draft-is-released")
    record = replace(
        document.records[0],
        status=InvocationStatus.ERROR,
        evidence_status=EvidenceStatus.ERROR,
        error_code=code,
    )
    failed = replace(
        document, records=(record,), report=replace(document.report, claims=(), causes=(), candidates=())
    )

    expected = Phrase[f"CALL_{code}"] if code in set(ErrorCode) else Phrase.CALL_FAILED
    assert phrases_of(answer(failed, WhyQuestion.NO_EVIDENCE)) == [expected]


@pytest.mark.parametrize(
    ("scenario", "words"),
    [
        ("the-deadline-comes-in-the-judge", "Time: it used all of its 60 s."),
        ("a-limit-of-bytes", "Budget: run_bytes: 1307 of 700."),
        ("a-limit-of-steps-with-facts", "Budget: llm_calls: 3 of 2."),
        (
            "a-truthful-draft-is-released",
            "Neither: it ended SUCCESS after 0 s of 60 s, and no limit ended it.",
        ),
    ],
)
def test_time_or_budget(scenario: str, words: str) -> None:
    """The state says which; the run's own end says how much."""
    assert english(answer(play_scenario(scenario), WhyQuestion.TIME_OR_BUDGET)) == words


def test_a_status_success_says_that_it_is_not_a_conclusion() -> None:
    """And where the run's state differs from the status, that is said as well."""
    assert phrases_of(answer(play_scenario("evidence-is-thin"), WhyQuestion.STATUS_SUCCESS)) == [
        Phrase.STATUS_OF_FALLBACK
    ]
    assert phrases_of(answer(play_scenario("a-limit-of-bytes"), WhyQuestion.STATUS_SUCCESS)) == [
        Phrase.STATUS_OF_FALLBACK,
        Phrase.STATE_IS_SEPARATE,
    ]


@pytest.mark.parametrize(
    ("scenario", "stream", "expected", "arises"),
    [
        ("evidence-is-thin", StreamSeen.COMMAND_LINE, Phrase.NO_STREAM, False),
        ("evidence-is-thin", StreamSeen.BACKGROUND, Phrase.NO_CLIENT, False),
        ("evidence-is-thin", StreamSeen.OPEN, Phrase.DONE_NOT_YET, True),
        ("evidence-is-thin", StreamSeen.TERMINAL, Phrase.DONE_SENT, False),
        ("evidence-is-thin", StreamSeen.DISCONNECTED, Phrase.CONNECTION_LOST, True),
        ("the-client-goes-away-during-a-tool", StreamSeen.DISCONNECTED, Phrase.CLIENT_GONE, True),
        ("the-client-goes-away-during-a-tool", StreamSeen.COMMAND_LINE, Phrase.CLIENT_GONE, True),
        ("the-user-cancels-between-steps", StreamSeen.COMMAND_LINE, Phrase.NO_STREAM, False),
    ],
)
def test_why_no_done(scenario: str, stream: StreamSeen, expected: Phrase, arises: bool) -> None:
    """A run that its client's disconnect cancelled had a client, whichever process is asked."""
    found = answer(play_scenario(scenario), WhyQuestion.NO_DONE, stream=stream)

    assert (phrases_of(found), found.arises) == ([expected], arises)


def test_a_cancel_is_reported_as_failed() -> None:
    """The `done` that was sent never says CANCELLED."""
    found = answer(
        play_scenario("the-user-cancels-between-steps"), WhyQuestion.NO_DONE, stream=StreamSeen.TERMINAL
    )

    assert english(found) == "It was sent: done(FAILED)."


@pytest.mark.parametrize("name", NAMES)
def test_only_a_success_is_a_previous_turn(name: str) -> None:
    """A fallback is said not to be one, with its outcome."""
    document = play_scenario(name)
    found = answer(document, WhyQuestion.NO_PREVIOUS_TURN, stream=StreamSeen.TERMINAL)

    is_success = document.release.outcome is ReleaseOutcome.SUCCESS
    assert phrases_of(found) == [Phrase.IS_PREVIOUS_TURN if is_success else Phrase.NOT_PREVIOUS_TURN]
    assert found.arises is not is_success


@pytest.mark.parametrize("name", [*NAMES, *HAND_MADE])
@pytest.mark.parametrize("language", Language)
def test_all_seven_are_answered_for_every_run(name: str, language: Language) -> None:
    """In their order, in whole sentences, each resting on something, with or without a trace."""
    answers = why(HAND_MADE.get(name) or play_scenario(name))

    assert [each.question for each in answers] == list(WhyQuestion)
    for each in answers:
        assert each.facts
        for sentence in each.says(language):
            assert sentence.endswith((".", "。"))
            assert "{" not in sentence


@pytest.mark.parametrize("name", [*NAMES, *HAND_MADE])
def test_a_question_arises_where_the_run_gives_reason(name: str) -> None:
    """Fallback and status with a fallback alone; time or budget with the two states alone."""
    document = HAND_MADE.get(name) or play_scenario(name)
    arising = {each.question for each in why(document) if each.arises}

    is_fallback = document.release.outcome is ReleaseOutcome.FALLBACK
    is_limited = document.run.state in (RunState.TIMED_OUT, RunState.BUDGET_EXHAUSTED)
    assert (WhyQuestion.FALLBACK in arising) == is_fallback
    assert (WhyQuestion.STATUS_SUCCESS in arising) == is_fallback
    assert (WhyQuestion.TIME_OR_BUDGET in arising) == is_limited


def at(content: JsonValue, place: str) -> JsonValue:
    """The value at a place like `trace[3]` or `run.termination.reason`."""
    for name, index in re.findall(r"(\w+)(?:\[(\d+)\])?", place):
        assert isinstance(content, dict)
        content = content[name]
        if index:
            assert isinstance(content, list)
            content = content[int(index)]
    return content


@pytest.mark.parametrize("name", [*NAMES, *HAND_MADE])
def test_every_fact_is_in_the_document(name: str) -> None:
    """At the place that is named, and what is quoted of it is there."""
    document = HAND_MADE.get(name) or play_scenario(name)
    content = document.as_json()
    for each in why(document):
        for fact in each.facts:
            there = at(content, fact.place)
            values = {str(value) for value in there.values()} if isinstance(there, dict) else {str(there)}
            assert fact.value.split()[0] in values or fact.value in values or fact.value.startswith("-"), fact


def test_as_json_holds_words_and_places() -> None:
    """For programs: the code of the question, and the facts separate from the text."""
    document = play_scenario("evidence-is-thin")
    found = answer(document, WhyQuestion.FALLBACK)
    body = found.as_json(Language.ZH)

    assert isinstance(body, dict)
    assert (body["question"], body["arises"]) == ("FALLBACK", True)
    assert body["asks"] == "为什么得到的是兜底答复？"
    assert {"place": "release.outcome", "value": "FALLBACK"} in body["rests_on"]
