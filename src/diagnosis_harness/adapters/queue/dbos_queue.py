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

from diagnosis_harness.adapters.queue.database import SCHEMA, QueueDatabase, translated
from diagnosis_harness.adapters.queue.desk import Desk
from diagnosis_harness.application.runs.queue import Work
from diagnosis_harness.application.runs.sources import ANY_LANE, Lane
from diagnosis_harness.kernel.errors import ContractViolation, FailureKind, StoreFailure

T = TypeVar("T")

_APPLICATION: Final = "diagnosis-harness"
_VERSION: Final = "1"  # of what is delivered; DBOS delivers to processes of the same one alone
_QUEUE: Final = "diagnosis-runs"  # the lane of an older program, which knew one; others follow its name
_WORKFLOW: Final = "deliver_run"
_RECOVERIES_MAX: Final = 3
_LANES_AT_FULL_PACE: Final = 4  # with more, each is looked at less often: a look takes 2 ms of CPU
_ASK_LIMIT_S: Final = 6.0  # over what a lock is waited for, and under the silence that makes a process dead
_SET_UP_LIMIT_S: Final = 90.0  # tables are made, and another process may be making them
_WAITING: Final = ("ENQUEUED", "DELAYED")


class DbosRunQueue:
    """A `RunQueue` on SQLite (one machine) or PostgreSQL. Used from one event loop.

    A run is one workflow whose id is the run's, and `<run id>.2` and so on where it is put again; it lasts
    as long as the work. Each lane is a queue of DBOS. A process that does not listen runs nothing of DBOS.
    One object of a process listens at a time, since DBOS is one for the process.

    Args:
        url: a path, `sqlite:///PATH` or `postgresql://USER@HOST/NAME`, with any driver.
        executor_id: this process incarnation. DBOS starts again by itself what the same one had at work.
    """

    def __init__(self, url: str, *, executor_id: str, poll_interval_s: float = 0.25) -> None:
        self._database = QueueDatabase(url)
        self._executor_id = executor_id
        self._poll_interval_s = poll_interval_s
        self._desk = Desk()
        self._set_up = asyncio.Lock()
        self._client: DBOSClient | None = None
        self._engines: list[sa.Engine] = []
        self._listens = False
        self._lanes: frozenset[Lane] = frozenset()
        self._late: list[str] = []
        self._lane_of: dict[str, Lane] = {}  # of the runs that are in hand

    @property
    def is_listening(self) -> bool:
        """Whether this process takes deliveries."""
        return self._desk.is_open

    async def put(self, run_id: str, lane: Lane) -> None:
        """Have a run delivered, once, also if it is put again.

        Raises:
            StoreFailure: it is not known to be in the queue.
        """
        client = await self._opened()
        await _asked(partial(client.enqueue, _delivery(run_id, lane), run_id, lane))

    async def put_again(self, run_id: str, lane: Lane) -> bool:
        """Have a run delivered anew, unless a delivery of it waits still, here or in the database.

        DBOS is told once which queues it listens to. Of a lane that came later (its source has changed), this
        process takes the run without it.

        Returns:
            Whether it was put.

        Raises:
            StoreFailure: it is not known to be in the queue.
        """
        client = await self._opened()
        if self._desk.waits(run_id):
            return False
        if self._desk.is_open and lane not in self._lanes:
            self._take(run_id, lane, _nobody_waits)
            return True
        return await _asked(partial(_put_anew, client, run_id, lane))

    async def listen(self, work: Work, *, parallel_max: int, lanes: Collection[Lane] = (ANY_LANE,)) -> None:
        """Begin to take deliveries, and work on them in the event loop that calls this.

        Raises:
            StoreFailure: the queue cannot be set up.
            ContractViolation: this process listens already.
        """
        client = await self._opened()
        loop = asyncio.get_running_loop()
        self._lanes = frozenset(lanes)
        pace = max(1.0, len(self._lanes) / _LANES_AT_FULL_PACE)
        with translated():
            for lane in sorted(self._lanes):
                await asyncio.to_thread(
                    client.register_queue,
                    _queue_of(lane),
                    worker_concurrency=parallel_max,
                    polling_interval_sec=self._poll_interval_s * pace,
                )
            # In a thread without a loop: DBOS would take ours for its own.
            await asyncio.to_thread(self._launch, loop)
        self._desk.open(work, parallel_max=parallel_max)

    async def close(self) -> None:
        """Take no more deliveries. What was taken and has not begun goes back into the queue."""
        if self._desk.is_closed:
            return
        left = self._desk.close()
        if self._listens:
            # A second for the deliveries that were let go of to be noted as such.
            await asyncio.to_thread(
                partial(DBOS.destroy, destroy_registry=True, workflow_completion_timeout_sec=1)
            )
        if self._client is not None:
            for run_id in (*left, *self._late):
                # Whoever watches over waiting runs does it otherwise.
                with suppress(StoreFailure):
                    await _asked(partial(_put_anew, self._client, run_id, self._lane_of[run_id]))
            await asyncio.to_thread(self._client.destroy)
        for engine in self._engines:
            await asyncio.to_thread(engine.dispose)

    async def _opened(self) -> DBOSClient:
        """The door for puts; opened at the first call that reaches the database."""
        if self._desk.is_closed:
            raise StoreFailure("the queue is closed", kind=FailureKind.UNAVAILABLE)
        async with self._set_up:
            if self._client is None:
                self._client = await _asked(self._open, limit_s=_SET_UP_LIMIT_S)
        return self._client

    def _open(self) -> DBOSClient:
        _keep_quiet()
        self._database.use_wal()
        DBOS.migrate(self._database.url, schema=SCHEMA)
        return DBOSClient(
            system_database_engine=self._engine(gives_up=lambda: True),
            dbos_system_schema=SCHEMA,
            serializer=DBOSPortableJSONSerializer(),
            application_name=_APPLICATION,
            retry_connection_errors=False,
            lazy=True,
        )

    def _engine(self, *, gives_up: Callable[[], bool]) -> sa.Engine:
        engine = self._database.engine(gives_up)
        self._engines.append(engine)
        return engine

    def _launch(self, loop: asyncio.AbstractEventLoop) -> None:
        config = DBOSConfig(
            name=_APPLICATION,
            system_database_engine=self._engine(gives_up=lambda: self._desk.is_closed),
            dbos_system_schema=SCHEMA,
            serializer=DBOSPortableJSONSerializer(),
            executor_id=self._executor_id,
            application_version=_VERSION,
            enable_otlp=False,
            log_level="WARNING",
            # Nothing is sent or waited for through DBOS, so it need not look often.
            notification_listener_polling_interval_sec=0.5,
            notification_coalesce_sec=0.5,
        )
        DBOS(config=config)
        try:
            DBOS.listen_queues([_queue_of(lane) for lane in sorted(self._lanes)])
        except dbos_error.DBOSException as error:
            raise ContractViolation("another queue of this process listens") from error

        async def deliver(run_id: str, lane: Lane = ANY_LANE) -> None:
            released: Future[None] = Future()
            loop.call_soon_threadsafe(self._take, run_id, lane, partial(_release, released))
            await asyncio.wrap_future(released)

        DBOS.workflow(name=_WORKFLOW, max_recovery_attempts=_RECOVERIES_MAX)(deliver)
        try:
            DBOS.launch()
        except BaseException:
            DBOS.destroy(destroy_registry=True)
            raise
        self._listens = True

    def _take(self, run_id: str, lane: Lane, ended: Callable[[], None]) -> None:
        self._lane_of[run_id] = lane

        def over() -> None:
            if not (self._desk.is_closed or self._desk.has(run_id)):
                self._lane_of.pop(run_id, None)
            ended()

        if not self._desk.take(run_id, over):
            self._late.append(run_id)


async def _asked(question: Callable[[], T], *, limit_s: float = _ASK_LIMIT_S) -> T:
    with translated():
        return await asyncio.wait_for(asyncio.to_thread(question), limit_s)


def _queue_of(lane: Lane) -> str:
    return _QUEUE if lane == ANY_LANE else f"{_QUEUE}-{lane}"


def _delivery(run_id: str, lane: Lane, number: int = 1) -> EnqueueOptions:
    return EnqueueOptions(
        workflow_name=_WORKFLOW,
        queue_name=_queue_of(lane),
        workflow_id=run_id if number == 1 else f"{run_id}.{number}",
        app_version=_VERSION,
    )


def _put_anew(client: DBOSClient, run_id: str, lane: Lane) -> bool:
    """Under the first number that is free; False, and nothing, where the last delivery waits still."""
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


def _nobody_waits() -> None:
    """No delivery of DBOS stands behind this run."""


def _release(released: Future[None]) -> None:
    # Cancelled where DBOS has stopped meanwhile.
    if released.set_running_or_notify_cancel():
        released.set_result(None)


class _Once(logging.Filter):
    """Lets a warning of DBOS through once in a row, as one line: it looks again four times a second."""

    def __init__(self) -> None:
        super().__init__()
        self._last: tuple[str, int] | None = None

    def filter(self, record: logging.LogRecord) -> bool:
        """Whether it is another warning than the one before."""
        record.exc_info = record.exc_text = None
        record.msg, record.args = next(iter(record.getMessage().splitlines()), ""), ()
        place = record.pathname, record.lineno
        is_new, self._last = place != self._last, place
        return is_new


def _keep_quiet() -> None:
    """With a handler there, DBOS adds none that writes to the terminal; its warnings go on to the root."""
    logger = logging.getLogger("dbos")
    if not any(isinstance(each, _Once) for each in logger.filters):
        logger.addFilter(_Once())
    if not logger.handlers:
        logger.addHandler(logging.NullHandler())
        logger.setLevel(logging.WARNING)
