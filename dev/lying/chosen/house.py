"""Runs the whole product as a black box: question, policy, tools, guards, release, document.

Only the answers of tools are cached between runs: the same question to the same world has the same answer,
and computing it costs far more than the rest.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from dev.lying.chosen.reference import Reference
from dev.lying.chosen.worlds import World

from diagnosis_harness.audit.verification.verify import verify
from diagnosis_harness.bootstrap.diagnosis import Diagnosis
from diagnosis_harness.bootstrap.players import choose_players
from diagnosis_harness.bootstrap.workplace import Workplace
from diagnosis_harness.diagnosis.policy import DiagnosisPolicy
from diagnosis_harness.harness.context import RunContext
from diagnosis_harness.harness.core import DiagnosisHarnessCore
from diagnosis_harness.harness.workers import WorkerPool
from diagnosis_harness.kernel.errors import ToolFailure
from diagnosis_harness.kernel.language import Language
from diagnosis_harness.report.document import RunDocument
from diagnosis_harness.report.document_file import document_bytes
from diagnosis_harness.settings import Settings, load_settings
from diagnosis_harness.testing.clock import ManualClock
from diagnosis_harness.testing.ids import CountingIds
from diagnosis_harness.testing.runs import AMPLE, Rig
from diagnosis_harness.toolbox.catalog import build_tools
from diagnosis_harness.tools.evidence import ItemKind
from diagnosis_harness.tools.spec import ArgumentValue, KnowsEntities, Tool, ToolFindings, ToolSpec
from diagnosis_harness.trace.sink import MemorySink

if TYPE_CHECKING:
    from diagnosis_harness.toolbox.ports import Sources

_OTHERS = choose_players(load_settings())(Rig().core)
"""They keep no state of a run, and creating them takes longer than a run."""
Arguments = Mapping[str, ArgumentValue]
Known = dict[tuple[str, tuple[tuple[str, ArgumentValue], ...]], ToolFindings | ToolFailure]


@dataclass(frozen=True, slots=True)
class KnownTool:
    """A tool that remembers its answers."""

    tool: Tool
    known: Known

    @property
    def spec(self) -> ToolSpec:
        """That of the tool."""
        return self.tool.spec

    def entities(self, ctx: RunContext) -> Collection[str]:
        """The entities that the tool can be asked about."""
        return self.tool.entities(ctx) if isinstance(self.tool, KnowsEntities) else ()

    def run(self, ctx: RunContext, arguments: Arguments) -> ToolFindings:
        """The tool's answer, from the cache if there is one."""
        key = (self.tool.spec.name, tuple(sorted(arguments.items())))
        if key not in self.known:
            try:
                self.known[key] = self.tool.run(ctx, arguments)
            except ToolFailure as failure:
                self.known[key] = failure
        found = self.known[key]
        if isinstance(found, ToolFailure):
            raise found
        return found


@dataclass(slots=True)
class House:
    """The product over one world. Runs one question at a time; `close` ends the threads."""

    world: World
    settings: Settings = field(default_factory=lambda: patient(load_settings()))
    workers: WorkerPool = field(default_factory=lambda: WorkerPool(threads_max=2))
    _known: Known = field(default_factory=dict)
    _tools: tuple[Tool, ...] | None = None

    async def run(self, policy: DiagnosisPolicy, language: Language) -> RunDocument:
        """Ask the world's question with this policy, and the embedded judge and repairer."""
        trace = MemorySink()
        core = DiagnosisHarnessCore(clock=ManualClock(), ids=CountingIds(), sink=trace, workers=self.workers)
        players = replace(_OTHERS, policy=policy)
        workplace = Workplace(core, self.workers, self.settings, players, tools_over=self._remember)
        sources = self.world.sources.sources()
        diagnosis = Diagnosis(workplace, trace, sources, self.world.given_onset_s)
        return await diagnosis.run(self.world.question(language), language=language, deadline_s=None)

    def ask(self, tool_name: str, arguments: Arguments) -> ToolFindings:
        """A tool's answer outside of any run."""
        core = DiagnosisHarnessCore(
            clock=ManualClock(), ids=CountingIds(), sink=MemorySink(), workers=self.workers
        )
        ctx = core.start_run(session_id="reference", limits=AMPLE, timeout_s=60.0)
        tool = next(t for t in self._remember(self.world.sources.sources()) if t.spec.name == tool_name)
        return tool.run(ctx, arguments)

    def reference(self) -> Reference:
        """The tools' answers to the question itself."""
        world = self.world
        asked: dict[str, ArgumentValue] = {}
        if world.asked_onset_s is not None:
            asked["onset"] = world.asked_onset_s
        found = self.ask("estimate_onset", asked).items
        used = next((item.onset_s for item in found if item.attributes.get("used")), None)
        estimated = next(
            (item.onset_s for item in found if item.attributes.get("method") == "estimated"), None
        )
        if world.names_victim:
            asked["alert_entity"] = world.victim
        ranked = self.ask("rank_causes", asked).items
        return Reference(
            tuple(item for item in ranked if item.kind is ItemKind.CAUSE_SCORE),
            used if world.asked_onset_s is None else world.asked_onset_s,
            estimated,
        )

    def close(self) -> None:
        """End the threads."""
        self.workers.close()

    def _remember(self, sources: Sources) -> Sequence[Tool]:
        if self._tools is None:
            self._tools = tuple(KnownTool(tool, self._known) for tool in build_tools(sources))
        return self._tools


def patient(settings: Settings) -> Settings:
    """The shipped settings, without limits on an agent's tool calls."""
    progress = settings.progress.model_copy(update={"no_gain": 1_000, "protocol_violations": 1_000})
    return settings.model_copy(update={"progress": progress})


def verifies(document: RunDocument) -> bool:
    """Whether the product verifies a document completely."""
    return verify(document_bytes(document), file="run.json").verified
