"""A run of one process, cancelled in another: its owner ends it within a second."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from tests.kill.stage import Stage, assert_whole, open_stage

from diagnosis_harness.application.callers.caller import LOCAL
from diagnosis_harness.application.runs.cancellation import CancelEffect
from diagnosis_harness.application.runs.row import RunStatus
from diagnosis_harness.harness.termination import CancellationReason, RunState

WITHIN_S = 1.0
CANCELS = 3


@pytest.mark.parametrize("place", ["postgres_url", "sqlite_url"])
def test_a_cancel_reaches_the_process_that_owns_the_run_within_a_second(
    place: str, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    """The quickest of three: a busy machine may hold up a process for longer than that."""

    async def story() -> None:
        settings = {"supervision": {"poll_s": 0.25, "heartbeat_s": 2.0}}
        async with open_stage(request.getfixturevalue(place), tmp_path, **settings) as stage:
            await stage.start_members(1)
            took_s = [await _cancel_active_run(stage) for _ in range(CANCELS)]
            await assert_whole(stage)
            assert min(took_s) <= WITHIN_S, took_s

    asyncio.run(story())


async def _cancel_active_run(stage: Stage) -> float:
    """Cancel a run that would go on for ever; from the request to the end of the run."""
    (run_id,) = await stage.submit("slow")
    await stage.until(lambda: stage.was_reported("executed", run_id))
    report = await stage.service.runs.cancel(LOCAL, run_id)
    assert report.effect is CancelEffect.ASKED

    async def is_closed() -> bool:
        return (await stage.row(run_id)).is_closed

    await stage.until(is_closed)
    row = await stage.row(run_id)
    assert row.ending is not None
    assert row.cancel_request is not None
    assert (row.status, row.ending.state) == (RunStatus.CANCELLED, RunState.CANCELLED)
    assert row.ending.termination.reason is CancellationReason.USER_REQUESTED
    assert isinstance(row.cancel_answer, dict)
    assert row.cancel_answer["changed"] is True
    return row.ending.termination.at_s - row.cancel_request.at_s
