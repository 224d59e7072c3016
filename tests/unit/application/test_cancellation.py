"""How long an answer to a cancel is waited for."""

from __future__ import annotations

from dataclasses import replace

from tests.support.rows import a_failure, a_request, a_success

from diagnosis_harness.application.runs.cancellation import may_be_answered
from diagnosis_harness.application.runs.row import RunRow, RunStatus
from diagnosis_harness.harness.termination import CancellationReason, RunState
from diagnosis_harness.release.outcome import ReleaseOutcome


def test_an_answer_may_be_answered_until_it_is_there_or_another_end_is() -> None:
    """The end of a cancelled run may be kept before its owner's word; any other end says all."""
    row = RunRow(request=a_request("r1"), status=RunStatus.RUNNING)
    owed = {
        status: may_be_answered(replace(row, status=status))
        for status in (RunStatus.QUEUED, RunStatus.RUNNING)
    }
    assert owed == {RunStatus.QUEUED: True, RunStatus.RUNNING: True}
    answered = replace(row, cancel_answer={"changed": True})
    assert not may_be_answered(answered)
    ending = a_failure(CancellationReason.USER_REQUESTED, RunState.CANCELLED, ReleaseOutcome.CANCELLED)
    assert may_be_answered(replace(row, status=RunStatus.CANCELLED, ending=ending))
    assert not may_be_answered(replace(row, status=RunStatus.SUCCESS, ending=a_success()))
