"""Connections that cannot be held open by a client that does not read, or that is not there any more.

uvicorn waits for such a client without end. The protocol here is its own, with a bound on that wait.
"""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Callable
from typing import ClassVar, cast

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from diagnosis_harness.kernel.clock import Clock
from diagnosis_harness.server.afar import in_loop


class BoundedConnection(HttpToolsProtocol):
    """uvicorn's connection with a bound on every wait for its client to read. Made by `bounded_connection`."""

    clock: ClassVar[Clock]
    write_limit_s: ClassVar[float]
    _disarm: Callable[[], None] | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as uvicorn
        """Begin; have the kernel find out about silent peers."""
        super().connection_made(transport)
        watch_peer(cast("socket.socket | None", transport.get_extra_info("socket")), self.write_limit_s)

    def pause_writing(self) -> None:
        """The client has stopped reading: from now on its time runs."""
        super().pause_writing()
        cut = in_loop(self.loop, self.transport.abort)
        self._disarm = self.clock.call_at(self.clock.now_s() + self.write_limit_s, cut)

    def resume_writing(self) -> None:
        """It reads again."""
        self._settle()
        super().resume_writing()

    def connection_lost(self, exc: Exception | None) -> None:
        """It is gone."""
        self._settle()
        super().connection_lost(exc)

    def _settle(self) -> None:
        disarm, self._disarm = self._disarm, None
        if disarm is not None:
            disarm()


def bounded_connection(time: Clock, limit_s: float) -> type[BoundedConnection]:
    """The protocol of a server's connections, for `uvicorn.Config(http=...)`.

    A connection on which nothing could be written for `limit_s` is cut. The same bound is given to the
    kernel, for a peer that vanished without a word (Linux: TCP_USER_TIMEOUT; elsewhere its own, later one).
    """

    class Connection(BoundedConnection):
        clock = time
        write_limit_s = limit_s

    return Connection


def watch_peer(connection: socket.socket | None, limit_s: float) -> None:
    """Have the kernel end a TCP connection whose peer acknowledges nothing for so long."""
    if connection is None or connection.family not in (socket.AF_INET, socket.AF_INET6):
        return
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    if hasattr(socket, "TCP_USER_TIMEOUT"):
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, round(limit_s * 1000))
