"""The database of the queue: its URL, its connections, and its errors as `StoreFailure`."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Final

import psycopg
import sqlalchemy as sa
from dbos import error as dbos_error
from sqlalchemy import event
from sqlalchemy.engine.interfaces import DBAPIConnection, ExceptionContext
from sqlalchemy.pool import ConnectionPoolEntry

from diagnosis_harness.adapters.queue.sqlite_time import define_subsec
from diagnosis_harness.application.private_file import make_private
from diagnosis_harness.application.sqlite_wal import switch_to_wal
from diagnosis_harness.kernel.errors import FailureKind, InvalidSetting, StoreFailure
from diagnosis_harness.kernel.store_trouble import StoreTrouble

QUEUE_SCHEMA: Final = "diagnosis_queue"
"""The PostgreSQL schema of the queue's tables; in SQLite they have a file of their own."""

_PLACE: Final = "queue.url"
_FORMS: Final = "give a path, sqlite:///PATH, or postgresql://USER@HOST/NAME"
_BUSY_S: Final = 5.0  # wait for a lock or a connection, as `database.busy_timeout_s` by default
_POOL_SIZE: Final = 5  # DBOS polls, delivers and records from a few threads at a time


def queue_url(database_url: str) -> str:
    """The default URL of the queue that belongs to a database.

    It is the same PostgreSQL database, or a SQLite file beside the given one with `-queue` in its name.

    Raises:
        InvalidSetting: the URL is neither, or names a SQLite database in memory.
    """
    url = _read(database_url)
    if url.get_backend_name() == "sqlite":
        file = Path(url.database or "")
        url = url.set(database=str(file.with_name(f"{file.stem}-queue{file.suffix}")))
    return url.render_as_string(hide_password=False)


def _read(text: str) -> sa.URL:
    """The URL with the driver used here, whichever driver it names. No error repeats the URL."""
    text = text.strip()
    if text and "://" not in text:
        return sa.URL.create("sqlite", database=str(Path(text).expanduser()))
    try:
        url = sa.make_url(text)
    except (sa.exc.ArgumentError, ValueError):
        raise InvalidSetting(_PLACE, "is not a database URL", _FORMS) from None
    if not url.database or url.database == ":memory:":
        raise InvalidSetting(_PLACE, "does not name a database that processes can share", _FORMS)
    if url.get_backend_name() == "sqlite":
        return url.set(drivername="sqlite")
    if url.get_backend_name() in ("postgresql", "postgres"):
        return url.set(drivername="postgresql+psycopg")
    raise InvalidSetting(_PLACE, "names an unknown kind of database", _FORMS)


class QueueDatabase:
    """The database of the queue, by any form of URL that `database.url` may have.

    Raises:
        InvalidSetting: the URL is neither of PostgreSQL nor of a SQLite file.
    """

    def __init__(self, url: str) -> None:
        self._url = _read(url)

    @property
    def is_file(self) -> bool:
        """Whether it is a SQLite file."""
        return self._url.get_backend_name() == "sqlite"

    @property
    def url(self) -> str:
        """The URL as DBOS takes it, password and all."""
        return self._url.render_as_string(hide_password=False)

    def use_wal(self) -> None:
        """Switch a SQLite file permanently to a write-ahead log, so that readers do not block the writer."""
        if not self.is_file:
            return
        make_private(Path(self._url.database or ""))
        with closing(sqlite3.connect(self._url.database or "", timeout=_BUSY_S)) as connection:
            switch_to_wal(connection.execute)

    def engine(self, fails_fast: Callable[[], bool]) -> sa.Engine:
        """Connections as DBOS needs them.

        DBOS retries for ever when the database is locked or unavailable. While `fails_fast` returns True,
        such an error becomes a `StoreFailure`, which DBOS does not retry.
        """
        connect_args = (
            {} if self.is_file else {"application_name": "diagnosis-queue", "connect_timeout": round(_BUSY_S)}
        )
        engine = sa.create_engine(
            self._url,
            pool_size=_POOL_SIZE,
            max_overflow=0,
            pool_timeout=_BUSY_S,
            pool_pre_ping=not self.is_file,
            connect_args=connect_args,
        )
        if self.is_file:
            event.listen(engine, "connect", _set_up_file)

        def fail_fast(context: ExceptionContext) -> None:
            if context.is_pre_ping:
                return  # a dead connection in the pool is replaced, which is not a failure
            if fails_fast() and isinstance(context.sqlalchemy_exception, sa.exc.OperationalError):
                raise _unavailable(context.original_exception) from context.original_exception

        event.listen(engine, "handle_error", fail_fast)
        return engine


def _set_up_file(connection: DBAPIConnection, entry: ConnectionPoolEntry) -> None:
    del entry
    # As DBOS itself opens a file: writers take the lock at the start of a transaction, and wait for it.
    connection.isolation_level = "IMMEDIATE"
    if isinstance(connection, sqlite3.Connection):
        define_subsec(connection)
    with closing(connection.cursor()) as cursor:
        cursor.execute(f"PRAGMA busy_timeout={round(_BUSY_S * 1000)}")
        cursor.execute("PRAGMA foreign_keys=ON")
        # Enough with a write-ahead log: deliveries lost by a power cut are requeued from the rows.
        cursor.execute("PRAGMA synchronous=NORMAL")


def _unavailable(error: BaseException) -> StoreFailure:
    if "locked" in str(error):
        # Not in SQLite's words, because DBOS retries for ever on "database is locked".
        return _failure("another process holds the queue's lock", FailureKind.TIMEOUT)
    # A driver's own message may name hosts and users.
    return _failure("the queue's database cannot be reached", FailureKind.UNAVAILABLE)


def _failure(problem: str, kind: FailureKind) -> StoreFailure:
    return StoreFailure(problem, kind=kind, trouble=StoreTrouble.QUEUE_AWAY)


@contextmanager
def translate_queue_errors() -> Iterator[None]:
    """Raise errors of the queue and its database as `StoreFailure`."""
    try:
        yield
    except TimeoutError as error:
        raise _failure("the queue did not answer in time", FailureKind.TIMEOUT) from error
    except (
        sa.exc.OperationalError,
        sa.exc.TimeoutError,
        sqlite3.OperationalError,
        psycopg.OperationalError,
    ) as error:
        raise _unavailable(error) from error
    except (sa.exc.SQLAlchemyError, dbos_error.DBOSException, sqlite3.Error, psycopg.Error, OSError) as error:
        raise _failure(f"the queue failed ({type(error).__name__})", FailureKind.UNKNOWN) from error
