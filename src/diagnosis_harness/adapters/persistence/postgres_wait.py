"""Connections to PostgreSQL that wait for a server's answer within a limit of the client's own.

The server's timeouts count on a server that runs. One that stands still keeps its sockets open, so neither
they nor TCP end a wait for it: without a limit here, a thread would hang for as long as the server does.
"""

from __future__ import annotations

from typing import Any, TypeVar

import psycopg
from psycopg.abc import PQGen
from psycopg.errors import ConnectionTimeout, OperationalError
from sqlalchemy import Engine, event

T = TypeVar("T")


def bounded_connections(engine: Engine, *, limit_s: float) -> None:
    """Have every wait on a connection of this engine end within the limit; the connection is closed then."""

    class Bounded(psycopg.Connection[Any]):
        def wait(self, gen: PQGen[T], interval: float = 0.1, timeout: float | None = None) -> T:
            """As the driver's own, and `ConnectionTimeout` where the server says nothing in time."""
            limit = limit_s if timeout is None else min(timeout, limit_s)
            try:
                return super().wait(gen, interval, limit)
            except OperationalError as error:
                if type(error).__name__ != "_WaitTimeout":  # the driver's own, which has no public name
                    raise
                self.close()  # an answer that still comes is nobody's
                raise ConnectionTimeout("the server does not answer") from None

    def connected(dialect: object, record: object, arguments: list[Any], named: dict[str, Any]) -> Bounded:
        del dialect, record
        return Bounded.connect(*arguments, **named)

    event.listen(engine, "do_connect", connected)
