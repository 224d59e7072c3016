"""The log writer: batches over all runs, bounds, listeners, and what a broken batch does to others."""

from __future__ import annotations

import asyncio
import sqlite3
import threading
from collections.abc import Sequence
from types import MappingProxyType
from typing import TypeVar

import pytest
from tests.support.rows import Process, a_success
from tests.support.small_run_log import a_process

from diagnosis_harness.adapters.persistence.archive import SqlRunArchive
from diagnosis_harness.adapters.persistence.database import Database, Statements
from diagnosis_harness.adapters.persistence.run_log import SqlRunLog
from diagnosis_harness.adapters.persistence.run_store import SqlRunStore
from diagnosis_harness.harness.context import RunContext
from diagnosis_harness.harness.core import DiagnosisHarnessCore
from diagnosis_harness.kernel.errors import ContractViolation, FailureKind, StoreFailure
from diagnosis_harness.testing.clock import ManualClock
from diagnosis_harness.testing.ids import CountingIds
from diagnosis_harness.trace.event import TraceEvent, TraceEventStatus, TraceName, TracePhase

T = TypeVar("T")


def test_events_of_many_threads_are_written_each_run_in_order(sqlite_url: str) -> None:
    """Runs in threads of their own, all at once."""

    async def story() -> None:
        async with a_process(sqlite_url, events_max=10_000, run_events_max=1000) as (
            process,
            log,
            archive,
            _clock,
        ):
            runs = [await process.begin_run(f"r{number}") for number in range(6)]

            def record_context(ctx: RunContext) -> None:
                for number in range(300):
                    process.tell(ctx, number=number)

            threads = [threading.Thread(target=record_context, args=(ctx,)) for ctx in runs]
            for thread in threads:
                thread.start()
            for thread in threads:
                await asyncio.to_thread(thread.join)
            await asyncio.gather(*(log.flush(ctx) for ctx in runs))
            for ctx in runs:
                events = await archive.events(ctx.run_id)
                assert [event.seq for event in events] == list(range(1, 302))
                assert [event.payload["number"] for event in events[1:]] == list(range(300))

    asyncio.run(story())


def test_what_comes_while_a_batch_is_written_goes_into_one_next_batch(sqlite_url: str) -> None:
    """A listener hears of a burst in one call for each run and batch, not for each event."""

    async def story() -> None:
        async with a_process(sqlite_url) as (process, log, _archive, _clock):
            one, two = await process.begin_run("r1"), await process.begin_run("r2")
            calls: list[tuple[str, int]] = []
            log.on_written(lambda run_id, events: calls.append((run_id, len(events))))
            for _ in range(50):
                process.tell(one)
                process.tell(two)
            await asyncio.gather(log.flush(one), log.flush(two))
            assert sorted(calls) == [("r1", 50), ("r2", 50)]

    asyncio.run(story())


def test_a_listener_hears_of_nothing_that_is_not_committed(sqlite_url: str) -> None:
    """Another connection sees the event at the very moment of the call."""

    async def story() -> None:
        async with a_process(sqlite_url) as (process, log, _archive, _clock):
            seen: list[tuple[int, int]] = []

            def listener(run_id: str, events: Sequence[TraceEvent]) -> None:
                with sqlite3.connect(sqlite_url.removeprefix("sqlite:///")) as other:
                    (last,) = other.execute(
                        "SELECT max(seq) FROM trace_event WHERE run_id = ?", (run_id,)
                    ).fetchone()
                other.close()
                seen.append((events[-1].seq, last))

            log.on_written(listener)
            ctx = await process.begin_run("r1")
            process.tell(ctx)
            await log.flush(ctx)
            assert [event for event, _ in seen] == [1, 2]
            assert all(event <= last for event, last in seen)

    asyncio.run(story())


def test_a_listener_that_raises_stops_neither_the_log_nor_other_listeners(sqlite_url: str) -> None:
    """The loop reports it; every event is written and reported."""

    async def story() -> None:
        async with a_process(sqlite_url) as (process, log, archive, _clock):
            reported: list[object] = []
            asyncio.get_running_loop().set_exception_handler(
                lambda _, told: reported.append(told["exception"])
            )
            received: list[str] = []

            def raise_broken(run_id: str, events: Sequence[TraceEvent]) -> None:
                raise RuntimeError("broken")

            ctx = await process.begin_run("r1")
            log.on_written(raise_broken)
            remove = log.on_written(lambda run_id, events: received.append(run_id))
            for _ in range(2):
                process.tell(ctx)
                await asyncio.wait_for(log.flush(ctx), 10)
            assert received == ["r1", "r1"]
            remove()
            process.tell(ctx)
            await asyncio.wait_for(log.flush(ctx), 10)
            assert received == ["r1", "r1"]
            assert len(reported) == 3
            assert len(await archive.events("r1")) == 4

    asyncio.run(story())


def test_a_run_that_emits_more_than_may_wait_fails_at_its_flush_and_others_go_on(sqlite_url: str) -> None:
    """What had room is written without a gap; memory stays bounded."""

    async def story() -> None:
        async with a_process(sqlite_url, run_events_max=20) as (process, log, archive, _clock):
            loud, quiet = await process.begin_run("r1"), await process.begin_run("r2")
            for _ in range(500):
                process.tell(loud)
            process.tell(quiet)
            with pytest.raises(StoreFailure, match="too many events are waiting") as failure:
                await log.flush(loud)
            assert failure.value.kind is FailureKind.UNAVAILABLE
            await log.flush(quiet)
            seqs = [event.seq for event in await archive.events("r1")]
            assert seqs == list(range(1, len(seqs) + 1))
            assert 20 <= len(seqs) <= 21
            assert len(await archive.events("r2")) == 2

    asyncio.run(story())


def test_all_runs_together_may_hold_only_so_much(sqlite_url: str) -> None:
    """Runs that are never opened fill the bound; closing them frees it."""

    async def story() -> None:
        async with a_process(sqlite_url, events_max=30) as (process, log, _archive, _clock):
            open_runs = [process.open(f"h{number}") for number in range(5)]
            for ctx in open_runs:
                for _ in range(10):
                    process.tell(ctx)
            late = process.open("late")
            process.tell(late)
            log.open(late)
            with pytest.raises(StoreFailure, match="too many events are waiting"):
                await log.flush(late)
            for ctx in open_runs:
                log.close(ctx)
            await process.begin_run("r1")

    asyncio.run(story())


def test_one_run_whose_events_are_refused_stops_no_other(sqlite_url: str) -> None:
    """A batch that a single run breaks is written for all the others."""

    async def story() -> None:
        async with a_process(sqlite_url) as (process, log, archive, _clock):
            good, bad = await process.begin_run("r1"), await process.begin_run("r2")
            log.emit(_event("r2", 1))  # a seq that the log already has
            process.tell(good)
            await log.flush(good)
            with pytest.raises(StoreFailure):
                await log.flush(bad)
            assert len(await archive.events("r1")) == 2
            assert len(await archive.events("r2")) == 1

    asyncio.run(story())


def test_a_batch_whose_answer_was_lost_is_not_written_twice(sqlite_url: str) -> None:
    """The commit had been one; the writer looks before it writes again."""

    class Deaf(Database):
        """Loses the answer of the next commit."""

        deaf = False

        async def write(self, statements: Statements[T]) -> T:
            value = await super().write(statements)
            if self.deaf:
                self.deaf = False
                raise StoreFailure("lost", kind=FailureKind.TRANSPORT)
            return value

    async def story() -> None:
        clock = ManualClock()
        base = await Deaf.open(sqlite_url)
        assert isinstance(base, Deaf)
        log = SqlRunLog(base, owner="p", clock=clock)
        await log.start()
        core = DiagnosisHarnessCore(clock=clock, ids=CountingIds(), sink=log)
        process = Process("p", core, SqlRunStore(base, owner="p"), log, log, None)  # type: ignore[arg-type]  # no evidence
        reported: list[int] = []
        log.on_written(lambda run_id, events: reported.extend(event.seq for event in events))
        ctx = await process.begin_run("r1")
        await process.store.finish(ctx, a_success())
        process.tell(ctx)
        process.tell(ctx, TraceName.RUN_FINISHED)
        base.deaf = True
        flushed = asyncio.ensure_future(log.flush(ctx))
        while base.deaf:
            await asyncio.wait([flushed], timeout=0.01)
        while not flushed.done():
            clock.advance(1.0)
            await asyncio.wait([flushed], timeout=0.01)
        await flushed
        assert reported == [1, 2, 3]
        assert [event.seq for event in await SqlRunArchive(base).events("r1")] == [1, 2, 3]
        await log.stop()
        await base.close()

    asyncio.run(story())


def test_a_flush_waits_for_what_was_emitted_while_a_batch_was_written(sqlite_url: str) -> None:
    """The commit of the batch before says nothing of it."""

    class Gated(Database):
        """Writes when it is let."""

        gate: asyncio.Semaphore | None = None

        async def write(self, statements: Statements[T]) -> T:
            if self.gate is not None:
                await self.gate.acquire()
            return await super().write(statements)

    async def story() -> None:
        base = await Gated.open(sqlite_url)
        assert isinstance(base, Gated)
        clock = ManualClock()
        log = SqlRunLog(base, owner="p", clock=clock)
        await log.start()
        core = DiagnosisHarnessCore(clock=clock, ids=CountingIds(), sink=log)
        process = Process("p", core, SqlRunStore(base, owner="p"), log, log, None)  # type: ignore[arg-type]  # no evidence
        ctx = await process.begin_run("r1")
        base.gate = asyncio.Semaphore(0)
        process.tell(ctx)
        await asyncio.wait(
            [asyncio.ensure_future(log.flush(ctx))], timeout=0.05
        )  # its batch stands at the gate
        process.tell(ctx)
        flushed = asyncio.ensure_future(log.flush(ctx))
        notified = asyncio.Event()
        log.on_written(lambda run_id, events: notified.set())
        base.gate.release()
        await asyncio.wait_for(notified.wait(), 10)
        assert not flushed.done()
        base.gate.release()
        await asyncio.wait_for(flushed, 10)
        base.gate = None
        await log.stop()
        await base.close()

    asyncio.run(story())


def test_the_log_keeps_what_it_cannot_write_and_tries_again_by_the_clock(sqlite_url: str) -> None:
    """Not before its time, and without anybody asking."""

    async def story() -> None:
        async with a_process(sqlite_url, busy_timeout_s=0.02) as (process, log, archive, clock):
            ctx = await process.begin_run("r1")
            other = sqlite3.connect(sqlite_url.removeprefix("sqlite:///"), isolation_level=None)
            other.execute("BEGIN IMMEDIATE")
            process.tell(ctx)
            flushed = asyncio.ensure_future(log.flush(ctx))
            await asyncio.wait([flushed], timeout=0.2)
            other.execute("ROLLBACK")
            other.close()
            await asyncio.wait([flushed], timeout=0.1)
            assert not flushed.done()
            clock.advance(0.5)
            await asyncio.wait_for(flushed, 10)
            assert len(await archive.events("r1")) == 2

    asyncio.run(story())


def test_events_of_runs_that_are_closed_or_never_began_are_dropped(sqlite_url: str) -> None:
    """A late thread leaves nothing behind in memory."""

    async def story() -> None:
        async with a_process(sqlite_url) as (process, log, archive, _clock):
            ctx = await process.begin_run("r1")
            log.close(ctx)
            process.tell(ctx)
            log.emit(_event("never", 7))
            assert not log._runs
            assert log._pending_events == 0
            assert len(await archive.events("r1")) == 1
            with pytest.raises(ContractViolation):
                await log.flush(ctx)

    asyncio.run(story())


def test_stopping_writes_what_is_open(sqlite_url: str) -> None:
    """And an emit that comes after it raises nothing."""

    async def story() -> None:
        async with a_process(sqlite_url) as (process, log, archive, _clock):
            ctx = await process.begin_run("r1")
            process.tell(ctx)
            await log.stop()
            process.tell(ctx)
            assert len(await archive.events("r1")) == 2

    asyncio.run(story())


def _event(run_id: str, seq: int) -> TraceEvent:
    return TraceEvent(
        seq=seq,
        run_id=run_id,
        at_s=0.0,
        name=TraceName.TOOL_PROGRESS,
        phase=TracePhase.TOOL,
        status=TraceEventStatus.SUCCEEDED,
        payload=MappingProxyType({}),
    )
