"""Translates the errors of databases and drivers to `StoreFailure`.

The messages are ours, because those of a driver may name hosts, users and statements.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TypeAlias

from sqlalchemy.exc import DBAPIError, SQLAlchemyError
from sqlalchemy.exc import TimeoutError as PoolTimeout

from diagnosis_harness.kernel.errors import ContractViolation, FailureKind, StoredBytesInvalid, StoreFailure
from diagnosis_harness.kernel.store_trouble import StoreTrouble

_FULL = "the disk of the database is full; nothing was written; writing resumes when there is room"
_CANNOT_WRITE = "the database cannot be written to; is its disk full?"
_NO_ROOM = "the database has no room for another connection or for this statement"
_BROKEN_OFF = "the database aborted a transaction that conflicted with another"
_BUSY = "another process has locked the database for too long"
_AWAY = "the database cannot be reached"
_READ_ONLY = "the database is read-only"

_T = StoreTrouble
_Code: TypeAlias = tuple[str, FailureKind, str, StoreTrouble]

_SQLITE: tuple[_Code, ...] = (
    ("SQLITE_FULL", FailureKind.UNAVAILABLE, _FULL, _T.DATABASE_FULL),
    ("SQLITE_IOERR_WRITE", FailureKind.UNAVAILABLE, _CANNOT_WRITE, _T.DATABASE_FULL),
    (
        "SQLITE_IOERR",
        FailureKind.UNAVAILABLE,
        "the disk of the database reports an error",
        _T.DATABASE_FAILED,
    ),
    ("SQLITE_BUSY", FailureKind.TIMEOUT, _BUSY, _T.DATABASE_LOCKED),
    ("SQLITE_LOCKED", FailureKind.TIMEOUT, _BUSY, _T.DATABASE_LOCKED),
    (
        "SQLITE_CANTOPEN",
        FailureKind.UNAVAILABLE,
        "the file of the database cannot be opened",
        _T.DATABASE_AWAY,
    ),
    ("SQLITE_READONLY", FailureKind.REJECTED, _READ_ONLY, _T.DATABASE_READ_ONLY),
    ("SQLITE_PERM", FailureKind.REJECTED, _READ_ONLY, _T.DATABASE_READ_ONLY),
    ("SQLITE_NOTADB", FailureKind.REJECTED, "the file is not an SQLite database", _T.DATABASE_FAILED),
    ("SQLITE_CORRUPT", FailureKind.UNKNOWN, "the file of the database is damaged", _T.DATABASE_FAILED),
)
_POSTGRES: tuple[_Code, ...] = (
    ("53100", FailureKind.UNAVAILABLE, _FULL, _T.DATABASE_FULL),
    ("53", FailureKind.UNAVAILABLE, _NO_ROOM, _T.DATABASE_AWAY),
    ("57014", FailureKind.TIMEOUT, "a statement took longer than its limit", _T.DATABASE_AWAY),
    ("55P03", FailureKind.TIMEOUT, _BUSY, _T.DATABASE_LOCKED),
    ("57P", FailureKind.UNAVAILABLE, "the database is shutting down or starting", _T.DATABASE_AWAY),
    ("08", FailureKind.TRANSPORT, _AWAY, _T.DATABASE_AWAY),
    ("40", FailureKind.UNAVAILABLE, _BROKEN_OFF, _T.DATABASE_FAILED),
    ("28", FailureKind.REJECTED, "the database refuses the user or the password", _T.DATABASE_FAILED),
    ("3D", FailureKind.REJECTED, "there is no such database", _T.DATABASE_FAILED),
    ("25006", FailureKind.REJECTED, _READ_ONLY, _T.DATABASE_READ_ONLY),
    ("42501", FailureKind.REJECTED, "the database user lacks the permission", _T.DATABASE_FAILED),
    ("58", FailureKind.UNAVAILABLE, "the database server reports a system error", _T.DATABASE_FAILED),
)

_UNREADABLE = (
    *(ValueError, TypeError, LookupError, AttributeError, ArithmeticError),
    *(ContractViolation, StoredBytesInvalid),
)
"""Errors of decoding a value that this program cannot have written."""

AWAY = frozenset({FailureKind.TRANSPORT, FailureKind.TIMEOUT, FailureKind.UNAVAILABLE})
"""Kinds that may be temporary: the same call can succeed later."""


def no_answer() -> StoreFailure:
    """The failure of a database that did not answer in time, so that the outcome is unknown."""
    return StoreFailure("the database does not answer", kind=FailureKind.TIMEOUT)


def lock_failure() -> StoreFailure:
    """The failure of a write that met the lock of another process."""
    return StoreFailure(_BUSY, kind=FailureKind.TIMEOUT, trouble=StoreTrouble.DATABASE_LOCKED)


@contextmanager
def translate_errors() -> Iterator[None]:
    """Raise errors of the database as `StoreFailure`, and let our own errors pass."""
    try:
        yield
    except PoolTimeout as error:
        raise StoreFailure("every connection to the database is in use", kind=FailureKind.TIMEOUT) from error
    except DBAPIError as error:
        raise _failure(error.orig) from error
    except (SQLAlchemyError, OSError) as error:
        raise _failure(error) from error


@contextmanager
def readable(trouble: StoreTrouble = StoreTrouble.ROW_UNREADABLE) -> Iterator[None]:
    """Raise `StoreFailure` if decoding a stored value fails."""
    try:
        yield
    except _UNREADABLE as error:
        raise StoreFailure(
            f"a value in the database cannot be read ({type(error).__name__})",
            kind=FailureKind.INVALID_OUTPUT,
            trouble=trouble,
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
    problem = f"the database failed ({name})"
    return StoreFailure(problem, kind=FailureKind.UNKNOWN, trouble=StoreTrouble.DATABASE_FAILED)


def _by_code(code: str, table: tuple[_Code, ...]) -> StoreFailure:
    for prefix, kind, message, trouble in table:
        if code.startswith(prefix):
            return StoreFailure(message, kind=kind, trouble=trouble)
    problem = f"the database refused a statement ({code})"
    return StoreFailure(problem, kind=FailureKind.UNKNOWN, trouble=StoreTrouble.DATABASE_FAILED)
