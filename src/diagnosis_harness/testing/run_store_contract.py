"""What whoever keeps runs must do, as checks that any place of keeping can be run against.

Each check gets two processes that share an empty place, and raises AssertionError where the contract is
broken.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace

from diagnosis_harness.application.intent import IntentType
from diagnosis_harness.application.run_row import CancelWish, RunEnding, RunRow, RunStatus
from diagnosis_harness.application.run_store import RunQuery
from diagnosis_harness.harness.termination import CancellationReason, RunState, RunTermination
from diagnosis_harness.kernel.errors import FailureKind, InvalidInput, StoreFailure
from diagnosis_harness.release.language import Language
from diagnosis_harness.release.outcome import ReleaseOutcome
from diagnosis_harness.testing.evidence import begun_record
from diagnosis_harness.testing.rows import (
    SUBMITTED_S,
    Kept,
    Process,
    a_failure,
    a_fallback,
    a_request,
    a_success,
)
from diagnosis_harness.tools.evidence import InvocationStatus
from diagnosis_harness.tools.invocation import ErrorCode
from diagnosis_harness.trace.event import TraceName

Check = Callable[[Kept], Awaitable[None]]

_WISH = CancelWish(CancellationReason.USER_REQUESTED, SUBMITTED_S + 5)
_LATE = CancelWish(CancellationReason.DEADLINE_EXCEEDED, SUBMITTED_S + 60)


def _expect(*, holds: bool, what: str) -> None:
    if not holds:
        raise AssertionError(what)


async def _row(kept: Kept, run_id: str = "r1") -> RunRow:
    row = await kept.archive.run(run_id)
    if row is None:
        raise AssertionError(f"{run_id} has a row")
    return row


async def _log(kept: Kept, run_id: str = "r1") -> list[TraceName]:
    events = await kept.archive.events(run_id)
    _expect(holds=[event.seq for event in events] == list(range(1, len(events) + 1)), what="seq has no gaps")
    return [event.name for event in events]


async def _refused(work: Awaitable[object], what: str) -> None:
    try:
        await work
    except StoreFailure as failure:
        _expect(holds=failure.kind is FailureKind.REJECTED, what=f"{what}, as REJECTED: {failure}")
        return
    raise AssertionError(what)


async def writes_running_first_and_the_intent_later(kept: Kept) -> None:
    """The row stands RUNNING with session, run and query before anything is known of it; then the intent."""
    ctx = kept.one.open("r1")
    _expect(
        holds=await kept.one.store.begin(ctx, a_request(), owner="one", at_s=SUBMITTED_S + 1),
        what="a new run begins",
    )
    began = RunRow(request=a_request(), status=RunStatus.RUNNING, started_s=SUBMITTED_S + 1, owner="one")
    _expect(holds=await _row(kept) == began, what="the row is RUNNING with all that was asked")
    await kept.one.store.routed(ctx, IntentType.DIAGNOSIS)
    _expect(holds=await _row(kept) == replace(began, intent=IntentType.DIAGNOSIS), what="the intent is kept")


async def lets_one_process_claim_a_run(kept: Kept) -> None:
    """Of two that begin a queued run at once, one may; nobody may later."""
    for number in range(8):
        run_id = f"r{number}"
        submitted = await kept.archive.submit(a_request(run_id))
        _expect(holds=submitted.is_new and submitted.row.status is RunStatus.QUEUED, what="it is queued")
        won = await asyncio.gather(*(_begin(process, run_id) for process in (kept.one, kept.two)))
        _expect(holds=sorted(won) == [False, True], what="one of them begins it")
        owner = (kept.one, kept.two)[won.index(True)].owner
        _expect(holds=(await _row(kept, run_id)).owner == owner, what="and owns it")
        _expect(holds=not await _begin(kept.one, run_id), what="it is begun once in its life")


async def _begin(process: Process, run_id: str) -> bool:
    ctx = process.open(run_id)
    return await process.store.begin(ctx, a_request(run_id), owner=process.owner, at_s=SUBMITTED_S + 1)


async def keeps_every_field_of_an_end(kept: Kept) -> None:
    """Status, outcome and state come back each as it was written, and so does everything else."""
    late = a_failure(CancellationReason.DEADLINE_EXCEEDED, RunState.TIMED_OUT, ReleaseOutcome.FAILED)
    gone = a_failure(CancellationReason.USER_REQUESTED, RunState.CANCELLED, ReleaseOutcome.CANCELLED)
    in_time = RunTermination(RunState.SUCCESS, None, SUBMITTED_S + 9)
    ends: tuple[tuple[RunEnding, RunStatus], ...] = (
        (a_fallback(), RunStatus.SUCCESS),
        (a_success(), RunStatus.SUCCESS),
        (late, RunStatus.FAILED),
        (gone, RunStatus.CANCELLED),
        (replace(a_fallback(), termination=in_time), RunStatus.SUCCESS),
    )
    for number, (ending, status) in enumerate(ends):
        run_id = f"r{number}"
        ctx = await kept.one.begun(run_id)
        _expect(holds=await kept.one.store.finish(ctx, ending), what="the first end is written")
        row = await _row(kept, run_id)
        _expect(holds=row.ending == ending, what=f"the end comes back equal: {row.ending}")
        _expect(holds=row.status is status, what="the status is that of the outcome")
        _expect(holds=not row.is_closed, what="an end closes nothing")


async def lets_the_first_end_stand(kept: Kept) -> None:
    """Of ends that race, in one process and against another that gives the run up, one is written."""
    for number in range(8):
        run_id = f"r{number}"
        ctx = await kept.one.begun(run_id)
        late = a_failure(CancellationReason.USER_REQUESTED, RunState.CANCELLED, ReleaseOutcome.CANCELLED)
        first, second, given = await asyncio.gather(
            kept.one.store.finish(ctx, a_success()),
            kept.one.store.finish(ctx, late),
            kept.care.give_up(run_id, owner="one", at_s=SUBMITTED_S + 20),
        )
        row = await _row(kept, run_id)
        _expect(holds=[first, second].count(True) <= 1, what="one end is written at most")
        ending = a_success() if first else late if second else row.ending
        _expect(holds=row.ending == ending, what="the end that said it was written stands")
        _expect(holds=given or first or second, what="it ended")
        if given:
            names = await _log(kept, run_id)
            _expect(holds=names.count(TraceName.RUN_FINISHED) == 1 and row.is_closed, what="closed once")
        again = await kept.one.store.finish(ctx, a_fallback())
        _expect(holds=not again and await _row(kept, run_id) == row, what="nothing changes it any more")


async def takes_writes_of_the_owner_alone(kept: Kept) -> None:
    """Another process neither routes nor ends a run."""
    await kept.one.begun("r1")
    stranger = kept.two.open("r1")
    await kept.two.store.routed(stranger, IntentType.DIAGNOSIS)
    _expect(holds=not await kept.two.store.finish(stranger, a_success()), what="a stranger ends nothing")
    row = await _row(kept)
    _expect(holds=row.status is RunStatus.RUNNING and row.intent is None, what="the row is as it was")


async def ends_a_queued_run_by_a_wish(kept: Kept) -> None:
    """It never began: CANCELLED, with RUN_FINISHED alone in its log, closed; and it never begins."""
    await kept.archive.submit(a_request("r1"))
    row = await kept.archive.wish_cancel("r1", _WISH)
    ending = None if row is None else row.ending
    if row is None or ending is None or ending.failure is None:
        raise AssertionError("it has ended")
    _expect(holds=row.status is RunStatus.CANCELLED and row.is_closed, what="it is CANCELLED and closed")
    _expect(
        holds=ending.outcome is ReleaseOutcome.CANCELLED and ending.state is RunState.CANCELLED,
        what="outcome and state say so",
    )
    _expect(
        holds=ending.failure.code == "RUN_CANCELLED" and "取消" in ending.failure.message, what="in words"
    )
    _expect(holds=await _log(kept) == [TraceName.RUN_FINISHED], what="it did not start, and it finished")
    _expect(holds=not await _begin(kept.one, "r1"), what="it never begins")
    _expect(holds=await _row(kept) == row, what="and stays as it is")
    await kept.archive.submit(replace(a_request("r2"), language=Language.EN))
    late = await kept.archive.wish_cancel("r2", _LATE)
    _expect(
        holds=late is not None and late.ending is not None and late.ending.state is RunState.TIMED_OUT,
        what="a queued run that was not begun in time is TIMED_OUT",
    )


async def lets_a_claim_or_a_wish_win(kept: Kept) -> None:
    """A wish that races the claim of a queued run ends it or is kept for its owner, never both."""
    for number in range(8):
        run_id = f"r{number}"
        await kept.archive.submit(a_request(run_id))
        began, row = await asyncio.gather(_begin(kept.one, run_id), kept.archive.wish_cancel(run_id, _WISH))
        now = await _row(kept, run_id)
        if began:
            _expect(holds=now.status is RunStatus.RUNNING and now.wish == _WISH, what="the owner has a wish")
        else:
            _expect(holds=now == row and now.is_closed, what="it was cancelled before it began")


async def carries_a_wish_to_the_owner(kept: Kept) -> None:
    """The first wish for a RUNNING run waits for its owner until that has answered."""
    ctx = await kept.one.begun("r1")
    later = CancelWish(CancellationReason.INTERNAL_FAILURE, SUBMITTED_S + 6)
    await kept.archive.wish_cancel("r1", _WISH)
    row = await kept.archive.wish_cancel("r1", later)
    _expect(holds=row is not None and row.wish == _WISH and row.ending is None, what="the first wish stands")
    _expect(holds=await kept.care.wishes("one") == (("r1", _WISH),), what="its owner sees it")
    _expect(holds=await kept.care.wishes("two") == (), what="nobody else does")
    await kept.care.answer_wish("r1", {"stopped": ["t1"], "in_flight": []})
    _expect(holds=await kept.care.wishes("one") == (), what="an answered wish is done")
    answer = (await _row(kept)).cancel_answer
    _expect(holds=answer == {"stopped": ["t1"], "in_flight": []}, what="the answer is kept")
    await kept.one.store.finish(ctx, a_success())
    ended = await _row(kept)
    _expect(holds=await kept.archive.wish_cancel("r1", later) == ended, what="an ended run is left alone")
    _expect(holds=await kept.archive.wish_cancel("nobody", _WISH) is None, what="an unknown run is None")


async def joins_what_is_unfinished(kept: Kept) -> None:
    """An alert group has one unfinished run; the next submission after its end is a new one."""
    pair = await asyncio.gather(
        kept.archive.submit(a_request("r1", fingerprint="f")),
        kept.archive.submit(a_request("r2", fingerprint="f")),
    )
    _expect(holds=sorted(one.is_new for one in pair) == [False, True], what="one of two is new")
    _expect(holds=len({one.row.run_id for one in pair}) == 1, what="both stand for the same run")
    run_id = pair[0].row.run_id
    _expect(
        holds=[row.run_id for row in await kept.archive.of_fingerprint("f")] == [run_id],
        what="the group finds it",
    )
    again = await kept.archive.submit(a_request(run_id))
    _expect(holds=not again.is_new and again.row == pair[0].row, what="the same id is the same run")
    await kept.archive.wish_cancel(run_id, _WISH)
    _expect(holds=await kept.archive.of_fingerprint("f") == (), what="an ended run is not of the group")
    _expect(
        holds=(await kept.archive.submit(a_request("r3", fingerprint="f"))).is_new, what="and a new one may"
    )


async def counts_what_a_caller_has_unfinished(kept: Kept) -> None:
    """QUEUED and RUNNING count, ended ones do not, nor do others'."""
    await kept.archive.submit(a_request("r1"))
    ctx = await kept.one.begun("r2")
    _expect(holds=await kept.archive.unfinished("ops-1") == 2, what="both count")
    await kept.one.store.finish(ctx, a_success())
    _expect(holds=await kept.archive.unfinished("ops-1") == 1, what="an ended one does not")
    _expect(holds=await kept.archive.unfinished("somebody") == 0, what="nor do other people's")


async def writes_a_log_in_order(kept: Kept) -> None:
    """Held until the row stands, told of when written, closed by RUN_FINISHED, and nothing after it."""
    told: list[tuple[str, int]] = []
    kept.one.feed.on_written(lambda run_id, events: told.extend((run_id, event.seq) for event in events))
    ctx = kept.one.open("r1")
    kept.one.tell(ctx, TraceName.RUN_STARTED, note="开始\u0000")
    await kept.one.store.begin(ctx, a_request(), owner="one", at_s=SUBMITTED_S)
    _expect(holds=await kept.archive.events("r1") == () and not told, what="held until it is opened")
    kept.one.log.open(ctx)
    for number in range(40):
        kept.one.tell(ctx, number=number)
    await kept.one.log.flush(ctx)
    _expect(holds=told == [("r1", seq) for seq in range(1, 42)], what="told of, in order, once")
    events = await kept.archive.events("r1")
    _expect(holds=[event.seq for event in events] == list(range(1, 42)), what="written, in order, once")
    _expect(holds=events[0].payload == {"note": "开始\u0000"}, what="payloads come back equal")
    tail = await kept.archive.events("r1", after_seq=39, limit=1)
    _expect(holds=[event.seq for event in tail] == [40], what="read from a place on")
    await kept.one.store.finish(ctx, a_success())
    kept.one.tell(ctx, TraceName.RUN_FINISHED)
    kept.one.tell(ctx, TraceName.LATE_RESULT_REFUSED)
    await kept.one.log.flush(ctx)
    _expect(holds=(await _row(kept)).is_closed, what="RUN_FINISHED closes the run")
    _expect(holds=(await _log(kept))[-1] is TraceName.RUN_FINISHED, what="nothing stands after it")
    kept.one.log.close(ctx)


async def refuses_a_log_that_finishes_before_its_run(kept: Kept) -> None:
    """RUN_FINISHED of a RUNNING row is refused: a closed run has always ended."""
    ctx = await kept.one.begun("r1")
    kept.one.tell(ctx, TraceName.RUN_FINISHED)
    await _refused(kept.one.log.flush(ctx), "the flush says so")
    _expect(holds=await _log(kept) == [TraceName.RUN_STARTED], what="it is not written")
    _expect(holds=not (await _row(kept)).is_closed, what="the row is open")


async def keeps_the_attempts_of_a_run(kept: Kept) -> None:
    """An attempt's event makes its row; other events make none."""
    ctx = await kept.one.begun("r1")
    kept.one.tell(
        ctx, TraceName.ROUTING_ATTEMPT, role="router", attempt=1, failure="TIMEOUT", error="LlmFailure"
    )
    kept.one.tell(ctx)
    kept.one.tell(ctx, TraceName.ROUTING_ATTEMPT, role="router", attempt=2, failure=None, error="")
    await kept.one.log.flush(ctx)
    at_s = kept.clock.now_s()
    first = {
        "seq": 2,
        "at_s": at_s,
        "role": "router",
        "attempt": 1,
        "failure": "TIMEOUT",
        "error": "LlmFailure",
    }
    second = {**first, "seq": 4, "attempt": 2, "failure": None, "error": ""}
    _expect(holds=await kept.archive.attempts("r1") == (first, second), what="both attempts, in order")


async def gives_up_a_run_whole(kept: Kept) -> None:
    """Row, records and log of a lost run end together, once; what its process still sends is refused."""
    ctx = await kept.one.begun("r1")
    for call_id in ("t1", "t2"):
        await kept.one.evidence.begin(ctx, begun_record(call_id))
    _expect(holds=not await kept.care.give_up("r1", owner="two", at_s=SUBMITTED_S), what="not a stranger's")
    given = await asyncio.gather(
        *(kept.care.give_up("r1", owner="one", at_s=SUBMITTED_S + 30) for _ in range(3))
    )
    _expect(holds=sorted(given) == [False, False, True], what="one of them did it")
    row = await _row(kept)
    if row.ending is None or row.ending.failure is None:
        raise AssertionError("it has ended")
    _expect(holds=row.status is RunStatus.FAILED and row.is_closed, what="FAILED and closed")
    _expect(
        holds=(row.ending.outcome, row.ending.state, row.ending.termination.reason)
        == (ReleaseOutcome.FAILED, RunState.FAILED, CancellationReason.INTERNAL_FAILURE),
        what="FAILED by INTERNAL_FAILURE",
    )
    records = await kept.archive.records("r1")
    _expect(
        holds=[one.error_code for one in records] == [ErrorCode.ABANDONED] * 2, what="records are ABANDONED"
    )
    names = [TraceName.RUN_STARTED, TraceName.RUN_ENDED, TraceName.RUN_FINISHED]
    _expect(holds=await _log(kept) == names, what="the log ends after its last event")
    kept.one.tell(ctx)
    await _refused(kept.one.log.flush(ctx), "a process that lost its run writes no event")
    await _refused(kept.one.evidence.begin(ctx, begun_record("t3")), "nor does it begin a record")
    _expect(holds=not await kept.one.store.finish(ctx, a_success()), what="nor an end")
    _expect(holds=await _row(kept) == row and await _log(kept) == names, what="all of it is as it was")


async def gives_up_what_ended_and_was_not_closed(kept: Kept) -> None:
    """The end that stands is kept, and RUN_FINISHED tells of it; what RUN_ENDED told stands in the row."""
    ended = await kept.one.begun("r1")
    await kept.one.store.finish(ended, a_fallback())
    told = await kept.one.begun("r2")
    kept.one.core.cancel(told, CancellationReason.BUDGET_EXHAUSTED, "llm_calls")
    await kept.one.log.flush(told)
    for run_id in ("r1", "r2"):
        _expect(
            holds=await kept.care.give_up(run_id, owner="one", at_s=SUBMITTED_S + 30), what="it is closed"
        )
        names = await _log(kept, run_id)
        _expect(holds=names[1:] == [TraceName.RUN_ENDED, TraceName.RUN_FINISHED], what="each event once")
    row = await _row(kept, "r1")
    _expect(holds=row.ending == a_fallback() and row.is_closed, what="the first end stands")
    finished = (await kept.archive.events("r1"))[-1].payload
    told_end = [finished[name] for name in ("outcome", "state", "reason", "ended_at", "total_tokens")]
    stands = ["FALLBACK", "BUDGET_EXHAUSTED", "BUDGET_EXHAUSTED", "2023-11-14T22:13:29.250Z", 8]
    _expect(holds=told_end == stands, what=f"and RUN_FINISHED tells of it: {told_end}")
    second = (await _row(kept, "r2")).ending
    _expect(
        holds=second is not None
        and (second.outcome, second.state) == (ReleaseOutcome.FAILED, RunState.BUDGET_EXHAUSTED),
        what="a run has one termination, also across its process's death",
    )


async def knows_which_processes_are_dead(kept: Kept) -> None:
    """Dead is who has work and has not beaten: late, never, or gone; whoever closed all has no work."""
    now_s = SUBMITTED_S + 100
    one = await kept.one.begun("r1")
    await kept.two.begun("r2")
    await kept.care.beat("one", at_s=now_s)
    _expect(holds=await kept.care.dead(beat_before_s=now_s) == ("two",), what="who never beat is dead")
    await kept.care.beat("two", at_s=now_s - 1)
    _expect(holds=await kept.care.dead(beat_before_s=now_s) == ("two",), what="who beat too early is dead")
    await kept.care.beat("two", at_s=now_s)
    _expect(holds=await kept.care.dead(beat_before_s=now_s) == (), what="who beats lives")
    await kept.care.left("two")
    _expect(holds=await kept.care.dead(beat_before_s=now_s) == ("two",), what="who left is dead")
    _expect(holds=await kept.care.running("two") == ("r2",), what="and its run is known")
    await kept.one.store.finish(one, a_success())
    _expect(holds=await kept.care.running("one") == ("r1",), what="an ended run that is open is work")
    kept.one.tell(one, TraceName.RUN_FINISHED)
    await kept.one.log.flush(one)
    _expect(holds=await kept.care.running("one") == (), what="a closed one is not")
    await kept.care.left("one")
    _expect(holds=await kept.care.dead(beat_before_s=now_s) == ("two",), what="who has no work is not missed")


async def pages_through_runs(kept: Kept) -> None:
    """The latest first, each once, also where several were submitted at one instant; filters narrow it."""
    times = (0.0, 1.0, 1.0, 1.0, 2.5, 2.5, 3.0)
    for number, after_s in enumerate(times):
        request = a_request(f"r{number}", submitted_s=SUBMITTED_S + after_s)
        await kept.archive.submit(replace(request, session_id=f"s{number % 2}"))
    seen: list[str] = []
    mark: str | None = None
    for _ in times:
        page = await kept.archive.runs(RunQuery(before=mark, limit=2))
        seen.extend(row.run_id for row in page.rows)
        mark = page.next
        if mark is None:
            break
    _expect(holds=seen == ["r6", "r5", "r4", "r3", "r2", "r1", "r0"], what=f"each once, in order: {seen}")
    for query, ids in (
        (RunQuery(session_id="s1"), ["r5", "r3", "r1"]),
        (RunQuery(asked_by="nobody"), []),
        (RunQuery(status=RunStatus.RUNNING), []),
        (RunQuery(submitted_from_s=SUBMITTED_S + 2.5), ["r6", "r5", "r4"]),
        (RunQuery(submitted_before_s=SUBMITTED_S + 1.0), ["r0"]),
        (RunQuery(outcome=ReleaseOutcome.SUCCESS), []),
        (RunQuery(intent=IntentType.DIAGNOSIS), []),
    ):
        rows = (await kept.archive.runs(query)).rows
        _expect(holds=[row.run_id for row in rows] == ids, what=f"{query} finds {ids}")
    waiting = await kept.care.waiting(submitted_before_s=SUBMITTED_S + 2.5, limit=3)
    _expect(holds=[row.run_id for row in waiting] == ["r0", "r1", "r2"], what="the oldest wait first")
    for bad in ("", "x", "AAAA", "bmFuIHIx", "MS4wIHIx=", "结"):
        try:
            await kept.archive.runs(RunQuery(before=bad))
        except InvalidInput:
            continue
        raise AssertionError(f"{bad!r} is no mark of a page")


async def knows_nothing_of_what_is_not_there(kept: Kept) -> None:
    """An unknown run has no row, events, records or attempts; none of it is an error."""
    _expect(holds=await kept.archive.run("nobody") is None, what="no row")
    _expect(holds=await kept.archive.events("nobody") == (), what="no events")
    _expect(holds=await kept.archive.records("nobody") == (), what="no records")
    _expect(holds=await kept.archive.attempts("nobody") == (), what="no attempts")
    _expect(holds=not await kept.care.give_up("nobody", owner="one", at_s=0.0), what="nothing to give up")
    _expect(holds=await kept.care.dead(beat_before_s=1e12) == (), what="nobody is dead")


async def lists_the_records_of_a_run(kept: Kept) -> None:
    """The archive reads what the evidence store of any process wrote."""
    ctx = await kept.one.begun("r1")
    for call_id in ("t2", "t1"):
        await kept.one.evidence.begin(ctx, begun_record(call_id))
    records = await kept.archive.records("r1")
    _expect(holds=[one.tool_call_id for one in records] == ["t2", "t1"], what="in the order of begins")
    _expect(holds=records[0].invocation is InvocationStatus.PROJECTING, what="as they stand")


CHECKS: tuple[Check, ...] = (
    writes_running_first_and_the_intent_later,
    lets_one_process_claim_a_run,
    keeps_every_field_of_an_end,
    lets_the_first_end_stand,
    takes_writes_of_the_owner_alone,
    ends_a_queued_run_by_a_wish,
    lets_a_claim_or_a_wish_win,
    carries_a_wish_to_the_owner,
    joins_what_is_unfinished,
    counts_what_a_caller_has_unfinished,
    writes_a_log_in_order,
    refuses_a_log_that_finishes_before_its_run,
    keeps_the_attempts_of_a_run,
    gives_up_a_run_whole,
    gives_up_what_ended_and_was_not_closed,
    knows_which_processes_are_dead,
    pages_through_runs,
    knows_nothing_of_what_is_not_there,
    lists_the_records_of_a_run,
)
