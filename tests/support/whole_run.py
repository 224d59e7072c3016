"""A diagnosis with its start and its end, as the entrances run it around the use case."""

from __future__ import annotations

from diagnosis_harness.application.diagnose import DiagnoseUseCase, DiagnosisEnd
from diagnosis_harness.application.runs.events import emit_run_finished, emit_start_and_end
from diagnosis_harness.application.status import ChatApplicationStatus, emit_status
from diagnosis_harness.diagnosis.agent import DiagnosisTask
from diagnosis_harness.harness.context import RunContext
from diagnosis_harness.harness.core import DiagnosisHarnessCore


async def diagnose_whole_run(
    core: DiagnosisHarnessCore, ctx: RunContext, use_case: DiagnoseUseCase, task: DiagnosisTask
) -> DiagnosisEnd:
    """Diagnose between RUN_STARTED and RUN_FINISHED; the run has ended when this returns or raises."""
    with emit_start_and_end(core, ctx, task.question):
        emit_status(core, ctx, ChatApplicationStatus.DIAGNOSIS_RUNNING)
        end = await use_case.diagnose(ctx, task)
        emit_run_finished(core, ctx, end.outcome)
        return end
