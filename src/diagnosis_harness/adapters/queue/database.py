"""The database that DBOS keeps its queue in: where it is, how it is opened, what its failures are called."""

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

from diagnosis_harness.adapters.queue.sqlite_time import give_subsec
from diagnosis_harness.application.private_file import make_private
from diagnosis_harness.kernel.errors import FailureKind, InvalidSetting, StoreFailure
from diagnosis_harness.kernel.store_trouble import StoreTrouble

SCHEMA: Final = "diagnosis_queue"
"""Where the queue's tables are in PostgreSQL; in SQLite they have a file of their own."""

_PLACE: Final = "queue.url"
_FORMS: Final = "give a path, sqlite:///PATH, or postgresql://USER@HOST/NAME"
_BUSY_S: Final = 5.0
_POOL_SIZE: Final = 5


def queue_url(database_url: str) -> str:
    """Where the queue of a database is, unless another place is set.

    Of PostgreSQL it is the database itself, of a SQLite file the one beside it with `-queue` in its name.

    Raises:
        InvalidSetting: it is neither, or a SQLite database in memory.
    """
    url = _read(database_url)
    if url.get_backend_name() == "sqlite":
        file = Path(url.database or "")
        url = url.set(database=str(file.with_name(f"{file.stem}-queue{file.suffix}")))
    return url.render_as_string(hide_password=False)


def _read(text: str) -> sa.URL:
    """The URL with the driver that is used here, whichever driver it names. No error repeats it."""
    text = text.strip()
    if text and "://" not in text:
        return sa.URL.create("sqlite", database=str(Path(text).expanduser()))
    try:
        url = sa.make_url(text)
    except (sa.exc.ArgumentError, ValueError):
        raise InvalidSetting(_PLACE, "is not a URL of a database", _FORMS) from None
    if not url.database or url.database == ":memory:":
        raise InvalidSetting(_PLACE, "names no database that can be shared", _FORMS)
    if url.get_backend_name() == "sqlite":
        return url.set(drivername="sqlite")
    if url.get_backend_name() in ("postgresql", "postgres"):
        return url.set(drivername="postgresql+psycopg")
    raise InvalidSetting(_PLACE, "names a kind of database that is not known", _FORMS)


class QueueDatabase:
    """The database, by any URL form that ours is given by.

    Raises:
        InvalidSetting: the URL is none of PostgreSQL or of a SQLite file.
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
        """Switch a SQLite file to its write-ahead log, for good: readers and a writer go together."""
        if not self.is_file:
            return
        make_private(Path(self._url.database or ""))
        with closing(sqlite3.connect(self._url.database or "", timeout=_BUSY_S)) as connection:
            connection.execute("PRAGMA journal_mode=WAL")

    def engine(self, gives_up: Callable[[], bool]) -> sa.Engine:
        """Connections as DBOS needs them.

        DBOS tries again for ever where the database is locked or away. While `gives_up` says so, such an
        error is `StoreFailure` instead, which DBOS passes on.
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

        def give_up(context: ExceptionContext) -> None:
            if context.is_pre_ping:
                return  # one that died in the pool is replaced; that is no failure
            if gives_up() and isinstance(context.sqlalchemy_exception, sa.exc.OperationalError):
                raise _unavailable(context.original_exception) from context.original_exception

        event.listen(engine, "handle_error", give_up)
        return engine


def _set_up_file(connection: DBAPIConnection, entry: ConnectionPoolEntry) -> None:
    del entry
    # As DBOS opens a file itself: writers take the lock at once, and wait for it.
    connection.isolation_level = "IMMEDIATE"
    if isinstance(connection, sqlite3.Connection):
        give_subsec(connection)
    with closing(connection.cursor()) as cursor:
        cursor.execute(f"PRAGMA busy_timeout={round(_BUSY_S * 1000)}")
        cursor.execute("PRAGMA foreign_keys=ON")
        # Enough with a write-ahead log: what a power cut may take is delivered again from the rows.
        cursor.execute("PRAGMA synchronous=NORMAL")


def _unavailable(error: BaseException) -> StoreFailure:
    if "locked" in str(error):
        # Not in SQLite's words: DBOS tries again for ever whatever says "database is locked".
        return _failure("another process holds the queue's lock", FailureKind.TIMEOUT)
    # Words of a driver may name hosts and users.
    return _failure("the queue's database cannot be reached", FailureKind.UNAVAILABLE)


def _failure(problem: str, kind: FailureKind) -> StoreFailure:
    return StoreFailure(problem, kind=kind, trouble=StoreTrouble.QUEUE_AWAY)


@contextmanager
def translated() -> Iterator[None]:
    """Errors of the queue and its database as `StoreFailure`."""
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
