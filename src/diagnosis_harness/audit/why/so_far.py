"""The seven questions about a run that is queued or goes on, answered as of now. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from diagnosis_harness.application.intent import IntentType
from diagnosis_harness.application.runs.row import RunRow, RunStatus
from diagnosis_harness.audit.why.answer import Fact, Say, Sentence, WhyAnswer, WhyQuestion
from diagnosis_harness.audit.why.answers import FACTS_MAX, lacking, record_words
from diagnosis_harness.audit.why.stream import StreamSeen, no_done_yet
from diagnosis_harness.kernel.window import utc_text
from diagnosis_harness.report.document import RecordEntry
from diagnosis_harness.report.measure import measure
from diagnosis_harness.report.trace_line import TraceLine


def why_so_far(
    row: RunRow, records: Sequence[RecordEntry], trace: Sequence[TraceLine], stream: StreamSeen
) -> tuple[WhyAnswer, ...]:
    """All seven answers, in the order of the questions; what they rest on are places in the run as listed."""
    standing = Fact("status", row.status)
    stands = Sentence.of(Say.IS_QUEUED if row.status is RunStatus.QUEUED else Say.GOES_ON)
    calls = Sentence.of(Say.NOT_STOPPED, calls=len(records)) if records else Sentence.of(Say.NONE_CALLED_YET)
    status = Sentence.of(Say.STATUS_OTHER, status=row.status)

    def answer(question: WhyQuestion, *sentences: Sentence, facts: tuple[Fact, ...] = ()) -> WhyAnswer:
        return WhyAnswer(question, (stands, *sentences), (standing, *facts), arises=False)

    return (
        answer(WhyQuestion.FALLBACK, Sentence.of(Say.NO_ANSWER_YET)),
        answer(WhyQuestion.STOPPED_CALLING, calls),
        _no_evidence(standing, records, trace),
        answer(WhyQuestion.TIME_OR_BUDGET, *_time(row), facts=_time_facts(row)),
        answer(WhyQuestion.STATUS_SUCCESS, status),
        no_done_yet(row, stream),
        _no_previous_turn(standing, row),
    )


def _no_evidence(standing: Fact, records: Sequence[RecordEntry], trace: Sequence[TraceLine]) -> WhyAnswer:
    question = WhyQuestion.NO_EVIDENCE
    sentences, facts = lacking(records, trace)
    if sentences:
        return WhyAnswer(question, sentences, (standing, *facts), arises=True)
    if not records:
        return WhyAnswer(question, (Sentence.of(Say.NONE_CALLED_YET),), (standing,), arises=False)
    found = [Fact(f"records[{place}]", record_words(record)) for place, record in enumerate(records)]
    said = Sentence.of(Say.ALL_FOUND_SO_FAR, count=len(found))
    return WhyAnswer(question, (said,), (standing, *found[-FACTS_MAX:]), arises=False)


def _time(row: RunRow) -> tuple[Sentence, ...]:
    limit = measure(row.request.limit_s, "s")
    if row.started_s is None:
        return (Sentence.of(Say.TIME_NOT_BEGUN, limit=limit),)
    said = Sentence.of(Say.TIME_SO_FAR, limit=limit, started=utc_text(row.started_s))
    asked = () if row.wish is None else (Sentence.of(Say.END_ASKED, reason=row.wish.reason),)
    return (said, *asked)


def _time_facts(row: RunRow) -> tuple[Fact, ...]:
    facts = [Fact("limit_s", f"{row.request.limit_s:g}")]
    if row.started_s is not None:
        facts.append(Fact("started_at", utc_text(row.started_s)))
    if row.wish is not None:
        facts.append(Fact("cancel", f"{row.wish.reason} {utc_text(row.wish.at_s)}"))
    return tuple(facts)


def _no_previous_turn(standing: Fact, row: RunRow) -> WhyAnswer:
    of_path = row.intent not in (None, IntentType.DIAGNOSIS)
    said = Sentence.of(Say.NO_TURN_OF_PATH if of_path else Say.NO_TURN_YET, intent=row.intent or "-")
    facts = (standing, Fact("intent", row.intent or "-"))
    return WhyAnswer(WhyQuestion.NO_PREVIOUS_TURN, (said,), facts, arises=True)
