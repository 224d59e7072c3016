"""Connections with limits on how long an idle, stalled or vanished client can hold them open.

uvicorn waits for such a client for ever. This is its protocol class with a limit on each wait.
"""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Callable
from functools import partial
from typing import ClassVar, cast

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from diagnosis_harness.harness.waiting import call_on_loop
from diagnosis_harness.kernel.clock import Clock

HEAD_BYTES_MAX = 65_536
"""The largest head of a request."""


class Limit:
    """A restartable time limit; when it passes, `cut` is called on the event loop."""

    def __init__(
        self, clock: Clock, loop: asyncio.AbstractEventLoop, cut: Callable[[], object], *, limit_s: float
    ) -> None:
        self._clock = clock
        self._cut = partial(call_on_loop, loop, cut)
        self._limit_s = limit_s
        self._disarm: Callable[[], None] | None = None

    def begin(self) -> None:
        """Start the limit unless it is already running."""
        if self._disarm is None:
            self._disarm = self._clock.call_at(self._clock.now_s() + self._limit_s, self._cut)

    def over(self) -> None:
        """Stop the limit."""
        disarm, self._disarm = self._disarm, None
        if disarm is not None:
            disarm()


class BoundedConnection(HttpToolsProtocol):
    """uvicorn's connection with a bound on every wait for its client; see `connection_class`."""

    clock: ClassVar[Clock]
    write_limit_s: ClassVar[float]
    read_limit_s: ClassVar[float]

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as uvicorn
        """Accept the connection, and let the kernel detect silent peers."""
        super().connection_made(transport)
        watch_peer(cast("socket.socket | None", transport.get_extra_info("socket")), self.write_limit_s)
        self._writing = Limit(self.clock, self.loop, transport.abort, limit_s=self.write_limit_s)
        self._head = Limit(self.clock, self.loop, transport.abort, limit_s=self.read_limit_s)
        self._head.begin()
        self._head_bytes: int | None = 0  # bytes of the head being received; None between two heads

    def data_received(self, data: bytes) -> None:
        """Take in data; while a head is incomplete, its time and bytes are limited."""
        super().data_received(data)
        if self._head_bytes is not None:
            self._head.begin()
            self._head_bytes += len(data)
            if self._head_bytes > HEAD_BYTES_MAX:
                self.transport.abort()

    def on_message_begin(self) -> None:
        """Start the limits of a head."""
        super().on_message_begin()
        self._head_bytes = 0

    def on_headers_complete(self) -> None:
        """The head is complete: stop its limits."""
        self._head_bytes = None
        self._head.over()
        super().on_headers_complete()

    def pause_writing(self) -> None:
        """The client has stopped reading: start its limit."""
        super().pause_writing()
        self._writing.begin()

    def resume_writing(self) -> None:
        """The client reads again: stop its limit."""
        self._writing.over()
        super().resume_writing()

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop all limits."""
        self._writing.over()
        self._head.over()
        super().connection_lost(exc)


def connection_class(
    clock: Clock, *, write_limit_s: float, read_limit_s: float = 10.0
) -> type[BoundedConnection]:
    """The protocol of a server's connections, for `uvicorn.Config(http=...)`.

    The head of a request must be complete within `read_limit_s` of the connection or of its first byte; the
    application limits the time for the body.

    A connection to which nothing could be written for `write_limit_s` is closed. The kernel gets the same
    limit, for peers that vanish without closing (Linux: TCP_USER_TIMEOUT; other systems use their own, longer
    limit).
    """
    limits = {"clock": clock, "write_limit_s": write_limit_s, "read_limit_s": read_limit_s}
    return type("Connection", (BoundedConnection,), limits)


def watch_peer(connection: socket.socket | None, limit_s: float) -> None:
    """Let the kernel end a TCP connection whose peer acknowledges nothing for that long."""
    if connection is None or connection.family not in (socket.AF_INET, socket.AF_INET6):
        return
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    if hasattr(socket, "TCP_USER_TIMEOUT"):
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, round(limit_s * 1000))
