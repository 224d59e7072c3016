"""One database, SQLite or PostgreSQL: its connections, its transactions, and its failures as ours.

A transaction is carried out on a thread of the database's own, as a whole. Of that the event loop sees one
hand-over, where an asynchronous driver takes one for each statement, fetch and commit; a batch of the run log
takes a fifth of the CPU time that way on SQLite, two thirds on PostgreSQL.
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

from diagnosis_harness.adapters.persistence.address import PLACE, engine_url
from diagnosis_harness.adapters.persistence.failures import AWAY, locked, no_answer, translate_errors
from diagnosis_harness.adapters.persistence.migrate import migrate
from diagnosis_harness.application.private_file import make_private
from diagnosis_harness.harness.waiting import passed
from diagnosis_harness.kernel.clock import Clock
from diagnosis_harness.kernel.errors import FailureKind, InvalidSetting, StoreFailure
from diagnosis_harness.kernel.store_trouble import StoreTrouble

T = TypeVar("T")
Statements = Callable[[Connection], T]
"""What is done in one transaction, on a thread of the database; it touches nothing that others change."""

ANSWER_MARGIN_S = 1.0
"""What a hand-over may take beyond the time that the database itself is given for its refusals."""

_RETRY_S = 0.5
"""Between attempts to reach a database that starts: PostgreSQL needs a second or two."""


class Database:
    """Transactions, asked for from one event loop. Each is done once, wholly or not at all; none is repeated.

    A transaction that has begun is carried to its end even when whoever waits for it is cancelled, so that a
    connection never goes back in an unknown state. After the database was away, the next one works again.

    Nobody waits for longer than the busy timeout and a margin, also for a database that stands still. What
    has not begun by then is never begun; what has is left to its thread, which keeps its connection, and is
    rolled back where its commit has not begun.
    """

    def __init__(self, engine: Engine, *, pool_size: int, busy_timeout_s: float) -> None:
        """Use `opened` instead: the tables must stand."""
        self._limit_s = busy_timeout_s + ANSWER_MARGIN_S
        self._free = asyncio.Semaphore(pool_size)  # threads; whoever waits for one can still turn back
        self._reader = engine.execution_options(diagnosis_writes=False)
        self._writer = engine.execution_options(diagnosis_writes=True)
        self._engine = engine
        self._threads = ThreadPoolExecutor(pool_size, thread_name_prefix="diagnosis-database")
        # SQLite has one writer at a time. Those of this process take turns here, in order; its own way of
        # waiting is to look again and again.
        self._turn: AbstractAsyncContextManager[None] = (
            asyncio.Lock() if engine.dialect.name == "sqlite" else nullcontext()
        )
        self._at_work: set[asyncio.Task[Any]] = set()
        self._closed = False
        self._is_locked = False  # the last write that was answered met another process's lock

    @classmethod
    async def opened(cls, url: str, *, pool_size: int = 5, busy_timeout_s: float = 5.0) -> Database:
        """Connect, and bring the tables to the shape that this program knows.

        Args:
            pool_size: connections held at most.
            busy_timeout_s: how long a transaction may wait: for a connection, for a lock, for a statement.

        Raises:
            InvalidSetting: the URL is refused, its driver is missing, or a newer program made the database.
            StoreFailure: the database cannot be reached or used.
        """
        engine = _engine(engine_url(url), pool_size=pool_size, busy_timeout_s=busy_timeout_s)
        database = cls(engine, pool_size=pool_size, busy_timeout_s=busy_timeout_s)
        try:
            await database._carried_out(database._turn, database._writer, migrate, limit_s=None)
        except BaseException:
            await database.close()
            raise
        return database

    async def read(self, statements: Statements[T]) -> T:
        """Do what only reads.

        Raises:
            StoreFailure: it did not work.
        """
        return await self._carried_out(nullcontext(), self._reader, statements, limit_s=self._limit_s)

    async def write(self, statements: Statements[T]) -> T:
        """Do what writes, in one transaction.

        Raises:
            StoreFailure: it did not work. Nothing was written then, unless the connection broke, or the time
                was up, at the very commit: whoever goes on looks first.
        """
        try:
            return await self._carried_out(self._turn, self._writer, statements, limit_s=self._limit_s)
        except StoreFailure as failure:
            if self._is_locked and failure.trouble is StoreTrouble.DATABASE_AWAY:
                raise locked() from failure  # what it waited for is the same lock
            raise

    async def close(self) -> None:
        """Wait for what is at work, within bounds, and close the connections. Twice is once."""
        self._closed = True
        if self._at_work:
            await asyncio.wait(self._at_work, timeout=self._limit_s)
        await asyncio.to_thread(self._engine.dispose)
        self._threads.shutdown(wait=not self._at_work)

    async def _carried_out(
        self,
        turn: AbstractAsyncContextManager[None],
        engine: Engine,
        statements: Statements[T],
        *,
        limit_s: float | None,
    ) -> T:
        if self._closed:
            raise StoreFailure("the database is closed", kind=FailureKind.UNAVAILABLE)
        given_up = Event()
        task = asyncio.ensure_future(self._in_turn(turn, engine, statements, given_up, limit_s=limit_s))
        self._at_work.add(task)
        task.add_done_callback(partial(self._done, writes=engine is self._writer))
        await asyncio.wait((task,), timeout=limit_s)
        if not task.done():
            given_up.set()
            raise no_answer()
        return task.result()

    async def _in_turn(
        self,
        turn: AbstractAsyncContextManager[None],
        engine: Engine,
        statements: Statements[T],
        given_up: Event,
        *,
        limit_s: float | None,
    ) -> T:
        async with _entered(turn, limit_s), _entered(self._free, limit_s):
            loop = asyncio.get_running_loop()
            return await loop.run_in_executor(self._threads, _transaction, engine, statements, given_up)

    def _done(self, task: asyncio.Task[Any], *, writes: bool) -> None:
        self._at_work.discard(task)
        if task.cancelled():
            return
        error = task.exception()  # looked at: whoever waited may be gone
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
            database = await Database.opened(url, pool_size=1, busy_timeout_s=busy_timeout_s)
        except StoreFailure as failure:
            if not is_server or failure.kind not in AWAY or clock.now_s() >= until_s:
                raise
            if not has_failed:
                on_wait(failure)
            has_failed = True
        else:
            await database.close()
            return
        await passed(clock, _RETRY_S)


@asynccontextmanager
async def _entered(place: AbstractAsyncContextManager[None], limit_s: float | None) -> AsyncIterator[None]:
    """A place, for the time of the body, if it is free within the limit."""
    try:
        async with asyncio.timeout(limit_s):
            await place.__aenter__()
    except TimeoutError:
        raise no_answer() from None
    try:
        yield
    finally:
        await place.__aexit__(None, None, None)


def _transaction(engine: Engine, statements: Statements[T], given_up: Event) -> T:
    """All of it, on a thread; what nobody waits for any more is not begun, and not committed."""
    if given_up.is_set():
        raise no_answer()
    with translate_errors(), engine.begin() as connection:
        done = statements(connection)
        if given_up.is_set():
            connection.invalidate()  # closed, not handed back: the pool may be closed by now
            raise no_answer()
        return done


def _engine(url: URL, *, pool_size: int, busy_timeout_s: float) -> Engine:
    try:
        if url.drivername.startswith("sqlite"):
            return _sqlite_engine(url, pool_size=pool_size, busy_timeout_s=busy_timeout_s)
        return _postgres_engine(url, pool_size=pool_size, busy_timeout_s=busy_timeout_s)
    except ModuleNotFoundError as error:
        raise InvalidSetting(
            PLACE,
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
        # Transactions are begun below, by us: the driver's own come too late for BEGIN IMMEDIATE.
        connect_args={"timeout": busy_timeout_s, "isolation_level": None, "check_same_thread": False},
    )

    def connected(connection: DBAPIConnection, record: object) -> None:
        del record
        cursor = connection.cursor()
        for pragma in ("journal_mode = WAL", "synchronous = NORMAL", "foreign_keys = ON"):
            cursor.execute(f"PRAGMA {pragma}")
        cursor.close()

    def begun(connection: Connection) -> None:
        writes = connection.get_execution_options().get("diagnosis_writes")
        connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")

    event.listen(engine, "connect", connected)
    event.listen(engine, "begin", begun)
    return engine


def _postgres_engine(url: URL, *, pool_size: int, busy_timeout_s: float) -> Engine:
    from diagnosis_harness.adapters.persistence.postgres_wait import bounded_connections

    limit_ms = round(busy_timeout_s * 1000)
    engine = create_engine(
        url,
        pool_size=pool_size,
        max_overflow=0,
        pool_timeout=busy_timeout_s,
        pool_pre_ping=True,  # a connection that died in the pool is found before a statement is given to it
        connect_args={
            "connect_timeout": max(2, round(busy_timeout_s)),
            "tcp_user_timeout": 2
            * limit_ms,  # a server that vanished without a word holds no thread for ever
            "application_name": "diagnosis-harness",
            "options": f"-c lock_timeout={limit_ms} -c statement_timeout={limit_ms}"
            f" -c idle_in_transaction_session_timeout={10 * limit_ms}",
        },
    )
    bounded_connections(engine, limit_s=busy_timeout_s + ANSWER_MARGIN_S)
    return engine
