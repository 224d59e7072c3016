"""The diagnosis path of the service: open the source, diagnose, release, and build what is stored."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Protocol

from diagnosis_harness.application.chat_ending import failure_of, termination_of, usage_of_run
from diagnosis_harness.application.diagnose import DiagnoseUseCase, DiagnosisEnd
from diagnosis_harness.application.inquiry import Carried, resolve_inquiry
from diagnosis_harness.application.intent import IntentType
from diagnosis_harness.application.previous_turn import (
    PreviousTurn,
    PublishedResultPolicy,
    result_for_next_turn,
    take_over,
)
from diagnosis_harness.application.publish import RunFacts, inquiry_entry_of, release_of, report_of
from diagnosis_harness.application.routing import RoutingDecision
from diagnosis_harness.application.runs.request import RunRequest
from diagnosis_harness.application.runs.row import RunEnding
from diagnosis_harness.application.runs.sources import SourceStamp
from diagnosis_harness.application.status import ChatApplicationStatus, emit_status
from diagnosis_harness.application.subject import in_doubt, revise_path
from diagnosis_harness.diagnosis.agent import DiagnosisTask
from diagnosis_harness.diagnosis.inquiry import Inquiry
from diagnosis_harness.harness.context import RunContext
from diagnosis_harness.harness.core import DiagnosisHarnessCore
from diagnosis_harness.kernel.errors import OnsetOutsideData, SourceUnavailable
from diagnosis_harness.kernel.json_value import JsonValue
from diagnosis_harness.kernel.window import utc_text
from diagnosis_harness.release.decision import WorkEnd
from diagnosis_harness.release.outcome import ReleaseOutcome
from diagnosis_harness.release.work import do_release_work
from diagnosis_harness.report.compose import conclusion_of
from diagnosis_harness.report.document import plain_json
from diagnosis_harness.report.version import SCHEMA_VERSION
from diagnosis_harness.toolbox.ports import Sources
from diagnosis_harness.tools.spec import Tool
from diagnosis_harness.trace.event import TraceEventStatus, TraceName, TracePhase

DIAGNOSIS_KIND = "DIAGNOSIS"


@dataclass(frozen=True, slots=True)
class OpenSource:
    """A source, and the tools over it; several runs may use them at once.

    Attributes:
        stamp: None if there is no source.
        folder: its folder, which must exist while the source is in use, and is removed with the last
            reference to it.
    """

    sources: Sources
    tools: tuple[Tool, ...]
    stamp: SourceStamp | None = None
    folder: object = None


class SourceCatalog(Protocol):
    """The configured sources, by name."""

    async def open(
        self, ctx: RunContext, name: str | None, onset_s: float | None, asked: SourceStamp | None
    ) -> OpenSource:
        """The source of a name. None is the only configured one, or an empty one if none is configured.

        Args:
            asked: the stamp of the source when the question was submitted; its name and content may have
                changed since.

        Raises:
            SourceUnavailable: there is no such source here, or it cannot be read; the log says why.
            OnsetOutsideData: it holds no data for the time of the onset.
        """
        ...


class DiagnosisPath:
    """Diagnoses questions that were routed here. Holds no state between runs."""

    def __init__(
        self,
        core: DiagnosisHarnessCore,
        catalog: SourceCatalog,
        use_case_over: Callable[[Sequence[Tool]], DiagnoseUseCase],
    ) -> None:
        self._core = core
        self._catalog = catalog
        self._use_case_over = use_case_over

    async def revise(
        self,
        ctx: RunContext,
        decision: RoutingDecision,
        *,
        request: RunRequest,
        previous: PreviousTurn | None,
    ) -> RoutingDecision:
        """Reconsider the path of a question whose words leave open whether there is anything to diagnose.

        A source that cannot be opened revises nothing; the diagnosis then reports it.

        Raises:
            RunAborted: the run had ended, or ended while the source was being opened.
        """
        if not in_doubt(decision):
            return decision
        try:
            opened = await self._open(ctx, request)
            inquiry = self._inquiry(ctx, opened, request, previous)
        except (SourceUnavailable, OnsetOutsideData):
            return decision
        return revise_path(decision, inquiry)

    async def diagnose(
        self, ctx: RunContext, request: RunRequest, previous: PreviousTurn | None, *, started_s: float
    ) -> RunEnding:
        """Diagnose and release; the run has ended when this returns.

        Raises:
            SourceUnavailable, OnsetOutsideData: the source cannot be read, or has no data for that time; the
                run continues.
            RunAborted: the run had ended, or ended while the source was being opened.
            Exception: a bug.
        """
        emit_status(self._core, ctx, ChatApplicationStatus.DIAGNOSIS_RUNNING)
        opened = await self._open(ctx, request)
        self._emit_source_changed(ctx, request, opened.stamp)
        inquiry = self._inquiry(ctx, opened, request, previous)
        end = await self._use_case_over(opened.tools).diagnose(
            ctx, DiagnosisTask(request.question, inquiry, caller=request.asked_by.identity)
        )
        facts = RunFacts(
            question=request.question,
            language=request.language,
            started_s=started_s,
            limit_s=request.limit_s,
            inquiry=inquiry,
            tools=tuple(tool.spec.name for tool in opened.tools),
            summary=opened.sources.summary.summary(ctx),
        )
        work = partial(_ending, ctx, facts, request, end)
        return await do_release_work(ctx, self._core, work, claims=len(end.content.claims))

    async def _open(self, ctx: RunContext, request: RunRequest) -> OpenSource:
        return await self._core.wait(
            ctx, lambda ctx: self._catalog.open(ctx, request.source, request.onset_s, request.stamp)
        )

    def _inquiry(
        self, ctx: RunContext, opened: OpenSource, request: RunRequest, previous: PreviousTurn | None
    ) -> Inquiry:
        return resolve_inquiry(
            ctx,
            opened.sources,
            request.question,
            request.onset_s,
            carried=take_over_from(request, previous),
        )

    def _emit_source_changed(self, ctx: RunContext, request: RunRequest, now: SourceStamp | None) -> None:
        """Emit SOURCE_CHANGED if the content of the source changed since the question was asked."""
        asked = request.stamp
        if asked is None or now is None or asked.content == now.content:
            return
        self._core.emit(
            ctx,
            TraceName.SOURCE_CHANGED,
            TracePhase.RUN,
            TraceEventStatus.SUCCEEDED,
            {"source": request.source, "asked": asked.content, "now": now.content},
        )


def _ending(ctx: RunContext, facts: RunFacts, request: RunRequest, end: DiagnosisEnd) -> RunEnding:
    report = report_of(ctx, facts, end)
    conclusion = conclusion_of(report, end.outcome, request.language)
    stated_at = None if facts.onset_s is None else utc_text(facts.onset_s)
    published: JsonValue = None
    if PublishedResultPolicy().publishes(IntentType.DIAGNOSIS, end.outcome):
        published = result_for_next_turn(
            report,
            question=request.question,
            source=request.source,
            language=request.language,
            affected=facts.inquiry.affected,
        )
    body: JsonValue = {
        "kind": DIAGNOSIS_KIND,
        "onset_at": stated_at,
        "release": plain_json(release_of(facts, end)),
        "report": plain_json(report),
        "inquiry": plain_json(inquiry_entry_of(facts, end)),
        "schema_version": SCHEMA_VERSION,
    }
    failure = WorkEnd.CANCELLED if end.outcome is ReleaseOutcome.CANCELLED else end.failure
    return RunEnding(
        outcome=end.outcome,
        termination=termination_of(ctx),
        spent=usage_of_run(ctx, started_s=facts.started_s, agent_steps=end.snapshot.steps),
        fallback=end.fallback,
        stop_reason=end.stop_reason,
        answer=body,
        failure=None if failure is None else failure_of(failure, request.language),
        conclusion=conclusion,
        published_result=published,
    )


def take_over_from(request: RunRequest, previous: PreviousTurn | None) -> Carried:
    """The values that a request takes over from the previous turn."""
    return take_over(previous, source=request.source)
