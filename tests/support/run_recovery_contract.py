"""What a run store must do for runs whose process has died; part of `run_store_contract`."""

from __future__ import annotations

import asyncio

from tests.support.expecting import expect, expect_refused, log_of, row_of
from tests.support.rows import (
    SUBMITTED_S,
    Kept,
    a_fallback,
    a_success,
)

from diagnosis_harness.application.runs.row import RunStatus
from diagnosis_harness.application.runs.store import Heartbeat
from diagnosis_harness.harness.termination import CancellationReason, RunState
from diagnosis_harness.release.outcome import ReleaseOutcome
from diagnosis_harness.testing.evidence import projecting_record
from diagnosis_harness.tools.invocation import ErrorCode
from diagnosis_harness.trace.event import TraceName


async def gives_up_a_run_whole(kept: Kept) -> None:
    """Row, records and log of a lost run end together, once; what its process still sends is refused."""
    ctx = await kept.one.begin_run("r1")
    for call_id in ("t1", "t2"):
        await kept.one.evidence.begin(ctx, projecting_record(call_id))
    expect(
        holds=not await kept.recovery.abandon("r1", owner="two", at_s=SUBMITTED_S), what="not a stranger's"
    )
    given = await asyncio.gather(
        *(kept.recovery.abandon("r1", owner="one", at_s=SUBMITTED_S + 30) for _ in range(3))
    )
    expect(holds=sorted(given) == [False, False, True], what="one of them did it")
    row = await row_of(kept)
    if row.ending is None or row.ending.failure is None:
        raise AssertionError("it has ended")
    expect(holds=row.status is RunStatus.FAILED and row.is_closed, what="FAILED and closed")
    expect(
        holds=(row.ending.outcome, row.ending.state, row.ending.termination.reason)
        == (ReleaseOutcome.FAILED, RunState.FAILED, CancellationReason.INTERNAL_FAILURE),
        what="FAILED by INTERNAL_FAILURE",
    )
    records = await kept.archive.records("r1")
    expect(
        holds=[one.error_code for one in records] == [ErrorCode.ABANDONED] * 2, what="records are ABANDONED"
    )
    names = [TraceName.RUN_STARTED, TraceName.RUN_ENDED, TraceName.RUN_FINISHED]
    expect(holds=await log_of(kept) == names, what="the log ends after its last event")
    kept.one.tell(ctx)
    await expect_refused(kept.one.log.flush(ctx), "a process that lost its run writes no event")
    await expect_refused(kept.one.evidence.begin(ctx, projecting_record("t3")), "nor does it begin a record")
    expect(holds=not await kept.one.store.finish(ctx, a_success()), what="nor an end")
    expect(holds=await row_of(kept) == row and await log_of(kept) == names, what="all of it is as it was")


async def gives_up_what_ended_and_was_not_closed(kept: Kept) -> None:
    """The first end is kept; RUN_FINISHED reports it, and the row has the termination of RUN_ENDED."""
    ended = await kept.one.begin_run("r1")
    await kept.one.store.finish(ended, a_fallback())
    begun = await kept.one.begin_run("r2")
    kept.one.core.cancel(begun, CancellationReason.BUDGET_EXHAUSTED, "llm_calls")
    await kept.one.log.flush(begun)
    for run_id in ("r1", "r2"):
        expect(
            holds=await kept.recovery.abandon(run_id, owner="one", at_s=SUBMITTED_S + 30), what="it is closed"
        )
        names = await log_of(kept, run_id)
        expect(holds=names[1:] == [TraceName.RUN_ENDED, TraceName.RUN_FINISHED], what="each event once")
    row = await row_of(kept, "r1")
    expect(holds=row.ending == a_fallback() and row.is_closed, what="the first end stands")
    finished = (await kept.archive.events("r1"))[-1].payload
    told_end = [finished[name] for name in ("outcome", "state", "reason", "ended_at", "total_tokens")]
    stands = ["FALLBACK", "BUDGET_EXHAUSTED", "BUDGET_EXHAUSTED", "2023-11-14T22:13:29.250Z", 8]
    expect(holds=told_end == stands, what=f"and RUN_FINISHED tells of it: {told_end}")
    second = (await row_of(kept, "r2")).ending
    expect(
        holds=second is not None
        and (second.outcome, second.state) == (ReleaseOutcome.FAILED, RunState.BUDGET_EXHAUSTED),
        what="a run has one termination, also across its process's death",
    )


async def tells_what_processes_said_and_who_has_work(kept: Kept) -> None:
    """The last heartbeat of each, None without one; a process that has closed all its runs has no work."""
    one = await kept.one.begin_run("r1")
    await kept.two.begin_run("r2")
    await kept.recovery.record_heartbeat("one", at_s=7.0)
    expect(
        holds=await kept.recovery.heartbeats()
        == {"one": Heartbeat(7.0, has_work=True), "two": Heartbeat(None, has_work=True)},
        what="who never beat and has work is told of",
    )
    for value in (9.0, 8.0):
        await kept.recovery.record_heartbeat("two", at_s=value)
    expect(
        holds=(await kept.recovery.heartbeats())["two"] == Heartbeat(8.0, has_work=True),
        what="the last beat stands",
    )
    await kept.recovery.sign_off("two")
    expect(
        holds=(await kept.recovery.heartbeats())["two"] == Heartbeat(None, has_work=True),
        what="who left has no beat",
    )
    expect(holds=await kept.recovery.running("two") == ("r2",), what="and its run is known")
    await kept.one.store.finish(one, a_success())
    expect(holds=await kept.recovery.running("one") == ("r1",), what="an ended run that is open is work")
    await kept.recovery.forget("one", value=7.0)
    expect(
        holds=(await kept.recovery.heartbeats())["one"] == Heartbeat(7.0, has_work=True),
        what="who has work is not forgotten",
    )
    kept.one.tell(one, TraceName.RUN_FINISHED)
    await kept.one.log.flush(one)
    expect(holds=await kept.recovery.running("one") == (), what="a closed one is not")
    await kept.recovery.forget("one", value=6.0)
    expect(
        holds=(await kept.recovery.heartbeats())["one"] == Heartbeat(7.0, has_work=False),
        what="nor who has beaten since",
    )
    await kept.recovery.forget("one", value=7.0)
    expect(
        holds=list(await kept.recovery.heartbeats()) == ["two"], what="who stands still and has no work is"
    )
