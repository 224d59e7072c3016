"""Why a run went as it did, from what is kept of it, whoever asks: one derivation for every face. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from diagnosis_harness.application.routed import routed_intent, was_routed
from diagnosis_harness.application.runs.document import document_of
from diagnosis_harness.application.runs.row import RunRow
from diagnosis_harness.application.why.answer import WhyAnswer
from diagnosis_harness.application.why.answers import never_began, why
from diagnosis_harness.application.why.so_far import why_so_far
from diagnosis_harness.application.why.stream import StreamSeen
from diagnosis_harness.release.document import RecordEntry, RunDocument
from diagnosis_harness.release.timeline import timeline
from diagnosis_harness.tools.invocation import EvidenceRecord
from diagnosis_harness.trace.event import TraceEvent


def why_kept(
    row: RunRow, records: Sequence[EvidenceRecord], events: Iterable[TraceEvent], *, stream: StreamSeen
) -> tuple[WhyAnswer, ...]:
    """All seven answers about a run of a store: as of now where it has not ended.

    Args:
        stream: see `why.stream.stream_seen`.

    Raises:
        RunDocumentInvalid: what is kept of an ended run contradicts itself.
    """
    if row.ending is None:
        entries = tuple(RecordEntry.of(record) for record in records)
        return why_so_far(row, entries, timeline(events), stream)
    return why(document_of(row, records, events), stream=stream, intent=row.intent)


def why_saved(document: RunDocument) -> tuple[WhyAnswer, ...]:
    """All seven answers about a run document alone.

    A run of the service says in its trace what it was routed to; of its client it says nothing. One that was
    asked at the command line is not routed.
    """
    if not was_routed(document.trace) and not never_began(document):
        return why(document)
    return why(document, stream=StreamSeen.UNKNOWN, intent=routed_intent(document.trace))
