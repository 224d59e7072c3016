"""What a hub does for its readers: one frame for all, no buffer for the slow, the log for the rest."""

from __future__ import annotations

import asyncio
from contextlib import ExitStack

import pytest
from tests.support.streaming_server import Parser
from tests.support.watched_hub import IDS, RUN, SETTINGS, Client, Table, let_tasks_run, play

from diagnosis_harness.release.outcome import ReleaseOutcome
from diagnosis_harness.server.event_id import EventId
from diagnosis_harness.server.sse_session import RunIds, SseState
from diagnosis_harness.server.watch import WatchPlan
from diagnosis_harness.testing.runs import Rig
from diagnosis_harness.trace.event import TraceName


def test_what_is_framed_is_framed_once_for_all() -> None:
    """A hundred readers share the bytes of an event; nothing of it is held for each of them."""

    async def work(table: Table) -> None:
        with ExitStack() as stack:
            plan = WatchPlan(ids=IDS)
            watches = [stack.enter_context(table.hub.watching(plan)) for _ in range(100)]
            table.log.write(RUN, (TraceName.RUN_STARTED,), notified=True)
            chunks = [[await watch.next(), await watch.next()][1] for watch in watches]
            assert all(chunk == chunks[0] for chunk in chunks)
            frames = table.hub._tails[RUN].after(0)
            assert frames is not None
            assert frames[0].data is frames[0].data

    play(work)


def test_a_slow_reader_is_not_buffered_for() -> None:
    """However much is written meanwhile, only the tail is held; it gets all the same every event."""

    async def work(table: Table) -> None:
        client = Client(table, with_trace=True)
        await client.read()
        for _ in range(1_000):
            table.log.write(RUN, (TraceName.LLM_CALL,), notified=True)
        tail = table.hub._tails[RUN]
        assert tail.last_seq == 1_000
        assert len(tail._frames) < 2 * SETTINGS.tail_events
        while await client.read():
            pass
        assert [event.id for event in client.got] == ["0.0", *(f"{seq}.0" for seq in range(1, 1_001))]
        await client.leaves()

    play(work)


def test_what_was_looked_up_before_it_was_reported_comes_once() -> None:
    """The poller and the feed may both deliver an event; the log may have delivered it before either."""

    async def work(table: Table) -> None:
        client = Client(table, with_trace=True)
        assert await client.read()
        assert not await client.read()
        table.log.write(RUN, (TraceName.LLM_CALL,) * 2, notified=True, at_once=False)
        await table.passes(0.25)
        table.log.tell()
        table.log.write(RUN, (TraceName.LLM_CALL,), notified=True)
        for _ in range(9):
            await client.read()
        assert [event.id for event in client.got] == ["0.0", "1.0", "2.0", "3.0"]
        await client.leaves()

    play(work)


def test_what_another_process_wrote_in_between_is_not_skipped() -> None:
    """The feed reports events with a gap before them: the log fills the gap."""

    async def work(table: Table) -> None:
        client = Client(table, with_trace=True)
        table.log.write(RUN, (TraceName.RUN_STARTED,), notified=True)
        while await client.read():
            pass
        table.log.write(RUN, (TraceName.LLM_CALL,) * 2, notified=False)
        table.log.write(RUN, (TraceName.LLM_CALL,), notified=True)
        while await client.read():
            pass
        assert [event.id for event in client.got] == ["0.0", "1.0", "2.0", "3.0", "4.0"]
        await client.leaves()

    play(work)


def test_a_store_that_is_unavailable_holds_a_stream_up_and_no_more() -> None:
    """The client keeps its connection; at the next look after the store came back it goes on."""

    async def work(table: Table) -> None:
        table.log.write(RUN, (TraceName.RUN_STARTED,), notified=False)
        table.log.is_away = True
        client = Client(table, with_trace=True)
        assert await client.read()
        assert not await client.read()
        await table.passes(0.25)
        assert not await client.read()
        table.log.is_away = False
        await table.passes(0.25)
        assert await client.read()
        assert client.names == ["metadata", "trace"]
        await client.leaves()

    play(work)


def test_a_look_that_goes_wrong_ends_no_stream(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """It is logged by its kind, without what it says, and the next look is made."""

    async def work(table: Table) -> None:
        table.log.write(RUN, (TraceName.RUN_STARTED,), notified=False)
        client = Client(table, with_trace=True)
        for _ in range(3):
            await client.read()
        with monkeypatch.context() as patched:
            patched.setattr(table.active, "get", _goes_wrong)
            patched.setattr(client.watch, "beat", _goes_wrong)
            await table.passes(15.0)
        table.log.write(RUN, (TraceName.LLM_CALL,), notified=False)
        await table.passes(0.25)
        assert await client.read()
        assert client.names == ["metadata", "trace", "trace"]
        assert not await client.read()
        await table.passes(15.0)
        await table.passes(15.0)
        assert await client.read()
        await client.leaves()

    play(work)
    assert {record.getMessage() for record in caplog.records} == {
        "stream-poll failed: ZeroDivisionError",
        "stream-heartbeat failed: ZeroDivisionError",
    }
    assert "hunter2" not in caplog.text


SECRET = "hunter2"  # noqa: S105 - what must not be shown


def _goes_wrong(*_: object) -> None:
    raise ZeroDivisionError(SECRET)


def test_a_run_of_this_process_is_not_looked_up() -> None:
    """Its events come by the feed; the store is read once, for what was written before."""

    async def work(table: Table) -> None:
        ctx = Rig().run()
        ids = RunIds(ctx.session_id, ctx.run_id)
        with table.active.track(ctx), table.hub.watching(WatchPlan(ids=ids)) as watch:
            assert await watch.next()
            reading = asyncio.create_task(watch.next())
            for _ in range(5):
                await table.passes(0.25)
            assert table.log.read == 1
            table.log.write(ctx.run_id, (TraceName.RUN_STARTED,), notified=True)
            assert b"RUN_STARTED" in await reading

    play(work)


def test_one_timer_keeps_quiet_streams_awake() -> None:
    """A comment each 15 seconds for those that had nothing to send, and none for those that had."""

    async def work(table: Table) -> None:
        other = RunIds("ses-2", "run-2")
        with (
            table.hub.watching(WatchPlan(ids=IDS)) as quiet,
            table.hub.watching(WatchPlan(ids=other)) as busy,
        ):
            await quiet.next()
            await busy.next()
            reading, other_reading = asyncio.create_task(quiet.next()), asyncio.create_task(busy.next())
            await table.passes(14.0)
            table.log.write(other.run_id, (TraceName.LLM_CALL,), notified=True)
            assert b"trace" in await other_reading
            other_reading = asyncio.create_task(busy.next())
            await table.passes(1.0)
            assert await reading == b": hb\n\n"
            assert not other_reading.done()
            await table.passes(15.0)
            assert await other_reading == b": hb\n\n"

    play(work)


@pytest.mark.parametrize("when", ["before", "after"])
def test_a_hub_that_closes_ends_its_streams(when: str) -> None:
    """Those that are open and those that come; they end without a `done`, since the run goes on."""

    async def work(table: Table) -> None:
        if when == "before":
            table.hub.close()
        with table.hub.watching(WatchPlan(ids=IDS)) as watch:
            assert b"metadata" in await watch.next()
            reading = asyncio.create_task(watch.next())
            await let_tasks_run()
            table.hub.close()
            assert await reading == b""
            assert watch.session.state is SseState.OPEN
        assert len(table.hub) == 0

    play(work)


def test_a_resumed_reader_may_be_owed_the_second_half_of_an_end() -> None:
    """Content came and `done` did not: that alone is sent."""

    async def work(table: Table) -> None:
        table.log.write(RUN, (TraceName.RUN_STARTED, TraceName.STATUS), notified=True)
        table.log.finish(RUN, ReleaseOutcome.SUCCESS, session_id=IDS.session_id, notified=True)
        with table.hub.watching(WatchPlan(ids=IDS, after=EventId(3))) as watch:
            came = Parser()
            assert came.feed(await watch.next()) == []
            assert [(each.id, each.name) for each in came.feed(await watch.next())] == [("3.1", "done")]
            assert await watch.next() == b""

    play(work)
