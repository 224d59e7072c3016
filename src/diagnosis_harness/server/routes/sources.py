"""Sources that callers send: send, list, show, delete."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated

from fastapi import APIRouter, Depends, Path, Query, Request, Response
from starlette.requests import ClientDisconnect
from starlette.responses import JSONResponse

from diagnosis_harness.application.runs.sources import UPLOAD_PREFIX, is_upload_id
from diagnosis_harness.application.uploads.upload_service import check_may_upload
from diagnosis_harness.kernel.errors import SourceUnknown
from diagnosis_harness.server.app_state import AppStateDep, CallerDep
from diagnosis_harness.server.openapi import problems
from diagnosis_harness.server.problem_response import problem_response
from diagnosis_harness.server.problems import Problem
from diagnosis_harness.server.problems import ProblemKind as P
from diagnosis_harness.server.request_bodies import IdempotencyKey
from diagnosis_harness.server.source_view import SourceListView, SourceView
from diagnosis_harness.server.submit import fingerprint_of
from diagnosis_harness.server.upload_body import FILE_NAMES, file_name_of, receive_upload

router = APIRouter(tags=["sources"])

_ID_DIGITS = 32
_BODY = {
    "required": True,
    "content": {kind: {"schema": {"type": "string", "format": "binary"}} for kind in FILE_NAMES},
}


def safe_source_id(
    source_id: Annotated[str, Path(description="The source.", max_length=200)],
) -> str:
    """The id, if it is well-formed."""
    if not is_upload_id(source_id):
        raise SourceUnknown(source_id)
    return source_id


SourceId = Annotated[str, Depends(safe_source_id)]


@router.post(
    "/v1/sources",
    status_code=201,
    summary="Send a source",
    openapi_extra={"requestBody": _BODY},
    responses={
        201: {"model": SourceView, "description": "It is stored; `Location` is its URL."},
        200: {"model": SourceView, "description": "This `Idempotency-Key` already stored it."},
        **problems(P.NOT_PERMITTED, P.TOO_MANY_SOURCES, P.UNSUPPORTED_SOURCE, P.NO_ROOM_FOR_SOURCE),
    },
)
async def send(
    request: Request,
    *,
    state: AppStateDep,
    caller: CallerDep,
    name: Annotated[
        str | None, Query(min_length=1, max_length=200, description="Name of the file that is sent.")
    ] = None,
    idempotency_key: IdempotencyKey = None,
) -> Response:
    """Send an archive (zip, tar, tar.gz) or one file as the body, and ask about it by its `source_id`.

    It is private to the caller and deleted when it expires. The answer says what was read in it.
    """
    check_may_upload(caller)
    own_name = file_name_of(request)
    if own_name is None:
        return problem_response(request.scope, Problem(P.UNSUPPORTED_SOURCE))
    uploads, clock = state.service.uploads, state.service.core.clock
    content = uploads.folders.new_file()
    try:
        arrived = await receive_upload(
            request,
            content,
            name or own_name,
            bytes_max=uploads.settings.bytes_max,
            clock=clock,
            timeout_s=uploads.settings.timeout_s,
        )
        if isinstance(arrived, Problem):
            return problem_response(request.scope, arrived)
        if idempotency_key is not None:
            digits = fingerprint_of("source", caller, idempotency_key).rpartition("-")[2]
            arrived = replace(arrived, upload_id=f"{UPLOAD_PREFIX}{digits[:_ID_DIGITS]}")
        upload, is_new = await uploads.add(caller, arrived)
    except ClientDisconnect:
        return Response(status_code=400)  # nobody reads it
    finally:
        content.unlink(missing_ok=True)
    return JSONResponse(
        SourceView.of(upload).body(),
        status_code=201 if is_new else 200,
        headers={"location": f"/v1/sources/{upload.upload_id}"},
    )


@router.get(
    "/v1/sources",
    summary="List your sources",
    responses={200: {"model": SourceListView, "description": "The latest first."}},
)
async def list_own(state: AppStateDep, caller: CallerDep) -> Response:
    """The caller's sources that have not expired."""
    found = await state.service.uploads.uploads(caller)
    return JSONResponse(SourceListView(sources=[SourceView.of(each) for each in found]).body())


@router.get(
    "/v1/sources/{source_id}",
    summary="One source",
    responses={
        200: {"model": SourceView, "description": "What was read in it, and when it expires."},
        **problems(P.SOURCE_NOT_FOUND),
    },
)
async def look(source_id: SourceId, state: AppStateDep, caller: CallerDep) -> Response:
    """A source that the caller has sent."""
    return JSONResponse(SourceView.of(await state.service.uploads.upload(caller, source_id)).body())


@router.delete(
    "/v1/sources/{source_id}",
    status_code=204,
    summary="Delete it",
    responses={204: {"description": "It is deleted."}, **problems(P.NOT_PERMITTED, P.SOURCE_NOT_FOUND)},
)
async def delete(source_id: SourceId, state: AppStateDep, caller: CallerDep) -> Response:
    """Delete a source.

    A run that has started to read it continues; any other that asks about it ends FAILED and says why.
    """
    await state.service.uploads.delete(caller, source_id)
    return Response(status_code=204)
