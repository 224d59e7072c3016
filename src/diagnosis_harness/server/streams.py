"""The streams of one process: the hub, and the runs of chat requests, in the order of their stopping."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Annotated, cast

from fastapi import Depends
from starlette.requests import Request

from diagnosis_harness.application.service import Service
from diagnosis_harness.server.chat_runs import ChatRuns
from diagnosis_harness.server.stream_hub import HubSettings, StreamHub
from diagnosis_harness.server.stream_slots import StreamSlots

STOP_WITHIN_S = 10.0


class Streams:
    """One per application, in `app.state.streams` while it is serving."""

    def __init__(self, service: Service, settings: HubSettings, *, streams_max: int) -> None:
        """`streams_max`: how many one caller may have open at a time."""
        self.service = service
        self.slots = StreamSlots(streams_max)
        self.hub = StreamHub(
            feed=service.feed,
            archive=service.stores.archive,
            active=service.stores.active,
            clock=service.core.clock,
            settings=settings,
        )
        self.chats = ChatRuns(service.core, service.chat, self.hub)

    @asynccontextmanager
    async def serving(self) -> AsyncIterator[None]:
        """Serve for the duration of the body; at its end, close all streams and end all chat runs."""
        async with self.hub.serving():
            try:
                yield
            finally:
                await self.stop()

    async def stop(self) -> None:
        """End the runs of chats, notify their clients, and close all streams. May be called twice.

        A server calls it when asked to stop, since it waits for open connections and these would stay open.
        """
        await self.chats.stop(within_s=STOP_WITHIN_S)
        self.hub.close()


def streams_of(request: Request) -> Streams:
    """The streams of the application that handles the request."""
    return cast("Streams", request.app.state.streams)


StreamsDep = Annotated[Streams, Depends(streams_of)]
