"""Serves the application on a socket until the process is asked to stop."""

from __future__ import annotations

import socket
from collections.abc import Awaitable, Callable

from uvicorn import Config

from diagnosis_harness.application.service import Service
from diagnosis_harness.kernel.errors import InvalidSetting
from diagnosis_harness.server.app import make_app
from diagnosis_harness.server.bounded_connection import connection_class
from diagnosis_harness.server.stopping_server import StoppingServer
from diagnosis_harness.settings import ServerSettings

EndStreams = Callable[[], Awaitable[None]]
BACKLOG = 2_048
CLOSE_WITHIN_S = 5


async def serve_until_stopped(
    service: Service,
    settings: ServerSettings,
    *,
    needs_key: bool,
    listening: Callable[[str], None],
    stopping: Callable[[EndStreams], Awaitable[None]],
    on_second_signal: Callable[[], None],
) -> None:
    """Serve until SIGTERM or Ctrl+C.

    Args:
        listening: called with the URL once connections are accepted.
        stopping: awaited as soon as the process is asked to stop, with a function that ends chats and
        streams.
        on_second_signal: called when it is asked a second time.

    Raises:
        InvalidSetting: the address cannot be listened on.
    """
    app = make_app(service, settings, needs_key=needs_key)

    async def before_stop() -> None:
        await stopping(app.state.streams.stop)

    config = Config(
        app,
        loop="none",  # this runs on the loop that the function needs
        http=connection_class(
            service.core.clock,
            write_limit_s=settings.write_timeout_s,
            read_limit_s=settings.read_timeout_s,
        ),
        ws="none",
        lifespan="on",
        log_config=None,
        access_log=False,
        server_header=False,
        backlog=BACKLOG,
        timeout_graceful_shutdown=CLOSE_WITHIN_S,
    )
    with _bound(settings.host, settings.port) as bound:
        server = StoppingServer(config, before_stop, on_second_signal)
        listening(_url(bound))
        await server.serve(sockets=[bound])


def _bound(host: str, port: int) -> socket.socket:
    """A bound socket; connections wait in it until the server accepts them."""
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        bound = socket.socket(family, kind, protocol)
    except OSError as error:
        raise _address_error(host, port, error) from error
    try:
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        bound.bind(address)
        bound.listen(BACKLOG)
    except OSError as error:
        bound.close()
        raise _address_error(host, port, error) from error
    return bound


def _address_error(host: str, port: int, error: OSError) -> InvalidSetting:
    return InvalidSetting(
        "server.host, server.port",
        f"{host}:{port} cannot be listened on ({error.strerror or error})",
        "name an address of this machine and a free port",
    )


def _url(bound: socket.socket) -> str:
    host, port = bound.getsockname()[:2]
    return f"http://[{host}]:{port}" if bound.family is socket.AF_INET6 else f"http://{host}:{port}"
