"""Connections and transactions of one SQLite or PostgreSQL database.

Each transaction runs as a whole on a thread of the database. That costs the event loop one hand-over, where
an asynchronous driver needs one for each statement, fetch and commit: a batch of the run log takes a fifth of
the CPU time on SQLite, and two thirds on PostgreSQL.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractAsyncContextManager, asynccontextmanager, nullcontext
from functools import partial
from pathlib import Path
from threading import Event
from typing import Any, TypeVar

from sqlalchemy import Connection, Engine, create_engine, event
from sqlalchemy.engine import URL
from sqlalchemy.engine.interfaces import DBAPIConnection

from diagnosis_harness.adapters.persistence.address import URL_PLACE, engine_url
from diagnosis_harness.adapters.persistence.failures import AWAY, lock_failure, no_answer, translate_errors
from diagnosis_harness.adapters.persistence.migrate import migrate
from diagnosis_harness.application.private_file import make_private
from diagnosis_harness.application.sqlite_wal import switch_to_wal
from diagnosis_harness.harness.waiting import sleep
from diagnosis_harness.kernel.clock import Clock
from diagnosis_harness.kernel.errors import FailureKind, InvalidSetting, StoreFailure
from diagnosis_harness.kernel.store_trouble import StoreTrouble

T = TypeVar("T")
Statements = Callable[[Connection], T]
"""The statements of one transaction. They run on a thread of the database and share no mutable state."""

ANSWER_MARGIN_S = 1.0
"""Added to the busy timeout, so that the database can report its own timeout before we give up."""

_RETRY_S = 0.5
"""Between attempts to reach a database that starts: PostgreSQL needs a second or two."""


class Database:
    """Runs transactions for one event loop, each once and atomically. None is repeated.

    A transaction that has begun runs to its end even if its caller is cancelled, so that no connection
    returns to the pool in an unknown state. When the database is available again, the next one succeeds.

    A caller waits for at most the busy timeout and a margin, even if the database hangs. A transaction that
    has not begun by then never begins. One that has is left to its thread and connection, and is rolled back
    unless its commit has begun.
    """

    def __init__(self, engine: Engine, *, pool_size: int, busy_timeout_s: float) -> None:
        """Use `open` instead, which creates the tables."""
        self._limit_s = busy_timeout_s + ANSWER_MARGIN_S
        self._free = asyncio.Semaphore(
            pool_size
        )  # of threads; a caller that waits for one can still be cancelled
        self._reader = engine.execution_options(diagnosis_writes=False)
        self._writer = engine.execution_options(diagnosis_writes=True)
        self._engine = engine
        self._threads = ThreadPoolExecutor(pool_size, thread_name_prefix="diagnosis-database")
        # SQLite has one writer at a time. The writers of this process queue here, in order, because SQLite
        # itself would poll for the lock.
        self._turn: AbstractAsyncContextManager[None] = (
            asyncio.Lock() if engine.dialect.name == "sqlite" else nullcontext()
        )
        self._at_work: set[asyncio.Task[Any]] = set()
        self._closed = False
        self._is_locked = False  # the last write that ended met the lock of another process

    @classmethod
    async def open(cls, url: str, *, pool_size: int = 5, busy_timeout_s: float = 5.0) -> Database:
        """Connect, and migrate the tables to the version of this program.

        Args:
            pool_size: the largest number of connections.
            busy_timeout_s: the longest wait of a transaction for a connection, for a lock, for a statement.

        Raises:
            InvalidSetting: the URL is refused, its driver is missing, or a newer program made the database.
            StoreFailure: the database cannot be reached or used.
        """
        engine = _engine(engine_url(url), pool_size=pool_size, busy_timeout_s=busy_timeout_s)
        database = cls(engine, pool_size=pool_size, busy_timeout_s=busy_timeout_s)
        try:
            await database._execute(database._turn, database._writer, migrate, limit_s=None)
        except BaseException:
            await database.close()
            raise
        return database

    async def read(self, statements: Statements[T]) -> T:
        """Run a transaction that only reads.

        Raises:
            StoreFailure: it failed.
        """
        return await self._execute(nullcontext(), self._reader, statements, limit_s=self._limit_s)

    async def write(self, statements: Statements[T]) -> T:
        """Run a transaction that writes.

        Raises:
            StoreFailure: it failed. Nothing was written, unless the connection broke or the time ran out
                during the commit; a caller that continues must check.
        """
        try:
            return await self._execute(self._turn, self._writer, statements, limit_s=self._limit_s)
        except StoreFailure as failure:
            if self._is_locked and failure.trouble is StoreTrouble.DATABASE_AWAY:
                raise lock_failure() from failure  # it waited for the same lock
            raise

    async def close(self) -> None:
        """Wait for active transactions, for a limited time, and close the connections. Idempotent."""
        self._closed = True
        if self._at_work:
            await asyncio.wait(self._at_work, timeout=self._limit_s)
        await asyncio.to_thread(self._engine.dispose)
        self._threads.shutdown(wait=not self._at_work)

    async def _execute(
        self,
        turn: AbstractAsyncContextManager[None],
        engine: Engine,
        statements: Statements[T],
        *,
        limit_s: float | None,
    ) -> T:
        if self._closed:
            raise StoreFailure("the database is closed", kind=FailureKind.UNAVAILABLE)
        abandoned = Event()
        task = asyncio.ensure_future(
            self._execute_in_turn(turn, engine, statements, abandoned, limit_s=limit_s)
        )
        self._at_work.add(task)
        task.add_done_callback(partial(self._on_done, writes=engine is self._writer))
        await asyncio.wait((task,), timeout=limit_s)
        if not task.done():
            abandoned.set()
            raise no_answer()
        return task.result()

    async def _execute_in_turn(
        self,
        turn: AbstractAsyncContextManager[None],
        engine: Engine,
        statements: Statements[T],
        abandoned: Event,
        *,
        limit_s: float | None,
    ) -> T:
        async with _enter(turn, limit_s), _enter(self._free, limit_s):
            loop = asyncio.get_running_loop()
            return await loop.run_in_executor(self._threads, _transaction, engine, statements, abandoned)

    def _on_done(self, task: asyncio.Task[Any], *, writes: bool) -> None:
        self._at_work.discard(task)
        if task.cancelled():
            return
        error = task.exception()  # read it here: the caller may have been cancelled
        if isinstance(error, StoreFailure) and error.trouble is StoreTrouble.DATABASE_LOCKED:
            self._is_locked = True
        elif writes and error is None:
            self._is_locked = False


async def wait_until_reachable(
    url: str,
    *,
    timeout_s: float,
    busy_timeout_s: float,
    on_wait: Callable[[StoreFailure], None],
    clock: Clock,
) -> None:
    """Return when the database answers. A PostgreSQL that does not is asked again until the timeout.

    Args:
        on_wait: called once, when the first attempt fails.

    Raises:
        InvalidSetting: the URL is refused, or its driver is not installed.
        StoreFailure: it did not answer in that time, or refuses in a way that waiting does not change.
    """
    is_server = not engine_url(url).drivername.startswith("sqlite")
    until_s, has_failed = clock.now_s() + timeout_s, False
    while True:
        try:
            database = await Database.open(url, pool_size=1, busy_timeout_s=busy_timeout_s)
        except StoreFailure as failure:
            if not is_server or failure.kind not in AWAY or clock.now_s() >= until_s:
                raise
            if not has_failed:
                on_wait(failure)
            has_failed = True
        else:
            await database.close()
            return
        await sleep(clock, _RETRY_S)


@asynccontextmanager
async def _enter(place: AbstractAsyncContextManager[None], limit_s: float | None) -> AsyncIterator[None]:
    """Enter a lock or semaphore for the time of the body, if it is free within the limit."""
    try:
        async with asyncio.timeout(limit_s):
            await place.__aenter__()
    except TimeoutError:
        raise no_answer() from None
    try:
        yield
    finally:
        await place.__aexit__(None, None, None)


def _transaction(engine: Engine, statements: Statements[T], abandoned: Event) -> T:
    """Run the transaction on this thread. Once abandoned, it does not begin, or does not commit."""
    if abandoned.is_set():
        raise no_answer()
    with translate_errors(), engine.begin() as connection:
        done = statements(connection)
        if abandoned.is_set():
            connection.invalidate()  # close it instead of returning it: the pool may be closed by now
            raise no_answer()
        return done


def _engine(url: URL, *, pool_size: int, busy_timeout_s: float) -> Engine:
    try:
        if url.drivername.startswith("sqlite"):
            return _sqlite_engine(url, pool_size=pool_size, busy_timeout_s=busy_timeout_s)
        return _postgres_engine(url, pool_size=pool_size, busy_timeout_s=busy_timeout_s)
    except ModuleNotFoundError as error:
        raise InvalidSetting(
            URL_PLACE,
            f"the driver of this database is not installed ({error.name})",
            "install diagnosis-harness[server,postgres]",
        ) from error


def _sqlite_engine(url: URL, *, pool_size: int, busy_timeout_s: float) -> Engine:
    make_private(Path(url.database or ""))
    engine = create_engine(
        url,
        pool_size=pool_size,
        max_overflow=0,
        pool_timeout=busy_timeout_s,
        # `on_begin` begins transactions, because the driver would do it too late for BEGIN IMMEDIATE.
        connect_args={"timeout": busy_timeout_s, "isolation_level": None, "check_same_thread": False},
    )

    def on_connect(connection: DBAPIConnection, record: object) -> None:
        del record
        cursor = connection.cursor()
        switch_to_wal(cursor.execute)
        for pragma in ("synchronous = NORMAL", "foreign_keys = ON"):
            cursor.execute(f"PRAGMA {pragma}")
        cursor.close()

    def on_begin(connection: Connection) -> None:
        writes = connection.get_execution_options().get("diagnosis_writes")
        connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")

    event.listen(engine, "connect", on_connect)
    event.listen(engine, "begin", on_begin)
    return engine


def _postgres_engine(url: URL, *, pool_size: int, busy_timeout_s: float) -> Engine:
    from diagnosis_harness.adapters.persistence.postgres_wait import bound_waits

    limit_ms = round(busy_timeout_s * 1000)
    engine = create_engine(
        url,
        pool_size=pool_size,
        max_overflow=0,
        pool_timeout=busy_timeout_s,
        pool_pre_ping=True,  # finds connections that died in the pool before they are used
        connect_args={
            "connect_timeout": max(2, round(busy_timeout_s)),
            "tcp_user_timeout": 2 * limit_ms,  # a server that vanished must not block a thread for ever
            "application_name": "diagnosis-harness",
            "options": f"-c lock_timeout={limit_ms} -c statement_timeout={limit_ms}"
            f" -c idle_in_transaction_session_timeout={10 * limit_ms}",
        },
    )
    bound_waits(engine, limit_s=busy_timeout_s + ANSWER_MARGIN_S)
    return engine
