"""Everything that the public interface needs, built around a host's own tools, policy and sources."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from diagnosis_harness.adapters.evidence_stores.memory import MemoryEvidenceStore
from diagnosis_harness.application.answer_question import LOCAL_CALLER
from diagnosis_harness.application.diagnose import DiagnoseUseCase
from diagnosis_harness.bootstrap.players import Players, build_players
from diagnosis_harness.bootstrap.workbench import build_boundary, build_use_case
from diagnosis_harness.diagnosis.policy import DiagnosisPolicy
from diagnosis_harness.harness.core import DiagnosisHarnessCore
from diagnosis_harness.harness.workers import WorkerPool
from diagnosis_harness.kernel.clock import Clock, SystemClock
from diagnosis_harness.kernel.ids import IdSource, RandomIds
from diagnosis_harness.settings import Settings
from diagnosis_harness.toolbox.ports import Sources
from diagnosis_harness.tools.access import ScopeAccess
from diagnosis_harness.tools.boundary import ToolBoundary
from diagnosis_harness.tools.spec import Tool
from diagnosis_harness.trace.sink import TraceSink


@dataclass(frozen=True, slots=True)
class Workplace:
    """A core with its threads, and what its runs share.

    Attributes:
        own_tools: the host's tools; they are offered beside the tools over the sources.
    """

    core: DiagnosisHarnessCore
    workers: WorkerPool
    settings: Settings
    players: Players
    own_tools: tuple[Tool, ...]

    def boundary(self, sources: Sources | None) -> ToolBoundary:
        """The tool boundary of one run; None stands for no sources."""
        tools = self.own_tools
        if sources is not None:
            from diagnosis_harness.toolbox.catalog import build_tools

            tools = (*build_tools(sources), *tools)
        return build_boundary(
            self.core,
            self.settings,
            tools=tools,
            store=MemoryEvidenceStore(),
            access=ScopeAccess({LOCAL_CALLER: frozenset({"*"})}),
        )

    def use_case(self, boundary: ToolBoundary) -> DiagnoseUseCase:
        """The diagnosis of one run."""
        return build_use_case(self.core, self.settings, boundary, self.players)

    def read_folder(self, folder: Path, baseline: Path | None) -> Sources:
        """Read an incident folder. Blocks: call it on a worker.

        Raises:
            InvalidInput: the folder, or a file in it, cannot be used.
        """
        from diagnosis_harness.adapters.sources.incident_folder import open_incident_folder

        return open_incident_folder(
            folder, baseline=baseline, memory_limit_mb=self.settings.folder.memory_limit_mb
        )


def build_workplace(
    settings: Settings,
    *,
    tools: Sequence[Tool],
    policy: DiagnosisPolicy | None,
    sink: TraceSink,
    clock: Clock | None,
    ids: IdSource | None,
) -> Workplace:
    """Build the core and choose the players. None is the embedded policy, the real clock and random ids."""
    workers = WorkerPool(threads_max=settings.run.worker_threads)
    core = DiagnosisHarnessCore(
        clock=clock or SystemClock(), ids=ids or RandomIds(), sink=sink, workers=workers
    )
    return Workplace(core, workers, settings, build_players(settings, policy=policy), tuple(tools))
