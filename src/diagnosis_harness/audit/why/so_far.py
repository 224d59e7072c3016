"""The seven questions about a run that is queued or in progress, answered as of now. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from diagnosis_harness.application.intent import IntentType
from diagnosis_harness.application.runs.row import RunRow, RunStatus
from diagnosis_harness.audit.why.answer import Fact, Sentence, WhyAnswer, WhyQuestion
from diagnosis_harness.audit.why.evidence import calls_without_evidence, record_facts
from diagnosis_harness.audit.why.phrases import Phrase
from diagnosis_harness.audit.why.stream import StreamSeen, no_done_yet
from diagnosis_harness.kernel.window import utc_text
from diagnosis_harness.report.document import RecordEntry
from diagnosis_harness.report.measure import measure
from diagnosis_harness.report.trace_line import TraceLine


def why_so_far(
    row: RunRow, records: Sequence[RecordEntry], trace: Sequence[TraceLine], stream: StreamSeen
) -> tuple[WhyAnswer, ...]:
    """All seven answers, in the order of the questions, from the run's present state."""
    status_fact = Fact("status", row.status)
    status_sentence = Sentence.of(Phrase.IS_QUEUED if row.status is RunStatus.QUEUED else Phrase.IN_PROGRESS)
    calls = (
        Sentence.of(Phrase.NOT_STOPPED, calls=len(records))
        if records
        else Sentence.of(Phrase.NONE_CALLED_YET)
    )
    not_success = Sentence.of(Phrase.STATUS_OTHER, status=row.status)

    def answer(question: WhyQuestion, *sentences: Sentence, facts: tuple[Fact, ...] = ()) -> WhyAnswer:
        return WhyAnswer(question, (status_sentence, *sentences), (status_fact, *facts), arises=False)

    return (
        answer(WhyQuestion.FALLBACK, Sentence.of(Phrase.NO_ANSWER_YET)),
        answer(WhyQuestion.STOPPED_CALLING, calls),
        _no_evidence(status_fact, records, trace),
        answer(WhyQuestion.TIME_OR_BUDGET, *_time(row), facts=_time_facts(row)),
        answer(WhyQuestion.STATUS_SUCCESS, not_success),
        no_done_yet(row, stream),
        _no_previous_turn(status_fact, row),
    )


def _no_evidence(status_fact: Fact, records: Sequence[RecordEntry], trace: Sequence[TraceLine]) -> WhyAnswer:
    question = WhyQuestion.NO_EVIDENCE
    sentences, facts = calls_without_evidence(records, trace)
    if sentences:
        return WhyAnswer(question, sentences, (status_fact, *facts), arises=True)
    if not records:
        return WhyAnswer(question, (Sentence.of(Phrase.NONE_CALLED_YET),), (status_fact,), arises=False)
    sentence = Sentence.of(Phrase.ALL_FOUND_SO_FAR, count=len(records))
    return WhyAnswer(question, (sentence,), (status_fact, *record_facts(records)), arises=False)


def _time(row: RunRow) -> tuple[Sentence, ...]:
    limit = measure(row.request.limit_s, "s")
    if row.started_s is None:
        return (Sentence.of(Phrase.TIME_NOT_STARTED, limit=limit),)
    limit_sentence = Sentence.of(Phrase.TIME_SO_FAR, limit=limit, started=utc_text(row.started_s))
    cancel = (
        ()
        if row.cancel_request is None
        else (Sentence.of(Phrase.CANCEL_REQUESTED, reason=row.cancel_request.reason),)
    )
    return (limit_sentence, *cancel)


def _time_facts(row: RunRow) -> tuple[Fact, ...]:
    facts = [Fact("limit_s", f"{row.request.limit_s:g}")]
    if row.started_s is not None:
        facts.append(Fact("started_at", utc_text(row.started_s)))
    if row.cancel_request is not None:
        facts.append(Fact("cancel", f"{row.cancel_request.reason} {utc_text(row.cancel_request.at_s)}"))
    return tuple(facts)


def _no_previous_turn(status_fact: Fact, row: RunRow) -> WhyAnswer:
    of_path = row.intent not in (None, IntentType.DIAGNOSIS)
    sentence = Sentence.of(
        Phrase.NO_TURN_OF_PATH if of_path else Phrase.NO_TURN_YET, intent=row.intent or "-"
    )
    facts = (status_fact, Fact("intent", row.intent or "-"))
    return WhyAnswer(WhyQuestion.NO_PREVIOUS_TURN, (sentence,), facts, arises=True)
