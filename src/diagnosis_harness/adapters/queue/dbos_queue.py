"""The queue of several processes: DBOS delivers run ids, and does nothing else (decision 11)."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Collection
from concurrent.futures import Future
from contextlib import suppress
from functools import partial
from typing import Final, TypeVar

import sqlalchemy as sa
from dbos import DBOS, DBOSClient, DBOSConfig, DBOSPortableJSONSerializer, EnqueueOptions
from dbos import error as dbos_error

from diagnosis_harness.adapters.queue.database import QUEUE_SCHEMA, QueueDatabase, translate_queue_errors
from diagnosis_harness.adapters.queue.worker import QueueWorker
from diagnosis_harness.application.runs.queue import Work
from diagnosis_harness.application.runs.sources import ANY_LANE, Lane
from diagnosis_harness.kernel.errors import ContractViolation, FailureKind, StoreFailure

T = TypeVar("T")

_APPLICATION: Final = "diagnosis-harness"
_VERSION: Final = "1"  # of the deliveries; DBOS delivers only to processes of the same version
_QUEUE: Final = "diagnosis-runs"  # the only lane of older programs; the names of others begin with it
_WORKFLOW: Final = "deliver_run"
_RECOVERIES_MAX: Final = 3  # a delivery that has killed its process so often is not tried again
_LANES_AT_FULL_PACE: Final = 4  # with more, each is polled less often: one poll takes 2 ms of CPU
_CALL_LIMIT_S: Final = 6.0  # more than the wait for a lock, less than `supervision.dead_after_s`
_SET_UP_LIMIT_S: Final = 90.0  # creates tables, perhaps after another process that does the same
_WAITING: Final = ("ENQUEUED", "DELAYED")


class DbosRunQueue:
    """A `RunQueue` on SQLite (one machine) or PostgreSQL. Used from one event loop.

    A delivery is one DBOS workflow, which lasts as long as the work on the run. Its id is the run id, and
    `<run id>.2` and so on when it is requeued. Each lane is a DBOS queue. A process that does not listen does
    not start DBOS. Only one object can listen at a time, because DBOS is a singleton of the process.

    Args:
        url: a path, `sqlite:///PATH` or `postgresql://USER@HOST/NAME`, with any driver.
        executor_id: this process incarnation. DBOS restarts the workflows of the same executor by itself.
    """

    def __init__(self, url: str, *, executor_id: str, poll_interval_s: float = 0.25) -> None:
        self._database = QueueDatabase(url)
        self._executor_id = executor_id
        self._poll_interval_s = poll_interval_s
        self._worker = QueueWorker()
        self._set_up = asyncio.Lock()
        self._client: DBOSClient | None = None
        self._engines: list[sa.Engine] = []
        self._listens = False
        self._lanes: frozenset[Lane] = frozenset()
        self._late: list[str] = []  # delivered after the worker was closed
        self._lane_of: dict[str, Lane] = {}  # of the runs that were delivered here

    @property
    def is_listening(self) -> bool:
        """Whether this process takes deliveries."""
        return self._worker.is_open

    async def put(self, run_id: str, lane: Lane) -> None:
        """Enqueue a run; enqueuing it twice delivers it once.

        Raises:
            StoreFailure: the run may not be in the queue.
        """
        client = await self._get_client()
        await _call(partial(client.enqueue, _delivery(run_id, lane), run_id, lane))

    async def requeue(self, run_id: str, lane: Lane) -> bool:
        """Deliver a run again, unless a delivery of it is still waiting, here or in the database.

        DBOS cannot listen to further queues once it has started. For a lane that was added later (its source
        has changed), this process takes the run without DBOS.

        Returns:
            Whether it was enqueued.

        Raises:
            StoreFailure: the run may not be in the queue.
        """
        client = await self._get_client()
        if self._worker.is_waiting(run_id):
            return False
        if self._worker.is_open and lane not in self._lanes:
            self._take(run_id, lane, _ignore)
            return True
        return await _call(partial(_requeue, client, run_id, lane))

    async def listen(self, work: Work, *, parallel_max: int, lanes: Collection[Lane] = (ANY_LANE,)) -> None:
        """Start to take deliveries, and work on them in the calling event loop.

        Raises:
            StoreFailure: the queue cannot be set up.
            ContractViolation: this process already listens.
        """
        client = await self._get_client()
        loop = asyncio.get_running_loop()
        self._lanes = frozenset(lanes)
        pace = max(1.0, len(self._lanes) / _LANES_AT_FULL_PACE)
        with translate_queue_errors():
            for lane in sorted(self._lanes):
                await asyncio.to_thread(
                    client.register_queue,
                    _queue_of(lane),
                    worker_concurrency=parallel_max,
                    polling_interval_sec=self._poll_interval_s * pace,
                )
            # In a thread without an event loop, because DBOS would use ours as its own.
            await asyncio.to_thread(self._launch, loop)
        self._worker.open(work, parallel_max=parallel_max)

    async def close(self) -> None:
        """Take no more deliveries. Runs that were taken and not started go back into the queue."""
        if self._worker.is_closed:
            return
        not_started = self._worker.close()
        if self._listens:
            # One second for DBOS to record the deliveries that have just ended.
            await asyncio.to_thread(
                partial(DBOS.destroy, destroy_registry=True, workflow_completion_timeout_sec=1)
            )
        if self._client is not None:
            for run_id in (*not_started, *self._late):
                # If it fails, the supervisor of some process requeues the run later.
                with suppress(StoreFailure):
                    await _call(partial(_requeue, self._client, run_id, self._lane_of[run_id]))
            await asyncio.to_thread(self._client.destroy)
        for engine in self._engines:
            await asyncio.to_thread(engine.dispose)

    async def _get_client(self) -> DBOSClient:
        """The client that enqueues, created by the first call that reaches the database."""
        if self._worker.is_closed:
            raise StoreFailure("the queue is closed", kind=FailureKind.UNAVAILABLE)
        async with self._set_up:
            if self._client is None:
                self._client = await _call(self._create_client, limit_s=_SET_UP_LIMIT_S)
        return self._client

    def _create_client(self) -> DBOSClient:
        _quieten_dbos()
        self._database.use_wal()
        DBOS.migrate(self._database.url, schema=QUEUE_SCHEMA)
        return DBOSClient(
            system_database_engine=self._engine(fails_fast=lambda: True),
            dbos_system_schema=QUEUE_SCHEMA,
            serializer=DBOSPortableJSONSerializer(),
            application_name=_APPLICATION,
            retry_connection_errors=False,
            lazy=True,
        )

    def _engine(self, *, fails_fast: Callable[[], bool]) -> sa.Engine:
        engine = self._database.engine(fails_fast)
        self._engines.append(engine)
        return engine

    def _launch(self, loop: asyncio.AbstractEventLoop) -> None:
        config = DBOSConfig(
            name=_APPLICATION,
            system_database_engine=self._engine(fails_fast=lambda: self._worker.is_closed),
            dbos_system_schema=QUEUE_SCHEMA,
            serializer=DBOSPortableJSONSerializer(),
            executor_id=self._executor_id,
            application_version=_VERSION,
            enable_otlp=False,
            log_level="WARNING",
            # Our workflows use no messages or events of DBOS, so it need not poll for them often.
            notification_listener_polling_interval_sec=0.5,
            notification_coalesce_sec=0.5,
        )
        DBOS(config=config)
        try:
            DBOS.listen_queues([_queue_of(lane) for lane in sorted(self._lanes)])
        except dbos_error.DBOSException as error:
            raise ContractViolation("another queue of this process already listens") from error

        async def deliver(run_id: str, lane: Lane = ANY_LANE) -> None:
            ended: Future[None] = Future()
            loop.call_soon_threadsafe(self._take, run_id, lane, partial(_resolve, ended))
            await asyncio.wrap_future(ended)

        DBOS.workflow(name=_WORKFLOW, max_recovery_attempts=_RECOVERIES_MAX)(deliver)
        try:
            DBOS.launch()
        except BaseException:
            DBOS.destroy(destroy_registry=True)
            raise
        self._listens = True

    def _take(self, run_id: str, lane: Lane, on_end: Callable[[], None]) -> None:
        self._lane_of[run_id] = lane

        def finish() -> None:
            if not (self._worker.is_closed or self._worker.holds(run_id)):
                self._lane_of.pop(run_id, None)
            on_end()

        if not self._worker.take(run_id, finish):
            self._late.append(run_id)


async def _call(action: Callable[[], T], *, limit_s: float = _CALL_LIMIT_S) -> T:
    with translate_queue_errors():
        return await asyncio.wait_for(asyncio.to_thread(action), limit_s)


def _queue_of(lane: Lane) -> str:
    return _QUEUE if lane == ANY_LANE else f"{_QUEUE}-{lane}"


def _delivery(run_id: str, lane: Lane, number: int = 1) -> EnqueueOptions:
    return EnqueueOptions(
        workflow_name=_WORKFLOW,
        queue_name=_queue_of(lane),
        workflow_id=run_id if number == 1 else f"{run_id}.{number}",
        app_version=_VERSION,
    )


def _requeue(client: DBOSClient, run_id: str, lane: Lane) -> bool:
    """Enqueue under the first free number; False if the last delivery is still waiting."""
    number = 1
    while True:
        options = _delivery(run_id, lane, number)
        options["workflow_id_reuse_policy"] = "reject"
        try:
            client.enqueue(options, run_id, lane)
        except dbos_error.DBOSWorkflowIDInUseError as error:
            if error.workflow_status in _WAITING:
                return False
            number += 1
        else:
            return True


def _ignore() -> None:
    """The end of a run that was taken without a DBOS delivery."""


def _resolve(ended: Future[None]) -> None:
    # It is cancelled if DBOS has stopped meanwhile.
    if ended.set_running_or_notify_cancel():
        ended.set_result(None)


class _Once(logging.Filter):
    """Logs repeated DBOS warnings once and in one line: it polls four times a second."""

    def __init__(self) -> None:
        super().__init__()
        self._last: tuple[str, int] | None = None

    def filter(self, record: logging.LogRecord) -> bool:
        """Whether the warning differs from the one before."""
        record.exc_info = record.exc_text = None
        record.msg, record.args = next(iter(record.getMessage().splitlines()), ""), ()
        place = record.pathname, record.lineno
        is_new, self._last = place != self._last, place
        return is_new


def _quieten_dbos() -> None:
    """Keep DBOS from adding a handler that writes to the terminal; its warnings go to the root logger."""
    logger = logging.getLogger("dbos")
    if not any(isinstance(each, _Once) for each in logger.filters):
        logger.addFilter(_Once())
    if not logger.handlers:
        logger.addHandler(logging.NullHandler())
        logger.setLevel(logging.WARNING)
