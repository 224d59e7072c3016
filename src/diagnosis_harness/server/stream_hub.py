"""Passes events written to the logs of runs to their watchers: stored first, then streamed from the log.

Events that this process writes arrive by its feed. For queued runs and runs of other processes, one poller
reads the logs. One timer sends the heartbeats of all streams.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from functools import partial

from diagnosis_harness.application.runs.active import ActiveRuns
from diagnosis_harness.application.runs.row import RunRow
from diagnosis_harness.application.runs.store import RunArchive, RunFeed
from diagnosis_harness.harness.termination import CancellationReason
from diagnosis_harness.harness.waiting import call_on_loop, sleep
from diagnosis_harness.kernel.clock import Clock
from diagnosis_harness.kernel.errors import StoreFailure
from diagnosis_harness.server.error_log import log_unexpected_error
from diagnosis_harness.server.event_buffer import EventBuffer
from diagnosis_harness.server.watch import Watch, WatchPlan
from diagnosis_harness.trace.event import TraceEvent

_LOG = logging.getLogger("diagnosis_harness.streams")


@contextmanager
def _keep_going(task: str) -> Iterator[None]:
    """A boundary that may catch every exception: a failed round must not end a loop of all streams."""
    try:
        yield
    except Exception as error:  # noqa: BLE001 - a boundary: it is logged, and the loop continues
        log_unexpected_error(_LOG, task, error)


@dataclass(frozen=True, slots=True, kw_only=True)
class HubSettings:
    """Times and sizes.

    Attributes:
        poll_s: how often the logs of other processes' runs are read.
        tail_events: events of one run that are buffered at least for all its readers; at most twice as many
            are.
    """

    heartbeat_s: float = 15.0
    poll_s: float = 0.25
    tail_events: int = 200


class StreamHub:
    """One for each process; used from one event loop, inside `serving`."""

    def __init__(
        self, *, feed: RunFeed, archive: RunArchive, active: ActiveRuns, clock: Clock, settings: HubSettings
    ) -> None:
        self._feed = feed
        self._archive = archive
        self._active = active
        self._clock = clock
        self._settings = settings
        self._tails: dict[str, EventBuffer] = {}
        self._watches: set[Watch] = set()
        self._poll_now = asyncio.Event()
        self._is_closing = False

    def __len__(self) -> int:
        return len(self._watches)

    @asynccontextmanager
    async def serving(self) -> AsyncIterator[None]:
        """Serve streams for the duration of the body, and close the remaining ones at its end."""
        unsubscribe = self._feed.on_written(self.take_events)
        tasks = [
            asyncio.create_task(self._send_heartbeats(), name="stream-heartbeat"),
            asyncio.create_task(self._poll_logs(), name="stream-poll"),
        ]
        try:
            yield
        finally:
            self.close()
            unsubscribe()
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    @contextmanager
    def watching(
        self, plan: WatchPlan, cancels: Callable[[CancellationReason], None] | None = None
    ) -> Iterator[Watch]:
        """A reader of a run's stream, for the duration of the body."""
        with self._hold_buffer(plan.ids.run_id) as tail:
            watch = Watch(plan, tail, self._archive, wants_row=lambda: self._want_row(tail), cancels=cancels)
            tail.wakers.add(watch.wake)
            self._watches.add(watch)
            if self._is_closing:
                watch.close()
            try:
                yield watch
            finally:
                self._watches.discard(watch)
                tail.wakers.discard(watch.wake)

    @contextmanager
    def buffering(self, run_id: str) -> Iterator[None]:
        """Buffer a run from its first event on; the body itself reports its end (`take_end`)."""
        with self._hold_buffer(run_id) as tail:
            tail.end_is_delivered = True
            try:
                yield
            finally:
                tail.end_is_delivered = False
                tail.wake()

    @contextmanager
    def _hold_buffer(self, run_id: str) -> Iterator[EventBuffer]:
        tail = self._tails.setdefault(run_id, EventBuffer(run_id, events_max=self._settings.tail_events))
        tail.holders += 1
        try:
            yield tail
        finally:
            tail.holders -= 1
            if not tail.holders:
                del self._tails[run_id]

    def take_events(self, run_id: str, events: Sequence[TraceEvent]) -> None:
        """Take events that were written to the log of a run."""
        if tail := self._tails.get(run_id):
            tail.add(events)

    def take_end(self, row: RunRow) -> None:
        """Take the row of a run of this process that has ended."""
        if tail := self._tails.get(row.run_id):
            tail.take_end(row)

    def close(self) -> None:
        """Close each stream, and each later one, as soon as it has nothing left to send at once."""
        self._is_closing = True
        for watch in self._watches:
            watch.close()

    # ------------------------------------------------------------------ periodic tasks

    async def _send_heartbeats(self) -> None:
        while True:
            await sleep(self._clock, self._settings.heartbeat_s)
            with _keep_going("stream-heartbeat"):
                for watch in self._watches:
                    watch.beat()

    async def _poll_logs(self) -> None:
        loop = asyncio.get_running_loop()
        while True:
            at_s = self._clock.now_s() + self._settings.poll_s
            disarm = self._clock.call_at(at_s, partial(call_on_loop, loop, self._poll_now.set))
            try:
                await self._poll_now.wait()
            finally:
                disarm()
            self._poll_now.clear()
            for tail in tuple(self._tails.values()):
                with _keep_going("stream-poll"):
                    await self._look_up(tail)
            for watch in self._watches:
                if watch.waits_for_store:
                    watch.wake()

    def _want_row(self, tail: EventBuffer) -> None:
        if not tail.wants_row and not tail.end_is_delivered:
            tail.wants_row = True
            self._poll_now.set()

    async def _look_up(self, tail: EventBuffer) -> None:
        """Look up a run that no task here reports on; if that fails, the next round tries again."""
        try:
            if tail.wants_row:
                row = await self._archive.run(tail.run_id)
                if row is not None and row.is_closed:
                    tail.take_end(row)
            elif self._active.get(tail.run_id) is None and not tail.is_finished:
                last_seq = tail.last_seq
                if last_seq is not None:
                    tail.add(await self._archive.events(tail.run_id, after_seq=last_seq))
        except StoreFailure:
            return
