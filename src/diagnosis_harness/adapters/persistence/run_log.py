"""The durable log: any thread emits events, and one writer writes them in batches across all runs.

Listeners are called after the commit, so that a stream never shows an event that is not stored.
"""

from __future__ import annotations

import asyncio
import logging
import threading
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import islice

from diagnosis_harness.adapters.persistence.database import Database
from diagnosis_harness.adapters.persistence.failures import AWAY
from diagnosis_harness.adapters.persistence.log_append import Batch, append_fenced
from diagnosis_harness.harness.context import RunContext
from diagnosis_harness.harness.waiting import call_on_loop
from diagnosis_harness.kernel.clock import Clock
from diagnosis_harness.kernel.errors import ContractViolation, FailureKind, StoreFailure
from diagnosis_harness.trace.event import TraceEvent, TraceName

Written = Callable[[str, Sequence[TraceEvent]], None]
"""Called on the event loop with a run id and the events of that run that one commit wrote, in order."""

BATCH_EVENTS = 2000
"""Events of one transaction: more do not make it faster, and hold SQLite's only writer for longer."""
_LOG = logging.getLogger("diagnosis_harness.log")


@dataclass(slots=True)
class _Run:
    """The buffered events of one run, and the callers that wait for them."""

    pending: deque[TraceEvent] = field(default_factory=deque)
    is_open: bool = False
    taken_seq: int = 0  # the last emitted event
    written_seq: int = 0
    is_finished: bool = False  # RUN_FINISHED is written; later events are dropped
    failure: StoreFailure | None = None  # no more events are taken
    waiters: list[tuple[int, asyncio.Future[None]]] = field(default_factory=list)


class SqlRunLog:
    """`RunLog`, `RunFeed` and `TraceSink` of one process incarnation. All but `emit` is for one event loop.

    No event is lost while the database is unavailable: writing is retried until too many events are waiting.

    Args:
        retry_after_s: pause before a failed write is retried.
        run_events_max: events of one run that may wait; with one more, the log of the run fails.
        events_max: the same for all runs together.
    """

    def __init__(
        self,
        database: Database,
        *,
        owner: str,
        clock: Clock,
        retry_after_s: float = 0.5,
        run_events_max: int = 10_000,
        events_max: int = 100_000,
    ) -> None:
        self._database = database
        self._owner = owner
        self._clock = clock
        self._retry_after_s = retry_after_s
        self._run_events_max = run_events_max
        self._events_max = events_max
        self._lock = threading.Lock()  # guards the buffers, which any thread fills
        self._runs: dict[str, _Run] = {}
        self._ready: dict[str, _Run] = {}  # open, with something to write
        self._pending_events = 0
        self._loop: asyncio.AbstractEventLoop | None = None
        self._is_woken = False
        self._work = asyncio.Event()
        self._writer: asyncio.Task[None] | None = None
        self._listeners: list[Written] = []
        self._in_doubt: set[str] = set()  # runs whose last batch may have been written although it failed
        self._pause_over = asyncio.Event()
        self._is_stopping = False

    # ------------------------------------------------------------------ life

    async def start(self) -> None:
        """Begin to write. Events emitted earlier are buffered until then."""
        with self._lock:
            self._loop = asyncio.get_running_loop()
            self._wake()
        self._writer = asyncio.create_task(self._serve(), name="run-log")

    async def stop(self) -> None:
        """Try once more to write what is pending, and stop. Later events are dropped."""
        if self._writer is None:
            return
        self._is_stopping = True
        self._pause_over.set()
        self._work.set()
        await asyncio.gather(self._writer, return_exceptions=True)
        self._writer = None
        with self._lock:
            self._loop = None
            runs, self._runs, self._ready, self._pending_events = self._runs, {}, {}, 0
        for run in runs.values():
            run.failure = run.failure or StoreFailure("the log is closed", kind=FailureKind.UNAVAILABLE)
            _answer_waiters(run)

    def on_written(self, listener: Written) -> Callable[[], None]:
        """Have `listener(run_id, events)` called after each commit, once for each run; it must be quick.

        Returns:
            A function that unsubscribes the listener.
        """
        self._listeners.append(listener)
        return lambda: self._listeners.remove(listener)

    # ------------------------------------------------------------------ the sink

    def emit(self, event: TraceEvent) -> None:
        """Take one event, from any thread. Events of a run that was closed or never started are dropped."""
        with self._lock:
            run = self._runs.get(event.run_id)
            if run is None:
                if event.seq != 1:
                    return
                run = self._runs[event.run_id] = _Run()
            if run.failure is not None or run.is_finished:
                return
            if len(run.pending) >= self._run_events_max or self._pending_events >= self._events_max:
                run.failure = StoreFailure(
                    "too many events are waiting to be written", kind=FailureKind.UNAVAILABLE
                )
                return
            run.pending.append(event)
            run.taken_seq = event.seq
            self._pending_events += 1
            if run.is_open:
                self._ready[event.run_id] = run
                self._wake()

    # ------------------------------------------------------------------ the log

    def open(self, ctx: RunContext) -> None:
        """Start to write the events of this run, now that its row exists."""
        with self._lock:
            run = self._runs.setdefault(ctx.run_id, _Run())
            run.is_open = True
            if run.pending:
                self._ready[ctx.run_id] = run
                self._wake()

    async def flush(self, ctx: RunContext) -> None:
        """Return when all events of the run emitted so far are written; waits for an unavailable database.

        Raises:
            StoreFailure: they cannot be written: this process no longer owns the row, too many were waiting,
                or the writer failed.
            ContractViolation: the run is not open here.
        """
        run = self._runs.get(ctx.run_id)
        if run is None or not run.is_open:
            raise ContractViolation("a run can only be flushed between open and close")
        if problem := self.problem():
            raise StoreFailure(problem, kind=FailureKind.UNAVAILABLE)
        with self._lock:
            done: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            run.waiters.append((run.taken_seq, done))
        _answer_waiters(run)
        await done

    def close(self, ctx: RunContext) -> None:
        """Forget the run and drop its unwritten events."""
        with self._lock:
            run = self._runs.pop(ctx.run_id, None)
            self._ready.pop(ctx.run_id, None)
            if run is None:
                return
            self._pending_events -= len(run.pending)
            run.pending.clear()
        run.failure = run.failure or StoreFailure("the run's log is closed", kind=FailureKind.REJECTED)
        _answer_waiters(run)

    # ------------------------------------------------------------------ the writer

    def _wake(self) -> None:
        """Wake the writer unless it is already woken. The caller holds the lock."""
        if self._loop is not None and not self._is_woken:
            self._is_woken = True
            self._loop.call_soon_threadsafe(self._work.set)

    async def _serve(self) -> None:
        while not self._is_stopping:
            await self._work.wait()
            self._work.clear()
            try:
                has_written = await self._write_ready()
            except Exception as error:  # noqa: BLE001 - a boundary: a bug must not silently end the log of all runs
                _LOG.exception("the log writer failed with %s and goes on", type(error).__name__)
                self._fail_ready(_unknown_failure(error))
                has_written = False
            if not has_written and not self._is_stopping:
                await self._pause()

    def problem(self) -> str | None:
        """Why the writer has stopped; None while it runs, or before it starts."""
        is_over = self._writer is not None and self._writer.done()
        return "the log writer has ended" if is_over else None

    def _fail_ready(self, failure: StoreFailure) -> None:
        """Fail the logs of the runs with pending events, since it is unknown whether those were written."""
        with self._lock:
            failed = tuple(self._ready.values())
            self._ready.clear()
            for run in failed:
                self._pending_events -= len(run.pending)
                run.pending.clear()
                run.failure = run.failure or failure
        for run in failed:
            _answer_waiters(run)

    async def _write_ready(self) -> bool:
        """Write until nothing is pending; False if the database is unavailable."""
        while batch := self._batch():
            if not await self._try(batch):
                return False
        return True

    def _batch(self) -> Batch:
        with self._lock:
            self._is_woken = False
            batch: Batch = {}
            room = BATCH_EVENTS
            for run_id, run in self._ready.items():
                if room <= 0:
                    break
                batch[run_id] = tuple(islice(run.pending, room))
                room -= len(batch[run_id])
        return {run_id: _until_finished(events) for run_id, events in batch.items()}

    async def _try(self, batch: Batch) -> bool:
        in_doubt = self._in_doubt & batch.keys()
        try:
            lost = await self._write(batch, in_doubt)
        except StoreFailure as failure:
            self._in_doubt |= batch.keys()
            if failure.kind in AWAY:
                return False
            if len(batch) > 1:  # one run's failure must not stop the others: write each separately
                return all([await self._try({run_id: events}) for run_id, events in batch.items()])
            lost = dict.fromkeys(batch, failure)
        self._in_doubt -= batch.keys()
        for run_id, events in batch.items():
            self._settle(run_id, events, lost.get(run_id))
        return True

    async def _write(self, batch: Batch, in_doubt: set[str]) -> dict[str, StoreFailure]:
        try:
            return await self._database.write(
                lambda connection: append_fenced(connection, batch, owner=self._owner, in_doubt=in_doubt)
            )
        except StoreFailure:
            raise
        except Exception as error:  # an event that cannot be encoded fails its own run, and no other
            _LOG.exception("events could not be written (%s)", type(error).__name__)
            raise _unknown_failure(error) from error

    def _settle(self, run_id: str, events: Sequence[TraceEvent], failure: StoreFailure | None) -> None:
        """Apply the result of a batch to one run, and answer the callers that wait."""
        with self._lock:
            run = self._runs.get(run_id)
            if run is None:  # closed meanwhile
                return
            finished = events[-1].name is TraceName.RUN_FINISHED
            gone = len(run.pending) if failure is not None or finished else len(events)
            for _ in range(gone):
                run.pending.popleft()
            self._pending_events -= gone
            if not run.pending:
                self._ready.pop(run_id, None)
            if failure is not None:
                run.failure = failure
            else:
                run.written_seq = events[-1].seq
                run.is_finished = finished
        if failure is None and self._loop is not None:
            # Called by the loop, which reports one that raises and calls the others.
            for listener in self._listeners:
                self._loop.call_soon(listener, run_id, events)
        _answer_waiters(run)

    async def _pause(self) -> None:
        loop, over = asyncio.get_running_loop(), self._pause_over
        at_s = self._clock.now_s() + self._retry_after_s
        disarm = self._clock.call_at(at_s, partial(call_on_loop, loop, over.set))
        await over.wait()
        over.clear()
        disarm()
        self._work.set()


def _unknown_failure(error: Exception) -> StoreFailure:
    return StoreFailure(f"the events cannot be written ({type(error).__name__})", kind=FailureKind.UNKNOWN)


def _answer_waiters(run: _Run) -> None:
    """Answer the callers whose wait is over."""
    waiting: list[tuple[int, asyncio.Future[None]]] = []
    for seq, done in run.waiters:
        if done.done():
            continue
        if run.failure is not None:
            done.set_exception(run.failure)
        elif run.written_seq >= seq or run.is_finished:
            done.set_result(None)
        else:
            waiting.append((seq, done))
    run.waiters = waiting


def _until_finished(events: tuple[TraceEvent, ...]) -> tuple[TraceEvent, ...]:
    """The events up to RUN_FINISHED, after which nothing is written."""
    for place, event in enumerate(events, start=1):
        if event.name is TraceName.RUN_FINISHED:
            return events[:place]
    return events
