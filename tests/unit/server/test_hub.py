"""Any history of a watched run: every client ends with every event of the log once, in order."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import Any, TypeVar, cast

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule
from tests.streamed import Parser, Received

from diagnosis_harness.application.active_runs import ActiveRuns
from diagnosis_harness.application.run_store import RunArchive
from diagnosis_harness.release.outcome import ReleaseOutcome
from diagnosis_harness.server.event_id import METADATA_ID, EventId, read_event_id
from diagnosis_harness.server.hub import HubSettings, StreamHub
from diagnosis_harness.server.sse_session import RunIds, SseState
from diagnosis_harness.server.watch import Watch, WatchPlan
from diagnosis_harness.testing.clock import ManualClock
from diagnosis_harness.testing.runs import Rig
from diagnosis_harness.testing.scripted_log import ScriptedLog
from diagnosis_harness.trace.event import TraceName

IDS = RunIds("ses-1", "run-1")
RUN = IDS.run_id
SETTINGS = HubSettings(heartbeat_s=15.0, poll_s=0.25, tail_events=3)
T = TypeVar("T")


async def turned(count: int = 6) -> None:
    """Let whatever can go on go on."""
    for _ in range(count):
        waiting: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        asyncio.get_running_loop().call_soon(waiting.set_result, None)
        await waiting


@dataclass(slots=True)
class Table:
    """A hub over a log that the test writes."""

    clock: ManualClock = field(default_factory=ManualClock)
    log: ScriptedLog = field(default_factory=ScriptedLog)
    active: ActiveRuns = field(default_factory=ActiveRuns)
    hub: StreamHub = field(init=False)

    def __post_init__(self) -> None:
        self.hub = StreamHub(
            feed=self.log,
            archive=cast("RunArchive", self.log),
            active=self.active,
            clock=self.clock,
            settings=SETTINGS,
        )

    async def passes(self, seconds: float) -> None:
        """Time goes by, and what it wakes does its work."""
        await turned()
        self.clock.advance(seconds)
        await turned(12)


class Client:
    """A client over several connections, which remembers the last id that it has seen."""

    def __init__(self, table: Table, *, with_trace: bool) -> None:
        self.table = table
        self.with_trace = with_trace
        self.got: list[Received] = []  # over all connections
        self.here: list[Received] = []  # on this one
        self._open = ExitStack()
        self._reading: asyncio.Task[bytes] | None = None
        self.watch = self._connected()

    def _connected(self) -> Watch:
        after = read_event_id(self.got[-1].id) if self.got else None
        self.here, self.parser = [], Parser()
        return self._open.enter_context(
            self.table.hub.watching(WatchPlan(ids=IDS, after=after, with_trace=self.with_trace))
        )

    async def read(self, *, keeps: int | None = None) -> bool:
        """Take what there is; with `keeps`, the connection breaks after so many of its events.

        Returns:
            Whether anything came.
        """
        if self._reading is None:
            self._reading = asyncio.create_task(self.watch.next())
        await turned()
        if not self._reading.done():
            return False
        chunk, self._reading = self._reading.result(), None
        came = self.parser.feed(chunk)[:keeps]
        self.got += came
        self.here += came
        return bool(chunk)

    async def comes_again(self) -> None:
        """Lose the connection, and come back after the last event that was seen."""
        await self.leaves()
        if self.names[-1:] != ["done"]:
            self.watch = self._connected()

    async def leaves(self) -> None:
        """Go."""
        self.watch.lost()
        if self._reading is not None:
            await self._reading
            self._reading = None
        self._open.close()

    @property
    def names(self) -> list[str]:
        """Names of what came, over all connections."""
        return [event.name for event in self.got]


def expected(table: Table, *, with_trace: bool) -> list[tuple[str, str]]:
    """What one client gets in the end: worked out from the log alone."""
    told = [(str(METADATA_ID), "metadata")]
    for event in table.log.logs.get(RUN, ()):
        if event.name is TraceName.STATUS:
            told.append((f"{event.seq}.0", "status"))
        elif event.name is TraceName.RUN_FINISHED:
            ending = table.log.rows[RUN].ending
            assert ending is not None
            result = "content" if ending.failure is None else "failure"
            told += [(f"{event.seq}.0", result), (f"{event.seq}.1", "done")]
        elif with_trace:
            told.append((f"{event.seq}.0", "trace"))
    return told


class Histories(RuleBasedStateMachine):
    """Events of this process and of others, slow readers, breaks, a store that is away: in any order."""

    def __init__(self) -> None:
        super().__init__()
        self.loop = asyncio.new_event_loop()
        self.table = Table()
        self.clients: list[Client] = []
        self.is_finished = False
        self.going = self.table.hub.going()
        self.run(self.going.__aenter__())

    def run(self, work: Coroutine[Any, Any, T] | Awaitable[T]) -> T:
        """Do this in the loop."""
        return self.loop.run_until_complete(work)

    @rule(
        names=st.lists(st.sampled_from([TraceName.STATUS, TraceName.LLM_CALL]), min_size=1, max_size=9),
        told=st.booleans(),
        at_once=st.booleans(),
    )
    def write(self, names: list[TraceName], told: bool, at_once: bool) -> None:
        """Events are written, by this process or by another one."""
        if not self.is_finished:
            self.table.log.write(RUN, names, told=told, at_once=at_once)

    @rule()
    def tell(self) -> None:
        """The feed tells what it has not told yet; a reader may have read it in the log meanwhile."""
        self.table.log.tell()

    @precondition(lambda self: not self.is_finished and len(self.table.log.logs.get(RUN, ())) > 9)
    @rule(outcome=st.sampled_from(ReleaseOutcome), told=st.booleans())
    def finish(self, outcome: ReleaseOutcome, told: bool) -> None:
        """The run ends."""
        self.table.log.finish(RUN, outcome, session_id=IDS.session_id, told=told)
        self.is_finished = True

    @rule(with_trace=st.booleans())
    def come(self, with_trace: bool) -> None:
        """A client."""
        if len(self.clients) < 4:
            self.run(self._come(with_trace))

    async def _come(self, with_trace: bool) -> None:
        self.clients.append(Client(self.table, with_trace=with_trace))

    @precondition(lambda self: self.clients)
    @rule(data=st.data())
    def read(self, data: st.DataObject) -> None:
        """One of them reads once."""
        self.run(data.draw(st.sampled_from(self.clients)).read())

    @precondition(lambda self: self.clients)
    @rule(data=st.data(), keeps=st.integers(0, 3))
    def breaks(self, data: st.DataObject, keeps: int) -> None:
        """One of them loses its connection in the middle of what was sent, and comes again."""
        client = data.draw(st.sampled_from(self.clients))
        self.run(client.read(keeps=keeps))
        self.run(client.comes_again())

    @rule(away=st.booleans())
    def store(self, away: bool) -> None:
        """The store goes away, or comes back."""
        self.table.log.is_away = away

    @rule(seconds=st.sampled_from([0.25, 1.0, 15.0]))
    def time(self, seconds: float) -> None:
        """Time goes by."""
        self.run(self.table.passes(seconds))

    @invariant()
    def nothing_is_missed_or_told_twice(self) -> None:
        """What a client has is a beginning of what it is to get."""
        for client in self.clients:
            got = [(event.id, event.name) for event in client.got]
            assert got == expected(self.table, with_trace=client.with_trace)[: len(got)]

    @invariant()
    def a_connection_has_one_end(self) -> None:
        """At most one content or failure and one done (IV-02), and nothing after done."""
        for client in self.clients:
            names = [event.name for event in client.here]
            assert names.count("content") + names.count("failure") <= 1
            assert names.count("done") <= 1
            assert "done" not in names[:-1]
            assert (names[-1:] == ["done"]) <= (client.watch.session.state is SseState.TERMINAL)

    def teardown(self) -> None:
        """In the end everybody has everything."""
        try:
            self.run(self._ended())
        finally:
            self.loop.close()

    async def _ended(self) -> None:
        self.table.log.is_away = False
        if not self.is_finished:
            self.table.log.finish(RUN, ReleaseOutcome.SUCCESS, session_id=IDS.session_id, told=True)
        for client in self.clients:
            for _ in range(40):  # less than a heartbeat's time: nothing else wakes a reader
                if client.names[-1:] == ["done"]:
                    break
                if not await client.read():
                    await self.table.passes(0.25)
            got = [(event.id, event.name) for event in client.got]
            assert got == expected(self.table, with_trace=client.with_trace)
            await client.leaves()
        await self.going.__aexit__(None, None, None)


TestHistories = Histories.TestCase


def played(work: Callable[[Table], Coroutine[Any, Any, None]]) -> None:
    """Run a test of one hub in a loop of its own."""

    async def whole() -> None:
        table = Table()
        async with table.hub.going():
            await work(table)

    asyncio.run(whole())


def test_what_is_framed_is_framed_once_for_all() -> None:
    """A hundred readers share the bytes of an event; nothing of it is held for each of them."""

    async def work(table: Table) -> None:
        with ExitStack() as stack:
            plan = WatchPlan(ids=IDS)
            watches = [stack.enter_context(table.hub.watching(plan)) for _ in range(100)]
            table.log.write(RUN, (TraceName.RUN_STARTED,), told=True)
            chunks = [[await watch.next(), await watch.next()][1] for watch in watches]
            assert all(chunk == chunks[0] for chunk in chunks)
            frames = table.hub._tails[RUN].after(0)
            assert frames is not None
            assert frames[0].data is frames[0].data

    played(work)


def test_a_slow_reader_is_not_buffered_for() -> None:
    """However much is written meanwhile, only the tail is held; it gets all the same every event."""

    async def work(table: Table) -> None:
        client = Client(table, with_trace=True)
        await client.read()
        for _ in range(1_000):
            table.log.write(RUN, (TraceName.LLM_CALL,), told=True)
        held = table.hub._tails[RUN]
        assert held.last_seq == 1_000
        assert len(held._frames) < 2 * SETTINGS.tail_events
        while await client.read():
            pass
        assert [event.id for event in client.got] == ["0.0", *(f"{seq}.0" for seq in range(1, 1_001))]
        await client.leaves()

    played(work)


def test_what_was_looked_up_before_it_was_told_comes_once() -> None:
    """The poller and the feed may both bring an event; the log may have brought it before either."""

    async def work(table: Table) -> None:
        client = Client(table, with_trace=True)
        assert await client.read()
        assert not await client.read()
        table.log.write(RUN, (TraceName.LLM_CALL,) * 2, told=True, at_once=False)
        await table.passes(0.25)
        table.log.tell()
        table.log.write(RUN, (TraceName.LLM_CALL,), told=True)
        for _ in range(9):
            await client.read()
        assert [event.id for event in client.got] == ["0.0", "1.0", "2.0", "3.0"]
        await client.leaves()

    played(work)


def test_what_another_process_wrote_in_between_is_not_skipped() -> None:
    """The feed tells of events that do not follow those that are known: the log fills the gap."""

    async def work(table: Table) -> None:
        client = Client(table, with_trace=True)
        table.log.write(RUN, (TraceName.RUN_STARTED,), told=True)
        while await client.read():
            pass
        table.log.write(RUN, (TraceName.LLM_CALL,) * 2, told=False)
        table.log.write(RUN, (TraceName.LLM_CALL,), told=True)
        while await client.read():
            pass
        assert [event.id for event in client.got] == ["0.0", "1.0", "2.0", "3.0", "4.0"]
        await client.leaves()

    played(work)


def test_a_store_that_is_away_holds_a_stream_up_and_no_more() -> None:
    """The client keeps its connection; at the next look after the store came back it goes on."""

    async def work(table: Table) -> None:
        table.log.write(RUN, (TraceName.RUN_STARTED,), told=False)
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

    played(work)


def test_a_run_of_this_process_is_not_looked_up() -> None:
    """Its events come by the feed; the store is read once, for what was written before."""

    async def work(table: Table) -> None:
        ctx = Rig().run()
        ids = RunIds(ctx.session_id, ctx.run_id)
        with table.active.held(ctx), table.hub.watching(WatchPlan(ids=ids)) as watch:
            assert await watch.next()
            reading = asyncio.create_task(watch.next())
            for _ in range(5):
                await table.passes(0.25)
            assert table.log.read == 1
            table.log.write(ctx.run_id, (TraceName.RUN_STARTED,), told=True)
            assert b"RUN_STARTED" in await reading

    played(work)


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
            table.log.write(other.run_id, (TraceName.LLM_CALL,), told=True)
            assert b"trace" in await other_reading
            other_reading = asyncio.create_task(busy.next())
            await table.passes(1.0)
            assert await reading == b": hb\n\n"
            assert not other_reading.done()
            await table.passes(15.0)
            assert await other_reading == b": hb\n\n"

    played(work)


@pytest.mark.parametrize("when", ["before", "after"])
def test_a_hub_that_closes_ends_its_streams(when: str) -> None:
    """Those that are open and those that come; they end without a `done`, since the run goes on."""

    async def work(table: Table) -> None:
        if when == "before":
            table.hub.close()
        with table.hub.watching(WatchPlan(ids=IDS)) as watch:
            assert b"metadata" in await watch.next()
            reading = asyncio.create_task(watch.next())
            await turned()
            table.hub.close()
            assert await reading == b""
            assert watch.session.state is SseState.OPEN
        assert len(table.hub) == 0

    played(work)


def test_a_resumed_reader_may_be_owed_the_second_half_of_an_end() -> None:
    """Content came and `done` did not: that alone is sent."""

    async def work(table: Table) -> None:
        table.log.write(RUN, (TraceName.RUN_STARTED, TraceName.STATUS), told=True)
        table.log.finish(RUN, ReleaseOutcome.SUCCESS, session_id=IDS.session_id, told=True)
        with table.hub.watching(WatchPlan(ids=IDS, after=EventId(3))) as watch:
            came = Parser()
            assert came.feed(await watch.next()) == []
            assert [(each.id, each.name) for each in came.feed(await watch.next())] == [("3.1", "done")]
            assert await watch.next() == b""

    played(work)
