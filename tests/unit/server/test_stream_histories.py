"""Any history of a watched run: every client ends with every event of the log once, in order."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Coroutine
from typing import Any, TypeVar

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule
from tests.support.watched_hub import IDS, RUN, Client, Table, expect_events

from diagnosis_harness.release.outcome import ReleaseOutcome
from diagnosis_harness.server.sse_session import SseState
from diagnosis_harness.trace.event import TraceName

T = TypeVar("T")


class Histories(RuleBasedStateMachine):
    """Events of this process and of others, slow readers, breaks, a store that is away: in any order."""

    def __init__(self) -> None:
        super().__init__()
        self.loop = asyncio.new_event_loop()
        self.table = Table()
        self.clients: list[Client] = []
        self.is_finished = False
        self.going = self.table.hub.serving()
        self.run(self.going.__aenter__())

    def run(self, work: Coroutine[Any, Any, T] | Awaitable[T]) -> T:
        """Do this in the loop."""
        return self.loop.run_until_complete(work)

    @rule(
        names=st.lists(st.sampled_from([TraceName.STATUS, TraceName.LLM_CALL]), min_size=1, max_size=9),
        notified=st.booleans(),
        at_once=st.booleans(),
    )
    def write(self, names: list[TraceName], notified: bool, at_once: bool) -> None:
        """Events are written, by this process or by another one."""
        if not self.is_finished:
            self.table.log.write(RUN, names, notified=notified, at_once=at_once)

    @rule()
    def tell(self) -> None:
        """The feed reports what is pending; a reader may have read it in the log meanwhile."""
        self.table.log.tell()

    @precondition(lambda self: not self.is_finished and len(self.table.log.logs.get(RUN, ())) > 9)
    @rule(outcome=st.sampled_from(ReleaseOutcome), notified=st.booleans())
    def finish(self, outcome: ReleaseOutcome, notified: bool) -> None:
        """The run ends."""
        self.table.log.finish(RUN, outcome, session_id=IDS.session_id, notified=notified)
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
            assert got == expect_events(self.table, with_trace=client.with_trace)[: len(got)]

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
            self.run(self._end())
        finally:
            self.loop.close()

    async def _end(self) -> None:
        self.table.log.is_away = False
        if not self.is_finished:
            self.table.log.finish(RUN, ReleaseOutcome.SUCCESS, session_id=IDS.session_id, notified=True)
        for client in self.clients:
            for _ in range(40):  # less than a heartbeat's time: nothing else wakes a reader
                if client.names[-1:] == ["done"]:
                    break
                if not await client.read():
                    await self.table.passes(0.25)
            got = [(event.id, event.name) for event in client.got]
            assert got == expect_events(self.table, with_trace=client.with_trace)
            await client.leaves()
        await self.going.__aexit__(None, None, None)


TestHistories = Histories.TestCase
