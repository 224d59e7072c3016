"""Checks the records of a saved run against the trace lines about their calls."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from diagnosis_harness.audit.verification.result import Flaw, FlawCode
from diagnosis_harness.kernel.json_value import JsonValue
from diagnosis_harness.release.outcome import ReleaseOutcome
from diagnosis_harness.report.document import RecordEntry, RunDocument
from diagnosis_harness.report.trace_line import TraceLine
from diagnosis_harness.report.window import read_instant
from diagnosis_harness.tools.evidence import InvocationStatus
from diagnosis_harness.tools.invocation import ErrorCode
from diagnosis_harness.trace.event import TraceEventStatus, TraceName, bound_payload

_ROUNDING_S = 0.002
"""Times are written to the millisecond, durations to the microsecond, so they may differ by this much."""

Placed = tuple[int, TraceLine]


def call_flaws(document: RunDocument) -> Iterator[Flaw]:
    """Each call in the trace must have a matching record, and each record its call, exactly once."""
    lines = _lines_by_call(document)
    records = {entry.tool_call_id: entry for entry in document.records}
    for call_id, own in lines.items():
        begun, ended = _split(own)
        for place, _ in (*begun[1:], *ended[1:]):
            yield Flaw(FlawCode.TRACE_TWICE, f"trace[{place}]", call_id)
        if ended and (not begun or begun[0][0] > ended[0][0]):
            yield Flaw(FlawCode.TRACE_OUT_OF_ORDER, f"trace[{ended[0][0]}]", call_id)
        if (entry := records.get(call_id)) is None:
            yield Flaw(FlawCode.CALL_WITHOUT_RECORD, f"trace[{own[0][0]}]", call_id)
            continue
        for place, line in own:
            yield from _line_flaws(place, line, entry)
    if document.release.outcome in (ReleaseOutcome.SUCCESS, ReleaseOutcome.FALLBACK):
        yield from _gap_flaws(document.records, lines)
    yield from _caller_flaws(document)
    yield from _progress_flaws(document, lines)


def _lines_by_call(document: RunDocument) -> dict[str, list[Placed]]:
    lines: dict[str, list[Placed]] = {}
    for place, line in enumerate(document.trace):
        if line.name is TraceName.TOOL_INVOCATION:
            lines.setdefault(line.text_of("tool_call_id") or "", []).append((place, line))
    return lines


def _split(own: Sequence[Placed]) -> tuple[list[Placed], list[Placed]]:
    begun = [each for each in own if each[1].status is TraceEventStatus.STARTED]
    return begun, [each for each in own if each[1].status is not TraceEventStatus.STARTED]


def _line_flaws(place: int, line: TraceLine, entry: RecordEntry) -> Iterator[Flaw]:
    """A line must match its record, and must not precede what it reports."""
    data = line.data or {}
    expected: dict[str, JsonValue] = {"tool": entry.tool, "scope": entry.scope}
    reported_at_s = read_instant(line.at, f"trace[{place}].at")
    done_at_s = read_instant(entry.started_at, "records.started_at")
    if line.status is not TraceEventStatus.STARTED:
        expected["invocation"] = entry.status.value
        if entry.status is InvocationStatus.READY:
            done_at_s += entry.duration_s or 0.0
            expected["evidence"] = entry.evidence_status.value if entry.evidence_status else None
            expected["bytes"] = entry.size_bytes
        if ErrorCode.ABANDONED not in (entry.error_code, data.get("error_code")):
            expected["error_code"] = entry.error_code
    for name, value in bound_payload(expected).items():
        if data.get(name) != value:
            yield Flaw(FlawCode.TRACE_DIFFERS, f"trace[{place}].data.{name}", str(data.get(name)), str(value))
    if reported_at_s < done_at_s - _ROUNDING_S:
        yield Flaw(FlawCode.OUT_OF_ORDER, f"trace[{place}].at", line.at, entry.started_at)


def _gap_flaws(records: Sequence[RecordEntry], lines: Mapping[str, Sequence[Placed]]) -> Iterator[Flaw]:
    """A run that released something has a line for every call; an abandoned call may lack its end."""
    for number, entry in enumerate(records):
        begun, ended = _split(lines.get(entry.tool_call_id, ()))
        whole = begun and (ended or entry.status is not InvocationStatus.READY)
        if not whole and entry.error_code != ErrorCode.ABANDONED:
            yield Flaw(FlawCode.TRACE_INCOMPLETE, f"records[{number}]", entry.tool_call_id)


def _caller_flaws(document: RunDocument) -> Iterator[Flaw]:
    """A run acts for one caller."""
    for number, entry in enumerate(document.records[1:], start=1):
        if entry.caller != document.records[0].caller:
            place = f"records[{number}].caller"
            yield Flaw(FlawCode.RECORD_OF_ANOTHER, place, entry.caller, document.records[0].caller)


def _progress_flaws(document: RunDocument, lines: Mapping[str, Sequence[Placed]]) -> Iterator[Flaw]:
    """The progress that a call made is reported after the call."""
    for place, line in enumerate(document.trace):
        call_id = line.text_of("tool_call_id") or ""
        if line.name is TraceName.TOOL_PROGRESS and not any(at < place for at, _ in lines.get(call_id, ())):
            yield Flaw(FlawCode.TRACE_OUT_OF_ORDER, f"trace[{place}]", call_id)
