"""Runs as callers see them, the worker, and the supervisor: over real stores, two processes in one test."""

from __future__ import annotations

import asyncio
from contextlib import ExitStack
from pathlib import Path

import pytest
from tests.support.run_process import RunProcess, other_process, play

from diagnosis_harness.application.callers.caller import LOCAL, Caller, CallerRole
from diagnosis_harness.application.runs.cancellation import CancelEffect, report_of_request
from diagnosis_harness.application.runs.request import RunKind
from diagnosis_harness.application.runs.row import CancelRequest, RunStatus
from diagnosis_harness.application.runs.store import RunQuery
from diagnosis_harness.application.runs.submission import Submission
from diagnosis_harness.harness.cancellation import CancellationReason
from diagnosis_harness.harness.termination import RunState
from diagnosis_harness.kernel.errors import (
    InvalidInput,
    NotPermitted,
    RunGoesOn,
    RunUnknown,
    StoreFailure,
    TooManyRuns,
)
from diagnosis_harness.release.outcome import ReleaseOutcome
from diagnosis_harness.testing.runs import AMPLE
from diagnosis_harness.trace.event import TraceName

ANN = Caller("ann", CallerRole.OPERATOR)
BOB = Caller("bob", CallerRole.OPERATOR)
VIEWER = Caller("vic", CallerRole.VIEWER)


# ---------------------------------------------------------------- submission


def test_a_submitted_question_is_queued_with_all_that_was_asked(tmp_path: Path) -> None:
    """The row is there before anybody works on it; the only source is the one that is meant."""

    async def act(process: RunProcess) -> None:
        row = (await process.runs.submit(ANN, Submission(question="  why is password=hunter2 refused? "))).row
        assert row.status is RunStatus.QUEUED
        assert row.request.kind is RunKind.BACKGROUND
        assert row.request.source == "shop"
        assert "hunter2" not in row.request.question
        assert row.request.asked_by == ANN
        assert row.request.start_by_s == row.request.submitted_s + 300.0

    play(tmp_path, act)


@pytest.mark.parametrize(
    ("submission", "place"),
    [
        (Submission(question="   "), "question"),
        (Submission(question="x" * 50_001), "question"),
        (Submission(question="a\x00b"), "question"),
        (Submission(question="why?", session_id="  "), "session_id"),
        (Submission(question="why?", session_id="a b"), "session_id"),
        (Submission(question="why?", source="elsewhere"), "source"),
        (Submission(question="why?", onset_s=float("nan")), "onset"),
        (Submission(question="why?", onset_s=2024.0), "onset"),
        (Submission(question="why?", limit_s=0.0), "limit_s"),
        (Submission(question="why?", limit_s=601.0), "limit_s"),
        (Submission(question="why?", limit_s=float("inf")), "limit_s"),
    ],
)
def test_a_field_that_cannot_be_used_is_named(tmp_path: Path, submission: Submission, place: str) -> None:
    """One sentence, and nothing is kept (LC-11 for the session id)."""

    async def act(process: RunProcess) -> None:
        with pytest.raises(InvalidInput) as refused:
            await process.runs.submit(ANN, submission)
        assert refused.value.place == place
        assert (await process.runs.page(LOCAL, RunQuery())).rows == ()

    play(tmp_path, act)


def test_a_session_is_made_where_none_is_named(tmp_path: Path) -> None:
    """Absent is not blank (LC-11)."""

    async def act(process: RunProcess) -> None:
        row = (await process.runs.submit(ANN, Submission(question="why?"))).row
        assert row.request.session_id.startswith("ses-")

    play(tmp_path, act)


def test_a_viewer_neither_asks_nor_cancels(tmp_path: Path) -> None:
    """It reads."""

    async def act(process: RunProcess) -> None:
        with pytest.raises(NotPermitted):
            await process.runs.submit(VIEWER, Submission(question="why?"))
        with pytest.raises(NotPermitted):
            await process.runs.cancel(VIEWER, "run-1")

    play(tmp_path, act)


def test_one_caller_has_so_many_unfinished_runs_and_no_more(tmp_path: Path) -> None:
    """Another caller has room of its own; an ended run gives room back."""

    async def act(process: RunProcess) -> None:
        first = await process.runs.submit(ANN, Submission(question="one"))
        await process.runs.submit(ANN, Submission(question="two"))
        with pytest.raises(TooManyRuns):
            await process.runs.submit(ANN, Submission(question="three"))
        await process.runs.submit(BOB, Submission(question="one"))
        await process.worker.work(first.row.run_id)
        await process.runs.submit(ANN, Submission(question="three"))

    play(tmp_path, act)


def test_an_alert_that_is_being_looked_at_is_joined(tmp_path: Path) -> None:
    """One run for one fingerprint, until it has ended."""

    async def act(process: RunProcess) -> None:
        first = await process.runs.submit(ANN, Submission(question="why?", fingerprint="f"))
        second = await process.runs.submit(ANN, Submission(question="why?", fingerprint="f"))
        assert (first.is_new, second.is_new) == (True, False)
        assert second.row.run_id == first.row.run_id
        await process.worker.work(first.row.run_id)
        assert (await process.runs.submit(ANN, Submission(question="why?", fingerprint="f"))).is_new

    play(tmp_path, act)


def test_a_run_is_tried_again_as_a_new_run(tmp_path: Path) -> None:
    """It takes over the session, the source and the onset; only what has ended is tried again."""

    async def act(process: RunProcess) -> None:
        asked = Submission(question="why?", session_id="ses-x", onset_s=1.7e9)
        first = (await process.runs.submit(ANN, asked)).row
        again = Submission(question="why?", retry_of=first.run_id)
        with pytest.raises(RunGoesOn):
            await process.runs.submit(ANN, again)
        await process.worker.work(first.run_id)
        second = (await process.runs.submit(ANN, again)).row
        assert second.run_id != first.run_id
        assert second.request.retry_of == first.run_id
        assert (second.request.session_id, second.request.onset_s) == ("ses-x", 1.7e9)
        with pytest.raises(RunUnknown):
            await process.runs.submit(BOB, again)

    play(tmp_path, act)


def test_one_callers_runs_are_not_anothers(tmp_path: Path) -> None:
    """Unknown, whatever is asked of them; an admin sees all."""

    async def act(process: RunProcess) -> None:
        run_id = (await process.runs.submit(ANN, Submission(question="why?"))).row.run_id
        for look in (
            process.runs.row,
            process.runs.events,
            process.runs.records,
            process.runs.document,
            process.runs.cancel,
        ):
            with pytest.raises(RunUnknown):
                await look(BOB, run_id)
        assert (await process.runs.page(BOB, RunQuery(asked_by="ann"))).rows == ()
        assert len((await process.runs.page(LOCAL, RunQuery())).rows) == 1
        assert (await process.runs.row(LOCAL, run_id)).run_id == run_id

    play(tmp_path, act)


# ---------------------------------------------------------------- working


def test_a_delivery_is_worked_on_once(tmp_path: Path) -> None:
    """A second delivery of the same run finds it claimed or ended, and does nothing."""

    async def act(process: RunProcess) -> None:
        run_id = (await process.runs.submit(ANN, Submission(question="why?"))).row.run_id
        await asyncio.gather(process.worker.work(run_id), process.worker.work(run_id))
        await process.worker.work(run_id)
        assert len(process.kept.system.asked) == 1
        assert (await process.runs.row(ANN, run_id)).status is RunStatus.SUCCESS

    play(tmp_path, act)


def test_a_run_that_waited_too_long_never_starts(tmp_path: Path) -> None:
    """It ends TIMED_OUT with FAILED, and nothing was asked of anybody."""

    async def act(process: RunProcess) -> None:
        run_id = (await process.runs.submit(ANN, Submission(question="why?"))).row.run_id
        process.kept.clock.advance(300.0)
        await process.worker.work(run_id)
        row = await process.runs.row(ANN, run_id)
        assert row.ending is not None
        assert (row.ending.outcome, row.ending.state) == (ReleaseOutcome.FAILED, RunState.TIMED_OUT)
        assert process.kept.system.asked == []
        assert row.is_closed

    play(tmp_path, act)


def test_a_worker_survives_a_store_that_is_unavailable(tmp_path: Path) -> None:
    """It says so, and the run stays queued."""

    async def act(process: RunProcess) -> None:
        run_id = (await process.runs.submit(ANN, Submission(question="why?"))).row.run_id
        await process.kept.database.close()
        await process.worker.work(run_id)
        ((unkept, failure),) = process.unkept
        assert unkept == run_id
        assert isinstance(failure, StoreFailure)

    play(tmp_path, act)


# ---------------------------------------------------------------- cancelling


def test_a_queued_run_is_cancelled_and_never_starts(tmp_path: Path) -> None:
    """Outcome and state CANCELLED; a delivery that comes later does nothing."""

    async def act(process: RunProcess) -> None:
        run_id = (await process.runs.submit(ANN, Submission(question="why?"))).row.run_id
        report = await process.runs.cancel(ANN, run_id)
        assert report.effect is CancelEffect.NEVER_STARTED
        await process.worker.work(run_id)
        row = await process.runs.row(ANN, run_id)
        assert row.ending is not None
        assert (row.status, row.ending.state) == (RunStatus.CANCELLED, RunState.CANCELLED)
        assert process.kept.system.asked == []
        assert (await process.runs.cancel(ANN, run_id)).effect is CancelEffect.ENDED_BEFORE

    play(tmp_path, act)


def test_a_run_of_this_process_has_stopped_when_cancel_returns(tmp_path: Path) -> None:
    """And the answer says what was in flight."""

    async def act(process: RunProcess) -> None:
        process.kept.system.go.clear()
        run_id = (await process.runs.submit(ANN, Submission(question="why?"))).row.run_id
        task = asyncio.create_task(process.worker.work(run_id))
        await process.kept.system.entered.wait()
        report = await process.runs.cancel(ANN, run_id)
        ctx = process.kept.stores.active.get(run_id)
        assert ctx is not None
        assert ctx.lifecycle.state is RunState.CANCELLED
        assert report.effect is CancelEffect.STOPPED
        assert isinstance(report.answer, dict)
        assert (report.answer["changed"], report.answer["state"]) == (True, "CANCELLED")
        await task
        assert (await process.runs.row(ANN, run_id)).status is RunStatus.CANCELLED

    play(tmp_path, act)


def test_a_run_of_another_process_is_cancelled_on_request(tmp_path: Path) -> None:
    """The request is stored in the row; the owner cancels the run and answers."""

    async def act(process: RunProcess) -> None:
        process.kept.system.go.clear()
        run_id = (await process.runs.submit(ANN, Submission(question="why?"))).row.run_id
        task = asyncio.create_task(process.worker.work(run_id))
        await process.kept.system.entered.wait()
        cancel = CancelRequest(CancellationReason.USER_REQUESTED, process.kept.clock.now_s())
        requested = await process.kept.stores.archive.request_cancel(run_id, cancel)
        assert requested is not None
        assert report_of_request(requested, was_queued=False).effect is CancelEffect.ASKED
        assert await process.supervisor.apply_cancel_requests() == (run_id,)
        assert await process.supervisor.apply_cancel_requests() == ()
        await task
        row = await process.runs.row(ANN, run_id)
        assert row.status is RunStatus.CANCELLED
        assert report_of_request(row, was_queued=False).effect is CancelEffect.STOPPED

    play(tmp_path, act)


def test_a_cancel_meets_a_run_that_another_process_is_just_claiming(tmp_path: Path) -> None:
    """This process holds the run without having claimed it; the process that claims it sees the request."""

    async def act(process: RunProcess) -> None:
        kept = process.kept
        row = (await process.runs.submit(ANN, Submission(question="why?"))).row
        here, there = (
            kept.core.start_run(session_id="s", run_id=row.run_id, limits=AMPLE, timeout_s=60)
            for _ in range(2)
        )
        with kept.stores.active.track(here):
            other = other_process(kept, "other")
            assert await other.begin(there, row.request, owner="other", at_s=kept.clock.now_s())
            report = await process.runs.cancel(ANN, row.run_id)
        assert report.effect is CancelEffect.ASKED
        assert [run_id for run_id, _ in await kept.recovery.cancel_requests("other")] == [row.run_id]

    play(tmp_path, act)


# ---------------------------------------------------------------- recovery


def test_a_run_of_a_dead_process_ends_once(tmp_path: Path) -> None:
    """FAILED / INTERNAL_FAILURE with its last event; nothing of it is done again."""

    async def act(process: RunProcess) -> None:
        kept = process.kept
        request = kept.request()
        ctx = kept.core.start_run(session_id="s", run_id=request.run_id, limits=AMPLE, timeout_s=60)
        store = other_process(kept, "gone")
        assert await store.begin(ctx, request, owner="gone", at_s=kept.clock.now_s())
        await kept.recovery.record_heartbeat("gone", at_s=kept.clock.now_s())
        assert (await process.supervisor.recover()).orphaned == ()
        kept.clock.advance(5.0)
        assert (await process.supervisor.recover()).orphaned == ()
        kept.clock.advance(5.0)
        assert (await process.supervisor.recover()).orphaned == (request.run_id,)
        assert (await process.supervisor.recover()).orphaned == ()
        row = await process.runs.row(LOCAL, request.run_id)
        assert row.ending is not None
        assert (row.ending.state, row.ending.termination.reason) == (
            RunState.FAILED,
            CancellationReason.INTERNAL_FAILURE,
        )
        names = [event.name for event in await kept.events(request.run_id)]
        assert names[-1] is TraceName.RUN_FINISHED
        assert names.count(TraceName.RUN_FINISHED) == 1

    play(tmp_path, act)


def test_a_run_that_this_process_lost_ends(tmp_path: Path) -> None:
    """Its row names this process, which does not have it: the end could not be kept in time."""

    async def act(process: RunProcess) -> None:
        kept = process.kept
        request = kept.request()
        ctx = kept.core.start_run(session_id="s", run_id=request.run_id, limits=AMPLE, timeout_s=60)
        with ExitStack() as active:
            active.enter_context(kept.stores.active.track(ctx))
            await kept.stores.store.begin(ctx, request, owner="me", at_s=kept.clock.now_s())
            assert (await process.supervisor.recover()).lost == ()
        assert (await process.supervisor.recover()).lost == (request.run_id,)
        assert (await process.runs.row(LOCAL, request.run_id)).status is RunStatus.FAILED

    play(tmp_path, act)


def test_a_run_that_has_been_queued_for_long_is_delivered_again(tmp_path: Path) -> None:
    """It may have been lost with a process; one that waited too long ends instead."""

    async def act(process: RunProcess) -> None:
        run_id = (await process.runs.submit(ANN, Submission(question="why?"))).row.run_id
        assert (await process.supervisor.recover()).requeued == ()
        process.kept.clock.advance(11.0)
        await process.runs.submit(ANN, Submission(question="and why this?"))
        assert (await process.supervisor.recover()).requeued == ()  # it waits in the queue still
        await process.queue.close()
        lost = RunProcess(process.kept)
        assert (await lost.supervisor.recover()).requeued == (run_id,)
        assert (await lost.supervisor.recover()).requeued == ()
        process.kept.clock.advance(300.0)
        assert (await process.supervisor.recover()).requeued == ()
        assert (await process.runs.row(ANN, run_id)).status is RunStatus.FAILED

    play(tmp_path, act)
