"""What is kept of questions, evidence and keys can be read by no other user of the machine."""

from __future__ import annotations

import asyncio
import logging
import os
import sqlite3
import stat
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest
from tests.support.live_service import run_server, submit

from diagnosis_harness.adapters.persistence.database import Database
from diagnosis_harness.application.private_file import make_private


@contextmanager
def umask(value: int) -> Iterator[None]:
    """Another mask of rights, for the time of the body."""
    before = os.umask(value)
    try:
        yield
    finally:
        os.umask(before)


def modes(folder: Path) -> dict[str, str]:
    """The rights of each database file in a folder."""
    files = [file for file in folder.iterdir() if ".db" in file.name]
    return {file.name: oct(stat.S_IMODE(file.stat().st_mode)) for file in files}


@pytest.mark.parametrize("mask", [0o000, 0o022, 0o077])
def test_every_file_of_a_service_is_its_owner_s_alone(tmp_path: Path, mask: int) -> None:
    """The database, its log, its index, and the queue's, while they are in use; whatever the umask."""
    with umask(mask), run_server(tmp_path) as server:
        client = server.client()
        server.wait_for_end(client, submit(client, "What can you do?")["run_id"])
        found = modes(tmp_path)

    assert {"runs.db", "runs.db-wal", "runs.db-shm", "runs-queue.db"} <= set(found)
    assert set(found.values()) == {"0o600"}


def test_an_older_file_of_ours_is_tightened(tmp_path: Path) -> None:
    """With the files that an unclean end left beside it; and no process loses a lock by that."""
    file = tmp_path / "runs.db"
    with closing(sqlite3.connect(file, isolation_level=None)) as before:
        before.execute("PRAGMA journal_mode = WAL")
        before.execute("CREATE TABLE kept (what)")
        for each in tmp_path.iterdir():
            each.chmod(0o644)
        before.execute("BEGIN IMMEDIATE")
        make_private(file)
        with (
            closing(sqlite3.connect(file, timeout=0.0, isolation_level=None)) as other,
            pytest.raises(sqlite3.OperationalError, match="locked"),
        ):
            other.execute("BEGIN IMMEDIATE")

        assert set(modes(tmp_path).values()) == {"0o600"}


def test_a_file_of_somebody_else_is_left_and_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Only the owner can change its rights; the log says so once, in one sentence."""
    file = tmp_path / "runs.db"
    file.touch(0o644)
    file.chmod(0o644)
    owner = file.stat().st_uid
    monkeypatch.setattr(os, "geteuid", lambda: owner + 1)

    with caplog.at_level(logging.WARNING):
        make_private(file)

    assert modes(tmp_path) == {"runs.db": "0o644"}
    (line,) = caplog.messages
    assert str(file) in line
    assert "chmod 600" in line


def test_a_folder_that_cannot_be_made_is_reported_when_it_is_opened(tmp_path: Path) -> None:
    """No second sentence beside that of the database, and no other error."""
    make_private(tmp_path / "missing" / "runs.db")
    make_private(tmp_path)

    assert modes(tmp_path) == {}


def test_a_link_leads_to_the_file_that_is_kept_private(tmp_path: Path) -> None:
    """A folder may hold a link to where the database is."""
    there = tmp_path / "there.db"
    there.touch()
    there.chmod(0o644)
    (tmp_path / "runs.db").symlink_to(there)

    asyncio.run(_open(tmp_path / "runs.db"))

    assert modes(tmp_path)["there.db"] == "0o600"


async def _open(file: Path) -> None:
    await (await Database.open(f"sqlite:///{file}")).close()
