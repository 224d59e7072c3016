"""Why a run went as it did, from what is kept of it, whoever asks: one derivation for every face. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from diagnosis_harness.application.routed import routed_intent, was_routed
from diagnosis_harness.application.runs.document import (
    calls_told_of,
    document_of,
    document_without_records,
)
from diagnosis_harness.application.runs.row import RunRow
from diagnosis_harness.audit.why.answer import Say, Sentence, WhyAnswer, WhyQuestion
from diagnosis_harness.audit.why.answers import never_began, why
from diagnosis_harness.audit.why.so_far import why_so_far
from diagnosis_harness.audit.why.stream import StreamSeen
from diagnosis_harness.report.document import RecordEntry, RunDocument
from diagnosis_harness.report.timeline import timeline
from diagnosis_harness.tools.invocation import EvidenceRecord
from diagnosis_harness.trace.event import TraceEvent


def why_kept(
    row: RunRow, records: Sequence[EvidenceRecord] | None, events: Iterable[TraceEvent], *, stream: StreamSeen
) -> tuple[WhyAnswer, ...]:
    """All seven answers about a run of a store: as of now where it has not ended.

    Args:
        records: None while the evidence store does not answer: its calls are then those of its trace.
        stream: see `why.stream.stream_seen`.

    Raises:
        RunDocumentInvalid: what is kept of an ended run contradicts itself.
    """
    if row.ending is None:
        trace = timeline(events)
        told = calls_told_of(trace) if records is None else tuple(map(RecordEntry.of, records))
        answers = why_so_far(row, told, trace, stream)
    else:
        found = (
            document_without_records(row, events) if records is None else document_of(row, records, events)
        )
        answers = why(found, stream=stream, intent=row.intent)
    return tuple(map(_without_records, answers)) if records is None else answers


def _without_records(answer: WhyAnswer) -> WhyAnswer:
    """The answer as it can be given while records cannot be read; only one of them rests on records."""
    if answer.question is not WhyQuestion.NO_EVIDENCE:
        return answer
    return replace(answer, sentences=(Sentence.of(Say.RECORDS_UNKNOWN), *answer.sentences), arises=True)


def why_saved(document: RunDocument) -> tuple[WhyAnswer, ...]:
    """All seven answers about a run document alone.

    A run of the service says in its trace what it was routed to; of its client it says nothing. One that was
    asked at the command line is not routed.
    """
    if not was_routed(document.trace) and not never_began(document):
        return why(document)
    return why(document, stream=StreamSeen.UNKNOWN, intent=routed_intent(document.trace))
