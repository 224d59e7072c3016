"""Answers one question in a run that the caller has opened."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

from diagnosis_harness.application.diagnose import DiagnoseUseCase, DiagnosisEnd
from diagnosis_harness.application.inquiry import NOTHING_CARRIED, Carried, resolve_inquiry
from diagnosis_harness.application.publish import RunFacts, publish
from diagnosis_harness.application.runs.events import emit_run_finished, emit_start_and_end
from diagnosis_harness.application.status import ChatApplicationStatus, emit_status
from diagnosis_harness.diagnosis.agent import DiagnosisTask
from diagnosis_harness.diagnosis.inquiry import Inquiry
from diagnosis_harness.diagnosis.question import OnsetWords
from diagnosis_harness.harness.context import RunContext
from diagnosis_harness.harness.core import DiagnosisHarnessCore
from diagnosis_harness.kernel.errors import FailureKind, InvalidInput, OnsetOutsideData
from diagnosis_harness.kernel.language import Language
from diagnosis_harness.kernel.window import utc_text
from diagnosis_harness.release.decision import WorkEnd
from diagnosis_harness.report.document import RunDocument
from diagnosis_harness.toolbox.ports import Sources, SourceSummary
from diagnosis_harness.trace.event import TraceEvent

LOCAL_CALLER = "local"
"""The caller of a question asked in this process; it may use every read-only tool."""


@dataclass(frozen=True, slots=True)
class Question:
    """A question and how to answer it; `limit_s` is the run's time limit, as in its context."""

    text: str
    language: Language
    limit_s: float
    onset: float | OnsetWords | None = None
    """When it began, stated separately from the question; words are read against the source."""
    zone: str | None = None
    """The zone of times in the text without one; None is that of the source, else UTC."""
    carried: Carried = NOTHING_CARRIED
    """Findings of the previous turn; the words of the question take precedence."""


@dataclass(frozen=True, slots=True)
class AnsweredRun:
    """A run that has ended, with everything that its document is built from."""

    ctx: RunContext
    facts: RunFacts
    end: DiagnosisEnd

    def document(self, events: Iterable[TraceEvent], language: Language | None = None) -> RunDocument:
        """The run's document, in the language of the question unless another one is named."""
        facts = self.facts if language is None else replace(self.facts, language=language)
        return publish(self.ctx, facts, self.end, events)


async def answer_question(
    core: DiagnosisHarnessCore,
    ctx: RunContext,
    use_case_and_tools: Callable[[], tuple[DiagnoseUseCase, tuple[str, ...]]],
    *,
    sources: Sources,
    question: Question,
) -> AnsweredRun:
    """Diagnose and end the run. Cancelled, timed out and failed runs are answered as well.

    Args:
        use_case_and_tools: makes the use case of this run; the names are those of the tools it may call.

    Raises:
        InvalidInput: the question or its caller names a time without data in the sources; the run is then
            FAILED.
        Exception: the sources cannot be read, or a bug; the run is FAILED then.
    """
    started_s = core.clock.now_s()
    with emit_start_and_end(core, ctx, question.text):
        use_case, tools = use_case_and_tools()
        summary = sources.summary.summary(ctx)
        inquiry = resolve_question(core, ctx, sources, question)
        emit_status(core, ctx, ChatApplicationStatus.DIAGNOSIS_RUNNING)
        end = await use_case.diagnose(ctx, DiagnosisTask(question.text, inquiry, caller=LOCAL_CALLER))
        emit_run_finished(core, ctx, end.outcome)
    facts = RunFacts(
        question=question.text,
        language=question.language,
        started_s=started_s,
        limit_s=question.limit_s,
        inquiry=inquiry,
        tools=tools,
        summary=summary,
    )
    return AnsweredRun(ctx, facts, end)


def resolve_question(
    core: DiagnosisHarnessCore, ctx: RunContext, sources: Sources, question: Question
) -> Inquiry:
    """The question, resolved against the sources.

    Raises:
        InvalidInput: the question or its caller names a time without data in the sources; the run is then
            FAILED.
    """
    place = "onset"
    try:
        onset_s = _read_onset(question.onset, sources.summary.summary(ctx))
        place = "QUESTION"
        return resolve_inquiry(
            ctx,
            sources,
            question.text,
            onset_s,
            carried=question.carried,
            zone=question.zone,
        )
    except OnsetOutsideData as error:
        core.complete_failure(ctx, WorkEnd.ONSET_OUTSIDE_DATA.value)
        raise InvalidInput(place, str(error), "give a time inside it, and check the zone") from error


def _read_onset(onset: float | OnsetWords | None, summary: SourceSummary) -> float | None:
    """The stated onset; if it is in words, they are read against the recording."""
    recorded = summary.incident
    onset_s = onset.read(recorded, summary.zone) if isinstance(onset, OnsetWords) else onset
    if isinstance(onset, OnsetWords) and onset_s is None:
        raise OnsetOutsideData(
            f"'{onset.words}' names no one time of the data, which goes from {recorded}",
            kind=FailureKind.REJECTED,
        )
    if onset_s is not None and recorded is not None and not recorded.contains(onset_s):
        raise OnsetOutsideData(
            f"the onset {utc_text(onset_s)} lies outside the data, which goes from {recorded}",
            kind=FailureKind.REJECTED,
        )
    return onset_s
