"""Streams in numbers: many at once, many that vanish at any moment, ends that race on connections."""

from __future__ import annotations

import asyncio
from pathlib import Path

import numpy as np
import pytest
from tests.support.streaming_server import EventClient, StreamServer, Wait, streaming

from diagnosis_harness.application.callers.caller import LOCAL
from diagnosis_harness.application.runs.row import RunRow, RunStatus
from diagnosis_harness.application.runs.store import RunQuery
from diagnosis_harness.harness.termination import CancellationReason, RunState
from diagnosis_harness.release.outcome import ReleaseOutcome
from diagnosis_harness.trace.event import TraceName

pytestmark = pytest.mark.proof


async def all_rows(it: StreamServer) -> list[RunRow]:
    """Every row that is kept."""
    rows: list[RunRow] = []
    mark: str | None = None
    while True:
        page = await it.service.stores.archive.runs(RunQuery(limit=500, before=mark))
        rows += page.rows
        if (mark := page.next) is None:
            return rows


async def nothing_is_left(it: StreamServer) -> None:
    """No run, stream or tail, and no task beyond those of the server itself."""
    await it.still()
    assert not it.streams.hub._tails
    while True:
        names = {task.get_name().partition("-")[0] for task in asyncio.all_tasks()}
        if "chat" not in names:
            break
        await Wait.moment()
    assert await it.service.stores.archive.count_unfinished(LOCAL.name) == 0


def test_many_streams_at_once_all_complete(tmp_path: Path, scale: float) -> None:
    """500 chats at the same time in one process: each its own events, whole and in order."""
    count = round(500 * scale)

    async def one(it: StreamServer, number: int) -> EventClient:
        client = await it.ask(f"{number % 7 + 1}/5", session_id=f"ses-{number}")
        await client.rest()
        await client.close()
        return client

    async def whole() -> None:
        async with streaming(tmp_path, finalise_timeout_s=120.0) as it:
            clients = await asyncio.gather(*(one(it, number) for number in range(count)))
            for number, client in enumerate(clients):
                stages = number % 7 + 1
                assert client.names() == ["metadata", *["status"] * (stages + 1), "content", "done"]
                assert client.events[0].data["session_id"] == f"ses-{number}"
                assert client.events[-2].data["session_id"] == f"ses-{number}"
            assert len({client.events[0].data["run_id"] for client in clients}) == count
            await nothing_is_left(it)

    asyncio.run(whole())


def test_clients_that_vanish_at_any_time_leave_nothing(tmp_path: Path, scale: float) -> None:
    """1,000 of them: every run CANCELLED or finished, slots freed, no task left, no row RUNNING."""
    count, at_once = round(1_000 * scale), asyncio.Semaphore(40)
    moments = np.random.default_rng(4).uniform(0.0, 0.25, size=count)

    async def one(it: StreamServer, number: int) -> None:
        async with at_once:
            opening = asyncio.create_task(it.ask("6/10", session_id=f"ses-{number}"))
            if number % 10 == 0:  # this one stays
                await (await opening).rest()
                opening.result().vanish()
                return
            await Wait.seconds(moments[number])
            if not opening.done():  # it goes before the head has come
                opening.cancel()
                await asyncio.gather(opening, return_exceptions=True)
                return
            client = opening.result()
            reading = asyncio.create_task(client.rest())
            await Wait.seconds(moments[-number])
            client.vanish()
            await reading

    async def whole() -> None:
        async with streaming(tmp_path, finalise_timeout_s=120.0) as it:
            await asyncio.gather(*(one(it, number) for number in range(count)))
            await nothing_is_left(it)
            rows = await all_rows(it)
            kept = {(row.status, row.ending.state if row.ending else None) for row in rows}
            assert kept <= {
                (RunStatus.CANCELLED, RunState.CANCELLED),
                (RunStatus.SUCCESS, RunState.SUCCESS),
            }
            assert {RunStatus.CANCELLED, RunStatus.SUCCESS} == {status for status, _ in kept}
            assert all(row.is_closed for row in rows)

    asyncio.run(whole())


def test_a_disconnect_and_a_finish_that_race_end_one_way(tmp_path: Path, scale: float) -> None:
    """The first end is kept, in memory and in the row; a CANCELLED client gets no content."""
    rounds = round(300 * scale)
    moments = np.random.default_rng(5).uniform(-0.003, 0.003, size=rounds)

    async def one(it: StreamServer, delay_s: float) -> tuple[RunRow, list[str]]:
        it.path.go.clear()
        client = await it.ask("1")
        await client.until("status", 2)
        run_id = await it.path.entered.get()
        reading = asyncio.create_task(client.rest())
        first, second = (it.path.go.set, client.vanish) if delay_s > 0 else (client.vanish, it.path.go.set)
        first()
        await Wait.seconds(abs(delay_s))
        second()
        await reading
        await it.still()
        row = await it.service.stores.archive.run(run_id)
        assert row is not None
        return row, client.names()

    async def whole() -> None:
        seen = set()
        async with streaming(tmp_path) as it:
            for delay_s in moments:
                row, names = await one(it, delay_s)
                assert row.ending is not None
                outcome, termination = row.ending.outcome, row.ending.termination
                seen.add(outcome)
                if outcome is ReleaseOutcome.CANCELLED:
                    assert termination.reason is CancellationReason.CLIENT_DISCONNECTED
                    assert row.ending.answer is None
                    assert "content" not in names
                else:
                    assert (outcome, termination.state) == (ReleaseOutcome.SUCCESS, RunState.SUCCESS)
                logged = [event.name for event in await it.service.stores.archive.events(row.run_id)]
                assert (logged.count(TraceName.RUN_ENDED), logged.count(TraceName.RUN_FINISHED)) == (1, 1)
        assert seen == {ReleaseOutcome.SUCCESS, ReleaseOutcome.CANCELLED}

    asyncio.run(whole())


def test_a_deadline_and_a_finish_that_race_are_reported_as_they_ended(tmp_path: Path, scale: float) -> None:
    """A late success never replaces TIMED_OUT: the stream ends as the row does."""
    rounds = round(200 * scale)
    limits = np.random.default_rng(6).uniform(0.02, 0.06, size=rounds)

    async def one(it: StreamServer, limit_s: float) -> tuple[RunRow, EventClient]:
        client = await it.ask("1/40", limit_s=float(limit_s))
        await client.rest()
        row = await it.service.stores.archive.run(client.events[0].data["run_id"])
        assert row is not None
        await client.close()
        return row, client

    async def whole() -> None:
        seen = set()
        async with streaming(tmp_path) as it:
            for limit_s in limits:
                row, client = await one(it, limit_s)
                assert row.ending is not None
                seen.add(row.ending.state)
                result, done = client.events[-2:]
                if row.ending.state is RunState.SUCCESS:
                    assert (result.name, done.data["outcome"]) == ("content", "SUCCESS")
                else:
                    assert row.ending.state is RunState.TIMED_OUT
                    assert row.ending.answer is None
                    assert (result.name, result.data["state"]) == ("failure", "TIMED_OUT")
                    assert done.data["outcome"] == "FAILED"
        assert seen == {RunState.SUCCESS, RunState.TIMED_OUT}

    asyncio.run(whole())
