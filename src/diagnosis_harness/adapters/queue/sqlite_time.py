"""`unixepoch('subsec')` for SQLite before 3.42, which DBOS needs from Python 3.12 on (decision 15)."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from typing import Final

Value = str | int | float | bytes | None

_HAS_SUBSEC: Final = (3, 42, 0)
_SUBSEC: Final = ("subsec", "subsecond")
_UNIXEPOCH: Final = "unixepoch"


def define_subsec(
    connection: sqlite3.Connection, version: tuple[int, ...] = sqlite3.sqlite_version_info
) -> None:
    """Define the function as in SQLite 3.42, unless this SQLite has it.

    A table may have the default `unixepoch('subsec')`; a connection without the function would write NULL.
    """
    if version < _HAS_SUBSEC:
        connection.create_function(_UNIXEPOCH, -1, unixepoch)


def unixepoch(*arguments: Value) -> int | float | None:
    """Seconds since 1970 of a time value with modifiers, as SQLite reads them; NULL if it cannot.

    With `subsec` among the modifiers, or instead of the time value, they have a fraction.
    """
    plain = [argument for argument in arguments if not _is_subsec(argument)]
    if len(plain) == len(arguments):
        return _whole_seconds(plain)[0]
    if not plain or _is_subsec(arguments[0]):
        plain.insert(0, "now")
    seconds, within_minute = _whole_seconds(plain)
    if seconds is None or within_minute is None:
        return None
    return seconds // 60 * 60 + float(within_minute)


def _is_subsec(argument: Value) -> bool:
    return isinstance(argument, str) and argument.lower() in _SUBSEC


def _whole_seconds(arguments: list[Value]) -> tuple[int | None, str | None]:
    """Whole seconds, and the seconds of their minute with a fraction, by SQLite itself."""
    places = ", ".join("?" * len(arguments)) or "'now'"
    question = f"SELECT CAST(strftime('%s', {places}) AS INTEGER), strftime('%f', {places})"
    # A new connection each time: the calling one is in use, and a shared one would have to be closed.
    with closing(sqlite3.connect(":memory:")) as connection:
        row: tuple[int | None, str | None] = connection.execute(question, arguments * 2).fetchone()
    return row
