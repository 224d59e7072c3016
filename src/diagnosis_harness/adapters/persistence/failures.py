"""What a database says in its own words, as our failures. The one place where it is translate_errors.

Messages are ours: a driver's own may name hosts, users and statements.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TypeAlias

from sqlalchemy.exc import DBAPIError, SQLAlchemyError
from sqlalchemy.exc import TimeoutError as PoolTimeout

from diagnosis_harness.kernel.errors import ContractViolation, FailureKind, StoredBytesInvalid, StoreFailure
from diagnosis_harness.kernel.store_trouble import StoreTrouble

_FULL = "the disk of the database is full; nothing was written, and it goes on when there is room"
_CANNOT_WRITE = "the database cannot be written to; is its disk full?"
_NO_ROOM = "the database has no room for another connection or for this statement"
_BROKEN_OFF = "the database broke off a transaction that was in another one's way"
_BUSY = "another process holds the database for too long"
_AWAY = "the database cannot be reached"
_READ_ONLY = "the database may only be read"

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
    ("57014", FailureKind.TIMEOUT, "a statement took longer than it may", _T.DATABASE_AWAY),
    ("55P03", FailureKind.TIMEOUT, _BUSY, _T.DATABASE_LOCKED),
    ("57P", FailureKind.UNAVAILABLE, "the database is shutting down or starting", _T.DATABASE_AWAY),
    ("08", FailureKind.TRANSPORT, _AWAY, _T.DATABASE_AWAY),
    ("40", FailureKind.UNAVAILABLE, _BROKEN_OFF, _T.DATABASE_FAILED),
    ("28", FailureKind.REJECTED, "the database refuses the user or the password", _T.DATABASE_FAILED),
    ("3D", FailureKind.REJECTED, "there is no such database", _T.DATABASE_FAILED),
    ("25006", FailureKind.REJECTED, _READ_ONLY, _T.DATABASE_READ_ONLY),
    ("42501", FailureKind.REJECTED, "the user of the database may not do this", _T.DATABASE_FAILED),
    ("58", FailureKind.UNAVAILABLE, "the database reports an error of its machine", _T.DATABASE_FAILED),
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


def locked() -> StoreFailure:
    """That another process holds the database."""
    return StoreFailure(_BUSY, kind=FailureKind.TIMEOUT, trouble=StoreTrouble.DATABASE_LOCKED)


@contextmanager
def translate_errors() -> Iterator[None]:
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
def readable(trouble: StoreTrouble = StoreTrouble.ROW_UNREADABLE) -> Iterator[None]:
    """Raise as `StoreFailure` that what the database holds is nothing this program can have written."""
    try:
        yield
    except _UNREADABLE as error:
        raise StoreFailure(
            f"what the database holds cannot be read ({type(error).__name__})",
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
