"""A stream as an HTTP response: sends what a watch yields, and notices a disconnect at once."""

from __future__ import annotations

import asyncio
from contextlib import AbstractContextManager, suppress
from typing import Any

from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from diagnosis_harness.server.watch import Watch

HEADERS = {
    "cache-control": "no-store",
    "x-accel-buffering": "no",  # nginx and compatible proxies pass every event on at once
}


_EVENT = {
    "title": "StreamEvent",
    "description": "One event of the stream.",
    "type": "object",
    "properties": {
        "id": {"type": "string"},
        "event": {"enum": ["metadata", "status", "trace", "content", "failure", "done"]},
        "data": {"type": "string", "contentMediaType": "application/json"},
    },
    "required": ["id", "event", "data"],
}


def stream_responses() -> dict[int | str, dict[str, Any]]:
    """The OpenAPI description of a stream."""
    described = "Server-sent events: metadata, status (and trace), then content or failure, then done."
    return {200: {"description": described, "content": {"text/event-stream": {"schema": _EVENT}}}}


class EventStream(Response):
    """Plain ASGI: two tasks for each connection, one of which only waits for the disconnect."""

    media_type = "text/event-stream"

    def __init__(self, watching: AbstractContextManager[Watch]) -> None:
        super().__init__(headers=HEADERS)
        del self.headers["content-length"]
        self._watching = watching

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send the whole stream."""
        del scope
        with self._watching as watch:
            listening = asyncio.create_task(_wait_for_disconnect(receive, watch))
            try:
                await send({"type": "http.response.start", "status": 200, "headers": self.raw_headers})
                while chunk := await watch.next():
                    await send({"type": "http.response.body", "body": chunk, "more_body": True})
                if not watch.is_lost:
                    await send({"type": "http.response.body", "body": b"", "more_body": False})
            except OSError:  # raised by servers that cannot send (ASGI 2.4)
                watch.disconnect()
            except asyncio.CancelledError:
                watch.disconnect()
                raise
            finally:
                listening.cancel()
                with suppress(asyncio.CancelledError):
                    await listening


async def _wait_for_disconnect(receive: Receive, watch: Watch) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
    watch.disconnect()
