"""Builds the document of an ended run; pure, and without decisions of its own."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from diagnosis_harness.application.diagnose import DiagnosisEnd
from diagnosis_harness.application.intent import IntentType
from diagnosis_harness.diagnosis.inquiry import Inquiry, OnsetOrigin
from diagnosis_harness.harness.context import RunContext
from diagnosis_harness.harness.termination import RunTermination
from diagnosis_harness.kernel.errors import ContractViolation
from diagnosis_harness.kernel.language import Language
from diagnosis_harness.kernel.masking import mask_or_withhold
from diagnosis_harness.kernel.window import utc_text
from diagnosis_harness.release.outcome import ReleaseOutcome
from diagnosis_harness.report.compose import compose, no_diagnosis
from diagnosis_harness.report.counters import counters
from diagnosis_harness.report.document import (
    InFlight,
    RecordEntry,
    Release,
    Report,
    Run,
    RunDocument,
    Termination,
)
from diagnosis_harness.report.failure import failure_sentence
from diagnosis_harness.report.inquiry_entry import InquiryEntry
from diagnosis_harness.report.material import ReportMaterial
from diagnosis_harness.report.timeline import timeline
from diagnosis_harness.toolbox.ports import SourceSummary
from diagnosis_harness.trace.event import TraceEvent


@dataclass(frozen=True, slots=True)
class RunFacts:
    """The facts of the document that are not in the run's context."""

    question: str
    language: Language
    started_s: float
    limit_s: float
    inquiry: Inquiry
    tools: tuple[str, ...]
    summary: SourceSummary

    @property
    def onset_s(self) -> float | None:
        """The onset that the caller stated separately; the source was opened with it."""
        return self.inquiry.onset_s if self.inquiry.onset_origin is OnsetOrigin.ASKED else None


def publish(ctx: RunContext, facts: RunFacts, end: DiagnosisEnd, events: Iterable[TraceEvent]) -> RunDocument:
    """The document of an ended run.

    Raises:
        ContractViolation: the run has not ended.
    """
    termination = ctx.lifecycle.termination
    if termination is None:
        raise ContractViolation("a run that goes on has no document")
    return RunDocument(
        run=_run(ctx, facts, termination),
        release=release_of(facts, end),
        report=report_of(ctx, facts, end),
        records=tuple(RecordEntry.of(record) for record in end.snapshot.records),
        trace=timeline(events),
        inquiry=inquiry_entry_of(facts, end),
    )


def publish_other_path(
    ctx: RunContext, facts: RunFacts, intent: IntentType, events: Iterable[TraceEvent]
) -> RunDocument:
    """The document of a run on a path other than diagnosis, with a text and no report.

    Raises:
        ContractViolation: the run has not ended.
    """
    termination = ctx.lifecycle.termination
    if termination is None:
        raise ContractViolation("a run that goes on has no document")
    return RunDocument(
        run=_run(ctx, facts, termination),
        release=Release(outcome=ReleaseOutcome.SUCCESS),
        report=no_diagnosis(intent, facts.language),
        records=(),
        trace=timeline(events),
    )


def _run(ctx: RunContext, facts: RunFacts, termination: RunTermination) -> Run:
    return Run(
        session_id=ctx.session_id,
        run_id=ctx.run_id,
        question=mask_or_withhold(facts.question),
        language=facts.language,
        state=ctx.lifecycle.state,
        termination=Termination(reason=termination.reason, at=utc_text(termination.at_s)),
        started_at=utc_text(facts.started_s),
        duration_s=round(termination.at_s - facts.started_s, 6),
        limit_s=facts.limit_s,
        usage=counters(ctx.budget.usage(), ctx.budget.limits),
        usage_estimated=ctx.budget.usage().is_estimated,
        in_flight=in_flight(ctx),
        onset_at=None if facts.onset_s is None else utc_text(facts.onset_s),
    )


def release_of(facts: RunFacts, end: DiagnosisEnd) -> Release:
    """What was released."""
    return Release(
        outcome=end.outcome,
        fallback_type=end.fallback,
        stop_reason=end.stop_reason,
        failure=failure_sentence(end.failure, facts.language) if end.failure else None,
    )


def inquiry_entry_of(facts: RunFacts, end: DiagnosisEnd) -> InquiryEntry:
    """The inquiry of the run, as in its document."""
    spoken_of = {
        name
        for record in end.snapshot.records
        for item in record.items
        for name in (item.entity, item.peer)
        if name is not None
    }
    return InquiryEntry.of(facts.inquiry, spoken_of=spoken_of)


def report_of(ctx: RunContext, facts: RunFacts, end: DiagnosisEnd) -> Report:
    """The report of an ended run."""
    return compose(
        ReportMaterial(
            language=facts.language,
            release=release_of(facts, end),
            state=ctx.lifecycle.state,
            limit_s=facts.limit_s,
            content=end.content,
            records=end.snapshot.records,
            tools=facts.tools,
            files=facts.summary.files,
            has_baseline=facts.summary.baseline is not None,
            has_onset=facts.inquiry.onset_s is not None,
            inquiry=facts.inquiry,
        )
    )


def in_flight(ctx: RunContext) -> tuple[InFlight, ...]:
    """The calls that had started and not finished."""
    return tuple(
        InFlight(name=call.name, tool_call_id=call.tool_call_id) for call in ctx.budget.open_calls().in_flight
    )
