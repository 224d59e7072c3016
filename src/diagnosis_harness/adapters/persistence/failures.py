"""What a database says in its own words, as our failures. The one place where it is translated.

Messages are ours: a driver's own may name hosts, users and statements.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from sqlalchemy.exc import DBAPIError, SQLAlchemyError
from sqlalchemy.exc import TimeoutError as PoolTimeout

from diagnosis_harness.kernel.errors import ContractViolation, FailureKind, StoredBytesInvalid, StoreFailure

_FULL = "the disk of the database is full; nothing was written, and it goes on when there is room"
_BUSY = "another process holds the database for too long"
_AWAY = "the database cannot be reached"
_READ_ONLY = "the database may only be read"

_SQLITE: tuple[tuple[str, FailureKind, str], ...] = (
    ("SQLITE_FULL", FailureKind.UNAVAILABLE, _FULL),
    ("SQLITE_IOERR_WRITE", FailureKind.UNAVAILABLE, "the database cannot be written to; is its disk full?"),
    ("SQLITE_IOERR", FailureKind.UNAVAILABLE, "the disk of the database reports an error"),
    ("SQLITE_BUSY", FailureKind.TIMEOUT, _BUSY),
    ("SQLITE_LOCKED", FailureKind.TIMEOUT, _BUSY),
    ("SQLITE_CANTOPEN", FailureKind.UNAVAILABLE, "the file of the database cannot be opened"),
    ("SQLITE_READONLY", FailureKind.REJECTED, _READ_ONLY),
    ("SQLITE_PERM", FailureKind.REJECTED, _READ_ONLY),
    ("SQLITE_NOTADB", FailureKind.REJECTED, "the file is not an SQLite database"),
    ("SQLITE_CORRUPT", FailureKind.UNKNOWN, "the file of the database is damaged"),
)
_POSTGRES: tuple[tuple[str, FailureKind, str], ...] = (
    ("53100", FailureKind.UNAVAILABLE, _FULL),
    ("53", FailureKind.UNAVAILABLE, "the database has no room for another connection or for this statement"),
    ("57014", FailureKind.TIMEOUT, "a statement took longer than it may"),
    ("55P03", FailureKind.TIMEOUT, _BUSY),
    ("57P", FailureKind.UNAVAILABLE, "the database is shutting down or starting"),
    ("08", FailureKind.TRANSPORT, _AWAY),
    ("40", FailureKind.UNAVAILABLE, "the database broke off a transaction that was in another one's way"),
    ("28", FailureKind.REJECTED, "the database refuses the user or the password"),
    ("3D", FailureKind.REJECTED, "there is no such database"),
    ("25006", FailureKind.REJECTED, _READ_ONLY),
    ("42501", FailureKind.REJECTED, "the user of the database may not do this"),
    ("58", FailureKind.UNAVAILABLE, "the database reports an error of its machine"),
)

_UNREADABLE = (
    *(ValueError, TypeError, LookupError, AttributeError, ArithmeticError),
    *(ContractViolation, StoredBytesInvalid),
)
"""What a value raises that is not of the shape it has when this program writes it."""

AWAY = frozenset({FailureKind.TRANSPORT, FailureKind.TIMEOUT, FailureKind.UNAVAILABLE})
"""Kinds that pass: the same may well be done later."""


def no_answer() -> StoreFailure:
    """That the database said nothing in time: not that it has done what was asked, nor that it has not."""
    return StoreFailure("the database does not answer", kind=FailureKind.TIMEOUT)


@contextmanager
def translated() -> Iterator[None]:
    """Raise whatever the database raises as `StoreFailure`; our own errors pass."""
    try:
        yield
    except PoolTimeout as error:
        raise StoreFailure("every connection to the database is in use", kind=FailureKind.TIMEOUT) from error
    except DBAPIError as error:
        raise _failure(error.orig) from error
    except (SQLAlchemyError, OSError) as error:
        raise _failure(error) from error


@contextmanager
def readable() -> Iterator[None]:
    """Raise as `StoreFailure` that what the database holds is nothing this program can have written."""
    try:
        yield
    except _UNREADABLE as error:
        raise StoreFailure(
            f"what the database holds cannot be read ({type(error).__name__})",
            kind=FailureKind.INVALID_OUTPUT,
        ) from error


def _failure(error: object) -> StoreFailure:
    sqlite = getattr(error, "sqlite_errorname", None)
    if isinstance(sqlite, str):
        return _by_code(sqlite, _SQLITE)
    postgres = getattr(error, "sqlstate", None)
    if isinstance(postgres, str):
        return _by_code(postgres, _POSTGRES)
    name = type(error).__name__
    if "Timeout" in name:
        return no_answer()
    if isinstance(error, OSError) or name in {"OperationalError", "InterfaceError"}:
        return StoreFailure(_AWAY, kind=FailureKind.TRANSPORT)
    return StoreFailure(f"the database failed ({name})", kind=FailureKind.UNKNOWN)


def _by_code(code: str, table: tuple[tuple[str, FailureKind, str], ...]) -> StoreFailure:
    for prefix, kind, message in table:
        if code.startswith(prefix):
            return StoreFailure(message, kind=kind)
    return StoreFailure(f"the database refused a statement ({code})", kind=FailureKind.UNKNOWN)
