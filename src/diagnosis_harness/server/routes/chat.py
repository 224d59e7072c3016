"""`POST /v1/chat`: a question, with its answer as a stream; closing the connection cancels the run."""

from __future__ import annotations

import asyncio
from typing import Annotated

from fastapi import APIRouter
from pydantic import Field

from diagnosis_harness.application.runs.request import RunKind
from diagnosis_harness.harness.termination import CancellationReason
from diagnosis_harness.server.app_state import AdmissionDep, StreamSlotDep
from diagnosis_harness.server.event_stream import EventStream, stream_responses
from diagnosis_harness.server.openapi import problems
from diagnosis_harness.server.problems import ProblemKind
from diagnosis_harness.server.request_bodies import Ask
from diagnosis_harness.server.streams import StreamsDep

router = APIRouter(tags=["chat"])

RESPONSES = {
    **stream_responses(),
    **problems(
        ProblemKind.NOT_PERMITTED,
        ProblemKind.NOT_FOUND,
        ProblemKind.RUN_GOES_ON,
        ProblemKind.TOO_MANY_RUNS,
        ProblemKind.TOO_MANY_STREAMS,
    ),
}


class ChatAsk(Ask):
    """One question whose answer is waited for."""

    trace: Annotated[
        bool, Field(description="Whether the stream also carries all other events of the run's trace.")
    ] = False


@router.post("/v1/chat", status_code=200, response_class=EventStream, responses=RESPONSES)
async def chat(
    body: ChatAsk, admission: AdmissionDep, streams: StreamsDep, *, place: StreamSlotDep
) -> EventStream:
    """Ask, and follow the answer: metadata, status, then content or failure, then done.

    Closing the connection cancels the run.
    """
    del place
    request = await streams.service.runs.request(
        admission.caller, body.submission(), RunKind.CHAT, unfinished_max=admission.unfinished_max
    )
    run = streams.chats.begin(request, with_trace=body.trace)
    try:
        await run.wait_for_start()
    except asyncio.CancelledError:
        run.cancel(CancellationReason.CLIENT_DISCONNECTED)
        raise
    return EventStream(run.open_watch())
