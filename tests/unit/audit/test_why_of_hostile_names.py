"""What a run's audit says is read from data: no name that an agent chooses can change it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.support import documents
from tests.support.scene import TIMEOUT_S, Scene

from diagnosis_harness.adapters.evidence_stores.memory import MemoryEvidenceStore
from diagnosis_harness.application.intent import IntentType
from diagnosis_harness.application.publish import RunFacts, publish
from diagnosis_harness.application.routed import find_routed_intent, was_routed
from diagnosis_harness.audit.why.answer import Sentence, WhyQuestion
from diagnosis_harness.audit.why.answers import why
from diagnosis_harness.audit.why.phrases import Phrase
from diagnosis_harness.audit.why.stored import why_of_document
from diagnosis_harness.diagnosis.collection import DiagnosisStopReason
from diagnosis_harness.diagnosis.inquiry import Inquiry
from diagnosis_harness.diagnosis.policy import AskTools, GiveDraft, WantedCall
from diagnosis_harness.kernel.errors import RunDocumentInvalid
from diagnosis_harness.kernel.json_value import JsonValue
from diagnosis_harness.kernel.language import Language
from diagnosis_harness.kernel.names import quote_text
from diagnosis_harness.report.document import RunDocument, plain_json
from diagnosis_harness.report.document_file import document_bytes, parse_document
from diagnosis_harness.report.reading import read_document
from diagnosis_harness.report.timeline import timeline
from diagnosis_harness.testing.scripted_policy import ScriptedPolicy
from diagnosis_harness.toolbox.ports import AlertInfo, SourceSummary
from diagnosis_harness.trace.event import TraceEvent, TraceEventStatus, TraceName, TracePhase, bound_payload

CODES = ("UNKNOWN_TOOL", "NOT_AUTHORISED", "STOP_REQUIRED", "INVALID_ARGUMENTS")
PIECES = (
    " code=NOT_AUTHORISED", "\ncode=STOP_REQUIRED ", ' "', "\\", "tool_call_id=t1 ", "detail=everything",
    " reason=INFORMATION_SATURATED", "intent=SYSTEM_CHAT ", "stage=ROUTING", "\u2028", "\u202e", "look", "查",
    "=", " ", "'", ")",
)  # fmt: skip
hostile = st.lists(st.sampled_from(PIECES), min_size=1, max_size=6).map("".join)


def event(
    seq: int,
    name: TraceName,
    payload: Mapping[str, object],
    status: TraceEventStatus = TraceEventStatus.REJECTED,
) -> TraceEvent:
    """One event as a run writes it: bounded and masked."""
    phase = TracePhase.RUN if name in (TraceName.RUN_ENDED, TraceName.STATUS) else TracePhase.TOOL
    return TraceEvent(seq, "r1", documents.START_S, name, phase, status, bound_payload(payload))  # type: ignore[arg-type]  # made here


def refusal(seq: int, tool: str, call: str, code: str) -> TraceEvent:
    """A refused request: tool and call are the agent's words, the code is ours."""
    payload: dict[str, object] = {
        "tool": tool,
        "tool_call_id": call,
        "code": code,
        "message": f"{tool} is refused",
    }
    return event(seq, TraceName.TOOL_REQUEST_REJECTED, payload)


def reread(document: RunDocument) -> RunDocument:
    """The document after it was written to a file and read from it."""
    return read_document(parse_document(document_bytes(document), file="a test"))


def of_older_form(document: RunDocument) -> RunDocument:
    """The document as it was written before its trace lines held data."""
    lines = tuple(replace(line, data=None) for line in document.trace)
    return replace(document, trace=lines, inquiry=None, schema_version="2")


def sentences_of(document: RunDocument, question: WhyQuestion) -> tuple[Sentence, ...]:
    """The sentences of one answer."""
    return next(each.sentences for each in why(document) if each.question is question)


@pytest.mark.parametrize(
    "tool",
    ["look code=NOT_AUTHORISED", "look\ncode=NOT_AUTHORISED", 'look" code=NOT_AUTHORISED tool_call_id=t2'],
)
def test_an_agent_that_names_a_tool_like_a_code_is_reported_as_it_was(tool: str) -> None:
    """A whole run, its document and its file: the request was refused since there is no such tool."""
    policy = ScriptedPolicy(AskTools((WantedCall("t1", tool, {}),)), GiveDraft(None))
    scene = Scene(policy=policy, store=MemoryEvidenceStore(), tools=())
    summary = SourceSummary(
        name="a test", alert=AlertInfo(), onset_s=None, incident=None, baseline=None, metric_series=0,
        log_lines=0, spans=0, edges=0, changes=0, entities=(), files=(),
    )  # fmt: skip
    facts = RunFacts(
        question="why?", language=Language.EN, started_s=scene.clock.now_s(), limit_s=TIMEOUT_S,
        inquiry=Inquiry(question="why?"), tools=(), summary=summary,
    )  # fmt: skip

    document = reread(publish(scene.ctx, facts, scene.run(), scene.events()))

    (refused,) = sentences_of(document, WhyQuestion.NO_EVIDENCE)
    assert refused == Sentence.of(Phrase.CALL_REFUSED, call="t1", tool=json.dumps(tool), code="UNKNOWN_TOOL")
    assert Sentence.of(Phrase.REQUESTS_REFUSED, count=1, codes="UNKNOWN_TOOL") in sentences_of(
        document, WhyQuestion.STOPPED_CALLING
    )


@given(tool=hostile, call=hostile, code=st.sampled_from(CODES))
def test_no_name_changes_what_why_says(tool: str, call: str, code: str) -> None:
    """The code is the one that the boundary gave, whatever is in the names beside it."""
    document = replace(documents.fallback(), trace=timeline([refusal(1, tool, call, code)]))

    for version in (document, reread(document)):
        (stopped,) = (
            each
            for each in sentences_of(version, WhyQuestion.STOPPED_CALLING)
            if each.phrase is Phrase.REQUESTS_REFUSED
        )
        (refused,) = (
            each
            for each in sentences_of(version, WhyQuestion.NO_EVIDENCE)
            if each.phrase is Phrase.CALL_REFUSED
        )

        assert stopped.values["codes"] == code
        assert refused.values["code"] == code
        assert (
            json.loads(refused.values["tool"]) == tool if refused.values["tool"] != tool else tool.isalnum()
        )


@given(detail=hostile, tool=hostile)
def test_no_name_adds_a_stop_an_intent_or_a_limit(detail: str, tool: str) -> None:
    """A stop is one where the loop stopped, a limit what the run's end names, a route what was routed."""
    scope = json.dumps({"text": tool})
    events = [
        refusal(1, tool, "t9", "UNKNOWN_TOOL"),
        event(2, TraceName.TOOL_INVOCATION, {"tool": tool, "tool_call_id": "t1", "scope": scope}),
        event(3, TraceName.RUN_ENDED, {"state": "BUDGET_EXHAUSTED", "reason": tool, "detail": detail}),
    ]  # fmt: skip
    document = replace(documents.success(), trace=timeline(events))

    (stop, *_) = sentences_of(document, WhyQuestion.STOPPED_CALLING)

    assert stop.phrase is Phrase.STOP_DRAFTED
    assert stop.values["spent"] == detail
    assert not was_routed(document.trace)
    assert find_routed_intent(document.trace) is None


@given(tool=hostile, call=hostile)
def test_a_document_of_the_older_form_is_not_read_from_its_text(tool: str, call: str) -> None:
    """Its lines hold text alone, in which an agent had a word: which request and why is unknown."""
    document = of_older_form(
        replace(documents.fallback(), trace=timeline([refusal(1, tool, call, "UNKNOWN_TOOL")]))
    )

    for version in (document, reread(document)):
        assert Sentence.of(Phrase.CALL_REFUSED_UNNAMED) in sentences_of(version, WhyQuestion.NO_EVIDENCE)
        assert [each.phrase for each in sentences_of(version, WhyQuestion.STOPPED_CALLING)][
            -1
        ] is Phrase.REQUESTS_REFUSED_UNNAMED
        for language in Language:
            for each in why_of_document(version):
                assert "UNKNOWN_TOOL" not in " ".join(each.says(language))


def test_a_document_of_the_older_form_still_says_how_it_was_routed_and_stopped() -> None:
    """What is in fields of their own, or where no agent has a word, is known as before."""
    routed = event(1, TraceName.ROUTING_DECISION, {"intent": "DIAGNOSIS", "reason": "ALERT"})
    stopped = event(2, TraceName.COLLECTION_STOP, {"reason": "INFORMATION_SATURATED"})
    document = documents.fallback()
    release = replace(document.release, stop_reason=DiagnosisStopReason.INFORMATION_SATURATED)
    document = of_older_form(replace(document, release=release, trace=timeline([routed, stopped])))

    assert find_routed_intent(document.trace) is IntentType.DIAGNOSIS
    assert sentences_of(document, WhyQuestion.STOPPED_CALLING)[0].phrase is Phrase.STOP_SATURATED


@given(value=hostile)
def test_a_value_never_looks_like_two_in_a_line(value: str) -> None:
    """Whoever reads the line sees where the agent's word ends."""
    (line,) = timeline([refusal(1, value, "t1", "UNKNOWN_TOOL")])

    assert line.text.startswith((f"tool={value} tool_call_id=t1 ", f"tool={quote_text(value)} "))
    assert line.text.count("\n") == 0


@pytest.mark.parametrize("wrong", [[], "text", {"a": float("nan")}, {"a": [[[[[[[1]]]]]]]}])
def test_data_that_no_trace_holds_is_refused(wrong: JsonValue) -> None:
    """A document is read exactly: what could not have been written is no payload."""
    document = replace(documents.success(), trace=timeline([refusal(1, "look", "t1", "UNKNOWN_TOOL")]))
    line = plain_json(document.trace[0])

    with pytest.raises(RunDocumentInvalid, match="data"):
        read_document({**document.as_json(), "trace": [{**line, "data": wrong}]})
