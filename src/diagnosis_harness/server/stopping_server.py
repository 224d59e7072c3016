"""A uvicorn server that ends its streams before it waits for connections, and leaves the process alive."""

from __future__ import annotations

import asyncio
import signal
import socket
import threading
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager

from uvicorn import Config, Server


class StoppingServer(Server):
    """When asked to stop, uvicorn waits for open responses, but an event stream never ends by itself.

    Args:
        before_stop: ends what would otherwise stay open; awaited once, when the server is asked to stop.
        on_second_signal: called at a second SIGTERM or Ctrl+C while it stops; without one, it is ignored.
    """

    def __init__(
        self,
        config: Config,
        before_stop: Callable[[], Awaitable[None]],
        on_second_signal: Callable[[], None] | None = None,
    ) -> None:
        super().__init__(config)
        self._before_stop = before_stop
        self._on_second_signal = on_second_signal

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Stop at SIGTERM and Ctrl+C.

        Unlike uvicorn's own, it does not raise the signal again afterwards: that would end the process before
        the stores that the server used are closed.
        """
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        loop, numbers = asyncio.get_running_loop(), (signal.SIGTERM, signal.SIGINT)
        before = {number: signal.getsignal(number) for number in numbers}
        for number in numbers:
            loop.add_signal_handler(number, self._run_before_stop)
        try:
            yield
        finally:
            for number, handler in before.items():
                loop.remove_signal_handler(number)
                signal.signal(number, handler)

    def _run_before_stop(self) -> None:
        if self.should_exit and self._on_second_signal is not None:
            self._on_second_signal()
        self.should_exit = True

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Take no new connections, end the streams, then stop as uvicorn does."""
        for server in self.servers:
            server.close()
        await self._before_stop()
        await super().shutdown(sockets)
