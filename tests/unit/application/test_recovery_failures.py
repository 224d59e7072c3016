"""One failing run or store does not hold up the recovery of others."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest
from sqlalchemy import insert, update
from tests.support.scripted_chat import KeptChat, concluding, open_chat

from diagnosis_harness.adapters.persistence.archive import SqlRunArchive
from diagnosis_harness.adapters.persistence.recovery import SqlRunRecovery
from diagnosis_harness.adapters.persistence.run_store import SqlRunStore
from diagnosis_harness.adapters.persistence.schema import diagnosis_run, trace_event
from diagnosis_harness.adapters.queue.local_queue import LocalRunQueue
from diagnosis_harness.application.runs.closed_runs import ClosedRuns
from diagnosis_harness.application.runs.row import CancelRequest, RunRow, RunStatus
from diagnosis_harness.application.runs.supervisor import RecoverySettings, RunSupervisor
from diagnosis_harness.harness.cancellation import CancellationReason
from diagnosis_harness.harness.termination import RunState
from diagnosis_harness.kernel.errors import FailureKind, StoreFailure
from diagnosis_harness.kernel.json_value import JsonValue
from diagnosis_harness.testing.runs import AMPLE
from diagnosis_harness.tools.invocation import EvidenceRecord
from diagnosis_harness.trace.event import TraceName


class AwayEvidence:
    """Evidence elsewhere, where nobody answers."""

    async def records(self, run_id: str) -> tuple[EvidenceRecord, ...]:
        """Cannot be read."""
        raise StoreFailure(f"no records of {run_id}", kind=FailureKind.UNAVAILABLE)

    async def abandon(self, run_id: str, *, at_s: float) -> None:
        """Cannot be ended."""
        raise StoreFailure(f"{run_id} is not ended at {at_s}", kind=FailureKind.UNAVAILABLE)


def supervisor(kept: KeptChat, recovery: SqlRunRecovery | None = None) -> RunSupervisor:
    """One over a queue that has lost everything."""
    return RunSupervisor(
        kept.core,
        kept.stores,
        recovery=recovery or kept.recovery,
        queue=LocalRunQueue(),
        settings=RecoverySettings(),
    )


async def orphan(kept: KeptChat) -> str:
    """A run of a process that never said anything."""
    request = kept.request()
    ctx = kept.core.start_run(session_id="s", run_id=request.run_id, limits=AMPLE, timeout_s=60)
    store = SqlRunStore(kept.database, owner="gone")
    assert await store.begin(ctx, request, owner="gone", at_s=kept.clock.now_s())
    return request.run_id


async def break_row(kept: KeptChat, run_id: str, **columns: object) -> None:
    """Write what no program of this version writes."""
    change = update(diagnosis_run).where(diagnosis_run.c.run_id == run_id).values(columns)
    await kept.database.write(lambda connection: connection.execute(change).rowcount)


async def write_event(kept: KeptChat, run_id: str, name: TraceName, payload: str) -> None:
    """Write an event of any content."""
    event = {"run_id": run_id, "seq": 1, "at_s": 0.0, "name": name.value, "phase": "RUN", "status": "FAILED"}
    statement = insert(trace_event).values(**event, payload=payload)
    await kept.database.write(lambda connection: connection.execute(statement).rowcount)


async def row_of(kept: KeptChat, run_id: str) -> RunRow:
    """Its row."""
    row = await kept.stores.archive.run(run_id)
    assert row is not None
    return row


def play(folder: Path, act: Callable[[KeptChat], Awaitable[None]]) -> None:
    """Act on a process."""

    async def run_act() -> None:
        async with open_chat(folder) as kept:
            await asyncio.wait_for(act(kept), 60)

    asyncio.run(run_act())


@pytest.mark.parametrize("payload", ["{}", "[]", "5", "null", '{"state":"LOST"}', "not json"])
def test_an_orphan_whose_log_cannot_be_read_holds_up_no_other(tmp_path: Path, payload: str) -> None:
    """Readiness names it as the failing part; later requests are answered, and a queued run is submitted."""

    async def act(kept: KeptChat) -> None:
        bad, good = await orphan(kept), await orphan(kept)
        await write_event(kept, bad, TraceName.RUN_ENDED, payload)
        waiting = kept.request()
        await kept.stores.archive.submit(waiting)
        kept.clock.advance(11.0)
        account = await supervisor(kept).recover()
        assert account.orphaned == (good,)
        assert account.requeued == (waiting.run_id,)
        assert [each.what for each in account.failed] == [f"run {bad}"]
        assert account.failed[0].failure.kind is FailureKind.INVALID_OUTPUT

    play(tmp_path, act)


def test_an_orphan_whose_row_cannot_be_read_holds_up_no_other(tmp_path: Path) -> None:
    """A language that is not supported."""

    async def act(kept: KeptChat) -> None:
        bad, good = await orphan(kept), await orphan(kept)
        await break_row(kept, bad, language="xx")
        account = await supervisor(kept).recover()
        assert (account.orphaned, [each.what for each in account.failed]) == ((good,), [f"run {bad}"])

    play(tmp_path, act)


def test_a_queued_run_whose_row_cannot_be_read_holds_up_no_other(tmp_path: Path) -> None:
    """Neither one that is put again nor one that waited too long."""

    async def act(kept: KeptChat) -> None:
        requests = [kept.request() for _ in range(2)]
        for request in requests:
            await kept.stores.archive.submit(request)
        await break_row(kept, requests[0].run_id, language="xx", start_by_s=kept.clock.now_s())
        kept.clock.advance(11.0)
        account = await supervisor(kept).recover()
        assert account.requeued == (requests[1].run_id,)
        assert [each.what for each in account.failed] == [f"run {requests[0].run_id}"]

    play(tmp_path, act)


def test_an_orphan_ends_also_while_its_evidence_cannot_be_reached(tmp_path: Path) -> None:
    """Row and log are in the database, and that works."""

    async def act(kept: KeptChat) -> None:
        run_id = await orphan(kept)
        care = SqlRunRecovery(kept.database, evidence=AwayEvidence())
        account = await supervisor(kept, care).recover()
        assert (account.orphaned, account.failed) == ((run_id,), ())
        row = await row_of(kept, run_id)
        assert (row.status, row.is_closed) == (RunStatus.FAILED, True)

    play(tmp_path, act)


def test_a_database_that_is_unavailable_fails_every_part_and_raises_nothing(tmp_path: Path) -> None:
    """The account says which."""

    async def act(kept: KeptChat) -> None:
        care = supervisor(kept)
        await kept.database.close()
        parts = [
            "runs of this process",
            "runs of other processes",
            "runs that did not start in time",
            "sources of queued runs",
            "queued runs",
        ]
        assert [each.what for each in (await care.recover()).failed] == parts

    play(tmp_path, act)


def test_processes_without_a_heartbeat_while_the_database_was_unavailable_are_alive(tmp_path: Path) -> None:
    """Earlier observations do not count: the waiting time starts again."""

    async def act(kept: KeptChat) -> None:
        run_id = await orphan(kept)
        await kept.recovery.record_heartbeat("gone", at_s=1.0)
        care = supervisor(kept, AwayAtTimes(kept.database))
        for _ in range(3):  # the second look fails
            assert (await care.recover()).orphaned == ()
            kept.clock.advance(4.0)
        assert (await care.recover()).orphaned == ()  # 12 s after the first look, 4 s after the third
        kept.clock.advance(6.0)
        assert (await care.recover()).orphaned == (run_id,)

    play(tmp_path, act)


class AwayAtTimes(SqlRunRecovery):
    """A recovery whose second read of the heartbeats fails."""

    looks = 0

    async def heartbeats(self) -> object:  # type: ignore[override]  # handed through
        """Fail once."""
        self.looks += 1
        if self.looks == 2:
            raise StoreFailure("away", kind=FailureKind.TRANSPORT)
        return await super().heartbeats()


def test_every_cancel_is_carried_out_before_the_first_is_answered(tmp_path: Path) -> None:
    """An answer may wait for the database for long; a run that is to be cancelled must not."""

    async def act(kept: KeptChat) -> None:
        running = []
        for _ in range(2):
            request = kept.request()
            ctx = kept.core.start_run(session_id="s", run_id=request.run_id, limits=AMPLE, timeout_s=60)
            await kept.stores.store.begin(ctx, request, owner="me", at_s=kept.clock.now_s())
            cancel = CancelRequest(CancellationReason.USER_REQUESTED, kept.clock.now_s())
            await kept.stores.archive.request_cancel(request.run_id, cancel)
            running.append(ctx)

        class Slow(SqlRunRecovery):
            async def answer_cancel_request(self, run_id: str, answer: JsonValue) -> None:
                assert all(ctx.lifecycle.state is RunState.CANCELLED for ctx in running)
                await super().answer_cancel_request(run_id, answer)

        with kept.stores.active.track(running[0]), kept.stores.active.track(running[1]):
            assert len(await supervisor(kept, Slow(kept.database)).apply_cancel_requests()) == 2

    play(tmp_path, act)


def test_runs_that_are_closed_for_others_are_reported_once(tmp_path: Path) -> None:
    """Abandoned, or ended in the queue: metrics and exporters are notified of them with their final state."""

    async def act(kept: KeptChat) -> None:
        closed = ClosedRuns()
        received: list[RunRow] = []
        closed.on_closed(received.append)
        care = SqlRunRecovery(kept.database, closed=closed)
        run_id, waiting = await orphan(kept), kept.request()
        for _ in range(2):
            await supervisor(kept, care).recover()
        archive = SqlRunArchive(kept.database, closed=closed)
        await archive.submit(waiting)
        for _ in range(2):
            await archive.request_cancel(
                waiting.run_id, CancelRequest(CancellationReason.USER_REQUESTED, 1.0)
            )
        assert received == [await row_of(kept, run_id), await row_of(kept, waiting.run_id)]

    play(tmp_path, act)


def test_an_abandoned_run_shows_the_llm_calls_of_its_log(tmp_path: Path) -> None:
    """Exactly what its own account would have said, where everything it did is in its log."""

    async def story() -> None:
        async with open_chat(tmp_path, **concluding()) as kept:  # type: ignore[arg-type]  # named by the function
            row = await kept.ask()
            assert row.ending is not None
            spent = row.ending.spent
            unended = {"release_outcome": None, "status": "RUNNING", "is_closed": False}
            await break_row(kept, row.run_id, **unended)
            assert await kept.recovery.abandon(row.run_id, owner="me", at_s=kept.clock.now_s())
            given_up = (await row_of(kept, row.run_id)).ending
            assert given_up is not None
            assert spent.llm_calls > 0
            counts = (given_up.spent.llm_calls, given_up.spent.tool_calls, given_up.spent.agent_steps)
            assert counts == (spent.llm_calls, spent.tool_calls, spent.agent_steps)

    asyncio.run(story())
