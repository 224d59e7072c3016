"""An HTTP server on loopback that keeps every request it gets and answers, or misbehaves, as it is told."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Self


class Trouble(StrEnum):
    """What a server may do instead of answering."""

    DROP = "DROP"  # read the request and close the connection
    HANG = "HANG"  # read the request and say nothing until it is closed
    HALF = "HALF"  # begin an answer and close the connection


@dataclass(frozen=True, slots=True)
class Asked:
    """One request as it came in."""

    method: str
    path: str
    headers: Mapping[str, str]
    body: bytes


@dataclass(frozen=True, slots=True)
class Answer:
    """One answer."""

    status: int = 200
    body: bytes = b""
    content_type: str = "application/json"
    headers: Mapping[str, str] = field(default_factory=dict)


class CountingServer:
    """Use as a context manager. `answer` is asked for every request, on a thread of its own.

    `connections` counts those that were taken, also where no request came over them.
    """

    def __init__(self, answer: Callable[[Asked], Answer | Trouble]) -> None:
        self.asked: list[Asked] = []
        self.connections = 0
        self._answer = answer
        self._gone = threading.Event()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._server.daemon_threads = False
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.01})

    @property
    def url(self) -> str:
        """`http://127.0.0.1:PORT`."""
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._gone.set()
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        outer = self

        class Handler(BaseHTTPRequestHandler):
            """One connection, closed after its answer."""

            def setup(self) -> None:
                """Count it."""
                outer.connections += 1
                super().setup()

            def do_GET(self) -> None:
                """Keep and answer."""
                body = self.rfile.read(int(self.headers.get("content-length", 0)))
                headers = {name.lower(): value for name, value in self.headers.items()}
                asked = Asked(self.command, self.path, headers, body)
                outer.asked.append(asked)
                self._give(outer._answer(asked))

            do_POST = do_GET  # noqa: N815 - the name is http.server's

            def _give(self, answer: Answer | Trouble) -> None:
                if answer is Trouble.HANG:
                    outer._gone.wait(60)
                elif answer is Trouble.HALF:
                    self.wfile.write(b"HTTP/1.1 200 OK\r\ncontent-length: 1000\r\n\r\nhalf")
                elif isinstance(answer, Answer):
                    self.send_response(answer.status)
                    for name, value in answer.headers.items():
                        self.send_header(name, value)
                    self.send_header("content-type", answer.content_type)
                    self.send_header("content-length", str(len(answer.body)))
                    self.end_headers()
                    self.wfile.write(answer.body)

            def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the name is http.server's
                """Say nothing."""

        return Handler
