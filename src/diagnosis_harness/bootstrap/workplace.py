"""A core with its threads and what its runs share: for one folder, or for a host program."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from diagnosis_harness.adapters.evidence_stores.memory import MemoryEvidenceStore
from diagnosis_harness.application.answer_question import LOCAL_CALLER, AnsweredRun, Question, answer_question
from diagnosis_harness.application.diagnose import DiagnoseUseCase
from diagnosis_harness.application.intent import IntentType
from diagnosis_harness.application.path_answer import PathAnswer
from diagnosis_harness.application.routed_question import AnsweredText, QuestionPaths, answer_by_path
from diagnosis_harness.application.router import Routing
from diagnosis_harness.application.system.chat import SystemChat
from diagnosis_harness.application.system.profile import SystemProfile
from diagnosis_harness.application.system.source_profile import source_profile
from diagnosis_harness.bootstrap.players import Players, choose_players
from diagnosis_harness.bootstrap.profile import system_profile
from diagnosis_harness.bootstrap.workbench import build_boundary, build_use_case
from diagnosis_harness.diagnosis.policy import DiagnosisPolicy
from diagnosis_harness.harness.budget import RunBudgetLimits
from diagnosis_harness.harness.context import RunContext
from diagnosis_harness.harness.core import DiagnosisHarnessCore
from diagnosis_harness.harness.workers import WorkerPool
from diagnosis_harness.kernel.clock import Clock, SystemClock
from diagnosis_harness.kernel.closing import Closing
from diagnosis_harness.kernel.ids import IdSource, RandomIds
from diagnosis_harness.kernel.language import Language
from diagnosis_harness.llm.role import RoleBoundary
from diagnosis_harness.settings import Settings
from diagnosis_harness.toolbox.no_sources import NO_SOURCES
from diagnosis_harness.toolbox.ports import Sources
from diagnosis_harness.tools.access import ScopeAccess
from diagnosis_harness.tools.boundary import ToolBoundary
from diagnosis_harness.tools.spec import Tool
from diagnosis_harness.trace.sink import TraceSink


def _catalog_tools(sources: Sources) -> Sequence[Tool]:
    from diagnosis_harness.toolbox.catalog import build_tools

    return build_tools(sources)


@dataclass(frozen=True, slots=True)
class Workplace(Closing):
    """What the runs of one owner share. The owner closes it.

    Attributes:
        own_tools: tools of a host, offered in addition to the tools over the sources.
        tools_over: makes the tools over the sources, for one run.
    """

    core: DiagnosisHarnessCore
    workers: WorkerPool
    settings: Settings
    players: Players
    own_tools: tuple[Tool, ...] = ()
    tools_over: Callable[[Sources], Sequence[Tool]] = _catalog_tools

    def start_run(
        self, limit_s: float, limits: RunBudgetLimits | None = None, *, session_id: str | None = None
    ) -> RunContext:
        """Open a run; limits default to the settings, and a run without a session gets a new one."""
        return self.core.start_run(
            session_id=session_id or self.core.ids.new_session_id(),
            timeout_s=limit_s,
            limits=limits or self.settings.budget_limits(),
            retry_policies=self.settings.retry_policies(),
        )

    def boundary(self, sources: Sources | None) -> ToolBoundary:
        """The tool boundary of one run; None stands for no sources."""
        tools = () if sources is None else self.tools_over(sources)
        return build_boundary(
            self.core,
            self.settings,
            tools=(*tools, *self.own_tools),
            store=MemoryEvidenceStore(),
            access=ScopeAccess({LOCAL_CALLER: frozenset({"*"})}),
        )

    async def answer(self, ctx: RunContext, sources: Sources | None, question: Question) -> AnsweredRun:
        """Answer in an open run; the run has ended when this returns or raises.

        Raises:
            InvalidInput: as `answer_question`.
        """

        def use_case_and_tools() -> tuple[DiagnoseUseCase, tuple[str, ...]]:
            boundary = self.boundary(sources)
            use_case = build_use_case(self.core, self.settings, boundary, self.players)
            return use_case, tuple(spec.name for spec in boundary.specs)

        return await answer_question(
            self.core, ctx, use_case_and_tools, sources=sources or NO_SOURCES, question=question
        )

    async def answer_by_path(
        self, ctx: RunContext, sources: Sources, question: Question
    ) -> AnsweredRun | AnsweredText:
        """Route the question in an open run and answer it; the run has ended when this returns or raises.

        Raises:
            InvalidInput: as `answer_by_path`, or the runbooks of the settings cannot be read.
        """

        def paths() -> QuestionPaths:
            boundary, roles = self.boundary(sources), RoleBoundary(self.core)

            def profile(ctx: RunContext) -> SystemProfile:
                profiles = (source_profile(sources.summary.summary(ctx)),)
                specs = boundary.specs
                return system_profile(
                    self.settings, self.players, tools=specs, sources=profiles, documents=None
                )

            return QuestionPaths(
                routing=Routing(self.core, roles, self.players.router),
                others={
                    IntentType.SYSTEM_CHAT: SystemChat(self.core, roles, self.players.responder, profile),
                    IntentType.KNOWLEDGE_QUERY: _Runbooks(self),
                },
                use_case=build_use_case(self.core, self.settings, boundary, self.players),
                tools=tuple(spec.name for spec in boundary.specs),
            )

        return await answer_by_path(self.core, ctx, paths, sources=sources, question=question)

    def close(self) -> None:
        """End running work and stop all threads. A second call does nothing."""
        self.core.close()


@dataclass(frozen=True, slots=True)
class _Runbooks:
    """The path that answers from the configured runbooks, which are opened at the first question to them."""

    workplace: Workplace

    async def answer(self, ctx: RunContext, question: str, language: Language) -> PathAnswer:
        from diagnosis_harness.adapters.sources.part import ignore_progress
        from diagnosis_harness.bootstrap.knowledge import build_knowledge_query, open_library

        own = self.workplace
        library = open_library(own.settings, clock=own.core.clock, progress=ignore_progress)
        query = build_knowledge_query(own.core, own.settings, library, own.workers)
        return await query.answer(ctx, question, language)


def build_core(
    settings: Settings, *, sink: TraceSink, clock: Clock, ids: IdSource
) -> tuple[DiagnosisHarnessCore, WorkerPool]:
    """The core of a process or of a host, and its threads, which end when it is closed."""
    workers = WorkerPool(threads_max=settings.run.worker_threads)
    return DiagnosisHarnessCore(clock=clock, ids=ids, sink=sink, workers=workers), workers


def build_workplace(
    settings: Settings,
    *,
    sink: TraceSink,
    tools: Sequence[Tool] = (),
    policy: DiagnosisPolicy | None = None,
    clock: Clock | None = None,
    ids: IdSource | None = None,
) -> Workplace:
    """Choose the players and build the core. None selects the chosen policy, the real clock and random ids.

    Raises:
        InvalidSetting: a role names a player that does not exist.
    """
    make_players = choose_players(settings, policy=policy)
    core, workers = build_core(settings, sink=sink, clock=clock or SystemClock(), ids=ids or RandomIds())
    return Workplace(core, workers, settings, make_players(core), tuple(tools))


def open_folder(
    settings: Settings,
    folder: Path,
    *,
    baseline: Path | None,
    onset_s: float | None = None,
    progress: Callable[[str, int, int], None] | None = None,
) -> Sources:
    """Read an incident folder. Blocks.

    Raises:
        InvalidInput: the folder, or a file in it, cannot be used.
    """
    from diagnosis_harness.adapters.sources.incident_folder import open_incident_folder
    from diagnosis_harness.adapters.sources.part import ignore_progress

    return open_incident_folder(
        folder,
        baseline=baseline,
        onset_s=onset_s,
        memory_limit_mb=settings.folder.memory_limit_mb,
        progress=progress or ignore_progress,
    )
