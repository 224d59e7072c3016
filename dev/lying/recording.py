"""Records runs to lie about: simulated and public incidents, each diagnosed once by the embedded analyst."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from dev.lying.recorded import RecordedRun

from diagnosis_harness.adapters.evidence_stores.memory import MemoryEvidenceStore
from diagnosis_harness.adapters.sources.incident_folder import open_incident_folder
from diagnosis_harness.application.inquiry import resolve_inquiry
from diagnosis_harness.bench.case import Case, Condition, DataSet
from diagnosis_harness.bench.datasets.nezha import Nezha
from diagnosis_harness.bench.datasets.petshop import PetShop
from diagnosis_harness.bench.demo_faults import DemoFaults
from diagnosis_harness.bench.runner import spread
from diagnosis_harness.diagnosis.agent import DiagnosisAgent, DiagnosisTask
from diagnosis_harness.diagnosis.policy import AskTools, GiveDraft, PolicyAnswer, PolicyView, WantedCall
from diagnosis_harness.harness.budget import TokenUsage
from diagnosis_harness.harness.context import RunContext
from diagnosis_harness.harness.core import DiagnosisHarnessCore
from diagnosis_harness.harness.keys import ToolCallKeyFactory
from diagnosis_harness.harness.workers import WorkerPool
from diagnosis_harness.kernel.clock import SystemClock
from diagnosis_harness.kernel.errors import EmptyDraft, ToolFailure
from diagnosis_harness.kernel.ids import RandomIds
from diagnosis_harness.kernel.json_value import JsonValue
from diagnosis_harness.kernel.language import Language
from diagnosis_harness.players.embedded.analyst import EmbeddedAnalyst
from diagnosis_harness.report.sentence import sentence
from diagnosis_harness.simulator.faults import FaultKind
from diagnosis_harness.testing.runs import limits
from diagnosis_harness.toolbox.catalog import build_tools
from diagnosis_harness.tools.access import ScopeAccess
from diagnosis_harness.tools.boundary import ToolBoundary
from diagnosis_harness.tools.spec import ArgumentValue, ToolFindings, ToolSpec
from diagnosis_harness.trace.sink import NullSink

QUESTION = "Why did it start failing?"
PUBLIC = {"petshop": 8, "nezha": 4}
"""How many public incidents of each set are used, if the data are available."""
_CALLER = "local"


class BrokenSource:
    """A tool whose source is down: its calls end in records that no claim may cite."""

    spec = ToolSpec(name="ask_broken_source", description="Asks a source that is down.")

    def run(self, ctx: RunContext, arguments: Mapping[str, ArgumentValue]) -> ToolFindings:
        """Fail."""
        del ctx, arguments
        raise ToolFailure("the source is down")


@dataclass(slots=True)
class ThoroughAnalyst:
    """The embedded analyst, with additional queries before its draft that find nothing or fail.

    Lies need empty and failed records.
    """

    within_s: tuple[float, float] | None
    entities: tuple[str, ...]
    analyst: EmbeddedAnalyst
    looked: bool = False

    async def decide(self, ctx: RunContext, view: PolicyView) -> tuple[PolicyAnswer, TokenUsage]:
        """The analyst's decision; but once, three more queries in place of its draft."""
        answer, usage = await self.analyst.decide(ctx, view)
        if isinstance(answer, GiveDraft) and not self.looked and not view.stop_required:
            self.looked = True
            return AskTools(tuple(self._more()), answer.assessments), usage
        return answer, usage

    def _more(self) -> Iterator[WantedCall]:
        sought: dict[str, JsonValue] = {"text": "certificate expired"}
        if self.within_s is not None:
            sought |= {"start": self.within_s[0], "end": self.within_s[1]}
        for place, entity in enumerate(self.entities, start=1):
            yield WantedCall(f"empty{place}", "search_logs", {**sought, "entity": entity})
        yield WantedCall("failed1", BrokenSource.spec.name, {})


def record_runs(
    seed: int, *, work: Path, data: Path | None, kinds_each: int, public_share: float = 1.0
) -> Iterator[RecordedRun]:
    """Runs on `kinds_each` simulated incidents of every kind, and on public ones where `data` holds them.

    Args:
        seed: chooses the simulated worlds and the public incidents.
        work: an empty folder for the exported incidents.
        public_share: how many of the public incidents; two of each set at least.
    """
    rng = np.random.default_rng([seed, 1])
    workers = WorkerPool(
        threads_max=4
    )  # one for all: an idle thread keeps a reference to the last source it read
    first = int(rng.integers(1_000, 1_000_000))
    worlds = DemoFaults(seeds=kinds_each, first_seed=first)
    sets: list[tuple[DataSet, int]] = [(worlds, kinds_each * len(FaultKind))]
    if data is not None:
        public = (PetShop(data), Nezha(data))
        sets += [(each, max(2, round(PUBLIC[each.name] * public_share))) for each in public]
    for data_set, count in sets:
        ids = data_set.incident_ids()
        turn = int(rng.integers(len(ids)))
        for incident_id in spread((*ids[turn:], *ids[:turn]), count):
            case = data_set.export(incident_id, Condition.AS_PUBLISHED, work)
            run = _record(case, name=f"{data_set.name}/{incident_id}", workers=workers)
            if run is not None:
                yield run


def _record(case: Case, *, name: str, workers: WorkerPool) -> RecordedRun | None:
    """The run; None if the analyst drafted nothing."""
    core = DiagnosisHarnessCore(clock=SystemClock(), ids=RandomIds(), sink=NullSink(), workers=workers)
    sources = open_incident_folder(
        case.folder,
        baseline=case.baseline,
        onset_s=None,
        memory_limit_mb=512,
        progress=lambda _file, _done, _all: None,
    )
    ctx = core.start_run(session_id="recording", limits=limits(run_bytes=8_000_000), timeout_s=300.0)
    boundary = ToolBoundary(
        core,
        tools=(*build_tools(sources), BrokenSource()),
        store=MemoryEvidenceStore(),
        access=ScopeAccess({_CALLER: frozenset({"*"})}),
        keys=ToolCallKeyFactory("evidence"),
    )
    summary = sources.summary.summary(ctx)
    looked = summary.incident
    policy = ThoroughAnalyst(
        within_s=None if looked is None else (looked.start_s, looked.end_s),
        entities=summary.entities[:2],
        analyst=EmbeddedAnalyst(),
    )
    agent = DiagnosisAgent(core, policy=policy, boundary=boundary)
    inquiry = resolve_inquiry(ctx, sources, QUESTION, None)
    try:
        execution = asyncio.run(agent.diagnose(ctx, DiagnosisTask(QUESTION, inquiry, caller=_CALLER)))
    except EmptyDraft:  # nothing was found before the queries brought nothing new
        return None
    core.complete_success(ctx)
    if execution.draft is None:
        return None
    return RecordedRun(
        name=name,
        question=QUESTION,
        run_id=ctx.run_id,
        snapshot=replace(execution.snapshot, stop_reason=None),
        draft=execution.draft,
        tools=tuple(spec.name for spec in boundary.specs),
        summary=summary,
        inquiry=inquiry,
        sentences={
            claim.claim_id: {language: sentence(claim, language) for language in Language}
            for claim in (*execution.draft.claims, *execution.snapshot.facts)
        },
    )
