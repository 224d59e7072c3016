"""What a run store must know about the sources of runs; part of `run_store_contract`."""

from __future__ import annotations

import asyncio
from dataclasses import replace

from tests.support.expecting import expect, log_of, row_of
from tests.support.rows import SUBMITTED_S, Kept, a_request

from diagnosis_harness.application.runs.row import RunStatus
from diagnosis_harness.application.runs.sources import SourceBacklog, SourceStamp
from diagnosis_harness.harness.termination import RunState
from diagnosis_harness.trace.event import TraceName

_BANK = SourceStamp("sha256:bank", "sha256:monday")


async def counts_what_is_queued_source_by_source(kept: Kept) -> None:
    """By name and identity, none and unknown included; what runs or has ended does not count."""
    later = replace(_BANK, content="sha256:tuesday")
    asked = (("shop", _BANK), ("bank", _BANK), ("bank", later), ("bank", None), (None, None))
    for number, (source, stamp) in enumerate(asked):
        request = a_request(f"r{number}", submitted_s=SUBMITTED_S + number)
        await kept.archive.submit(replace(request, source=source, stamp=stamp))
    await kept.one.begin_run("r9")
    counted = await kept.recovery.backlog()
    shop, bank = SourceBacklog("shop", "sha256:bank", 1), SourceBacklog("bank", "sha256:bank", 2)
    old, none = SourceBacklog("bank", None, 1), SourceBacklog(None, None, 1)
    expect(holds=set(counted) == {shop, bank, old, none}, what=f"each source once: {counted}")
    for without, ids in (
        ((), ["r0", "r1", "r2", "r3", "r4"]),
        ((bank,), ["r0", "r3", "r4"]),
        ((old, none), ["r0", "r1", "r2"]),
        ((shop, bank, old, none), []),
    ):
        rows = await kept.recovery.waiting(submitted_before_s=SUBMITTED_S + 9, without=without)
        expect(holds=[row.run_id for row in rows] == ids, what=f"without {without}: {ids}")
    (first,) = await kept.recovery.waiting(submitted_before_s=SUBMITTED_S + 9, limit=1)
    expect(holds=(first.source, first.identity) == ("shop", "sha256:bank"), what="with what it looks into")


async def finds_what_should_have_begun(kept: Kept) -> None:
    """Exactly from that instant on, the oldest first; what may wait for ever is not among it."""
    for number, start_by_s in enumerate((SUBMITTED_S + 60, None, SUBMITTED_S + 30)):
        request = a_request(f"r{number}", submitted_s=SUBMITTED_S + number)
        await kept.archive.submit(replace(request, start_by_s=start_by_s))
    for at_s, ids in ((29.9, []), (30, ["r2"]), (60, ["r0", "r2"])):
        rows = await kept.recovery.overdue(at_s=SUBMITTED_S + at_s)
        expect(holds=[row.run_id for row in rows] == ids, what=f"{ids} at {at_s}")


async def ends_what_did_not_begin_with_its_reason(kept: Kept) -> None:
    """TIMED_OUT if there was no room, SOURCE_NOT_SERVED if no process had its source; closed either way."""
    for is_served, state, code in (
        (True, RunState.TIMED_OUT, "DEADLINE_EXCEEDED"),
        (False, RunState.FAILED, "SOURCE_NOT_SERVED"),
    ):
        run_id = code.lower()
        await kept.archive.submit(a_request(run_id))
        ended = await kept.archive.expire(run_id, at_s=SUBMITTED_S + 60, is_served=is_served)
        row = await row_of(kept, run_id)
        if row.ending is None or row.ending.failure is None:
            raise AssertionError("it has ended")
        expect(holds=ended and row.status is RunStatus.FAILED and row.is_closed, what="ended and closed")
        expect(holds=(row.ending.state, row.ending.failure.code) == (state, code), what=f"{state}, {code}")
        expect(holds=row.started_s is None and row.cancel_request is None, what="it never began, unasked")
        expect(holds=await log_of(kept, run_id) == [TraceName.RUN_FINISHED], what="its log says so")
        again = await kept.archive.expire(run_id, at_s=SUBMITTED_S + 61, is_served=not is_served)
        expect(holds=not again and await row_of(kept, run_id) == row, what="the first end stands")
    expect(holds=not await kept.archive.expire("nobody", at_s=0.0, is_served=True), what="an unknown one")


async def lets_a_claim_or_an_expiry_win(kept: Kept) -> None:
    """A run that is claimed at the moment at which it expires begins and is left alone, or never begins."""
    for number in range(8):
        run_id = f"r{number}"
        await kept.archive.submit(a_request(run_id))
        ctx = kept.one.open(run_id)
        began, expired = await asyncio.gather(
            kept.one.store.begin(ctx, a_request(run_id), owner="one", at_s=SUBMITTED_S + 60),
            kept.archive.expire(run_id, at_s=SUBMITTED_S + 60, is_served=False),
        )
        row = await row_of(kept, run_id)
        expect(holds=began is not expired, what="one of them")
        expect(holds=row.status is (RunStatus.RUNNING if began else RunStatus.FAILED), what="and it stands")
        expect(holds=row.cancel_request is None, what="a run that began is not to be cancelled")


async def tells_which_runs_processes_take(kept: Kept) -> None:
    """The last statement of each process; one that made none differs from one that takes no runs."""
    await kept.recovery.record_heartbeat("one", at_s=1.0, lanes={"source-b", "source-a"})
    await kept.recovery.record_heartbeat("two", at_s=1.0, lanes=())
    await kept.recovery.record_heartbeat("old", at_s=1.0)
    beats = await kept.recovery.heartbeats()
    lanes = {owner: beat.lanes for owner, beat in beats.items()}
    expected = {"one": frozenset({"source-a", "source-b"}), "two": frozenset(), "old": None}
    expect(holds=lanes == expected, what=f"what each takes: {lanes}")
    await kept.recovery.record_heartbeat("one", at_s=2.0, lanes=("source-b",))
    expect(
        holds=(await kept.recovery.heartbeats())["one"].lanes == frozenset({"source-b"}),
        what="the last word stands",
    )
