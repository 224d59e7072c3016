"""A diagnosis over one incident folder, as the command line holds it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from diagnosis_harness.adapters.evidence_stores.memory import MemoryEvidenceStore
from diagnosis_harness.adapters.sources.incident_folder import open_incident_folder
from diagnosis_harness.application.answer_question import LOCAL_CALLER, Question, answer_question
from diagnosis_harness.audit.verification.recheck import Recheck, ask_again
from diagnosis_harness.bootstrap.players import Players, build_players
from diagnosis_harness.bootstrap.workbench import build_boundary, build_use_case
from diagnosis_harness.harness.cancellation import CancellationReason
from diagnosis_harness.harness.context import RunContext
from diagnosis_harness.harness.core import CancelAnswer, DiagnosisHarnessCore
from diagnosis_harness.harness.workers import WorkerPool
from diagnosis_harness.kernel.clock import SystemClock
from diagnosis_harness.kernel.closing import Closing
from diagnosis_harness.kernel.ids import RandomIds
from diagnosis_harness.kernel.language import Language
from diagnosis_harness.report.document import RunDocument
from diagnosis_harness.settings import Settings, load_settings
from diagnosis_harness.toolbox.catalog import build_tools
from diagnosis_harness.toolbox.ports import Sources
from diagnosis_harness.tools.access import ScopeAccess
from diagnosis_harness.tools.boundary import ToolBoundary
from diagnosis_harness.tools.spec import Tool
from diagnosis_harness.trace.sink import FanOutSink, MemorySink, TraceSink


@dataclass(slots=True)
class Diagnosis(Closing):
    """Questions about one incident, one run each. Runs one question at a time.

    It is closed when no further question comes, best as a context manager: threads and the tables that the
    folder was read into go with it.

    Attributes:
        players: who plays the roles.
        tools_over: makes the tools of one run.
    """

    core: DiagnosisHarnessCore
    trace: MemorySink
    settings: Settings
    sources: Sources
    onset_s: float | None
    players: Players
    tools_over: Callable[[Sources], Sequence[Tool]] = build_tools
    _ctx: RunContext | None = None
    _cancelled_early: CancellationReason | None = None

    async def run(self, question: str, *, language: Language, deadline_s: float | None) -> RunDocument:
        """Ask; `deadline_s` is the time given from now, None the configured one.

        However the run ends, also cancelled or failed, the answer is a document.

        Raises:
            InvalidInput: the question names a time of which the folder holds nothing; the run is FAILED.
        """
        limit_s = self.settings.run.timeout_s if deadline_s is None else deadline_s
        ctx = self._start(limit_s)
        boundary = self._boundary()
        answered = await answer_question(
            self.core,
            ctx,
            build_use_case(self.core, self.settings, boundary, self.players),
            sources=self.sources,
            tools=tuple(spec.name for spec in boundary.specs),
            question=Question(question, language, limit_s, self.onset_s),
        )
        return answered.document(self.trace.events(ctx.run_id))

    async def ask_again(self, document: RunDocument) -> Recheck:
        """Ask the queries of a saved run again, in a run of its own, and compare what they bring."""
        ctx = self._start(self.settings.run.timeout_s)
        return await ask_again(self.core, ctx, self._boundary(), document, caller=LOCAL_CALLER)

    def cancel(self, reason: CancellationReason) -> CancelAnswer | None:
        """End the run; one that is not open yet ends as soon as it is, and the answer is None."""
        if self._ctx is None:
            self._cancelled_early = reason
            return None
        return self.core.cancel(self._ctx, reason)

    def close(self) -> None:
        """End what runs, let go of the folder's tables and let all threads end. Twice is once."""
        self.core.close()

    def _start(self, limit_s: float) -> RunContext:
        ctx = self.core.start_run(
            session_id=self.core.ids.new_session_id(),
            timeout_s=limit_s,
            limits=self.settings.budget_limits(),
            retry_policies=self.settings.retry_policies(),
        )
        self._ctx = ctx
        if self._cancelled_early is not None:
            self.core.cancel(ctx, self._cancelled_early)
        return ctx

    def _boundary(self) -> ToolBoundary:
        access = ScopeAccess({LOCAL_CALLER: frozenset({"*"})})
        tools = self.tools_over(self.sources)
        return build_boundary(
            self.core, self.settings, tools=tools, store=MemoryEvidenceStore(), access=access
        )


def build_diagnosis(
    *,
    folder: Path,
    baseline: Path | None,
    onset_s: float | None,
    sink: TraceSink,
    progress: Callable[[str, int, int], None],
    settings: Settings | None = None,
) -> Diagnosis:
    """Read an incident folder and put everything together around it; whoever holds it closes it.

    Raises:
        InvalidInput: the folder, a file in it or a setting cannot be used.
    """
    settings = load_settings() if settings is None else settings
    players = build_players(settings)
    trace = MemorySink()
    core = DiagnosisHarnessCore(
        clock=SystemClock(),
        ids=RandomIds(),
        sink=FanOutSink((trace, sink)),
        workers=WorkerPool(threads_max=settings.run.worker_threads),
    )
    sources = open_incident_folder(
        folder,
        baseline=baseline,
        onset_s=onset_s,
        memory_limit_mb=settings.folder.memory_limit_mb,
        progress=progress,
    )
    return Diagnosis(
        core=core,
        trace=trace,
        settings=settings,
        sources=sources,
        onset_s=onset_s,
        players=players,
    )
