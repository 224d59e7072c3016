"""Builds a document from a stored run: pure, so that a past run can be read and verified offline."""

from __future__ import annotations

from collections import Counter as Calls
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import TypeVar

from diagnosis_harness.application.intent import IntentType
from diagnosis_harness.application.runs.row import RunEnding, RunRow
from diagnosis_harness.kernel.errors import RunDocumentInvalid
from diagnosis_harness.kernel.json_value import JsonValue
from diagnosis_harness.kernel.window import utc_text
from diagnosis_harness.release.outcome import ReleaseOutcome
from diagnosis_harness.report.compose import compose, no_diagnosis
from diagnosis_harness.report.document import (
    Counter,
    InFlight,
    RecordEntry,
    Release,
    Report,
    Run,
    RunDocument,
    Termination,
)
from diagnosis_harness.report.inquiry_entry import InquiryEntry
from diagnosis_harness.report.material import ReportMaterial
from diagnosis_harness.report.reading import read_part
from diagnosis_harness.report.timeline import timeline
from diagnosis_harness.report.trace_line import TraceLine
from diagnosis_harness.report.version import READABLE, SCHEMA_VERSION
from diagnosis_harness.tools.evidence import EvidenceStatus, InvocationStatus
from diagnosis_harness.tools.invocation import ErrorCode, EvidenceRecord
from diagnosis_harness.trace.event import TraceEvent, TraceName

_CODES = frozenset(ErrorCode)

T = TypeVar("T")


def document_of(row: RunRow, records: Sequence[EvidenceRecord], events: Iterable[TraceEvent]) -> RunDocument:
    """The document of a run that has ended.

    A diagnosis has the report that was stored with it, in its stored version. A run that released nothing
    gets a report of its end and of the existing records. The answer of another path is not a report and is
    not in the document; the report only names the path.

    Raises:
        RunDocumentInvalid: the run has not ended, or its stored parts contradict each other.
    """
    return _document(row, records, timeline(events), lambda kept: tuple(map(RecordEntry.of, kept)))


def document_without_records(row: RunRow, events: Iterable[TraceEvent]) -> RunDocument:
    """The document of an ended run from the database alone, while its evidence store does not answer.

    Its records are the calls in its trace, without findings. That is enough to explain the run, but not to
    show or verify it.

    Raises:
        RunDocumentInvalid: as `document_of`.
    """
    trace = timeline(events)
    return _document(row, (), trace, lambda _: calls_in_trace(trace))


def calls_in_trace(trace: Iterable[TraceLine]) -> tuple[RecordEntry, ...]:
    """The tool calls in a trace, in the order in which they began, without their findings."""
    calls: dict[str, RecordEntry] = {}
    for line in trace:
        call_id = line.text_of("tool_call_id")
        if line.name is TraceName.TOOL_INVOCATION and call_id is not None:
            calls[call_id] = _call(line, call_id, calls.get(call_id))
    return tuple(calls.values())


def _call(line: TraceLine, call_id: str, begun: RecordEntry | None) -> RecordEntry:
    evidence = line.text_of("evidence")
    return RecordEntry(
        tool_call_id=call_id,
        tool=line.text_of("tool") or "-",
        caller="-",
        scope=line.text_of("scope") or "{}",
        window=None,
        status=InvocationStatus(line.text_of("invocation") or InvocationStatus.PROJECTING),
        evidence_status=None if evidence is None else EvidenceStatus(evidence),
        error_code=line.text_of("error_code"),
        started_at=line.at if begun is None else begun.started_at,
        duration_s=None,
        size_bytes=0,
        digest=None,
        stored=None,
    )


def _document(
    row: RunRow,
    records: Sequence[EvidenceRecord],
    trace: tuple[TraceLine, ...],
    listed: Callable[[tuple[EvidenceRecord, ...]], tuple[RecordEntry, ...]],
) -> RunDocument:
    """Build the document; `listed` makes the entries of the run's stored records."""
    ending = row.ending
    if ending is None:
        raise RunDocumentInvalid("run", "it has not ended")
    body, outcome = ending.answer if isinstance(ending.answer, dict) else {}, ending.outcome
    release = Release(
        outcome=outcome,
        fallback_type=ending.fallback,
        stop_reason=ending.stop_reason,
        failure=ending.failure.message if ending.failure and outcome is ReleaseOutcome.FAILED else None,
    )
    kept = records_to_show(row, records)
    called = _records_of_started_calls(kept, trace)
    run = _run(row, ending, body, called)
    version, inquiry = SCHEMA_VERSION, None
    if row.intent is IntentType.DIAGNOSIS and "report" in body:
        version = str(body.get("schema_version", READABLE[0]))  # not in the first stored reports
        report = read_part(Report, body["report"], "report", version=version)
        if (stored_inquiry := body.get("inquiry")) is not None:
            inquiry = read_part(InquiryEntry, stored_inquiry, "inquiry", version=version)
        kept = _with_reported_errors(called, report)
    elif outcome in (ReleaseOutcome.FAILED, ReleaseOutcome.CANCELLED):
        report = _report(run, release, kept)
    elif row.intent in (None, IntentType.DIAGNOSIS):
        raise RunDocumentInvalid("report", "a diagnosis was released, but no report of it is stored")
    else:
        report = no_diagnosis(row.intent, row.request.language)
    return RunDocument(
        run=run,
        release=release,
        report=report,
        records=listed(kept),
        trace=trace,
        inquiry=inquiry,
        schema_version=version,
    )


def records_to_show(row: RunRow, records: Iterable[EvidenceRecord]) -> tuple[EvidenceRecord, ...]:
    """The records of a run for display; in a closed run, no record is shown as open.

    A record that is still PROJECTING was begun in a store that failed when the run ended; it is shown as
    ERROR / ABANDONED.
    """
    if not row.is_closed or row.ending is None:
        return tuple(records)
    at_s = row.ending.termination.at_s
    return tuple(
        record.with_error(ErrorCode.ABANDONED, at_s=max(at_s, record.started_s))
        if record.invocation is InvocationStatus.PROJECTING
        else record
        for record in records
    )


def _records_of_started_calls(
    records: Sequence[EvidenceRecord], trace: Iterable[TraceLine]
) -> tuple[EvidenceRecord, ...]:
    """The records of calls that are known to have started.

    Excludes a record whose call was refused although the store may have begun it: the run never saw it.
    """
    begun = {line.text_of("tool_call_id") for line in trace if line.name is TraceName.TOOL_INVOCATION}
    return tuple(
        record
        for record in records
        if record.error_code is not ErrorCode.ABANDONED or record.tool_call_id in begun
    )


def _with_reported_errors(records: Iterable[EvidenceRecord], report: Report) -> tuple[EvidenceRecord, ...]:
    """The records, with errors as the run itself reported them.

    If the run left one PROJECTING, its store had failed; the error is the one that the run reported.
    """
    failed = {each.tool_call_id: each.error_code for each in report.coverage.failed}
    return tuple(
        replace(record, error_code=ErrorCode(code))
        if record.error_code is ErrorCode.ABANDONED and (code := failed.get(record.tool_call_id)) in _CODES
        else record
        for record in records
    )


def _run(
    row: RunRow, ending: RunEnding, body: dict[str, JsonValue], records: Sequence[EvidenceRecord]
) -> Run:
    request, spent = row.request, ending.spent
    started_s = (
        ending.termination.at_s if row.started_s is None else row.started_s
    )  # it may never have started
    asked_at = None if request.onset_s is None else utc_text(request.onset_s)
    onset_at = body.get("onset_at", asked_at)  # a follow-up takes over that of the previous turn
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
        usage=_parts(Counter, spent.counters, "run.usage") or _least(records),
        usage_estimated=spent.is_estimated,
        in_flight=_parts(InFlight, spent.in_flight, "run.in_flight"),
        onset_at=onset_at if isinstance(onset_at, str) else None,
    )


def _least(records: Sequence[EvidenceRecord]) -> tuple[Counter, ...]:
    """The usage that the records show, for a run whose own account was lost with its process."""
    calls = Calls(record.tool_name for record in records)
    if not calls:
        return ()
    return (
        Counter("tool_calls", calls.total(), None),
        Counter("run_bytes", sum(record.size_bytes for record in records), None),
        *(Counter("tool_calls", count, None, tool=tool) for tool, count in sorted(calls.items())),
    )


def _report(run: Run, release: Release, records: tuple[EvidenceRecord, ...]) -> Report:
    return compose(
        ReportMaterial(
            language=run.language,
            release=release,
            state=run.state,
            limit_s=run.limit_s,
            records=records,
            has_baseline=True,  # nothing is known of it
            has_onset=True,
        )
    )


def _parts(kind: type[T], values: JsonValue, place: str) -> tuple[T, ...]:
    several = values if isinstance(values, list) else []
    return tuple(read_part(kind, each, f"{place}[{number}]") for number, each in enumerate(several))
