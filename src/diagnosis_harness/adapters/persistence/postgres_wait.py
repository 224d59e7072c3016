"""PostgreSQL connections with a client-side limit on every wait for the server.

The server's own timeouts only work while the server runs. A server that hangs keeps its sockets open, so that
TCP does not end the wait either: without this limit, a thread would hang for as long as the server.
"""

from __future__ import annotations

from typing import Any, TypeVar

import psycopg
from psycopg.abc import PQGen
from psycopg.errors import ConnectionTimeout, OperationalError
from sqlalchemy import Engine, event

T = TypeVar("T")


def bound_waits(engine: Engine, *, limit_s: float) -> None:
    """Limit every wait on connections of this engine; after the limit, the connection is closed."""

    class Bounded(psycopg.Connection[Any]):
        def wait(self, gen: PQGen[T], interval: float = 0.1, timeout: float | None = None) -> T:
            """Wait as the driver does, and raise `ConnectionTimeout` if the server is silent for too long."""
            limit = limit_s if timeout is None else min(timeout, limit_s)
            try:
                return super().wait(gen, interval, limit)
            except OperationalError as error:
                if type(error).__name__ != "_WaitTimeout":  # the driver's private class
                    raise
                self.close()  # a late answer would belong to no statement
                raise ConnectionTimeout("the server does not answer") from None

    def connect(dialect: object, record: object, arguments: list[Any], named: dict[str, Any]) -> Bounded:
        del dialect, record
        return Bounded.connect(*arguments, **named)

    event.listen(engine, "do_connect", connect)
