"""Switches a SQLite file to its write-ahead log (WAL), also while other processes open it.

In WAL mode readers and the writer do not wait for each other. The mode stays in the file.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable

_ATTEMPTS = 20
"""Twelve processes that opened 600 new files at once never needed a third attempt."""


def switch_to_wal(execute: Callable[[str], object]) -> None:
    """Switch the file to a write-ahead log, unless it already has one.

    SQLite does not wait for a lock here, whatever the busy timeout of the connection: two processes that open
    a new file both hold a read lock, and each would wait for the other's. A refused process waits for the
    write lock instead, which the busy timeout does bound, and then finds the mode changed.

    Args:
        execute: runs a statement on a connection that is in no transaction.

    Raises:
        sqlite3.OperationalError: another process holds the lock for longer than the busy timeout.
    """
    for attempt in range(_ATTEMPTS):
        try:
            execute("PRAGMA journal_mode = WAL")
        except sqlite3.OperationalError as error:
            if error.sqlite_errorname != "SQLITE_BUSY" or attempt == _ATTEMPTS - 1:
                raise
            execute("BEGIN IMMEDIATE")
            execute("ROLLBACK")
        else:
            return
