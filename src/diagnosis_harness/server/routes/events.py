"""`GET /v1/runs/{run_id}/events`: the stream of any run, whole or after the last received event."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Header, Query
from starlette.responses import Response

from diagnosis_harness.application.runs.store import RunArchive
from diagnosis_harness.server.app_state import CallerDep, StreamSlotDep
from diagnosis_harness.server.event_id import METADATA_ID, EventId, bad_event_id, read_event_id
from diagnosis_harness.server.event_stream import EventStream, stream_responses
from diagnosis_harness.server.openapi import problems
from diagnosis_harness.server.problems import ProblemKind
from diagnosis_harness.server.run_id import RunId
from diagnosis_harness.server.sse_session import RunIds
from diagnosis_harness.server.streams import StreamsDep
from diagnosis_harness.server.watch import WatchPlan
from diagnosis_harness.trace.event import TraceName

router = APIRouter(tags=["runs"])

LastEventId = Annotated[
    str | None,
    Header(alias="Last-Event-ID", description="Sent by an EventSource when it reconnects.", max_length=40),
]
LastEventIdAsked = Annotated[
    str | None,
    Query(
        alias="last_event_id",
        description=("The same, for clients that cannot set the header."),
        max_length=40,
    ),
]


@router.get(
    "/v1/runs/{run_id}/events",
    status_code=200,
    response_class=EventStream,
    responses={
        **stream_responses(),
        **problems(ProblemKind.TOO_MANY_STREAMS),
        204: {"description": "The client has already received `done`; nothing follows."},
    },
)
async def events(
    run_id: RunId,
    caller: CallerDep,
    streams: StreamsDep,
    *,
    place: StreamSlotDep,
    last_event_id: LastEventId = None,
    asked_after: LastEventIdAsked = None,
) -> Response:
    """Watch a queued, running or ended run. Connecting or disconnecting does not affect the run."""
    del place
    row = await streams.service.runs.row(caller, run_id)
    # A reconnecting EventSource repeats its address; the header says what it has received since.
    text = last_event_id or asked_after
    after = None if not text else read_event_id(text)
    if after is not None and await _is_done(streams.service.stores.archive, run_id, after):
        return Response(status_code=204)
    ids = RunIds(row.request.session_id, run_id)
    return EventStream(streams.hub.watching(WatchPlan(ids=ids, after=after)))


async def _is_done(archive: RunArchive, run_id: str, after: EventId) -> bool:
    """Whether nothing follows an event.

    Raises:
        InvalidInput: there is no such event in this run.
        StoreFailure: the log cannot be read.
    """
    if after == METADATA_ID:
        return False
    logged = await archive.events(run_id, after_seq=after.seq - 1, limit=1) if after.seq else ()
    if not logged or logged[0].seq != after.seq:
        raise bad_event_id()
    is_end = logged[0].name is TraceName.RUN_FINISHED
    if after.part and not is_end:
        raise bad_event_id()
    return is_end and after.part == 1
