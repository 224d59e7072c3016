"""The contract of every run store, as checks that any implementation can be run against.

Each check gets two processes that share an empty store, and raises AssertionError where it is broken.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace

from tests.support.alert_inbox_contract import ALERT_CHECKS
from tests.support.expecting import expect, expect_refused, log_of, row_of
from tests.support.rows import (
    SUBMITTED_S,
    Kept,
    Process,
    a_failure,
    a_fallback,
    a_request,
    a_success,
)
from tests.support.run_recovery_contract import (
    gives_up_a_run_whole,
    gives_up_what_ended_and_was_not_closed,
    tells_what_processes_said_and_who_has_work,
)
from tests.support.run_sources_contract import (
    counts_what_is_queued_source_by_source,
    ends_what_did_not_begin_with_its_reason,
    finds_what_should_have_begun,
    lets_a_claim_or_an_expiry_win,
    tells_which_runs_processes_take,
)

from diagnosis_harness.application.intent import IntentType
from diagnosis_harness.application.runs.row import CancelRequest, RunEnding, RunRow, RunStatus
from diagnosis_harness.application.runs.store import RunQuery
from diagnosis_harness.harness.termination import CancellationReason, RunState, RunTermination
from diagnosis_harness.kernel.errors import InvalidInput, TooManyRuns
from diagnosis_harness.kernel.language import Language
from diagnosis_harness.release.outcome import ReleaseOutcome
from diagnosis_harness.testing.evidence import projecting_record
from diagnosis_harness.tools.evidence import InvocationStatus
from diagnosis_harness.trace.event import TraceName

Check = Callable[[Kept], Awaitable[None]]

_CANCEL = CancelRequest(CancellationReason.USER_REQUESTED, SUBMITTED_S + 5)
_LATE = CancelRequest(CancellationReason.DEADLINE_EXCEEDED, SUBMITTED_S + 60)


async def writes_running_first_and_the_intent_later(kept: Kept) -> None:
    """The row is RUNNING with session, run and query before anything else; then it gets the intent."""
    ctx = kept.one.open("r1")
    expect(
        holds=await kept.one.store.begin(ctx, a_request(), owner="one", at_s=SUBMITTED_S + 1),
        what="a new run begins",
    )
    began = RunRow(request=a_request(), status=RunStatus.RUNNING, started_s=SUBMITTED_S + 1, owner="one")
    expect(holds=await row_of(kept) == began, what="the row is RUNNING with all that was asked")
    await kept.one.store.record_intent(ctx, IntentType.DIAGNOSIS)
    expect(holds=await row_of(kept) == replace(began, intent=IntentType.DIAGNOSIS), what="the intent is kept")


async def lets_one_process_claim_a_run(kept: Kept) -> None:
    """If two processes begin a queued run at once, one succeeds; no later attempt does."""
    for number in range(8):
        run_id = f"r{number}"
        submitted = await kept.archive.submit(a_request(run_id))
        expect(holds=submitted.is_new and submitted.row.status is RunStatus.QUEUED, what="it is queued")
        won = await asyncio.gather(*(_begin(process, run_id) for process in (kept.one, kept.two)))
        expect(holds=sorted(won) == [False, True], what="one of them begins it")
        owner = (kept.one, kept.two)[won.index(True)].owner
        expect(holds=(await row_of(kept, run_id)).owner == owner, what="and owns it")
        expect(holds=not await _begin(kept.one, run_id), what="it is begun once in its life")


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
        ctx = await kept.one.begin_run(run_id)
        expect(holds=await kept.one.store.finish(ctx, ending), what="the first end is written")
        row = await row_of(kept, run_id)
        expect(holds=row.ending == ending, what=f"the end comes back equal: {row.ending}")
        expect(holds=row.status is status, what="the status is that of the outcome")
        expect(holds=not row.is_closed, what="an end closes nothing")


async def lets_the_first_end_stand(kept: Kept) -> None:
    """Of ends that race, in one process and against another that gives the run up, one is written."""
    for number in range(8):
        run_id = f"r{number}"
        ctx = await kept.one.begin_run(run_id)
        late = a_failure(CancellationReason.USER_REQUESTED, RunState.CANCELLED, ReleaseOutcome.CANCELLED)
        first, second, given = await asyncio.gather(
            kept.one.store.finish(ctx, a_success()),
            kept.one.store.finish(ctx, late),
            kept.recovery.abandon(run_id, owner="one", at_s=SUBMITTED_S + 20),
        )
        row = await row_of(kept, run_id)
        expect(holds=[first, second].count(True) <= 1, what="one end is written at most")
        ending = a_success() if first else late if second else row.ending
        expect(holds=row.ending == ending, what="the end that said it was written stands")
        expect(holds=given or first or second, what="it ended")
        if given:
            names = await log_of(kept, run_id)
            expect(holds=names.count(TraceName.RUN_FINISHED) == 1 and row.is_closed, what="closed once")
        again = await kept.one.store.finish(ctx, a_fallback())
        expect(holds=not again and await row_of(kept, run_id) == row, what="nothing changes it any more")


async def takes_writes_of_the_owner_alone(kept: Kept) -> None:
    """Another process neither routes nor ends a run."""
    await kept.one.begin_run("r1")
    stranger = kept.two.open("r1")
    await expect_refused(
        kept.two.store.record_intent(stranger, IntentType.DIAGNOSIS), "a stranger routes nothing"
    )
    expect(holds=not await kept.two.store.finish(stranger, a_success()), what="a stranger ends nothing")
    row = await row_of(kept)
    expect(holds=row.status is RunStatus.RUNNING and row.intent is None, what="the row is as it was")


async def cancels_a_queued_run_on_request(kept: Kept) -> None:
    """It never began: CANCELLED, with RUN_FINISHED alone in its log, closed; and it never begins."""
    await kept.archive.submit(a_request("r1"))
    row = await kept.archive.request_cancel("r1", _CANCEL)
    ending = None if row is None else row.ending
    if row is None or ending is None or ending.failure is None:
        raise AssertionError("it has ended")
    expect(holds=row.status is RunStatus.CANCELLED and row.is_closed, what="it is CANCELLED and closed")
    expect(
        holds=ending.outcome is ReleaseOutcome.CANCELLED and ending.state is RunState.CANCELLED,
        what="outcome and state say so",
    )
    expect(holds=ending.failure.code == "RUN_CANCELLED" and "取消" in ending.failure.message, what="in words")
    expect(holds=await log_of(kept) == [TraceName.RUN_FINISHED], what="it did not start, and it finished")
    expect(holds=not await _begin(kept.one, "r1"), what="it never begins")
    expect(holds=await row_of(kept) == row, what="and stays as it is")
    await kept.archive.submit(replace(a_request("r2"), language=Language.EN))
    late = await kept.archive.request_cancel("r2", _LATE)
    expect(
        holds=late is not None and late.ending is not None and late.ending.state is RunState.TIMED_OUT,
        what="a queued run that was not begun in time is TIMED_OUT",
    )


async def lets_either_a_claim_or_a_cancellation_win(kept: Kept) -> None:
    """A request that races the claim of a queued run ends it or waits for its owner, never both."""
    for number in range(8):
        run_id = f"r{number}"
        await kept.archive.submit(a_request(run_id))
        began, row = await asyncio.gather(
            _begin(kept.one, run_id), kept.archive.request_cancel(run_id, _CANCEL)
        )
        now = await row_of(kept, run_id)
        if began:
            expect(
                holds=now.status is RunStatus.RUNNING and now.cancel_request == _CANCEL,
                what="the owner has a request",
            )
        else:
            expect(holds=now == row and now.is_closed, what="it was cancelled before it began")


async def passes_a_cancellation_request_to_the_owner(kept: Kept) -> None:
    """The first request to cancel a RUNNING run waits until its owner has answered."""
    ctx = await kept.one.begin_run("r1")
    later = CancelRequest(CancellationReason.INTERNAL_FAILURE, SUBMITTED_S + 6)
    await kept.archive.request_cancel("r1", _CANCEL)
    row = await kept.archive.request_cancel("r1", later)
    expect(
        holds=row is not None and row.cancel_request == _CANCEL and row.ending is None,
        what="the first request stands",
    )
    expect(holds=await kept.recovery.cancel_requests("one") == (("r1", _CANCEL),), what="its owner sees it")
    expect(holds=await kept.recovery.cancel_requests("two") == (), what="nobody else does")
    await kept.recovery.answer_cancel_request("r1", {"stopped": ["t1"], "in_flight": []})
    expect(holds=await kept.recovery.cancel_requests("one") == (), what="an answered request is done")
    answer = (await row_of(kept)).cancel_answer
    expect(holds=answer == {"stopped": ["t1"], "in_flight": []}, what="the answer is kept")
    await kept.one.store.finish(ctx, a_success())
    ended = await row_of(kept)
    expect(holds=await kept.archive.request_cancel("r1", later) == ended, what="an ended run is left alone")
    expect(holds=await kept.archive.request_cancel("nobody", _CANCEL) is None, what="an unknown run is None")


async def joins_what_is_unfinished(kept: Kept) -> None:
    """An alert group has one unfinished run; the next submission after its end is a new one."""
    pair = await asyncio.gather(
        kept.archive.submit(a_request("r1", fingerprint="f")),
        kept.archive.submit(a_request("r2", fingerprint="f")),
    )
    expect(holds=sorted(one.is_new for one in pair) == [False, True], what="one of two is new")
    expect(holds=len({one.row.run_id for one in pair}) == 1, what="both stand for the same run")
    run_id = pair[0].row.run_id
    expect(
        holds=[row.run_id for row in await kept.archive.of_fingerprint("f")] == [run_id],
        what="the group finds it",
    )
    again = await kept.archive.submit(a_request(run_id))
    expect(holds=not again.is_new and again.row == pair[0].row, what="the same id is the same run")
    await kept.archive.request_cancel(run_id, _CANCEL)
    expect(holds=await kept.archive.of_fingerprint("f") == (), what="an ended run is not of the group")
    expect(
        holds=(await kept.archive.submit(a_request("r3", fingerprint="f"))).is_new, what="and a new one may"
    )


async def counts_what_a_caller_has_unfinished(kept: Kept) -> None:
    """QUEUED and RUNNING count, ended ones do not, nor do others'."""
    await kept.archive.submit(a_request("r1"))
    ctx = await kept.one.begin_run("r2")
    expect(holds=await kept.archive.count_unfinished("ops-1") == 2, what="both count")
    await kept.one.store.finish(ctx, a_success())
    expect(holds=await kept.archive.count_unfinished("ops-1") == 1, what="an ended one does not")
    expect(holds=await kept.archive.count_unfinished("somebody") == 0, what="nor do other people's")


async def lets_a_caller_have_so_many_and_no_more(kept: Kept) -> None:
    """Of many that are put in at once, queued or begun, in either process: the rest leaves nothing behind."""

    async def can_queue(number: int) -> bool:
        return (await kept.archive.submit(replace(a_request(f"q{number}"), unfinished_max=3))).is_new

    async def can_begin(process: Process, number: int) -> bool:
        request = replace(a_request(f"b{number}"), unfinished_max=3)
        return await process.store.begin(
            process.open(request.run_id), request, owner=process.owner, at_s=SUBMITTED_S
        )

    tries = [can_queue(n) for n in range(6)]
    tries += [can_begin(kept.one, number) for number in range(6)]
    tries += [can_begin(kept.two, number) for number in range(6, 12)]
    came = await asyncio.gather(*tries, return_exceptions=True)
    expect(holds=sorted(map(str, came)).count("True") == 3, what=f"three of them: {came}")
    refused = [each for each in came if isinstance(each, TooManyRuns)]
    expect(holds=len(refused) == len(came) - 3, what="and the others are told why")
    expect(holds=await kept.archive.count_unfinished("ops-1") == 3, what="and no row stands for them")


async def writes_a_log_in_order(kept: Kept) -> None:
    """Events wait for the row, are reported once written, and end with RUN_FINISHED."""
    reported: list[tuple[str, int]] = []
    kept.one.feed.on_written(lambda run_id, events: reported.extend((run_id, event.seq) for event in events))
    ctx = kept.one.open("r1")
    kept.one.tell(ctx, TraceName.RUN_STARTED, note="开始\u0000")
    await kept.one.store.begin(ctx, a_request(), owner="one", at_s=SUBMITTED_S)
    expect(holds=await kept.archive.events("r1") == () and not reported, what="held until it is opened")
    kept.one.log.open(ctx)
    for number in range(40):
        kept.one.tell(ctx, number=number)
    await kept.one.log.flush(ctx)
    expect(holds=reported == [("r1", seq) for seq in range(1, 42)], what="told of, in order, once")
    events = await kept.archive.events("r1")
    expect(holds=[event.seq for event in events] == list(range(1, 42)), what="written, in order, once")
    expect(holds=events[0].payload == {"note": "开始\u0000"}, what="payloads come back equal")
    tail = await kept.archive.events("r1", after_seq=39, limit=1)
    expect(holds=[event.seq for event in tail] == [40], what="read from a place on")
    await kept.one.store.finish(ctx, a_success())
    kept.one.tell(ctx, TraceName.RUN_FINISHED)
    kept.one.tell(ctx, TraceName.LATE_RESULT_REFUSED)
    await kept.one.log.flush(ctx)
    expect(holds=(await row_of(kept)).is_closed, what="RUN_FINISHED closes the run")
    expect(holds=(await log_of(kept))[-1] is TraceName.RUN_FINISHED, what="nothing stands after it")
    kept.one.log.close(ctx)


async def refuses_a_log_that_finishes_before_its_run(kept: Kept) -> None:
    """RUN_FINISHED of a RUNNING row is refused: a closed run has always ended."""
    ctx = await kept.one.begin_run("r1")
    kept.one.tell(ctx, TraceName.RUN_FINISHED)
    await expect_refused(kept.one.log.flush(ctx), "the flush says so")
    expect(holds=await log_of(kept) == [TraceName.RUN_STARTED], what="it is not written")
    expect(holds=not (await row_of(kept)).is_closed, what="the row is open")


async def keeps_the_attempts_of_a_run(kept: Kept) -> None:
    """An attempt's event makes its row; other events make none."""
    ctx = await kept.one.begin_run("r1")
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
    expect(holds=await kept.archive.attempts("r1") == (first, second), what="both attempts, in order")


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
    expect(holds=seen == ["r6", "r5", "r4", "r3", "r2", "r1", "r0"], what=f"each once, in order: {seen}")
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
        expect(holds=[row.run_id for row in rows] == ids, what=f"{query} finds {ids}")
    waiting = await kept.recovery.waiting(submitted_before_s=SUBMITTED_S + 2.5, limit=3)
    expect(holds=[row.run_id for row in waiting] == ["r0", "r1", "r2"], what="the oldest wait first")
    for bad in ("", "x", "AAAA", "bmFuIHIx", "MS4wIHIx=", "结"):
        try:
            await kept.archive.runs(RunQuery(before=bad))
        except InvalidInput:
            continue
        raise AssertionError(f"{bad!r} is no mark of a page")


async def knows_nothing_of_what_is_not_there(kept: Kept) -> None:
    """An unknown run has no row, events, records or attempts; none of it is an error."""
    expect(holds=await kept.archive.run("nobody") is None, what="no row")
    expect(holds=await kept.archive.events("nobody") == (), what="no events")
    expect(holds=await kept.archive.records("nobody") == (), what="no records")
    expect(holds=await kept.archive.attempts("nobody") == (), what="no attempts")
    expect(holds=not await kept.recovery.abandon("nobody", owner="one", at_s=0.0), what="nothing to give up")
    expect(holds=await kept.recovery.heartbeats() == {}, what="nobody has said anything")


async def lists_the_records_of_a_run(kept: Kept) -> None:
    """The archive reads what the evidence store of any process wrote."""
    ctx = await kept.one.begin_run("r1")
    for call_id in ("t2", "t1"):
        await kept.one.evidence.begin(ctx, projecting_record(call_id))
    records = await kept.archive.records("r1")
    expect(holds=[one.tool_call_id for one in records] == ["t2", "t1"], what="in the order of begins")
    expect(holds=records[0].invocation is InvocationStatus.PROJECTING, what="as they stand")


CHECKS: tuple[Check, ...] = (
    writes_running_first_and_the_intent_later,
    lets_one_process_claim_a_run,
    keeps_every_field_of_an_end,
    lets_the_first_end_stand,
    takes_writes_of_the_owner_alone,
    cancels_a_queued_run_on_request,
    lets_either_a_claim_or_a_cancellation_win,
    passes_a_cancellation_request_to_the_owner,
    joins_what_is_unfinished,
    counts_what_a_caller_has_unfinished,
    lets_a_caller_have_so_many_and_no_more,
    writes_a_log_in_order,
    refuses_a_log_that_finishes_before_its_run,
    keeps_the_attempts_of_a_run,
    gives_up_a_run_whole,
    gives_up_what_ended_and_was_not_closed,
    tells_what_processes_said_and_who_has_work,
    counts_what_is_queued_source_by_source,
    finds_what_should_have_begun,
    ends_what_did_not_begin_with_its_reason,
    lets_a_claim_or_an_expiry_win,
    tells_which_runs_processes_take,
    pages_through_runs,
    knows_nothing_of_what_is_not_there,
    lists_the_records_of_a_run,
    *ALERT_CHECKS,
)
