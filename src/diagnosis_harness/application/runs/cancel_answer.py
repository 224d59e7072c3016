"""The word of the process that runs a run on its cancel, for whoever asked from another one."""

from __future__ import annotations

from diagnosis_harness.application.callers.caller import Caller
from diagnosis_harness.application.runs.desk import CancelEffect, CancelReport, Runs, report_of_request
from diagnosis_harness.application.runs.row import RunRow, RunStatus
from diagnosis_harness.harness.waiting import passed
from diagnosis_harness.kernel.clock import Clock

LOOK_S = 0.1


def is_owed(row: RunRow) -> bool:
    """Whether an answer may still come: a run's end may be kept before its owner's word on the cancel."""
    return row.cancel_answer is None and (not row.status.is_final or row.status is RunStatus.CANCELLED)


async def cancelled(
    runs: Runs, caller: Caller, run_id: str, *, clock: Clock, answer_within_s: float
) -> CancelReport:
    """Cancel a run, wherever it is, and wait a little for its owner's answer; the row is as it stands then.

    Raises:
        NotPermitted, RunUnknown, StoreFailure: as `Runs.cancel`.
    """
    report = await runs.cancel(caller, run_id)
    row = report.row
    if report.effect is CancelEffect.ASKED:
        until_s = clock.now_s() + answer_within_s
        while is_owed(row) and clock.now_s() < until_s:
            await passed(clock, LOOK_S)
            row = await runs.row(caller, run_id)
        report = report_of_request(row, was_queued=False)
    row = await runs.row(caller, run_id)
    return CancelReport(row, report.effect, report.answer)
