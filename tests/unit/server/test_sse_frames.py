"""Events as bytes: whatever a text holds, one event stays one event, for strict and for sloppy readers."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.support.streaming_server import Parser

from diagnosis_harness.harness.termination import RunState
from diagnosis_harness.kernel.errors import InvalidInput
from diagnosis_harness.release.outcome import ReleaseOutcome
from diagnosis_harness.server.event_id import EventId, read_event_id
from diagnosis_harness.server.sse_frames import HEARTBEAT, encode_event, retry_hint
from diagnosis_harness.server.sse_session import Content, Done, Failure, Metadata, RunIds, Traced
from diagnosis_harness.trace.event import TraceEvent, TraceEventStatus, TraceName, TracePhase, bound_payload

IDS = RunIds("ses-1", "run-1")
LINE_ENDS = "\n\r\v\f\x1c\x1d\x1e\x85\u2028\u2029\x00"
TEXTS = st.text(st.characters(exclude_categories=()) | st.sampled_from(LINE_ENDS))


@given(TEXTS)
def test_any_text_arrives_as_one_event(text: str) -> None:
    """Half a surrogate pair included: JSON can say it, UTF-8 cannot."""
    sent = encode_event(Content(IDS, {"text": text}), EventId(7))

    (came,) = Parser().feed(sent)

    assert (came.id, came.name, came.data["answer"]) == ("7.0", "content", {"text": text})


@given(TEXTS)
def test_no_reader_by_lines_sees_more_lines(text: str) -> None:
    """Python's `splitlines`, which many clients use, knows more line ends than the standard does."""
    sent = encode_event(Content(IDS, {"text": text}), EventId(7)).decode()

    assert len(sent.splitlines()) == 4


def test_every_kind_of_event_has_its_name_and_fields() -> None:
    """Metadata and failure both carry the ids of session and run."""
    logged = TraceEvent(
        3,
        "run-1",
        1.5,
        TraceName.LLM_CALL,
        TracePhase.AGENT,
        TraceEventStatus.STARTED,
        bound_payload({"a": [1]}),
    )
    failure = Failure(IDS, "DEADLINE_REACHED", "没有时间了", RunState.TIMED_OUT)
    events = (Metadata(IDS), Traced(logged), failure, Done(ReleaseOutcome.FAILED))

    came = [received for event in events for received in Parser().feed(encode_event(event, EventId(3)))]

    ids = {"session_id": "ses-1", "run_id": "run-1"}
    assert [(each.name, each.data) for each in came] == [
        ("metadata", ids),
        (
            "trace",
            {
                "seq": 3,
                "run_id": "run-1",
                "at_s": 1.5,
                "name": "LLM_CALL",
                "phase": "AGENT",
                "status": "STARTED",
                "payload": {"a": [1]},
            },
        ),
        ("failure", {**ids, "code": "DEADLINE_REACHED", "message": "没有时间了", "state": "TIMED_OUT"}),
        ("done", {"outcome": "FAILED"}),
    ]
    assert "没有时间了" in encode_event(failure, None).decode()


def test_what_is_not_an_event_makes_none() -> None:
    """The hint for coming again and the sign of life leave a client without an event, and without an id."""
    parser = Parser()

    assert parser.feed(retry_hint(1_000) + HEARTBEAT) == []
    assert parser.comments == 1
    assert b"id:" not in encode_event(Done(ReleaseOutcome.FAILED), None)


@given(st.integers(0, 10**9), st.integers(0, 1))
def test_an_id_is_read_as_it_was_written(seq: int, part: int) -> None:
    """And ids have the order of the events that they name."""
    place = EventId(seq, part)

    assert read_event_id(str(place)) == place
    assert place < EventId(seq + 1)


@pytest.mark.parametrize(
    "text", ["1", "1.2", "-1.0", "01.0", "1.0 ", "1.0\n", "１.0", "x", "1.0.0", "9" * 11 + ".0"]
)
def test_another_form_is_not_an_id(text: str) -> None:
    """It is refused with what to do instead."""
    with pytest.raises(InvalidInput, match="Last-Event-ID"):
        read_event_id(text)


def test_json_that_cannot_be_is_refused() -> None:
    """A number that JSON has not got would be read by some and break others."""
    with pytest.raises(ValueError, match="JSON"):
        encode_event(Content(IDS, {"text": float("nan")}), None)
    assert json.loads('"\\ud800"') == "\ud800"
