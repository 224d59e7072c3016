"""A trace as spans: every event in one place, spans inside their parents, ids that follow from the run."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from diagnosis_harness.kernel.json_value import JsonValue
from diagnosis_harness.trace.event import TraceEvent, bound_payload
from diagnosis_harness.trace.event import TraceEventStatus as Status
from diagnosis_harness.trace.event import TraceName as Name
from diagnosis_harness.trace.event import TracePhase as Phase
from diagnosis_harness.trace.spans import RunSpans, Span, SpanStatus, spans_of

RUN = "run-0123456789abcdef"
CALLS = st.sampled_from([{}, {"tool_call_id": "t1"}, {"tool_call_id": "t2"}])
TOLD = st.tuples(
    st.integers(0, 3), st.sampled_from(Name), st.sampled_from(Phase), st.sampled_from(Status), CALLS
)


def trace(*lines: tuple[float, Name, Phase, Status, dict[str, JsonValue]]) -> list[TraceEvent]:
    """The events, each as its seconds since the one before and its payload."""
    events, at_s = [], 1000.0
    for seq, (later_s, name, phase, status, payload) in enumerate(lines, start=1):
        at_s += later_s
        events.append(TraceEvent(seq, RUN, at_s, name, phase, status, bound_payload(payload)))
    return events


ONE_RUN = trace(
    (0, Name.RUN_STARTED, Phase.RUN, Status.STARTED, {"question": "why?"}),
    (0, Name.STATUS, Phase.RUN, Status.STARTED, {"stage": "ROUTING"}),
    (1, Name.LLM_CALL, Phase.AGENT, Status.FAILED, {"error": "LlmFailure", "kind": "TIMEOUT"}),
    (0, Name.ROUTING_ATTEMPT, Phase.ROUTING, Status.FAILED, {"role": "ROUTER", "attempt": 1}),
    (0, Name.ROUTING_DECISION, Phase.ROUTING, Status.SUCCEEDED, {"intent": "DIAGNOSIS"}),
    (0, Name.STATUS, Phase.RUN, Status.STARTED, {"stage": "DIAGNOSIS_RUNNING"}),
    (0, Name.AGENT_MODEL_STEP, Phase.AGENT, Status.STARTED, {}),
    (
        2,
        Name.LLM_CALL,
        Phase.AGENT,
        Status.SUCCEEDED,
        {"llm": "gpt-5", "finish": "TOOL_CALLS", "input_tokens": 90, "output_tokens": 7},
    ),
    (0, Name.RETRY_ATTEMPT, Phase.AGENT, Status.SUCCEEDED, {"role": "DIAGNOSIS_AGENT"}),
    (0, Name.AGENT_MODEL_STEP, Phase.AGENT, Status.SUCCEEDED, {}),
    (
        0,
        Name.TOOL_INVOCATION,
        Phase.TOOL,
        Status.STARTED,
        {"tool": "look", "tool_call_id": "t1", "scope": {}},
    ),
    (0, Name.TOOL_INVOCATION, Phase.TOOL, Status.STARTED, {"tool": "rank", "tool_call_id": "t2"}),
    (
        3,
        Name.TOOL_INVOCATION,
        Phase.TOOL,
        Status.SUCCEEDED,
        {"tool": "rank", "tool_call_id": "t2", "items": 4},
    ),
    (1, Name.TOOL_ABANDONED, Phase.TOOL, Status.FAILED, {"tool_name": "look", "tool_call_id": "t1"}),
    (
        0,
        Name.TOOL_INVOCATION,
        Phase.TOOL,
        Status.FAILED,
        {"tool": "look", "tool_call_id": "t1", "error_code": "TIMED_OUT"},
    ),
    (0, Name.TOOL_PROGRESS, Phase.AGENT, Status.SUCCEEDED, {"tool_call_id": "t2", "gain": "GAINED"}),
    (0, Name.STATUS, Phase.RUN, Status.STARTED, {"stage": "SAFETY_VALIDATING"}),
    (0, Name.EVIDENCE_GUARD_INITIAL, Phase.GUARD, Status.REJECTED, {}),
    (0, Name.EVIDENCE_REPAIR, Phase.GUARD, Status.STARTED, {}),
    (2, Name.EVIDENCE_REPAIR, Phase.GUARD, Status.SUCCEEDED, {}),
    (0, Name.EVIDENCE_GUARD_RECHECK, Phase.GUARD, Status.SUCCEEDED, {"passed": 6}),
    (0, Name.RUN_ENDED, Phase.RUN, Status.SUCCEEDED, {"state": "SUCCESS"}),
    (0, Name.RELEASE_DECISION, Phase.RELEASE, Status.SUCCEEDED, {"outcome": "SUCCESS"}),
    (0, Name.RUN_FINISHED, Phase.RUN, Status.SUCCEEDED, {"outcome": "SUCCESS", "state": "SUCCESS"}),
)


def span_named(run: RunSpans, name: str) -> Span:
    """The one span of this name."""
    (span,) = [span for span in run.spans if span.name == name]
    return span


def events_in(span: Span) -> list[str]:
    """Names of the single events in a span."""
    return [event.name for event in span.events]


def assert_whole(events: list[TraceEvent], run: RunSpans) -> None:
    """Nothing is lost or repeated; every span and every event is inside its parent."""
    seqs = [seq for span in run.spans for seq in (*span.seqs, *(event.seq for event in span.events))]
    assert Counter(seqs) == Counter(event.seq for event in events)
    by_id = {span.span_id: span for span in run.spans}
    assert len(by_id) == len(run.spans)
    assert [span for span in run.spans if span.parent_id is None] == [run.spans[0]]
    for span in run.spans:
        assert span.start_s <= span.end_s
        assert all(span.start_s <= event.at_s <= span.end_s for event in span.events)
        if span.parent_id is not None:
            parent = by_id[span.parent_id]
            assert parent.start_s <= span.start_s
            assert span.end_s <= parent.end_s


@given(st.lists(TOLD, min_size=1, max_size=30))
def test_every_event_lands_in_exactly_one_place_and_spans_nest(
    lines: list[tuple[float, Name, Phase, Status, dict[str, JsonValue]]],
) -> None:
    """Of any events in any order whatsoever, so also of a run whose process died or that goes on."""
    events = trace(*lines)

    assert_whole(events, spans_of(events))


@pytest.mark.parametrize("length", range(1, len(ONE_RUN) + 1))
def test_a_run_that_was_cut_off_anywhere_has_its_spans(length: int) -> None:
    """What began and did not end lasts until the last event, and says so."""
    run = spans_of(ONE_RUN[:length])

    assert_whole(ONE_RUN[:length], run)
    is_whole = length == len(ONE_RUN)
    assert ("diagnosis.unfinished" in run.spans[0].attributes) is not is_whole
    assert run.spans[0].end_s == ONE_RUN[length - 1].at_s


def test_a_run_is_reported_as_its_parts() -> None:
    """Phases, steps, tools and calls of language models, each under what it happened in."""
    run = spans_of(ONE_RUN, session_id="ses-1")
    name_of = {span.span_id: span.name for span in run.spans}
    tree = [
        (span.name, span.parent_id and name_of[span.parent_id], span.end_s - span.start_s)
        for span in run.spans
    ]

    root = "invoke_agent diagnosis-harness"
    assert tree == [
        (root, None, 9.0),
        ("ROUTING", root, 1.0),
        ("chat", "ROUTING", 1.0),
        ("AGENT_MODEL_STEP", root, 2.0),
        ("chat gpt-5", "AGENT_MODEL_STEP", 2.0),
        ("execute_tool look", root, 4.0),
        ("execute_tool rank", root, 3.0),
        ("GUARD", root, 2.0),
        ("EVIDENCE_REPAIR", "GUARD", 2.0),
    ]
    assert events_in(span_named(run, "ROUTING")) == ["ROUTING_ATTEMPT", "ROUTING_DECISION"]
    assert events_in(span_named(run, "AGENT_MODEL_STEP")) == ["RETRY_ATTEMPT"]
    assert events_in(span_named(run, "execute_tool look")) == ["TOOL_ABANDONED"]
    assert events_in(span_named(run, "GUARD")) == ["EVIDENCE_GUARD_INITIAL", "EVIDENCE_GUARD_RECHECK"]


def test_names_are_those_of_the_conventions() -> None:
    """OpenTelemetry's for generative AI where it has any, ours under `diagnosis.` elsewhere."""
    run = spans_of(ONE_RUN, session_id="ses-1")

    assert run.spans[0].attributes == {
        "gen_ai.operation.name": "invoke_agent",
        "gen_ai.agent.name": "diagnosis-harness",
        "gen_ai.conversation.id": "ses-1",
        "diagnosis.run_id": RUN,
        "diagnosis.question": "why?",
        "diagnosis.outcome": "SUCCESS",
        "diagnosis.state": "SUCCESS",
    }
    assert span_named(run, "chat gpt-5").is_client
    assert span_named(run, "chat gpt-5").attributes == {
        "gen_ai.operation.name": "chat",
        "gen_ai.response.model": "gpt-5",
        "gen_ai.response.finish_reasons": ("TOOL_CALLS",),
        "gen_ai.usage.input_tokens": 90,
        "gen_ai.usage.output_tokens": 7,
        "diagnosis.phase": "AGENT",
    }
    look = span_named(run, "execute_tool look")
    assert not look.is_client
    assert look.attributes == {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": "look",
        "gen_ai.tool.call.id": "t1",
        "gen_ai.tool.call.arguments": "{}",
        "error.type": "TIMED_OUT",
        "diagnosis.phase": "TOOL",
    }


@pytest.mark.parametrize(
    ("outcome", "expected"),
    [
        ("SUCCESS", SpanStatus.OK),
        ("FALLBACK", SpanStatus.OK),
        ("FAILED", SpanStatus.ERROR),
        ("CANCELLED", SpanStatus.ERROR),
    ],
)
def test_the_run_is_stored_as_it_was_released(outcome: str, expected: SpanStatus) -> None:
    """By its outcome, though a tool of it failed or its phases went well."""
    root = spans_of(
        trace(
            (0, Name.RUN_STARTED, Phase.RUN, Status.STARTED, {}),
            (0, Name.RUN_FINISHED, Phase.RUN, Status.SUCCEEDED, {"outcome": outcome, "reason": "X"}),
        )
    ).spans[0]

    assert root.status is expected
    assert root.message == (f"{outcome} X" if expected is SpanStatus.ERROR else "")


def test_a_part_that_failed_is_an_error_of_its_own() -> None:
    """With its code, and without one where it went well."""
    run = spans_of(ONE_RUN)

    assert (span_named(run, "execute_tool look").status, span_named(run, "execute_tool look").message) == (
        SpanStatus.ERROR,
        "TIMED_OUT",
    )
    assert span_named(run, "execute_tool rank").status is SpanStatus.OK
    assert span_named(run, "chat").message == "LlmFailure"


def test_the_same_run_has_the_same_ids_in_every_export() -> None:
    """And another run has others, though it went the same way."""
    again = spans_of(list(ONE_RUN))
    other = spans_of(
        [TraceEvent(e.seq, "run-2", e.at_s, e.name, e.phase, e.status, e.payload) for e in ONE_RUN]
    )

    assert spans_of(ONE_RUN) == again
    assert len(again.trace_id) == 16
    assert {len(span.span_id) for span in again.spans} == {8}
    assert again.trace_id != other.trace_id
    assert not {span.span_id for span in again.spans} & {span.span_id for span in other.spans}
