"""The release and the report of a large answer, as an ended run does both."""

from __future__ import annotations

from dataclasses import dataclass, field

from tests.support.large_answer import large_answer, large_inquiry

from diagnosis_harness.application.answer_question import AnsweredRun
from diagnosis_harness.application.diagnose import DiagnosisEnd
from diagnosis_harness.application.publish import RunFacts
from diagnosis_harness.diagnosis.answer_size import CLAIMS_MAX, REFS_MAX, WORDING_MAX
from diagnosis_harness.diagnosis.execution import DiagnosisAgentExecution
from diagnosis_harness.harness.context import RunContext
from diagnosis_harness.harness.core import DiagnosisHarnessCore
from diagnosis_harness.kernel.language import Language
from diagnosis_harness.llm.role import RoleBoundary
from diagnosis_harness.release.pipeline import ReleasePipeline
from diagnosis_harness.release.work import do_release_work
from diagnosis_harness.report.document import RunDocument
from diagnosis_harness.testing.clock import ManualClock
from diagnosis_harness.testing.ids import CountingIds
from diagnosis_harness.testing.runs import AMPLE
from diagnosis_harness.testing.scripted_policy import ScriptedJudge, ScriptedRepairer
from diagnosis_harness.toolbox.ports import AlertInfo, SourceSummary

LIMIT_S = 60.0
SUMMARY = SourceSummary(
    name="a test", alert=AlertInfo(), onset_s=None, incident=None, baseline=None, metric_series=0,
    log_lines=0, spans=0, edges=0, changes=0, entities=(), files=(),
)  # fmt: skip


@dataclass
class LargeRelease:
    """One run that has collected: a draft of so many distinct claims, and so many further facts."""

    claims: int
    facts: int
    core: DiagnosisHarnessCore = field(
        default_factory=lambda: DiagnosisHarnessCore(clock=ManualClock(), ids=CountingIds())
    )
    ctx: RunContext = field(init=False)
    execution: DiagnosisAgentExecution = field(init=False)

    def __post_init__(self) -> None:
        own = WORDING_MAX // CLAIMS_MAX
        draft, snapshot = large_answer(claims=self.claims, refs=REFS_MAX, wording=own, facts=self.facts)
        self.inquiry = large_inquiry()
        self.execution = DiagnosisAgentExecution(snapshot, draft)
        self.ctx = self.core.start_run(session_id="s1", run_id="r1", timeout_s=LIMIT_S, limits=AMPLE)

    async def play(self) -> RunDocument:
        """Release, end the run, and build its document with the report."""
        pipeline = ReleasePipeline(
            self.core, RoleBoundary(self.core), ScriptedRepairer(lambda draft: draft), ScriptedJudge()
        )
        result = await pipeline.release(self.ctx, self.execution, inquiry=self.inquiry)
        self.core.complete_success(self.ctx)
        end = DiagnosisEnd(result.outcome, result.fallback, None, self.execution.snapshot, result.content)
        facts = RunFacts("why?", Language.EN, 0.0, LIMIT_S, self.inquiry, ("look",), SUMMARY)
        answered = AnsweredRun(self.ctx, facts, end)
        return await do_release_work(
            self.ctx, self.core, lambda: answered.document(()), claims=len(result.content.claims)
        )
