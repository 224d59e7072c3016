"""A uvicorn server that ends its streams before it waits for its connections to close."""

from __future__ import annotations

import socket
from collections.abc import Awaitable, Callable

from uvicorn import Config, Server


class StoppingServer(Server):
    """Told to stop, uvicorn waits for open responses; an event stream has no end of its own.

    Args:
        before_stop: ends what would stay open; awaited once, when the server is told to stop.
    """

    def __init__(self, config: Config, before_stop: Callable[[], Awaitable[None]]) -> None:
        super().__init__(config)
        self._before_stop = before_stop

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Take no new connections, end the streams, then stop as uvicorn does."""
        for server in self.servers:
            server.close()
        await self._before_stop()
        await super().shutdown(sockets)
