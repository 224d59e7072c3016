"""From what is kept of a run to its document: pure, so that a past run is reread and verified offline."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TypeVar

from diagnosis_harness.application.intent import IntentType
from diagnosis_harness.application.runs.row import RunEnding, RunRow
from diagnosis_harness.kernel.errors import RunDocumentInvalid
from diagnosis_harness.kernel.json_value import JsonValue
from diagnosis_harness.kernel.window import utc_text
from diagnosis_harness.release.document import (
    Counter,
    Coverage,
    InFlight,
    RecordEntry,
    Release,
    Report,
    Run,
    RunDocument,
    Termination,
)
from diagnosis_harness.release.reading import read_part
from diagnosis_harness.release.timeline import timeline
from diagnosis_harness.tools.evidence import InvocationStatus
from diagnosis_harness.tools.invocation import ErrorCode, EvidenceRecord
from diagnosis_harness.trace.event import TraceEvent

T = TypeVar("T")


def document_of(row: RunRow, records: Sequence[EvidenceRecord], events: Iterable[TraceEvent]) -> RunDocument:
    """The document of a run that has ended.

    A diagnosis has the report that was kept with it; of another path, and of a run that ended before it had a
    report, the document's report is empty.

    Raises:
        RunDocumentInvalid: the run has not ended, or what is kept of it contradicts itself.
    """
    ending = row.ending
    if ending is None:
        raise RunDocumentInvalid("run", "it has not ended")
    body = ending.answer if isinstance(ending.answer, dict) else {}
    report = _read(body, row)
    return RunDocument(
        run=_run(row, ending, body),
        release=Release(
            outcome=ending.outcome,
            fallback_type=ending.fallback,
            stop_reason=ending.stop_reason,
            failure=ending.failure.message if ending.failure else None,
        ),
        report=report,
        records=tuple(RecordEntry.of(record) for record in settled(row, records)),
        trace=timeline(events),
    )


def settled(row: RunRow, records: Iterable[EvidenceRecord]) -> tuple[EvidenceRecord, ...]:
    """The records of a run as they are shown: in a closed run none is still being made.

    One that is kept as PROJECTING there was begun in a store that was away when the run ended; it stands as
    ERROR / ABANDONED, which is what it became.
    """
    if not row.is_closed or row.ending is None:
        return tuple(records)
    at_s = row.ending.termination.at_s
    return tuple(
        record.failed(ErrorCode.ABANDONED, at_s=max(at_s, record.started_s))
        if record.invocation is InvocationStatus.PROJECTING
        else record
        for record in records
    )


def _run(row: RunRow, ending: RunEnding, body: dict[str, JsonValue]) -> Run:
    request, spent = row.request, ending.spent
    started_s = request.submitted_s if row.started_s is None else row.started_s
    asked_at = None if request.onset_s is None else utc_text(request.onset_s)
    onset_at = body.get("onset_at", asked_at)  # a follow-up takes over that of the turn before
    return Run(
        session_id=request.session_id,
        run_id=request.run_id,
        question=request.question,
        language=request.language,
        state=ending.state,
        termination=Termination(reason=ending.termination.reason, at=utc_text(ending.termination.at_s)),
        started_at=utc_text(started_s),
        duration_s=spent.duration_s,
        limit_s=request.limit_s,
        usage=_parts(Counter, spent.counters, "run.usage"),
        usage_estimated=spent.is_estimated,
        in_flight=_parts(InFlight, spent.in_flight, "run.in_flight"),
        onset_at=onset_at if isinstance(onset_at, str) else None,
    )


def _read(body: dict[str, JsonValue], row: RunRow) -> Report:
    if row.intent is IntentType.DIAGNOSIS and "report" in body:
        return read_part(Report, body["report"], "report")
    nothing = Coverage(asked=(), empty=(), failed=(), never_asked=(), not_used=(), not_compared=())
    return Report(
        summary=(),
        causes=(),
        claims=(),
        candidates=(),
        window=None,
        onset=None,
        coverage=nothing,
        missing_info=(),
        next_checks=(),
    )


def _parts(kind: type[T], held: JsonValue, place: str) -> tuple[T, ...]:
    several = held if isinstance(held, list) else []
    return tuple(read_part(kind, each, f"{place}[{number}]") for number, each in enumerate(several))
