"""Checks the trace of a saved run against the rest of the document: start, guards, stop, decision and end.

A run whose process died is closed by another, which writes its last lines; a run that never started has only
those. So the check requires only the lines without which the rest of the document is impossible.
"""

from __future__ import annotations

from collections.abc import Iterator

from diagnosis_harness.audit.verification.calls import call_flaws
from diagnosis_harness.audit.verification.result import Check, CheckName, Flaw, FlawCode
from diagnosis_harness.audit.verification.steps import step_flaws
from diagnosis_harness.diagnosis.collection import DiagnosisStopReason
from diagnosis_harness.harness.termination import RunState
from diagnosis_harness.kernel.errors import RunDocumentInvalid
from diagnosis_harness.kernel.json_value import JsonValue
from diagnosis_harness.release.outcome import ReleaseOutcome
from diagnosis_harness.report.document import RunDocument
from diagnosis_harness.report.timeline import in_short
from diagnosis_harness.report.trace_line import TraceLine
from diagnosis_harness.trace.event import TraceName, bound_payload

_ENDS = frozenset({TraceName.RUN_ENDED, TraceName.RUN_FINISHED})
"""The lines that report how the run ended; a run that never started also has them."""
_LEFT = (ReleaseOutcome.SUCCESS, ReleaseOutcome.FALLBACK)
_EVIDENCE = (TraceName.EVIDENCE_GUARD_INITIAL, TraceName.EVIDENCE_GUARD_RECHECK)
_CUT_SHORT = frozenset({RunState.TIMED_OUT, RunState.CANCELLED})
"""States of runs without a stop reason, even if collecting had stopped."""


def trace_check(document: RunDocument) -> Check:
    """Whether each line shows its data, and start, guards, stop and end are those of the document."""
    try:
        flaws = tuple(_flaws(document))
    except RunDocumentInvalid as error:
        flaws = (Flaw(FlawCode.NOT_OF_THE_SCHEMA, error.place, found=error.problem),)
    return Check(CheckName.TRACE, len(document.trace), flaws)


def _flaws(document: RunDocument) -> tuple[Flaw, ...]:
    return (
        *_text_flaws(document),
        *_item_flaws(document),
        *call_flaws(document),
        *step_flaws(document),
        *_start_flaws(document),
        *_guard_flaws(document),
        *_stop_flaws(document),
        *_decision_flaws(document),
        *_end_flaws(document),
    )


def _text_flaws(document: RunDocument) -> Iterator[Flaw]:
    for place, line in enumerate(document.trace):
        shown = in_short(line.data or {})
        if line.text != shown:
            yield _differs(place, "text", line.text, shown)


def _item_flaws(document: RunDocument) -> Iterator[Flaw]:
    """The number of items in a call's line must be that of its record, unless the line was cut short."""
    coverage = document.report.coverage
    calls = (*coverage.asked, *coverage.empty, *coverage.failed)
    asked = {each.tool_call_id: each for each in calls}
    for place, line in enumerate(document.trace):
        entry = asked.get(line.text_of("tool_call_id") or "")
        stated = _data(line, "items")
        if line.name is TraceName.TOOL_INVOCATION and entry is not None and stated not in (None, entry.items):
            yield _differs(place, "data.items", stated, entry.items)


def _start_flaws(document: RunDocument) -> Iterator[Flaw]:
    """A trace must begin with its question, masked and shortened; only the run's end may precede it."""
    starts = [place for place, line in enumerate(document.trace) if line.name is TraceName.RUN_STARTED]
    work = [place for place, line in enumerate(document.trace) if line.name not in _ENDS]
    began = document.inquiry is not None or document.release.outcome in _LEFT or work
    if began and (not starts or starts != work[:1]):
        yield Flaw(FlawCode.TRACE_INCOMPLETE, "trace[0]", found=TraceName.RUN_STARTED.value)
    for place in starts:
        question = document.run.question
        asked = document.trace[place].text_of("question")
        if asked is None or _as_traced(asked) != _as_traced(question):
            yield _differs(place, "data.question", asked, question)


def _as_traced(text: str) -> JsonValue:
    return bound_payload({"question": text})["question"]


def _guard_flaws(document: RunDocument) -> Iterator[Flaw]:
    """A release with causes must have passed EvidenceGuard in the end; `steps` checks SemanticGuard."""
    if not document.report.causes:
        return
    evidence = _last(document, *_EVIDENCE)
    if evidence is None:
        yield Flaw(FlawCode.TRACE_INCOMPLETE, "trace", found=_EVIDENCE[0].value)
    elif not isinstance(found := _data(evidence[1], "findings"), list | tuple) or found:
        yield _differs(evidence[0], "data.findings", found, "")


def _stop_flaws(document: RunDocument) -> Iterator[Flaw]:
    """The stop reason must be in the trace, except a budget that was used up later, which has no line."""
    reason, state = document.release.stop_reason, document.run.state
    stop = _last(document, TraceName.COLLECTION_STOP)
    traced = None if stop is None else stop[1].text_of("reason")
    if reason is None:
        unsaid = state in _CUT_SHORT or document.release.outcome is ReleaseOutcome.FAILED
        if stop is not None and not unsaid:
            yield _differs(stop[0], "data.reason", traced, None)
    elif reason is DiagnosisStopReason.BUDGET_LIMIT_REACHED and state is RunState.BUDGET_EXHAUSTED:
        return
    elif stop is None:
        yield Flaw(FlawCode.TRACE_INCOMPLETE, "release.stop_reason", reason.value)
    elif traced != reason:
        yield _differs(stop[0], "data.reason", traced, reason)


def _decision_flaws(document: RunDocument) -> Iterator[Flaw]:
    """The decision must match what was released; a run that failed afterwards released nothing."""
    release = document.release
    decision = _last(document, TraceName.RELEASE_DECISION)
    if release.outcome is ReleaseOutcome.FAILED:
        return
    if decision is None:
        if document.report.causes:
            yield Flaw(FlawCode.TRACE_INCOMPLETE, "trace", found=TraceName.RELEASE_DECISION.value)
        return
    published = {"claims": len(document.report.claims), "causes": len(document.report.causes)}
    counted = {name: count for name, count in published.items() if name in (decision[1].data or {})}
    expected = {"outcome": release.outcome, "fallback": release.fallback_type, **counted}
    for name, value in expected.items():
        if (traced := _data(decision[1], name)) != value:
            yield _differs(decision[0], f"data.{name}", traced, value)


def _end_flaws(document: RunDocument) -> Iterator[Flaw]:
    run = document.run
    end: dict[str, str | None] = {
        "state": run.state,
        "reason": None if run.termination is None else run.termination.reason,
    }
    if not document.trace or document.trace[-1].name is not TraceName.RUN_FINISHED:
        yield Flaw(FlawCode.TRACE_INCOMPLETE, "trace", found=TraceName.RUN_FINISHED.value)
    for place, line in enumerate(document.trace):
        expected = end if line.name in _ENDS else {}
        if line.name is TraceName.RUN_FINISHED:
            at = None if run.termination is None else run.termination.at
            expected = {**end, "outcome": document.release.outcome, "ended_at": at}
        for name, value in expected.items():
            if (traced := _data(line, name)) != value:
                yield _differs(place, f"data.{name}", traced, value)


def _last(document: RunDocument, *names: TraceName) -> tuple[int, TraceLine] | None:
    """The last line of these names, with its place."""
    lines = [(place, line) for place, line in enumerate(document.trace) if line.name in names]
    return lines[-1] if lines else None


def _data(line: TraceLine, name: str) -> object:
    return None if line.data is None else line.data.get(name)


def _differs(place: int, name: str, stated: object, found: object) -> Flaw:
    return Flaw(FlawCode.TRACE_DIFFERS, f"trace[{place}].{name}", str(stated), str(found))
