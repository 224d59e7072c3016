"""Why a run went as it did, from its stored row, records and events, or from its document. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from diagnosis_harness.application.routed import find_routed_intent, was_routed
from diagnosis_harness.application.runs.document import calls_in_trace, document_of, document_without_records
from diagnosis_harness.application.runs.row import RunRow
from diagnosis_harness.audit.why.answer import Sentence, WhyAnswer, WhyQuestion
from diagnosis_harness.audit.why.answers import never_started, why
from diagnosis_harness.audit.why.phrases import Phrase
from diagnosis_harness.audit.why.so_far import why_so_far
from diagnosis_harness.audit.why.stream import StreamSeen
from diagnosis_harness.report.document import RecordEntry, RunDocument
from diagnosis_harness.report.timeline import timeline
from diagnosis_harness.tools.invocation import EvidenceRecord
from diagnosis_harness.trace.event import TraceEvent


def why_stored(
    row: RunRow, records: Sequence[EvidenceRecord] | None, events: Iterable[TraceEvent], *, stream: StreamSeen
) -> tuple[WhyAnswer, ...]:
    """All seven answers about a stored run; if it has not ended, as of now.

    Args:
        records: None while the evidence store does not respond; the calls are then taken from the trace.
        stream: see `why.stream.stream_seen`.

    Raises:
        RunDocumentInvalid: the stored parts of an ended run contradict each other.
    """
    if row.ending is None:
        trace = timeline(events)
        calls = calls_in_trace(trace) if records is None else tuple(map(RecordEntry.of, records))
        answers = why_so_far(row, calls, trace, stream)
    else:
        document = (
            document_without_records(row, events) if records is None else document_of(row, records, events)
        )
        answers = why(document, stream=stream, intent=row.intent)
    return tuple(map(_without_records, answers)) if records is None else answers


def _without_records(answer: WhyAnswer) -> WhyAnswer:
    """The answer while records cannot be read, which affects only one question."""
    if answer.question is not WhyQuestion.NO_EVIDENCE:
        return answer
    return replace(answer, sentences=(Sentence.of(Phrase.RECORDS_UNKNOWN), *answer.sentences), arises=True)


def why_of_document(document: RunDocument) -> tuple[WhyAnswer, ...]:
    """All seven answers, from a run document alone.

    The trace of a run of the service records its route, and nothing about its client. A run of the command
    line has no route.
    """
    if not was_routed(document.trace) and not never_started(document):
        return why(document)
    return why(document, stream=StreamSeen.UNKNOWN, intent=find_routed_intent(document.trace))
