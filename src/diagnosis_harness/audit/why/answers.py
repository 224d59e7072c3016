"""Why a run went as it did: the seven questions of the lifecycle document, §15, answered from its document.

Pure: nothing is asked again and nothing is guessed. Where the document carries no trace, what only the trace
tells is left out. Words come last (`why.words`), so one answer can be said in either language.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import assert_never

from diagnosis_harness.application.intent import IntentType
from diagnosis_harness.application.previous_turn import (
    EarlierRun,
    NoPreviousTurn,
    PublishedResultPolicy,
)
from diagnosis_harness.application.runs.early_end import was_not_served
from diagnosis_harness.audit.why.answer import (
    Fact,
    Say,
    Sentence,
    WhyAnswer,
    WhyQuestion,
    shown_name,
)
from diagnosis_harness.audit.why.stream import StreamSeen, no_done
from diagnosis_harness.diagnosis.collection import DiagnosisStopReason
from diagnosis_harness.harness.termination import RunState
from diagnosis_harness.release.outcome import FallbackType, ReleaseOutcome
from diagnosis_harness.report.document import RecordEntry, RunDocument
from diagnosis_harness.report.measure import measure
from diagnosis_harness.report.missing import missing_phrases
from diagnosis_harness.report.trace_line import TraceLine
from diagnosis_harness.report.wording import words_of
from diagnosis_harness.tools.evidence import EvidenceStatus, InvocationStatus
from diagnosis_harness.tools.invocation import ErrorCode
from diagnosis_harness.tools.preflight import RefusalCode
from diagnosis_harness.trace.event import TraceEventStatus, TraceName, TracePhase

FACTS_MAX = 5
"""Trace lines of one kind that an answer names; the last ones, since they are next to the end."""


def why(
    document: RunDocument,
    *,
    stream: StreamSeen = StreamSeen.COMMAND_LINE,
    intent: IntentType | None = IntentType.DIAGNOSIS,
) -> tuple[WhyAnswer, ...]:
    """All seven answers, in the order of the questions.

    Args:
        intent: the path that the question took; None where it ended before it was routed.
    """
    return (
        _fallback(document, intent),
        _stopped_calling(document),
        _no_evidence(document),
        _time_or_budget(document),
        _status_success(document, intent),
        no_done(document, stream),
        _no_previous_turn(document, stream, intent),
    )


# ---------------------------------------------------------------- why a fallback


def _fallback(document: RunDocument, intent: IntentType | None) -> WhyAnswer:
    facts = [
        _outcome(document),
        *_lines(document, *_GUARD_WORDS),
        *_lines(document, TraceName.RELEASE_DECISION),
    ]
    release = document.release
    if release.fallback_type is None:
        said = {
            ReleaseOutcome.FAILED: Say.NO_FALLBACK_FAILED,
            ReleaseOutcome.CANCELLED: Say.NO_FALLBACK_CANCELLED,
        }.get(release.outcome, Say.NO_FALLBACK_SUCCESS if _is_diagnosis(intent) else Say.NO_FALLBACK_ANSWERED)
        if never_began(document):
            said = Say.NO_FALLBACK_NOT_SERVED if _not_served(document) else Say.NO_FALLBACK_NEVER_BEGAN
        if release.failure:
            facts.insert(1, Fact("release.failure", release.failure))
        return WhyAnswer(WhyQuestion.FALLBACK, (Sentence.of(said),), tuple(facts), arises=False)
    facts.insert(1, Fact("release.fallback_type", release.fallback_type))
    sentences = list(_of_fallback(document, release.fallback_type))
    if document.report.claims:
        sentences.append(Sentence.of(Say.FACTS_KEPT, count=len(document.report.claims)))
    return WhyAnswer(WhyQuestion.FALLBACK, tuple(sentences), tuple(facts), arises=True)


_GUARD_WORDS = (
    TraceName.EVIDENCE_GUARD_INITIAL,
    TraceName.EVIDENCE_GUARD_RECHECK,
    TraceName.SEMANTIC_GUARD_DECISION,
)


def _of_fallback(document: RunDocument, kind: FallbackType) -> Iterator[Sentence]:
    match kind:
        case FallbackType.MISSING_REQUIRED_CONTEXT:
            missing = missing_phrases(document.report, words_of(document.run.language))
            said = Say.FALLBACK_CONTEXT if missing else Say.FALLBACK_CONTEXT_UNNAMED
            yield Sentence.of(said, missing=", ".join(missing))
        case FallbackType.INSUFFICIENT_EVIDENCE:
            yield Sentence.of(_thin(document))
        case FallbackType.EVIDENCE_VALIDATION_FAILED:
            yield Sentence.of(Say.FALLBACK_CITATIONS)
            if _has(document, TraceName.EVIDENCE_REPAIR):
                yield Sentence.of(Say.REPAIR_FAILED)
        case FallbackType.SEMANTIC_UNSUPPORTED:
            yield Sentence.of(Say.FALLBACK_UNSUPPORTED, reasons=", ".join(_judged_reasons(document)) or "-")
        case FallbackType.SEMANTIC_UNAVAILABLE:
            attempts = sum(line.name is TraceName.SEMANTIC_GUARD_ATTEMPT for line in document.trace)
            yield Sentence.of(Say.FALLBACK_UNAVAILABLE, attempts=attempts)


def _judged_reasons(document: RunDocument) -> tuple[str, ...]:
    """The reasons of SemanticGuard's last word; none where it gave none, or where no data was kept."""
    decisions = [line for line in document.trace if line.name is TraceName.SEMANTIC_GUARD_DECISION]
    held = (decisions[-1].data or {}).get("reasons") if decisions else None
    return tuple(str(each) for each in held) if isinstance(held, tuple) else ()


def _thin(document: RunDocument) -> Say:
    """What kept the evidence from a conclusion."""
    match document.run.state, document.release.stop_reason:
        case RunState.TIMED_OUT, _:
            return Say.FALLBACK_TIME
        case RunState.BUDGET_EXHAUSTED, _:
            return Say.FALLBACK_BUDGET
        case _, DiagnosisStopReason.INFORMATION_SATURATED:
            return Say.FALLBACK_SATURATED
        case _, DiagnosisStopReason.PROGRESS_PROTOCOL_VIOLATED:
            return Say.FALLBACK_PROTOCOL
        case _:
            unreadable = _has(document, TraceName.AGENT_MODEL_STEP, TraceEventStatus.REJECTED)
            return Say.FALLBACK_UNREADABLE if unreadable else Say.FALLBACK_NO_CONCLUSION


# ---------------------------------------------------------------- why the agent stopped calling tools


def _stopped_calling(document: RunDocument) -> WhyAnswer:
    facts = [Fact("run.state", document.run.state), *_spent_facts(document, reached=True)]
    if document.release.stop_reason:
        facts.insert(0, Fact("release.stop_reason", document.release.stop_reason))
    refused = [line for line in document.trace if line.name is TraceName.TOOL_REQUEST_REJECTED]
    if not document.records and not refused:
        never = (Sentence.of(Say.NEVER_BEGAN_CALLING if never_began(document) else Say.NEVER_CALLED),)
        return WhyAnswer(WhyQuestion.STOPPED_CALLING, never, tuple(facts), arises=False)
    sentences = [Sentence.of(_stop(document), calls=len(document.records), spent=_spent(document))]
    if refused:
        codes = ", ".join(dict.fromkeys(code for line in refused if (code := line.said("code"))))
        said = Say.REQUESTS_REFUSED if codes else Say.REQUESTS_REFUSED_UNNAMED
        sentences.append(Sentence.of(said, count=len(refused), codes=codes))
        if any(line.said("code") == RefusalCode.STORE_UNAVAILABLE for line in refused):
            sentences.append(Sentence.of(Say.STORE_FAILED))
    facts += _lines(document, TraceName.COLLECTION_STOP)
    facts += _lines(document, TraceName.TOOL_PROGRESS)
    facts += _lines(document, TraceName.TOOL_REQUEST_REJECTED)
    return WhyAnswer(WhyQuestion.STOPPED_CALLING, tuple(sentences), tuple(facts), arises=True)


_STOPS = {
    DiagnosisStopReason.INFORMATION_SATURATED: Say.STOP_SATURATED,
    DiagnosisStopReason.PROGRESS_PROTOCOL_VIOLATED: Say.STOP_PROTOCOL,
    DiagnosisStopReason.BUDGET_LIMIT_REACHED: Say.STOP_BUDGET,
}
_ENDS = {
    RunState.TIMED_OUT: Say.STOP_TIME,
    RunState.CANCELLED: Say.STOP_CANCELLED,
    RunState.BUDGET_EXHAUSTED: Say.STOP_BUDGET,
    RunState.FAILED: Say.STOP_FAILED,
}


def _stop(document: RunDocument) -> Say:
    """What came first: a stop of collecting, the draft, an answer that was none, or the end of the run.

    The release's stop reason is not enough: a limit that was reached while guards checked is one, too, and by
    then the agent had long given its draft.
    """
    stops = [line for line in document.trace if line.name is TraceName.COLLECTION_STOP]
    reason = stops[0].said("reason") if stops else None
    if reason is None and (stops or not document.trace):  # without its data the release knows the one stop
        reason = document.release.stop_reason
    if reason in set(DiagnosisStopReason):
        return _STOPS[DiagnosisStopReason(reason)]
    if any(line.phase is TracePhase.GUARD for line in document.trace):
        return Say.STOP_DRAFTED
    if _has(document, TraceName.AGENT_MODEL_STEP, TraceEventStatus.REJECTED):
        return Say.STOP_UNREADABLE
    if _has(document, TraceName.AGENT_MODEL_STEP, TraceEventStatus.FAILED):
        return Say.STOP_POLICY_FAILED
    return _ENDS.get(document.run.state, Say.STOP_DRAFTED)


# ---------------------------------------------------------------- why a tool has no evidence


def _no_evidence(document: RunDocument) -> WhyAnswer:
    sentences, facts = lacking(document.records, document.trace)
    if sentences:
        return WhyAnswer(WhyQuestion.NO_EVIDENCE, sentences, facts, arises=True)
    if not document.records:
        spent = tuple(_spent_facts(document, of="tool_calls"))
        rests_on = spent or (Fact("run.state", document.run.state),)  # its own account may be lost
        return WhyAnswer(WhyQuestion.NO_EVIDENCE, (Sentence.of(Say.NONE_CALLED),), rests_on, arises=False)
    found = [Fact(f"records[{place}]", record_words(record)) for place, record in enumerate(document.records)]
    said = Sentence.of(Say.ALL_FOUND, count=len(found))
    return WhyAnswer(WhyQuestion.NO_EVIDENCE, (said,), tuple(found[-FACTS_MAX:]), arises=False)


def lacking(
    records: Sequence[RecordEntry], trace: Sequence[TraceLine]
) -> tuple[tuple[Sentence, ...], tuple[Fact, ...]]:
    """Each call without evidence and each refused request by itself, and where they stand."""
    sentences, facts = [], []
    given_up = {record.tool_call_id for record in records if record.error_code == ErrorCode.ABANDONED}
    for place, record in enumerate(records):
        if record.evidence_status is not EvidenceStatus.EVIDENCE_FOUND:
            sentences.append(_of_record(record))
            facts.append(Fact(f"records[{place}]", record_words(record)))
    for place, line in enumerate(trace):
        if line.name is not TraceName.TOOL_REQUEST_REJECTED or line.said("tool_call_id") in given_up:
            continue  # what was given up is told of by its record
        sentences.append(_of_refusal(line))
        facts.append(Fact(f"trace[{place}]", f"{line.name} {line.status} {line.text}".rstrip()))
    return tuple(sentences), tuple(facts)


def _of_refusal(line: TraceLine) -> Sentence:
    if line.data is None:
        return Sentence.of(Say.CALL_REFUSED_UNNAMED)
    call, tool, code = (line.said(name) or "-" for name in ("tool_call_id", "tool", "code"))
    return Sentence.of(Say.CALL_REFUSED, call=shown_name(call), tool=shown_name(tool), code=code)


def _of_record(record: RecordEntry) -> Sentence:
    match record.status:
        case InvocationStatus.READY:
            said = Say.CALL_EMPTY
        case InvocationStatus.PROJECTING:
            said = Say.CALL_UNFINISHED
        case InvocationStatus.ERROR:
            name = f"CALL_{record.error_code}"
            said = Say(name) if name in set(Say) else Say.CALL_FAILED
        case _:
            assert_never(record.status)
    call, tool = shown_name(record.tool_call_id), shown_name(record.tool)
    return Sentence.of(said, call=call, tool=tool, code=record.error_code or "-")


def record_words(record: RecordEntry) -> str:
    """A record in short."""
    names = (shown_name(record.tool_call_id), shown_name(record.tool))
    parts = (*names, record.status, record.evidence_status, record.error_code)
    return " ".join(part for part in parts if part)


# ---------------------------------------------------------------- timeout or budget


def _time_or_budget(document: RunDocument) -> WhyAnswer:
    run = document.run
    facts = [Fact("run.state", run.state)]
    if run.termination:
        facts.append(Fact("run.termination", f"{run.termination.reason or '-'} {run.termination.at}"))
    facts += [*_lines(document, TraceName.RUN_ENDED), *_spent_facts(document)]
    said = {RunState.TIMED_OUT: Say.WAS_TIME, RunState.BUDGET_EXHAUSTED: Say.WAS_BUDGET}.get(
        run.state, Say.WAS_NEITHER
    )
    arises = said is not Say.WAS_NEITHER
    if never_began(document):
        said = Say.WAS_QUEUE if said is Say.WAS_TIME else Say.WAS_NOT_BEGUN
        said = Say.WAS_NOT_SERVED if _not_served(document) else said
    sentence = Sentence.of(
        said,
        state=run.state,
        duration=measure(run.duration_s, "s"),
        limit=measure(run.limit_s, "s"),
        spent=_spent(document),
    )
    return WhyAnswer(WhyQuestion.TIME_OR_BUDGET, (sentence,), tuple(facts), arises=arises)


def _spent(document: RunDocument) -> str:
    """Which limit was reached: as the run's end says it, else the counters that stand at theirs."""
    for line in document.trace:
        if line.name is TraceName.RUN_ENDED and (detail := line.said("detail")):
            return detail
    full = [
        f"{counter.name}: {counter.used} / {counter.limit}"
        for counter in document.run.usage
        if counter.limit is not None and counter.used >= counter.limit
    ]
    return ", ".join(full) or "-"


def _spent_facts(document: RunDocument, *, reached: bool = False, of: str | None = None) -> Iterator[Fact]:
    """The counters that have a limit; with `reached` only those at it, with `of` only those of a name."""
    for place, counter in enumerate(document.run.usage):
        if counter.limit is None or of not in (None, counter.name):
            continue
        if counter.used >= counter.limit or not reached:
            yield Fact(f"run.usage[{place}]", f"{counter.name} {counter.used} / {counter.limit}")


# ---------------------------------------------------------------- why status SUCCESS without a conclusion


def _status_success(document: RunDocument, intent: IntentType | None) -> WhyAnswer:
    release, state = document.release, document.run.state
    facts = [_outcome(document), Fact("run.state", state)]
    match release.outcome:
        case ReleaseOutcome.FALLBACK:
            sentences = [Sentence.of(Say.STATUS_OF_FALLBACK, kind=release.fallback_type)]
            facts.insert(1, Fact("release.fallback_type", str(release.fallback_type)))
            if state is not RunState.SUCCESS:
                sentences.append(Sentence.of(Say.STATE_APART, state=state))
        case ReleaseOutcome.SUCCESS:
            said = Say.STATUS_CONCLUDED if _is_diagnosis(intent) else Say.STATUS_ANSWERED
            sentences = [Sentence.of(said, intent=intent or "-")]
        case ReleaseOutcome.FAILED | ReleaseOutcome.CANCELLED:
            sentences = [Sentence.of(Say.STATUS_OTHER, status=release.outcome)]
        case _:
            assert_never(release.outcome)
    arises = release.outcome is ReleaseOutcome.FALLBACK or (
        release.outcome is ReleaseOutcome.SUCCESS and not _is_diagnosis(intent)
    )
    return WhyAnswer(WhyQuestion.STATUS_SUCCESS, tuple(sentences), tuple(facts), arises=arises)


# ---------------------------------------------------------------- why no previous-turn context


def _no_previous_turn(document: RunDocument, stream: StreamSeen, intent: IntentType | None) -> WhyAnswer:
    policy, outcome = PublishedResultPolicy(), document.release.outcome
    published = intent is not None and policy.publishes(intent, outcome)
    objection = policy.objection(
        EarlierRun(
            document.run.session_id,
            document.run.run_id,
            intent,
            outcome,
            published_result=document.run.run_id if published else None,
        )
    )
    said = Say.NOT_PREVIOUS_TURN if objection else Say.IS_PREVIOUS_TURN
    if objection is NoPreviousTurn.NO_DIAGNOSIS:
        said = Say.NO_TURN_UNROUTED if intent is None else Say.NO_TURN_OF_PATH
    sentences = [Sentence.of(said, outcome=outcome, intent=intent or "-")]
    if stream is StreamSeen.COMMAND_LINE:
        sentences.append(Sentence.of(Say.OWN_SESSION))
    facts = (_outcome(document), Fact("run.session_id", document.run.session_id))
    return WhyAnswer(WhyQuestion.NO_PREVIOUS_TURN, tuple(sentences), facts, arises=objection is not None)


# ---------------------------------------------------------------- the document, looked up


def never_began(document: RunDocument) -> bool:
    """Whether the run ended while it was queued: its trace tells of nothing but its end."""
    told = {line.name for line in document.trace}
    return bool(told) and told <= _ENDS_ALONE and document.run.duration_s == 0 and not document.records


def _not_served(document: RunDocument) -> bool:
    return was_not_served(document.release.failure, document.run.language)


_ENDS_ALONE = {TraceName.RUN_ENDED, TraceName.RUN_FINISHED}


def _is_diagnosis(intent: IntentType | None) -> bool:
    return intent is IntentType.DIAGNOSIS


def _outcome(document: RunDocument) -> Fact:
    return Fact("release.outcome", document.release.outcome)


def _lines(document: RunDocument, *names: TraceName) -> Iterable[Fact]:
    """The last lines of these names."""
    found = [
        Fact(f"trace[{place}]", f"{line.name} {line.status} {line.text}".rstrip())
        for place, line in enumerate(document.trace)
        if line.name in names
    ]
    return found[-FACTS_MAX:]


def _has(document: RunDocument, name: TraceName, status: TraceEventStatus | None = None) -> bool:
    return any(line.name is name and status in (None, line.status) for line in document.trace)
