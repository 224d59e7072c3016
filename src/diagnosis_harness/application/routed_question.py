"""Answers one question about a source on the path that the router chooses, as the service does."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from diagnosis_harness.application.answer_question import (
    LOCAL_CALLER,
    AnsweredRun,
    Question,
    resolve_question,
)
from diagnosis_harness.application.diagnose import DiagnoseUseCase, DiagnosisEnd
from diagnosis_harness.application.intent import IntentType
from diagnosis_harness.application.path_answer import AnswerPath
from diagnosis_harness.application.publish import RunFacts, publish_other_path
from diagnosis_harness.application.router import Routing
from diagnosis_harness.application.routing import RoutingDecision
from diagnosis_harness.application.runs.events import (
    emit_release_decision,
    emit_run_finished,
    emit_start_and_end,
)
from diagnosis_harness.application.status import ChatApplicationStatus, emit_status
from diagnosis_harness.application.subject import in_doubt, revise_path
from diagnosis_harness.diagnosis.agent import DiagnosisTask
from diagnosis_harness.diagnosis.inquiry import Inquiry
from diagnosis_harness.diagnosis.progress import ProgressSnapshot
from diagnosis_harness.harness.context import RunContext
from diagnosis_harness.harness.core import DiagnosisHarnessCore
from diagnosis_harness.harness.termination import RunState
from diagnosis_harness.kernel.errors import MalformedAnswer, RouterUnavailable, RunAborted, TechnicalFailure
from diagnosis_harness.kernel.masking import mask_or_withhold
from diagnosis_harness.release.decision import WorkEnd, decide, end_of_state
from diagnosis_harness.release.outcome import ReleaseOutcome
from diagnosis_harness.release.result import NO_CONTENT
from diagnosis_harness.report.document import RunDocument
from diagnosis_harness.toolbox.ports import Sources
from diagnosis_harness.trace.event import TraceEvent


@dataclass(frozen=True, slots=True)
class QuestionPaths:
    """The router of a question and the paths that answer it; `tools` are those of a diagnosis."""

    routing: Routing
    others: Mapping[IntentType, AnswerPath]
    use_case: DiagnoseUseCase
    tools: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class AnsweredText:
    """A run on a path other than diagnosis, with its text for people."""

    ctx: RunContext
    facts: RunFacts
    intent: IntentType
    text: str

    def document(self, events: Iterable[TraceEvent]) -> RunDocument:
        """The run's document, without the text, as in the service."""
        return publish_other_path(self.ctx, self.facts, self.intent, events)


@dataclass(frozen=True, slots=True)
class RoutedAnswer:
    """The document of a routed question, and the text if a path other than diagnosis answered it."""

    document: RunDocument
    text: str | None = None


async def answer_by_path(
    core: DiagnosisHarnessCore,
    ctx: RunContext,
    paths: Callable[[], QuestionPaths],
    *,
    sources: Sources,
    question: Question,
) -> AnsweredRun | AnsweredText:
    """Route the question, answer it and end the run; RUN_FINISHED is its last event.

    Raises:
        InvalidInput: the question or its caller names a time without data in the sources; the run is then
            FAILED.
        Exception: the sources cannot be read, or a bug; the run is FAILED then.
    """
    started_s = core.clock.now_s()  # before RUN_STARTED, which is in the trace
    with emit_start_and_end(core, ctx, question.text):
        answered = await _answer(core, ctx, paths(), sources=sources, question=question, started_s=started_s)
        outcome = answered.end.outcome if isinstance(answered, AnsweredRun) else ReleaseOutcome.SUCCESS
        emit_run_finished(core, ctx, outcome)
        return answered


async def _answer(
    core: DiagnosisHarnessCore,
    ctx: RunContext,
    paths: QuestionPaths,
    *,
    sources: Sources,
    question: Question,
    started_s: float,
) -> AnsweredRun | AnsweredText:
    emit_status(core, ctx, ChatApplicationStatus.ROUTING)
    masked = mask_or_withhold(question.text)
    resolved: list[Inquiry] = []

    async def revise(ctx: RunContext, decision: RoutingDecision) -> RoutingDecision:
        if decision.intent is not IntentType.DIAGNOSIS and not in_doubt(decision):
            return decision
        resolved.append(resolve_question(core, ctx, sources, question))
        return revise_path(decision, resolved[0])

    def facts(inquiry: Inquiry) -> RunFacts:
        return RunFacts(
            question=question.text,
            language=question.language,
            started_s=started_s,
            limit_s=question.limit_s,
            inquiry=inquiry,
            tools=paths.tools,
            summary=sources.summary.summary(ctx),
        )

    try:
        decision = await paths.routing.route(ctx, masked, (), revise=revise)
        if decision.intent is IntentType.DIAGNOSIS:
            emit_status(core, ctx, ChatApplicationStatus.DIAGNOSIS_RUNNING)
            task = DiagnosisTask(question.text, resolved[0], caller=LOCAL_CALLER)
            return AnsweredRun(ctx, facts(resolved[0]), await paths.use_case.diagnose(ctx, task))
        given = await paths.others[decision.intent].answer(ctx, masked, question.language)
        if core.complete_success(ctx):
            emit_release_decision(core, ctx, ReleaseOutcome.SUCCESS, None)
            body = given.body if isinstance(given.body, dict) else {}
            return AnsweredText(ctx, facts(Inquiry()), decision.intent, str(body.get("text", "")))
        end = end_of_state(ctx.lifecycle.state)
    except RouterUnavailable:
        end = WorkEnd.ROUTER_UNAVAILABLE
    except RunAborted:
        end = end_of_state(ctx.lifecycle.state)
    except (TechnicalFailure, MalformedAnswer):
        end = WorkEnd.ANSWER_FAILED
    return AnsweredRun(ctx, facts(Inquiry()), _end_without_answer(core, ctx, end))


def _end_without_answer(core: DiagnosisHarnessCore, ctx: RunContext, end: WorkEnd) -> DiagnosisEnd:
    """The end of a run without a result, according to the release table."""
    row = decide(end, facts=False, missing=False)
    if (
        row.state is RunState.FAILED
        and not core.complete_failure(ctx, end.value)
        and ctx.lifecycle.state is not RunState.FAILED
    ):
        row = decide(end_of_state(ctx.lifecycle.state), facts=False, missing=False)
    emit_release_decision(core, ctx, row.outcome, row.fallback)
    return DiagnosisEnd(
        outcome=row.outcome,
        fallback=row.fallback,
        stop_reason=None,
        snapshot=ProgressSnapshot(),
        content=NO_CONTENT,
        failure=row.end if row.outcome is ReleaseOutcome.FAILED else None,
    )
