"""Stores, finds and prunes the runs of one user in an SQLite file.

It uses the `sqlite3` of Python, since a plain installation has no database library. Each operation opens
and closes the file, so nothing stays open between questions, and several terminals may write at once.
"""

from __future__ import annotations

import json
import os
import sqlite3
import zlib
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

from diagnosis_harness.application.intent import IntentType
from diagnosis_harness.application.kept_run import KeptRun
from diagnosis_harness.application.private_file import make_private
from diagnosis_harness.application.runs.feedback import Feedback, FeedbackVerdict
from diagnosis_harness.kernel.errors import FailureKind, StoreFailure
from diagnosis_harness.release.outcome import ReleaseOutcome

FILE = "runs.db"
_VERSION = 2
_BUSY_S = 2.0
"""How long one terminal waits for another that is writing: a run is written in milliseconds."""
_DAY_S = 86_400.0
_OWN = 0o700
_NAMED_MAX = 5
_TABLE = """
CREATE TABLE run (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    run_id TEXT NOT NULL UNIQUE,
    session_id TEXT NOT NULL,
    kept_s REAL NOT NULL,
    started_at TEXT NOT NULL,
    question TEXT NOT NULL,
    intent TEXT,
    outcome TEXT NOT NULL,
    folder TEXT,
    baseline TEXT,
    zone TEXT,
    published_result TEXT NOT NULL,
    document BLOB NOT NULL,
    feedback TEXT
)
"""
_COLUMNS = (
    "run_id, session_id, started_at, question, intent, outcome, folder, baseline, zone, published_result, "
    "document"
)
_INSERT = (
    f"INSERT OR REPLACE INTO run (feedback, kept_s, {_COLUMNS}) "  # noqa: S608 - our own
    f"VALUES ((SELECT feedback FROM run WHERE run_id = ?), {', '.join('?' * 12)})"
)


@dataclass(frozen=True, slots=True)
class Limits:
    """Which runs are kept: those of the last `days`, and of these the latest `runs_max`."""

    days: float
    runs_max: int


class LocalRuns:
    """The kept runs in a folder. Every failure is a `StoreFailure` whose message names the file."""

    def __init__(self, folder: Path, limits: Limits) -> None:
        self._folder = folder
        self._limits = limits
        self.file = folder / FILE

    def keep(self, run: KeptRun, *, now_s: float) -> None:
        """Write a run, and delete those beyond the limits.

        Raises:
            StoreFailure: it cannot be written.
        """
        with self._open(create=True) as connection, connection:
            connection.execute(_INSERT, (run.run_id, now_s, *_row(run)))
            self._delete_beyond_limits(connection, now_s)

    def prune(self, *, now_s: float) -> None:
        """Delete the runs beyond the limits; if none are kept, no file is created.

        Raises:
            StoreFailure: the file cannot be written.
        """
        if self.file.is_file():
            with self._open(create=False) as connection, connection:
                self._delete_beyond_limits(connection, now_s)

    def delete(self, run_id: str | None = None) -> int:
        """Delete one run, or all of them, and return how many there were.

        Raises:
            StoreFailure: the file cannot be written.
        """
        if not self.file.is_file():
            return 0
        with self._open(create=False) as connection, connection:
            return connection.execute(
                "DELETE FROM run WHERE run_id = coalesce(?, run_id)", (run_id,)
            ).rowcount

    def mark(self, feedback: Feedback) -> None:
        """Store the verdict on a run; it replaces an earlier one.

        Raises:
            StoreFailure: it cannot be written, or the run is no longer kept.
        """
        verdict = {
            "given_by": feedback.given_by,
            "verdict": feedback.verdict.value,
            "cause": feedback.cause,
            "note": feedback.note,
            "given_s": feedback.given_s,
        }
        gone = StoreFailure(f"{self.file}: the run was deleted", kind=FailureKind.REJECTED)
        if not self.file.is_file():
            raise gone
        with self._open(create=False) as connection, connection:
            values = (json.dumps(verdict), feedback.run_id)
            if connection.execute("UPDATE run SET feedback = ? WHERE run_id = ?", values).rowcount != 1:
                raise gone

    def feedback(self, run_id: str) -> Feedback | None:
        """The verdict on a run; None if there is none, or no such run.

        Raises:
            StoreFailure: the file cannot be read.
        """
        if not self.file.is_file():
            return None
        with self._open(create=False) as connection:
            found = connection.execute("SELECT feedback FROM run WHERE run_id = ?", (run_id,)).fetchone()
            if found is None or found[0] is None:
                return None
            try:
                verdict = json.loads(found[0])
                return Feedback(run_id=run_id, **{**verdict, "verdict": FeedbackVerdict(verdict["verdict"])})
            except (KeyError, TypeError) as error:
                raise ValueError("a verdict in it cannot be read") from error

    def latest(self, limit: int = 1, *, session_id: str | None = None) -> tuple[KeptRun, ...]:
        """The latest runs, of all sessions or of one, the latest first; empty if none is kept.

        Raises:
            StoreFailure: the file cannot be read.
        """
        condition = "1" if session_id is None else "session_id = :session"
        return self._select(
            f"WHERE {condition} ORDER BY number DESC LIMIT :limit", {"session": session_id, "limit": limit}
        )

    def starting_with(self, prefix: str) -> tuple[KeptRun, ...]:
        """The run of that id, or else the latest few whose id starts with it.

        Raises:
            StoreFailure: the file cannot be read.
        """
        exact = self._select("WHERE run_id = :start", {"start": prefix})
        return exact or self._select(
            "WHERE substr(run_id, 1, length(:start)) = :start ORDER BY number DESC LIMIT :limit",
            {"start": prefix, "limit": _NAMED_MAX},
        )

    def _delete_beyond_limits(self, connection: sqlite3.Connection, now_s: float) -> None:
        connection.execute("DELETE FROM run WHERE kept_s < ?", (now_s - self._limits.days * _DAY_S,))
        connection.execute(
            "DELETE FROM run WHERE number NOT IN (SELECT number FROM run ORDER BY number DESC LIMIT ?)",
            (self._limits.runs_max,),
        )

    def _select(self, condition: str, values: dict[str, str | int | None]) -> tuple[KeptRun, ...]:
        if not self.file.is_file():
            return ()
        with self._open(create=False) as connection:
            rows = connection.execute(f"SELECT {_COLUMNS} FROM run {condition}", values).fetchall()  # noqa: S608 - conditions of our own
            return tuple(map(_run, rows))

    @contextmanager
    def _open(self, *, create: bool) -> Iterator[sqlite3.Connection]:
        """A connection to the file; its errors become a `StoreFailure`."""
        try:
            if create:
                self._make_folder()
                make_private(self.file)
            with closing(sqlite3.connect(self.file, timeout=_BUSY_S)) as connection:
                self._prepare(connection)
                yield connection
        except (OSError, sqlite3.Error, ValueError, zlib.error) as error:
            problem = error.strerror if isinstance(error, OSError) else str(error)
            raise StoreFailure(f"{self.file}: {problem}", kind=FailureKind.UNAVAILABLE) from error

    def _make_folder(self) -> None:
        """Create the folder for its owner only; an existing one keeps its permissions."""
        if not self._folder.is_dir():
            self._folder.parent.mkdir(parents=True, exist_ok=True)
            self._folder.mkdir(mode=_OWN, exist_ok=True)
            os.chmod(self._folder, _OWN)  # noqa: PTH101 - whatever the umask

    def _prepare(self, connection: sqlite3.Connection) -> None:
        version = connection.execute("PRAGMA user_version").fetchone()[0]
        if version > _VERSION:
            raise ValueError("a newer version of this program wrote it")
        if version == _VERSION:
            return
        if version == 0:
            connection.execute("PRAGMA auto_vacuum = FULL")  # deleted runs free their disk space
        with connection:
            connection.execute("BEGIN IMMEDIATE")
            version = connection.execute("PRAGMA user_version").fetchone()[0]  # others open it at once too
            if version == 0:
                connection.execute(_TABLE)
                connection.execute("CREATE INDEX run_of_session ON run (session_id, number)")
            elif version == 1:
                connection.execute("ALTER TABLE run ADD COLUMN feedback TEXT")
            connection.execute(f"PRAGMA user_version = {_VERSION}")


def _row(run: KeptRun) -> tuple[str | bytes | None, ...]:
    return (
        run.run_id,
        run.session_id,
        run.started_at,
        run.question,
        run.intent,
        run.outcome,
        run.folder,
        run.baseline,
        run.zone,
        json.dumps(run.published_result),
        zlib.compress(run.document),
    )


def _run(row: tuple[str, ...]) -> KeptRun:
    run_id, session_id, started_at, question, intent, outcome, folder, baseline, zone, published, stored = row
    return KeptRun(
        run_id=run_id,
        session_id=session_id,
        started_at=started_at,
        question=question,
        intent=IntentType(intent) if intent else None,
        outcome=ReleaseOutcome(outcome),
        folder=folder or None,
        baseline=baseline or None,
        zone=zone or None,
        published_result=json.loads(published),
        document=zlib.decompress(stored),  # type: ignore[arg-type]  # the one column of bytes
    )
