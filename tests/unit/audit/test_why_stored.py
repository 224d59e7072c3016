"""Why a kept run went as it did: what is said is true of every end there is, and of a run that goes on."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path

import pytest
from tests.support.run_endings import NAMES, KeptEnd, play_ending
from tests.support.scripted_chat import KeptChat, play
from tests.support.scripted_router import ScriptedRouter

from diagnosis_harness.application.intent import IntentType
from diagnosis_harness.application.routing import RoutingDecision, RoutingReason
from diagnosis_harness.application.runs.document import document_of
from diagnosis_harness.application.runs.request import RunKind
from diagnosis_harness.application.runs.row import CancelRequest, RunRow, RunStatus
from diagnosis_harness.audit.why.answer import WhyAnswer, WhyQuestion
from diagnosis_harness.audit.why.phrases import Phrase
from diagnosis_harness.audit.why.stored import why_of_document, why_stored
from diagnosis_harness.audit.why.stream import StreamSeen, stream_seen
from diagnosis_harness.harness.cancellation import CancellationReason
from diagnosis_harness.kernel.language import Language
from diagnosis_harness.release.outcome import ReleaseOutcome
from diagnosis_harness.testing.evidence import projecting_record
from diagnosis_harness.tools.invocation import ErrorCode, EvidenceRecord

SYSTEM = RoutingDecision(IntentType.SYSTEM_CHAT, RoutingReason.GREETING)


def answers(end: KeptEnd, *, known: StreamSeen | None = None) -> dict[WhyQuestion, WhyAnswer]:
    """The answers by their question, as a process says them that knows this of the stream."""
    answer = why_stored(end.row, end.records, end.events, stream=stream_seen(end.row, known))
    return {each.question: each for each in answer}


def phrases_of(answer: WhyAnswer) -> list[Phrase]:
    """What is said, without its words."""
    return [sentence.phrase for sentence in answer.sentences]


@pytest.mark.parametrize("name", NAMES)
def test_all_seven_are_answered_however_a_run_ended(tmp_path: Path, name: str) -> None:
    """In either language; a run that has no conclusion is not said to have one."""
    end = play_ending(tmp_path, name)
    answer = answers(end)
    assert list(answer) == list(WhyQuestion)
    for each in answer.values():
        assert each.facts
        for language in Language:
            assert all("{" not in sentence for sentence in each.says(language))
    assert end.row.ending is not None
    concluded = end.row.ending.outcome is ReleaseOutcome.SUCCESS and end.row.intent is IntentType.DIAGNOSIS
    assert (Phrase.STATUS_CONCLUDED in phrases_of(answer[WhyQuestion.STATUS_SUCCESS])) == concluded


def test_how_the_stream_of_an_abandoned_run_ended_is_unknown(tmp_path: Path) -> None:
    """Its server is gone: neither that `done` was sent nor that the connection broke is known."""
    answer = answers(play_ending(tmp_path, "given up in a path"))
    assert phrases_of(answer[WhyQuestion.NO_DONE]) == [Phrase.STREAM_UNKNOWN]


@pytest.mark.parametrize(
    ("name", "known", "expected"),
    [
        ("system", None, StreamSeen.UNKNOWN),
        ("system", StreamSeen.TERMINAL, StreamSeen.TERMINAL),
        ("given up in a path", None, StreamSeen.UNKNOWN),
        ("given up in a path", StreamSeen.DISCONNECTED, StreamSeen.DISCONNECTED),
        ("service stopped in a path", None, StreamSeen.UNKNOWN),
        ("client gone in a path", None, StreamSeen.DISCONNECTED),
        ("cancelled in the queue", StreamSeen.OPEN, StreamSeen.BACKGROUND),
    ],
)
def test_how_a_stream_ended_is_what_was_seen_or_what_the_row_shows(
    tmp_path: Path, name: str, known: StreamSeen | None, expected: StreamSeen
) -> None:
    """The row shows a client that went away, and nothing else; the rest is UNKNOWN."""
    assert stream_seen(play_ending(tmp_path, name).row, known) is expected


@pytest.mark.parametrize(
    ("name", "time", "arises"),
    [
        ("expired in the queue", Phrase.WAS_QUEUE, True),
        ("cancelled in the queue", Phrase.WAS_NOT_STARTED, False),
    ],
)
def test_a_run_that_never_began_used_no_time(
    tmp_path: Path, name: str, time: Phrase, *, arises: bool
) -> None:
    """Nor was it routed, nor did it call anything."""
    answer = answers(play_ending(tmp_path, name))
    assert phrases_of(answer[WhyQuestion.TIME_OR_BUDGET]) == [time]
    assert answer[WhyQuestion.TIME_OR_BUDGET].arises is arises
    assert phrases_of(answer[WhyQuestion.FALLBACK]) == [Phrase.NO_FALLBACK_NEVER_STARTED]
    assert phrases_of(answer[WhyQuestion.STOPPED_CALLING]) == [Phrase.NEVER_STARTED_CALLING]
    assert phrases_of(answer[WhyQuestion.NO_PREVIOUS_TURN]) == [Phrase.NO_TURN_UNROUTED]


def test_a_run_whose_source_no_process_had_is_said_to_have_lacked_it(tmp_path: Path) -> None:
    """And what to do: it was not for want of time."""
    answer = answers(play_ending(tmp_path, "without a process for its source"))
    assert phrases_of(answer[WhyQuestion.TIME_OR_BUDGET]) == [Phrase.WAS_NOT_SERVED]
    assert answer[WhyQuestion.TIME_OR_BUDGET].arises is False
    assert phrases_of(answer[WhyQuestion.FALLBACK]) == [Phrase.NO_FALLBACK_NOT_SERVED]
    assert phrases_of(answer[WhyQuestion.STOPPED_CALLING]) == [Phrase.NEVER_STARTED_CALLING]


@pytest.mark.parametrize("name", ["given up before a word", "given up in a path", "timed out in a path"])
def test_a_run_that_began_is_not_said_never_to_have(tmp_path: Path, name: str) -> None:
    """Whatever little its log holds."""
    answer = answers(play_ending(tmp_path, name))
    assert phrases_of(answer[WhyQuestion.TIME_OR_BUDGET]) != [Phrase.WAS_NOT_STARTED]
    assert phrases_of(answer[WhyQuestion.FALLBACK]) == [Phrase.NO_FALLBACK_FAILED]


def test_a_question_that_was_not_routed_is_not_said_to_be_none(tmp_path: Path) -> None:
    """It was cancelled before anybody knew what it asks for."""
    answer = answers(play_ending(tmp_path, "cancelled in routing"))
    assert phrases_of(answer[WhyQuestion.NO_PREVIOUS_TURN]) == [Phrase.NO_TURN_UNROUTED]


def test_an_abandoned_record_had_been_begun(tmp_path: Path) -> None:
    """It is in the store, so that is known."""
    answer = answers(play_ending(tmp_path, "given up in a tool"))[WhyQuestion.NO_EVIDENCE]
    assert phrases_of(answer) == [Phrase.CALL_ABANDONED]
    assert "its record had been started" in answer.says(Language.EN)[0]


@pytest.mark.parametrize("name", [name for name in NAMES if name != "given up before a word"])
def test_a_document_alone_says_what_its_row_does_but_for_the_stream(tmp_path: Path, name: str) -> None:
    """The trace tells what it was routed to; nothing claims that it was asked at the command line."""
    end = play_ending(tmp_path, name)
    alone = {each.question: each for each in why_of_document(document_of(end.row, end.records, end.events))}
    kept = answers(end)
    del kept[WhyQuestion.NO_DONE]
    assert {question: alone[question] for question in kept} == kept
    assert phrases_of(alone[WhyQuestion.NO_DONE])[0] in (Phrase.STREAM_UNKNOWN, Phrase.CLIENT_GONE)


# ---------------------------------------------------------------- a run that has not ended


def queue_run(kept: KeptChat, kind: RunKind = RunKind.BACKGROUND) -> RunRow:
    """A row that waits."""
    return RunRow(request=kept.request(kind=kind), status=RunStatus.QUEUED)


def so_far(
    row: RunRow, *records: EvidenceRecord, known: StreamSeen | None = None
) -> dict[WhyQuestion, WhyAnswer]:
    """The answers as of now."""
    return answers(KeptEnd(row, records, ()), known=known)


def test_a_queued_run_is_answered_as_of_now(tmp_path: Path) -> None:
    """It has not begun; nothing was called, no time has passed, and no client receives a stream."""

    async def act(kept: KeptChat) -> None:
        answer = so_far(queue_run(kept))
        assert list(answer) == list(WhyQuestion)
        assert phrases_of(answer[WhyQuestion.FALLBACK]) == [Phrase.IS_QUEUED, Phrase.NO_ANSWER_YET]
        assert phrases_of(answer[WhyQuestion.STOPPED_CALLING]) == [Phrase.IS_QUEUED, Phrase.NONE_CALLED_YET]
        assert phrases_of(answer[WhyQuestion.NO_EVIDENCE]) == [Phrase.NONE_CALLED_YET]
        assert phrases_of(answer[WhyQuestion.TIME_OR_BUDGET]) == [Phrase.IS_QUEUED, Phrase.TIME_NOT_STARTED]
        assert phrases_of(answer[WhyQuestion.NO_DONE]) == [Phrase.NO_CLIENT]
        assert phrases_of(answer[WhyQuestion.NO_PREVIOUS_TURN]) == [Phrase.NO_TURN_YET]

    play(tmp_path, act)


def test_a_run_that_goes_on_is_answered_as_of_now(tmp_path: Path) -> None:
    """From its row, its records and its log as they stand while it works."""

    async def act(kept: KeptChat) -> None:
        kept.system.go.clear()
        request = kept.request()
        task = asyncio.create_task(kept.ask(request))
        await kept.system.entered.wait()
        row = await kept.stores.archive.run(request.run_id)
        assert row is not None
        answer = so_far(row, known=StreamSeen.OPEN)
        assert list(answer) == list(WhyQuestion)
        assert phrases_of(answer[WhyQuestion.FALLBACK]) == [Phrase.IN_PROGRESS, Phrase.NO_ANSWER_YET]
        assert phrases_of(answer[WhyQuestion.TIME_OR_BUDGET]) == [Phrase.IN_PROGRESS, Phrase.TIME_SO_FAR]
        assert phrases_of(answer[WhyQuestion.STATUS_SUCCESS]) == [Phrase.IN_PROGRESS, Phrase.STATUS_OTHER]
        assert phrases_of(answer[WhyQuestion.NO_DONE]) == [Phrase.DONE_NOT_YET]
        assert phrases_of(answer[WhyQuestion.NO_PREVIOUS_TURN]) == [Phrase.NO_TURN_OF_PATH]
        kept.system.go.set()
        await task

    play(tmp_path, act, router=ScriptedRouter(SYSTEM))


@pytest.mark.parametrize(
    ("known", "expected"),
    [
        (StreamSeen.OPEN, Phrase.DONE_NOT_YET),
        (StreamSeen.TERMINAL, Phrase.DONE_SENT_BEFORE_STORED),
        (StreamSeen.DISCONNECTED, Phrase.CONNECTION_LOST_SO_FAR),
        (None, Phrase.STREAM_UNKNOWN_SO_FAR),
    ],
)
def test_the_stream_of_a_run_that_goes_on(tmp_path: Path, known: StreamSeen | None, expected: Phrase) -> None:
    """No outcome is named, because there is none."""

    async def act(kept: KeptChat) -> None:
        row = replace(queue_run(kept, RunKind.CHAT), status=RunStatus.RUNNING, started_s=kept.clock.now_s())
        assert phrases_of(so_far(row, known=known)[WhyQuestion.NO_DONE]) == [expected]

    play(tmp_path, act)


def test_calls_and_a_cancel_so_far_are_reported(tmp_path: Path) -> None:
    """A call at work is not said to be finished, nor the cancel to be carried out."""

    async def act(kept: KeptChat) -> None:
        now_s = kept.clock.now_s()
        wish = CancelRequest(CancellationReason.USER_REQUESTED, now_s)
        row = replace(queue_run(kept), status=RunStatus.RUNNING, started_s=now_s, cancel_request=wish)
        begun = replace(projecting_record("t2"), run_id=row.run_id)
        failed = replace(projecting_record("t1"), run_id=row.run_id).with_error(
            ErrorCode.TIMED_OUT, at_s=begun.started_s
        )
        answer = so_far(row, failed, begun)
        assert phrases_of(answer[WhyQuestion.NO_EVIDENCE]) == [Phrase.CALL_TIMED_OUT, Phrase.CALL_UNFINISHED]
        assert answer[WhyQuestion.NO_EVIDENCE].arises
        assert phrases_of(answer[WhyQuestion.STOPPED_CALLING]) == [Phrase.IN_PROGRESS, Phrase.NOT_STOPPED]
        assert phrases_of(answer[WhyQuestion.TIME_OR_BUDGET]) == [
            Phrase.IN_PROGRESS,
            Phrase.TIME_SO_FAR,
            Phrase.CANCEL_REQUESTED,
        ]

    play(tmp_path, act)
