"""One question through the service: every way to end, and a store that does not work."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from tests.support.scripted_chat import DRAFT, KeptChat, concluding, play
from tests.support.scripted_router import ScriptedRouter

from diagnosis_harness.application.intent import IntentType
from diagnosis_harness.application.routing import RoutingDecision, RoutingReason
from diagnosis_harness.application.runs.row import RunRow, RunStatus
from diagnosis_harness.application.runs.sources import SourceStamp
from diagnosis_harness.application.runs.store import RunQuery
from diagnosis_harness.diagnosis.missing import MissingInfo
from diagnosis_harness.diagnosis.policy import GiveDraft
from diagnosis_harness.harness.cancellation import CancellationReason
from diagnosis_harness.harness.context import RunContext
from diagnosis_harness.harness.termination import RunState
from diagnosis_harness.kernel.errors import (
    FailureKind,
    LlmFailure,
    OnsetOutsideData,
    RunNotKept,
    RunTaken,
    SourceUnavailable,
    StoreFailure,
)
from diagnosis_harness.release.outcome import FallbackType, ReleaseOutcome
from diagnosis_harness.testing.scripted_policy import ScriptedPolicy
from diagnosis_harness.trace.event import TraceEvent, TraceName

SYSTEM = RoutingDecision(IntentType.SYSTEM_CHAT, RoutingReason.GREETING)
KNOWLEDGE = RoutingDecision(IntentType.KNOWLEDGE_QUERY, RoutingReason.NAMES_DOCUMENT)
AWAY = LlmFailure("away", kind=FailureKind.UNAVAILABLE)


# ---------------------------------------------------------------- ends


def end_of(row: RunRow) -> tuple[ReleaseOutcome, RunState, str | None]:
    """Outcome, run state, and the code of the failure."""
    assert row.ending is not None
    return row.ending.outcome, row.ending.state, row.ending.failure.code if row.ending.failure else None


def test_a_router_that_is_unavailable_fails_the_run_and_no_path_is_taken(tmp_path: Path) -> None:
    """FAILED / FAILED after its two attempts; no other player replaces it (RL-28)."""
    router = ScriptedRouter(AWAY, AWAY)

    async def act(kept: KeptChat) -> None:
        task = asyncio.create_task(kept.ask())
        while len(router.histories) < 2:
            kept.clock.advance(0.1)
            await asyncio.wait({task}, timeout=0.01)
        row = await task
        assert end_of(row) == (ReleaseOutcome.FAILED, RunState.FAILED, "ROUTER_UNAVAILABLE")
        assert (kept.system.asked, kept.knowledge.asked, kept.source.opened) == ([], [], [])
        assert row.intent is None

    play(tmp_path, act, router=router)


def test_an_answer_that_fails_is_a_failure_and_no_answer(tmp_path: Path) -> None:
    """FAILED / FAILED, and nothing is kept as content."""

    async def act(kept: KeptChat) -> None:
        kept.system.raises = AWAY
        row = await kept.ask()
        assert end_of(row) == (ReleaseOutcome.FAILED, RunState.FAILED, "ANSWER_FAILED")
        assert row.ending is not None
        assert row.ending.answer is None

    play(tmp_path, act, router=ScriptedRouter(SYSTEM))


def test_an_onset_outside_of_the_data_is_said_to_be(tmp_path: Path) -> None:
    """It is the asker's, and no fault of the source."""

    async def act(kept: KeptChat) -> None:
        kept.source.raises = OnsetOutsideData("of no record", kind=FailureKind.REJECTED)
        assert end_of(await kept.ask()) == (ReleaseOutcome.FAILED, RunState.FAILED, "ONSET_OUTSIDE_DATA")

    play(tmp_path, act)


def test_a_source_that_cannot_be_read_is_said_to_be(tmp_path: Path) -> None:
    """FAILED / FAILED with its own code."""

    async def act(kept: KeptChat) -> None:
        kept.source.raises = SourceUnavailable("gone", kind=FailureKind.UNAVAILABLE)
        assert end_of(await kept.ask()) == (ReleaseOutcome.FAILED, RunState.FAILED, "SOURCE_UNAVAILABLE")

    play(tmp_path, act)


@pytest.mark.parametrize(("content", "changed"), [("sha256:monday", False), ("sha256:tuesday", True)])
def test_a_source_that_has_changed_since_it_was_asked_about_is_said_to_have(
    tmp_path: Path, content: str, *, changed: bool
) -> None:
    """In the run's log, before anything is looked at; the run goes on."""

    async def act(kept: KeptChat) -> None:
        kept.source.stamp = SourceStamp("sha256:shop", content)
        asked = replace(kept.request(source="shop"), stamp=SourceStamp("sha256:shop", "sha256:monday"))
        row = await kept.ask(asked)
        events = [event for event in await kept.events(row.run_id) if event.name is TraceName.SOURCE_CHANGED]
        payload = {"source": "shop", "asked": "sha256:monday", "now": "sha256:tuesday"}
        assert [dict(event.payload) for event in events] == [payload] * changed
        assert row.status is RunStatus.SUCCESS

    play(tmp_path, act, **concluding())


@pytest.mark.parametrize(
    ("reason", "expected"),
    [
        (CancellationReason.CLIENT_DISCONNECTED, (ReleaseOutcome.CANCELLED, RunState.CANCELLED)),
        (CancellationReason.USER_REQUESTED, (ReleaseOutcome.CANCELLED, RunState.CANCELLED)),
        (CancellationReason.BUDGET_EXHAUSTED, (ReleaseOutcome.FAILED, RunState.BUDGET_EXHAUSTED)),
        (CancellationReason.INTERNAL_FAILURE, (ReleaseOutcome.FAILED, RunState.FAILED)),
    ],
)
def test_a_cancel_ends_a_path_at_once(
    tmp_path: Path, reason: CancellationReason, expected: tuple[ReleaseOutcome, RunState]
) -> None:
    """The row stores the outcome and, separately, the state of the run (RL-22, PE-05)."""

    async def act(kept: KeptChat) -> None:
        kept.system.go.clear()
        task = asyncio.create_task(kept.ask())
        await kept.system.entered.wait()
        (ctx,) = kept.stores.active.all()
        kept.core.cancel(ctx, reason)
        row = await task
        assert end_of(row)[:2] == expected
        assert row.ending is not None
        assert row.ending.termination.reason is reason

    play(tmp_path, act, router=ScriptedRouter(SYSTEM))


def test_a_deadline_ends_a_path(tmp_path: Path) -> None:
    """TIMED_OUT stays in the row, beside FAILED."""

    async def act(kept: KeptChat) -> None:
        kept.system.go.clear()
        task = asyncio.create_task(kept.ask())
        await kept.system.entered.wait()
        kept.clock.advance(60.0)
        assert end_of(await task) == (ReleaseOutcome.FAILED, RunState.TIMED_OUT, "DEADLINE_REACHED")

    play(tmp_path, act, router=ScriptedRouter(SYSTEM))


@pytest.mark.parametrize("kind", ["concludes", "system", "router away", "cancelled", "fails"])
def test_every_run_has_one_last_event(tmp_path: Path, kind: str) -> None:
    """RUN_FINISHED, once and last, with outcome, termination and budget account (TR-04, PE-05)."""

    async def act(kept: KeptChat) -> None:
        if kind == "fails":
            kept.system.raises = AWAY
        if kind == "cancelled":
            kept.system.go.clear()
        task = asyncio.create_task(kept.ask())
        if kind == "cancelled":
            await kept.system.entered.wait()
            (ctx,) = kept.stores.active.all()
            kept.core.cancel(ctx, CancellationReason.USER_REQUESTED)
        row = await task
        events = await kept.events(row.run_id)
        assert row.is_closed
        assert [event.name for event in events].count(TraceName.RUN_FINISHED) == 1
        last = events[-1]
        assert last.name is TraceName.RUN_FINISHED
        assert row.ending is not None
        assert last.payload["outcome"] == row.ending.outcome
        assert last.payload["state"] == row.ending.state
        reason = row.ending.termination.reason
        assert last.payload["reason"] == (None if reason is None else reason.value)
        assert last.payload["llm_calls"] == row.ending.spent.llm_calls
        assert str(last.payload["ended_at"]).endswith("Z")

    scripted: dict[str, object] = {"router": ScriptedRouter(SYSTEM)}
    if kind == "concludes":
        scripted = concluding()
    if kind == "router away":
        scripted = {"router": ScriptedRouter(LlmFailure("no", kind=FailureKind.REJECTED))}
    play(tmp_path, act, **scripted)


def test_a_bug_fails_the_run_and_is_not_hidden(tmp_path: Path) -> None:
    """The row says FAILED, and the caller gets the error."""

    async def act(kept: KeptChat) -> None:
        kept.system.raises = ZeroDivisionError("bug")
        request = kept.request()
        with pytest.raises(ZeroDivisionError):
            await kept.ask(request)
        row = await kept.stores.archive.run(request.run_id)
        assert row is not None
        assert end_of(row) == (ReleaseOutcome.FAILED, RunState.FAILED, "INTERNAL_FAILURE")
        assert row.is_closed
        assert len(kept.stores.active) == 0

    play(tmp_path, act, router=ScriptedRouter(SYSTEM))


# ---------------------------------------------------------------- the store


def test_a_run_that_was_taken_is_not_worked_on(tmp_path: Path) -> None:
    """Claimed, cancelled or ended before: nothing happens here."""

    async def act(kept: KeptChat) -> None:
        request = kept.request()
        await kept.ask(request)
        reported = list(kept.steps)
        with pytest.raises(RunTaken):
            await kept.ask(request)
        assert [word for word in kept.steps[len(reported) :] if word != "row RUNNING"] == []
        assert len(kept.system.asked) == 1

    play(tmp_path, act, router=ScriptedRouter(SYSTEM))


def test_what_could_not_be_kept_is_not_given_out(tmp_path: Path) -> None:
    """A store that goes away before the end: RunNotKept, whatever the path had answered."""

    async def act(kept: KeptChat) -> None:
        kept.system.go.clear()
        task = asyncio.create_task(kept.ask())
        await kept.system.entered.wait()
        await kept.log.flush(kept.stores.active.all()[0])
        await kept.database.close()
        kept.system.go.set()
        while not task.done():
            kept.clock.advance(0.5)
            await asyncio.wait({task}, timeout=0.01)
        with pytest.raises(RunNotKept):
            await task
        assert "returned" not in kept.steps
        assert len(kept.stores.active) == 0

    play(tmp_path, act, router=ScriptedRouter(SYSTEM))


def test_an_end_that_another_process_wrote_is_kept(tmp_path: Path) -> None:
    """The process discards its own result and returns the stored row (LC-08)."""

    async def act(kept: KeptChat) -> None:
        kept.system.go.clear()
        request = kept.request()
        task = asyncio.create_task(kept.ask(request))
        await kept.system.entered.wait()
        assert await kept.recovery.abandon(request.run_id, owner="me", at_s=kept.clock.now_s())
        kept.system.go.set()
        row = await task
        assert end_of(row) == (ReleaseOutcome.FAILED, RunState.FAILED, "INTERNAL_FAILURE")
        assert row.ending is not None
        assert row.ending.answer is None

    play(tmp_path, act, router=ScriptedRouter(SYSTEM))


def test_a_diagnosis_without_enough_is_a_fallback_that_counts_as_processed(tmp_path: Path) -> None:
    """Status SUCCESS, outcome FALLBACK, and its type (PE-02)."""

    async def act(kept: KeptChat) -> None:
        row = await kept.ask()
        assert row.ending is not None
        assert (row.status, row.ending.fallback) == (
            RunStatus.SUCCESS,
            FallbackType.MISSING_REQUIRED_CONTEXT,
        )

    nothing = replace(DRAFT, conclusion=(), claims=(), missing_info=(MissingInfo.ENTITY,))
    play(tmp_path, act, policy=ScriptedPolicy(GiveDraft(nothing)))


def test_a_row_that_cannot_be_begun_in_time_is_a_store_that_does_not_work(tmp_path: Path) -> None:
    """Somebody holds the database: no run is known to be kept, and nothing is answered."""

    async def act(kept: KeptChat) -> None:
        holder = sqlite3.connect(tmp_path / "runs.db", isolation_level=None)
        holder.execute("BEGIN IMMEDIATE")
        task = asyncio.create_task(kept.ask())
        while not task.done():
            kept.clock.advance(1.0)
            await asyncio.wait({task}, timeout=0.01)
        holder.execute("ROLLBACK")
        holder.close()
        with pytest.raises(StoreFailure):
            await task
        assert "started" not in kept.steps
        assert len(kept.stores.active) == 0

    play(tmp_path, act, router=ScriptedRouter(SYSTEM))


@pytest.mark.parametrize("place", ["path", "RUN_ENDED", "RUN_FINISHED"])
def test_a_host_that_cancels_finds_the_run_ended_and_closed(tmp_path: Path, place: str) -> None:
    """A cancel of the task while a path works, or while the end is kept, leaves no row that goes on."""

    async def act(kept: KeptChat) -> None:
        if place == "path":
            kept.system.go.clear()
        task = asyncio.create_task(kept.ask())

        def cancel_at_place(_: str, events: Sequence[TraceEvent]) -> None:
            if place in {event.name.value for event in events}:
                task.cancel()

        kept.log.on_written(cancel_at_place)
        if place == "path":
            await kept.system.entered.wait()
            task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        (row,) = (await kept.stores.archive.runs(RunQuery())).rows
        assert row.is_closed
        names = [event.name for event in await kept.events(row.run_id)]
        assert names.count(TraceName.RUN_FINISHED) == 1
        assert names[-1] is TraceName.RUN_FINISHED

    play(tmp_path, act, router=ScriptedRouter(SYSTEM))


def test_a_host_that_raises_when_notified_loses_no_run(tmp_path: Path) -> None:
    """A stream that fails when the run has begun does not end it: that is recorded, and the run goes on."""

    def raise_broken(_: RunContext) -> None:
        raise asyncio.CancelledError

    async def act(kept: KeptChat) -> None:
        row = await kept.chat.answer(kept.request(), raise_broken)
        assert end_of(row) == (ReleaseOutcome.SUCCESS, RunState.SUCCESS, None)
        names = [event.name for event in await kept.events(row.run_id)]
        assert TraceName.CALLBACK_FAILED in names

    play(tmp_path, act, router=ScriptedRouter(SYSTEM))
