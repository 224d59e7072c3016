"""A hub over a log that a test writes, and clients that lose their connections and come again."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import Any, cast

from tests.support.scripted_log import ScriptedLog
from tests.support.streaming_server import Parser, Received

from diagnosis_harness.application.runs.active import ActiveRuns
from diagnosis_harness.application.runs.store import RunArchive
from diagnosis_harness.server.event_id import METADATA_ID, read_event_id
from diagnosis_harness.server.sse_session import RunIds
from diagnosis_harness.server.stream_hub import HubSettings, StreamHub
from diagnosis_harness.server.watch import Watch, WatchPlan
from diagnosis_harness.testing.clock import ManualClock
from diagnosis_harness.trace.event import TraceName

IDS = RunIds("ses-1", "run-1")
RUN = IDS.run_id
SETTINGS = HubSettings(heartbeat_s=15.0, poll_s=0.25, tail_events=3)


async def let_tasks_run(count: int = 6) -> None:
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
        await let_tasks_run()
        self.clock.advance(seconds)
        await let_tasks_run(12)


class Client:
    """A client over several connections, which remembers the last id that it has seen."""

    def __init__(self, table: Table, *, with_trace: bool) -> None:
        self.table = table
        self.with_trace = with_trace
        self.got: list[Received] = []  # over all connections
        self.here: list[Received] = []  # on this one
        self._open = ExitStack()
        self._reading: asyncio.Task[bytes] | None = None
        self.watch = self._connect()

    def _connect(self) -> Watch:
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
        await let_tasks_run()
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
            self.watch = self._connect()

    async def leaves(self) -> None:
        """Go."""
        self.watch.disconnect()
        if self._reading is not None:
            await self._reading
            self._reading = None
        self._open.close()

    @property
    def names(self) -> list[str]:
        """Names of what came, over all connections."""
        return [event.name for event in self.got]


def expect_events(table: Table, *, with_trace: bool) -> list[tuple[str, str]]:
    """What one client gets in the end: worked out from the log alone."""
    expected = [(str(METADATA_ID), "metadata")]
    for event in table.log.logs.get(RUN, ()):
        if event.name is TraceName.STATUS:
            expected.append((f"{event.seq}.0", "status"))
        elif event.name is TraceName.RUN_FINISHED:
            ending = table.log.rows[RUN].ending
            assert ending is not None
            result = "content" if ending.failure is None else "failure"
            expected += [(f"{event.seq}.0", result), (f"{event.seq}.1", "done")]
        elif with_trace:
            expected.append((f"{event.seq}.0", "trace"))
    return expected


def play(work: Callable[[Table], Coroutine[Any, Any, None]]) -> None:
    """Run a test of one hub in a loop of its own."""

    async def whole() -> None:
        table = Table()
        async with table.hub.serving(), asyncio.timeout(20):
            await work(table)

    asyncio.run(whole())
