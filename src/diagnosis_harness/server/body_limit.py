"""Reads request bodies: complete, in time, within the size limit, and as unambiguous JSON."""

from __future__ import annotations

from email.message import Message as Header

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from diagnosis_harness.kernel.clock import Clock
from diagnosis_harness.kernel.errors import JsonInvalid
from diagnosis_harness.kernel.strict_json import parse_json
from diagnosis_harness.server.problem_response import send_problem
from diagnosis_harness.server.problems import (
    ALERT_PATHS,
    UPLOAD_PATHS,
    Problem,
    ProblemKind,
    field_of,
)
from diagnosis_harness.server.time_limit import with_time_limit

_REMEDY = "send one JSON object, each name once"
_UTF_8 = frozenset({"utf-8", "utf8", ""})


class BodyLimitMiddleware:
    """ASGI middleware: passes a request on with its whole body, or answers it with a problem.

    The body has been read when a route is called; the route then receives only the disconnect.
    A route that takes files reads them itself (`upload_body`).

    Args:
        alert_bytes_max: the limit for notifications of alerts, which grow with the number of alerts.
    """

    def __init__(
        self, app: ASGIApp, *, clock: Clock, bytes_max: int, alert_bytes_max: int, timeout_s: float
    ) -> None:
        self._app = app
        self._clock = clock
        self._bytes_max = bytes_max
        self._alert_bytes_max = alert_bytes_max
        self._timeout_s = timeout_s

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Read the body and check it."""
        if scope["type"] != "http" or scope["path"] in UPLOAD_PATHS:
            await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        if "content-length" not in headers and "transfer-encoding" not in headers:
            await self._app(scope, receive, send)
            return
        bytes_max = self._alert_bytes_max if scope["path"] in ALERT_PATHS else self._bytes_max
        read = await self._read(headers, receive, bytes_max)
        if read is None:
            return
        problem = read if isinstance(read, Problem) else objection(headers, read)
        if problem is not None:
            await send_problem(scope, receive, send, problem)
        elif isinstance(read, bytes):
            await self._app(scope, _replay(read, receive), send)

    async def _read(self, headers: Headers, receive: Receive, bytes_max: int) -> bytes | Problem | None:
        """The body; None if the client disconnected before it was complete."""
        stated = headers.get("content-length", "")
        if stated.isascii() and stated.isdigit() and int(stated[:20]) > bytes_max:
            return Problem(ProblemKind.TOO_LARGE, limit=bytes_max)
        try:
            return await with_time_limit(self._clock, self._timeout_s, _whole(receive, bytes_max))
        except TimeoutError:
            return Problem(ProblemKind.TOO_SLOW)


async def _whole(receive: Receive, bytes_max: int) -> bytes | Problem | None:
    parts, size_bytes = [], 0
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            return None
        part = message.get("body", b"")
        parts.append(part)
        size_bytes += len(part)
        if size_bytes > bytes_max:
            return Problem(ProblemKind.TOO_LARGE, limit=bytes_max)
        if not message.get("more_body", False):
            return b"".join(parts)


def objection(headers: Headers, body: bytes) -> Problem | None:
    """The problem of a body; None if it is valid or empty."""
    if not body:
        return None
    if "content-encoding" in headers or not _is_json(headers.getlist("content-type")):
        return Problem(ProblemKind.UNSUPPORTED_MEDIA)
    try:
        parse_json(body)
    except JsonInvalid as error:
        return Problem(ProblemKind.NOT_JSON, (field_of("body", error.problem, _REMEDY),))
    return None


def _is_json(stated: list[str]) -> bool:
    if len(stated) != 1:
        return False
    header = Header()
    header["content-type"] = stated[0]
    return (
        header.get_content_type() == "application/json"
        and str(header.get_param("charset", "")).lower() in _UTF_8
    )


def _replay(body: bytes, receive: Receive) -> Receive:
    """A `receive` that returns the body once and then reads from the client."""
    whole: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def receive_body() -> Message:
        return whole.pop() if whole else await receive()

    return receive_body
