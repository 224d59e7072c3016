"""One draft through the real release, in a run of its own over recorded records."""

from __future__ import annotations

from dataclasses import Field, dataclass, fields, is_dataclass, replace
from functools import cache
from math import isfinite

from dev.lying.forged import Told
from dev.lying.recorded import RecordedRun
from tests.support.whole_run import diagnose_whole_run

from diagnosis_harness.application.diagnose import DiagnoseUseCase
from diagnosis_harness.application.publish import RunFacts, publish
from diagnosis_harness.diagnosis.agent import DiagnosisAgent, DiagnosisTask
from diagnosis_harness.diagnosis.execution import DiagnosisAgentExecution
from diagnosis_harness.harness.context import RunContext
from diagnosis_harness.harness.core import DiagnosisHarnessCore
from diagnosis_harness.kernel.errors import ContractViolation
from diagnosis_harness.kernel.json_value import JsonValue
from diagnosis_harness.kernel.language import Language
from diagnosis_harness.llm.role import RoleBoundary
from diagnosis_harness.players.embedded.judge import EmbeddedJudge
from diagnosis_harness.players.embedded.repairer import EmbeddedRepairer
from diagnosis_harness.release.outcome import ReleaseOutcome
from diagnosis_harness.release.pipeline import ReleasePipeline
from diagnosis_harness.report.document import RunDocument
from diagnosis_harness.testing.clock import ManualClock
from diagnosis_harness.testing.ids import CountingIds
from diagnosis_harness.testing.runs import AMPLE
from diagnosis_harness.trace.event import TraceName
from diagnosis_harness.trace.sink import MemorySink

_LIMIT_S = 60.0


class AgentWhoSays(DiagnosisAgent):
    """An agent that has finished: it submits the given draft."""

    def __init__(self, execution: DiagnosisAgentExecution) -> None:
        self._execution = execution

    async def diagnose(self, ctx: RunContext, task: DiagnosisTask) -> DiagnosisAgentExecution:
        """The execution."""
        del ctx, task
        return self._execution


@dataclass(frozen=True, slots=True)
class Released:
    """What was released: the outcome, the report as JSON, the trace's texts, and whether it was repaired."""

    outcome: ReleaseOutcome
    report: dict[str, JsonValue]
    repaired: bool
    findings: str = ""
    """The objections of the guards, for investigating a figure."""


async def release_draft(run: RecordedRun, told: Told, language: Language) -> Released:
    """What the real use case releases of a draft."""
    sink = MemorySink()
    clock = ManualClock()
    core = DiagnosisHarnessCore(clock=clock, ids=CountingIds(), sink=sink)
    ctx = core.start_run(session_id="lying", limits=AMPLE, timeout_s=_LIMIT_S, run_id=run.run_id)
    snapshot = replace(run.snapshot, facts=(*run.snapshot.facts, *told.facts))
    agent = AgentWhoSays(DiagnosisAgentExecution(snapshot, draft=told.draft))
    pipeline = ReleasePipeline(core, RoleBoundary(core), EmbeddedRepairer(), EmbeddedJudge())
    use_case = DiagnoseUseCase(core, agent_for=lambda _: agent, pipeline=pipeline)
    end = await diagnose_whole_run(core, ctx, use_case, DiagnosisTask(run.question, run.inquiry))
    facts = RunFacts(
        question=run.question,
        language=language,
        started_s=clock.now_s(),
        limit_s=_LIMIT_S,
        inquiry=run.inquiry,
        tools=run.tools,
        summary=run.summary,
    )
    document = publish(ctx, facts, end, sink.events())
    return Released(
        outcome=document.release.outcome,
        report={**as_report(document), "trace": [line.text for line in document.trace]},
        repaired=bool(sink.events_named(TraceName.EVIDENCE_REPAIR)),
        findings="; ".join(
            str(event.payload)
            for name in (TraceName.EVIDENCE_GUARD_INITIAL, TraceName.SEMANTIC_GUARD_DECISION)
            for event in sink.events_named(name)
        ),
    )


def as_report(document: RunDocument) -> dict[str, JsonValue]:
    """The report of a document as JSON."""
    report = as_values(document.report)
    if not isinstance(report, dict):
        raise ContractViolation("a report is an object")
    return report


def as_values(value: object) -> JsonValue:
    """A report as the plain values of its JSON: what `RunDocument.as_json` writes, of this part alone.

    Writing the whole document and its digest costs more than the release does, thousands of times over.
    """
    if is_dataclass(value) and not isinstance(value, type):
        held = ((each, getattr(value, each.name)) for each in _fields(type(value)))
        return {each.name: as_values(one) for each, one in held}
    if isinstance(value, tuple):
        return [as_values(held) for held in value]
    if isinstance(value, str):
        return str(value)
    if isinstance(value, float) and not isfinite(value):
        raise ContractViolation("JSON has no number for what is not finite")
    if value is None or isinstance(value, bool | int | float):
        return value
    raise ContractViolation(f"{type(value).__name__} is no part of a report")


@cache
def _fields(kind: type) -> tuple[Field[object], ...]:
    return fields(kind)
