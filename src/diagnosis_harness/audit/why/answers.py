"""Why a run went as it did: the seven questions of the lifecycle document, §15, answered from its document.

Pure: nothing is queried again and nothing is guessed. Without a trace in the document, the answers omit what
only the trace shows. Answers are data until they are rendered, so one answer can be read in either language.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import assert_never

from diagnosis_harness.application.intent import IntentType
from diagnosis_harness.application.previous_turn import EarlierRun, NoPreviousTurn, PublishedResultPolicy
from diagnosis_harness.application.runs.early_end import was_not_served
from diagnosis_harness.audit.why.answer import Fact, Sentence, WhyAnswer, WhyQuestion
from diagnosis_harness.audit.why.evidence import FACTS_SHOWN, calls_without_evidence, record_facts
from diagnosis_harness.audit.why.phrases import Phrase
from diagnosis_harness.audit.why.stream import StreamSeen, no_done
from diagnosis_harness.diagnosis.collection import DiagnosisStopReason
from diagnosis_harness.harness.termination import RunState
from diagnosis_harness.release.outcome import FallbackType, ReleaseOutcome
from diagnosis_harness.report.document import RunDocument
from diagnosis_harness.report.measure import measure
from diagnosis_harness.report.missing import missing_phrases
from diagnosis_harness.tools.preflight import RefusalCode
from diagnosis_harness.trace.event import TraceEventStatus, TraceName, TracePhase


def why(
    document: RunDocument,
    *,
    stream: StreamSeen = StreamSeen.COMMAND_LINE,
    intent: IntentType | None = IntentType.DIAGNOSIS,
) -> tuple[WhyAnswer, ...]:
    """All seven answers, in the order of the questions.

    Args:
        intent: the path that the question took; None if the run ended before it was routed.
    """
    return (
        _fallback(document, intent),
        _why_calls_stopped(document),
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
        *_lines(document, *_GUARD_EVENTS),
        *_lines(document, TraceName.RELEASE_DECISION),
    ]
    release = document.release
    if release.fallback_type is None:
        phrase = {
            ReleaseOutcome.FAILED: Phrase.NO_FALLBACK_FAILED,
            ReleaseOutcome.CANCELLED: Phrase.NO_FALLBACK_CANCELLED,
        }.get(
            release.outcome,
            Phrase.NO_FALLBACK_SUCCESS if _is_diagnosis(intent) else Phrase.NO_FALLBACK_ANSWERED,
        )
        if never_started(document):
            phrase = (
                Phrase.NO_FALLBACK_NOT_SERVED
                if _was_not_served(document)
                else Phrase.NO_FALLBACK_NEVER_STARTED
            )
        if release.failure:
            facts.insert(1, Fact("release.failure", release.failure))
        return WhyAnswer(WhyQuestion.FALLBACK, (Sentence.of(phrase),), tuple(facts), arises=False)
    facts.insert(1, Fact("release.fallback_type", release.fallback_type))
    sentences = list(_fallback_sentences(document, release.fallback_type))
    if document.report.claims:
        sentences.append(Sentence.of(Phrase.FACTS_INCLUDED, count=len(document.report.claims)))
    return WhyAnswer(WhyQuestion.FALLBACK, tuple(sentences), tuple(facts), arises=True)


_GUARD_EVENTS = (
    TraceName.EVIDENCE_GUARD_INITIAL,
    TraceName.EVIDENCE_GUARD_RECHECK,
    TraceName.SEMANTIC_GUARD_DECISION,
)


def _fallback_sentences(document: RunDocument, kind: FallbackType) -> Iterator[Sentence]:
    match kind:
        case FallbackType.MISSING_REQUIRED_CONTEXT:
            missing = missing_phrases(document.report, document.run.language)
            phrase = Phrase.FALLBACK_CONTEXT if missing else Phrase.FALLBACK_CONTEXT_UNNAMED
            yield Sentence.of(phrase, missing=", ".join(missing))
        case FallbackType.INSUFFICIENT_EVIDENCE:
            yield Sentence.of(_why_insufficient(document))
        case FallbackType.EVIDENCE_VALIDATION_FAILED:
            yield Sentence.of(Phrase.FALLBACK_CITATIONS)
            if _has(document, TraceName.EVIDENCE_REPAIR):
                yield Sentence.of(Phrase.REPAIR_FAILED)
        case FallbackType.SEMANTIC_UNSUPPORTED:
            yield Sentence.of(Phrase.FALLBACK_UNSUPPORTED, reasons=", ".join(_judge_reasons(document)) or "-")
        case FallbackType.SEMANTIC_UNAVAILABLE:
            attempts = sum(line.name is TraceName.SEMANTIC_GUARD_ATTEMPT for line in document.trace)
            yield Sentence.of(Phrase.FALLBACK_UNAVAILABLE, attempts=attempts)


def _judge_reasons(document: RunDocument) -> tuple[str, ...]:
    """The reasons of SemanticGuard's last decision; empty if it gave none or no data was stored."""
    decisions = [line for line in document.trace if line.name is TraceName.SEMANTIC_GUARD_DECISION]
    reasons = (decisions[-1].data or {}).get("reasons") if decisions else None
    return tuple(str(each) for each in reasons) if isinstance(reasons, tuple) else ()


def _why_insufficient(document: RunDocument) -> Phrase:
    """Why the evidence did not suffice for a conclusion."""
    match document.run.state, document.release.stop_reason:
        case RunState.TIMED_OUT, _:
            return Phrase.FALLBACK_TIME
        case RunState.BUDGET_EXHAUSTED, _:
            return Phrase.FALLBACK_BUDGET
        case _, DiagnosisStopReason.INFORMATION_SATURATED:
            return Phrase.FALLBACK_SATURATED
        case _, DiagnosisStopReason.PROGRESS_PROTOCOL_VIOLATED:
            return Phrase.FALLBACK_PROTOCOL
        case _:
            unreadable = _has(document, TraceName.AGENT_MODEL_STEP, TraceEventStatus.REJECTED)
            return Phrase.FALLBACK_UNREADABLE if unreadable else Phrase.FALLBACK_NO_CONCLUSION


# ---------------------------------------------------------------- why the agent stopped calling tools


def _why_calls_stopped(document: RunDocument) -> WhyAnswer:
    facts = [Fact("run.state", document.run.state), *_usage_facts(document, reached=True)]
    if document.release.stop_reason:
        facts.insert(0, Fact("release.stop_reason", document.release.stop_reason))
    refused = [line for line in document.trace if line.name is TraceName.TOOL_REQUEST_REJECTED]
    if not document.records and not refused:
        never = (
            Sentence.of(Phrase.NEVER_STARTED_CALLING if never_started(document) else Phrase.NEVER_CALLED),
        )
        return WhyAnswer(WhyQuestion.STOPPED_CALLING, never, tuple(facts), arises=False)
    sentences = [
        Sentence.of(_why_stopped(document), calls=len(document.records), spent=_name_reached_limit(document))
    ]
    if refused:
        codes = ", ".join(dict.fromkeys(code for line in refused if (code := line.text_of("code"))))
        phrase = Phrase.REQUESTS_REFUSED if codes else Phrase.REQUESTS_REFUSED_UNNAMED
        sentences.append(Sentence.of(phrase, count=len(refused), codes=codes))
        if any(line.text_of("code") == RefusalCode.STORE_UNAVAILABLE for line in refused):
            sentences.append(Sentence.of(Phrase.STORE_FAILED))
    facts += _lines(document, TraceName.COLLECTION_STOP)
    facts += _lines(document, TraceName.TOOL_PROGRESS)
    facts += _lines(document, TraceName.TOOL_REQUEST_REJECTED)
    return WhyAnswer(WhyQuestion.STOPPED_CALLING, tuple(sentences), tuple(facts), arises=True)


_STOPS = {
    DiagnosisStopReason.INFORMATION_SATURATED: Phrase.STOP_SATURATED,
    DiagnosisStopReason.PROGRESS_PROTOCOL_VIOLATED: Phrase.STOP_PROTOCOL,
    DiagnosisStopReason.BUDGET_LIMIT_REACHED: Phrase.STOP_BUDGET,
}
_ENDS = {
    RunState.TIMED_OUT: Phrase.STOP_TIME,
    RunState.CANCELLED: Phrase.STOP_CANCELLED,
    RunState.BUDGET_EXHAUSTED: Phrase.STOP_BUDGET,
    RunState.FAILED: Phrase.STOP_FAILED,
}


def _why_stopped(document: RunDocument) -> Phrase:
    """What came first: a stop of collection, the draft, an unreadable answer, or the end of the run.

    The release's stop reason is not enough: it also names a limit that was reached while the guards checked,
    when the agent had already given its draft.
    """
    stops = [line for line in document.trace if line.name is TraceName.COLLECTION_STOP]
    reason = stops[0].text_of("reason") if stops else None
    if reason is None and (stops or not document.trace):  # without data, the release names the only stop
        reason = document.release.stop_reason
    if reason in set(DiagnosisStopReason):
        return _STOPS[DiagnosisStopReason(reason)]
    if any(line.phase is TracePhase.GUARD for line in document.trace):
        return Phrase.STOP_DRAFTED
    if _has(document, TraceName.AGENT_MODEL_STEP, TraceEventStatus.REJECTED):
        return Phrase.STOP_UNREADABLE
    if _has(document, TraceName.AGENT_MODEL_STEP, TraceEventStatus.FAILED):
        return Phrase.STOP_POLICY_FAILED
    return _ENDS.get(document.run.state, Phrase.STOP_DRAFTED)


# ---------------------------------------------------------------- why a tool has no evidence


def _no_evidence(document: RunDocument) -> WhyAnswer:
    sentences, facts = calls_without_evidence(document.records, document.trace)
    if sentences:
        return WhyAnswer(WhyQuestion.NO_EVIDENCE, sentences, facts, arises=True)
    if not document.records:
        spent = tuple(_usage_facts(document, of="tool_calls"))
        rests_on = spent or (
            Fact("run.state", document.run.state),
        )  # counters can be lost when a process dies
        return WhyAnswer(WhyQuestion.NO_EVIDENCE, (Sentence.of(Phrase.NONE_CALLED),), rests_on, arises=False)
    sentence = Sentence.of(Phrase.ALL_FOUND, count=len(document.records))
    return WhyAnswer(WhyQuestion.NO_EVIDENCE, (sentence,), record_facts(document.records), arises=False)


# ---------------------------------------------------------------- timeout or budget


def _time_or_budget(document: RunDocument) -> WhyAnswer:
    run = document.run
    facts = [Fact("run.state", run.state)]
    if run.termination:
        facts.append(Fact("run.termination", f"{run.termination.reason or '-'} {run.termination.at}"))
    facts += [*_lines(document, TraceName.RUN_ENDED), *_usage_facts(document)]
    phrase = {RunState.TIMED_OUT: Phrase.WAS_TIME, RunState.BUDGET_EXHAUSTED: Phrase.WAS_BUDGET}.get(
        run.state, Phrase.WAS_NEITHER
    )
    arises = phrase is not Phrase.WAS_NEITHER
    if never_started(document):
        phrase = Phrase.WAS_QUEUE if phrase is Phrase.WAS_TIME else Phrase.WAS_NOT_STARTED
        phrase = Phrase.WAS_NOT_SERVED if _was_not_served(document) else phrase
    sentence = Sentence.of(
        phrase,
        state=run.state,
        duration=measure(run.duration_s, "s"),
        limit=measure(run.limit_s, "s"),
        spent=_name_reached_limit(document),
    )
    return WhyAnswer(WhyQuestion.TIME_OR_BUDGET, (sentence,), tuple(facts), arises=arises)


def _name_reached_limit(document: RunDocument) -> str:
    """Which limit was reached: from the run's end, else from the counters that reached their limits."""
    for line in document.trace:
        if line.name is TraceName.RUN_ENDED and (detail := line.text_of("detail")):
            return detail
    full = [
        f"{counter.name}: {counter.used} / {counter.limit}"
        for counter in document.run.usage
        if counter.limit is not None and counter.used >= counter.limit
    ]
    return ", ".join(full) or "-"


def _usage_facts(document: RunDocument, *, reached: bool = False, of: str | None = None) -> Iterator[Fact]:
    """The counters that have a limit; with `reached` only those at it, with `of` only the named one."""
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
            sentences = [Sentence.of(Phrase.STATUS_OF_FALLBACK, kind=release.fallback_type)]
            facts.insert(1, Fact("release.fallback_type", str(release.fallback_type)))
            if state is not RunState.SUCCESS:
                sentences.append(Sentence.of(Phrase.STATE_IS_SEPARATE, state=state))
        case ReleaseOutcome.SUCCESS:
            phrase = Phrase.STATUS_CONCLUDED if _is_diagnosis(intent) else Phrase.STATUS_ANSWERED
            sentences = [Sentence.of(phrase, intent=intent or "-")]
        case ReleaseOutcome.FAILED | ReleaseOutcome.CANCELLED:
            sentences = [Sentence.of(Phrase.STATUS_OTHER, status=release.outcome)]
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
    phrase = Phrase.NOT_PREVIOUS_TURN if objection else Phrase.IS_PREVIOUS_TURN
    if objection is NoPreviousTurn.NO_DIAGNOSIS:
        phrase = Phrase.NO_TURN_UNROUTED if intent is None else Phrase.NO_TURN_OF_PATH
    sentences = [Sentence.of(phrase, outcome=outcome, intent=intent or "-")]
    if stream is StreamSeen.COMMAND_LINE:
        sentences.append(Sentence.of(Phrase.OWN_SESSION))
    facts = (_outcome(document), Fact("run.session_id", document.run.session_id))
    return WhyAnswer(WhyQuestion.NO_PREVIOUS_TURN, tuple(sentences), facts, arises=objection is not None)


# ---------------------------------------------------------------- lookups in the document


def never_started(document: RunDocument) -> bool:
    """Whether the run ended while it was queued, so that its trace holds only its end."""
    events = {line.name for line in document.trace}
    return bool(events) and events <= _END_EVENTS and document.run.duration_s == 0 and not document.records


def _was_not_served(document: RunDocument) -> bool:
    return was_not_served(document.release.failure, document.run.language)


_END_EVENTS = {TraceName.RUN_ENDED, TraceName.RUN_FINISHED}


def _is_diagnosis(intent: IntentType | None) -> bool:
    return intent is IntentType.DIAGNOSIS


def _outcome(document: RunDocument) -> Fact:
    return Fact("release.outcome", document.release.outcome)


def _lines(document: RunDocument, *names: TraceName) -> Iterable[Fact]:
    """The last trace lines with these names."""
    found = [
        Fact(f"trace[{place}]", f"{line.name} {line.status} {line.text}".rstrip())
        for place, line in enumerate(document.trace)
        if line.name in names
    ]
    return found[-FACTS_SHOWN:]


def _has(document: RunDocument, name: TraceName, status: TraceEventStatus | None = None) -> bool:
    return any(line.name is name and status in (None, line.status) for line in document.trace)
