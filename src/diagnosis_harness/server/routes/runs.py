"""Runs: ask in the background, list, look, cancel."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated, Literal

from fastapi import APIRouter, Header, Path, Query, Request, Response
from starlette.responses import JSONResponse

from diagnosis_harness.application.callers.caller import Caller
from diagnosis_harness.application.intent import IntentType
from diagnosis_harness.application.runs.cancel_answer import cancelled
from diagnosis_harness.application.runs.desk import CancelEffect
from diagnosis_harness.application.runs.json_form import cancel_json, page_json, row_json
from diagnosis_harness.application.runs.row import RunRow
from diagnosis_harness.audit.why.stored import why_kept
from diagnosis_harness.audit.why.words import answer_json
from diagnosis_harness.kernel.errors import RunGoesOn, RunUnknown
from diagnosis_harness.kernel.json_value import JsonValue
from diagnosis_harness.kernel.language import Language
from diagnosis_harness.report.document_file import saved_bytes
from diagnosis_harness.report.markdown import markdown
from diagnosis_harness.server.bodies import (
    record_json,
    standing_words,
    stored_record_json,
    trace_json,
    whole_run_json,
)
from diagnosis_harness.server.face import Face, TheAdmission, TheCaller, TheFace, language_for
from diagnosis_harness.server.openapi import DOCUMENT, JSON_LINES, MARKDOWN, problems
from diagnosis_harness.server.problems import ProblemKind as P
from diagnosis_harness.server.run_id import RunId
from diagnosis_harness.server.submitting import fingerprint_of, submit_once
from diagnosis_harness.server.wire import Ask, RunsAsked
from diagnosis_harness.server.wire_out import (
    CancelOut,
    EvidenceOut,
    RunOut,
    RunPageOut,
    StoredRecordOut,
    TraceOut,
    WholeRunOut,
    WhyOut,
)
from diagnosis_harness.trace.json_lines import lines_of

router = APIRouter(tags=["runs"])

CANCEL_WAIT_S = 1.5


IdempotencyKey = Annotated[
    str | None,
    Header(min_length=1, max_length=255, description="Of your own choice; a new one for each question."),
]
Lang = Annotated[Language | None, Query(description="Of the words; `Accept-Language` when left out.")]


@router.post(
    "/v1/runs",
    status_code=202,
    summary="Ask in the background",
    responses={
        202: {"model": RunOut, "description": "The question is queued; `Location` is its run."},
        200: {
            "model": RunOut,
            "description": "An unfinished run that tries the same again was joined, or it is the run that "
            "this `Idempotency-Key` began.",
        },
        **problems(P.NOT_PERMITTED, P.NOT_FOUND, P.RUN_GOES_ON, P.TOO_MANY_RUNS),
    },
)
async def ask(
    body: Ask, *, face: TheFace, admission: TheAdmission, idempotency_key: IdempotencyKey = None
) -> Response:
    """Queue a question. Nobody needs to stay connected: look at the run, its events, or cancel it.

    Sent again with the same `Idempotency-Key`, as after an answer that did not come, it is the same run.
    """
    asking = body.asking()
    if idempotency_key is not None:
        asking = replace(asking, run_id=fingerprint_of("run", admission.caller, idempotency_key))
    submitted = await submit_once(face, admission, asking)
    return JSONResponse(
        row_json(submitted.row),
        status_code=202 if submitted.is_new else 200,
        headers={"location": f"/v1/runs/{submitted.row.run_id}"},
    )


@router.get(
    "/v1/runs",
    summary="List runs",
    responses={200: {"model": RunPageOut, "description": "The latest first."}},
)
async def page(asked: Annotated[RunsAsked, Query()], face: TheFace, caller: TheCaller) -> Response:
    """The runs that the caller may see: their own; an admin sees all."""
    return JSONResponse(page_json(await face.service.runs.page(caller, asked.query())))


@router.get(
    "/v1/runs/{run_id}",
    summary="One run",
    responses={200: {"model": WholeRunOut, "description": "As it stands."}},
)
async def run(run_id: RunId, face: TheFace, caller: TheCaller) -> Response:
    """How a run stands, and what it answered when that is public."""
    return JSONResponse(whole_run_json(await face.service.runs.row(caller, run_id)))


@router.get(
    "/v1/runs/{run_id}/trace",
    summary="What happened",
    responses={
        200: {"model": TraceOut, "description": "As far as it is written.", "content": JSON_LINES},
    },
)
async def trace(
    run_id: RunId,
    face: TheFace,
    caller: TheCaller,
    form: Annotated[Literal["json", "jsonl"], Query(alias="format")] = "json",
) -> Response:
    """The timeline and every event; with `format=jsonl` the events alone, one object on each line."""
    row = await face.service.runs.row(caller, run_id)
    events = await face.service.runs.events(caller, run_id)
    if form == "jsonl":
        return Response(lines_of(events), media_type=next(iter(JSON_LINES)))
    return JSONResponse(trace_json(row, events))


@router.get(
    "/v1/runs/{run_id}/evidence",
    summary="Its evidence records",
    responses={
        200: {"model": EvidenceOut, "description": "In the order of their begin."},
    },
)
async def evidence(run_id: RunId, face: TheFace, caller: TheCaller) -> Response:
    """One record for each tool call, without what it found."""
    records = await face.service.runs.records(caller, run_id)
    return JSONResponse({"run_id": run_id, "records": [record_json(record) for record in records]})


@router.get(
    "/v1/runs/{run_id}/evidence/{tool_call_id}",
    summary="One evidence record",
    responses={
        200: {
            "model": StoredRecordOut,
            "description": "With the stored bytes; their digest is the `ETag`, where there are any.",
        },
        304: {"description": "The client has it."},
    },
)
async def record(
    run_id: RunId,
    tool_call_id: Annotated[str, Path(max_length=200)],
    *,
    face: TheFace,
    caller: TheCaller,
    if_none_match: Annotated[str | None, Header(max_length=1_000)] = None,
) -> Response:
    """One tool call with what it found, exactly as stored: hash `stored` and compare it with `digest`."""
    records = await face.service.runs.records(caller, run_id)
    found = next((each for each in records if each.tool_call_id == tool_call_id), None)
    if found is None:
        raise RunUnknown(tool_call_id)
    headers = {"etag": f'"{found.digest}"'} if found.digest else {}
    if found.digest and _is_held(headers["etag"], if_none_match):
        return Response(status_code=304, headers=headers)
    return JSONResponse(stored_record_json(found), headers=headers)


@router.get(
    "/v1/runs/{run_id}/why",
    summary="Why it went as it did",
    responses={200: {"model": WhyOut, "description": "In words."}},
)
async def why_of(
    run_id: RunId, request: Request, *, face: TheFace, caller: TheCaller, lang: Lang = None
) -> Response:
    """Seven questions about the run, answered in words, each with the places that say so; as of now."""
    language = lang or language_for(request)
    row = await face.service.runs.row(caller, run_id)
    records = await face.service.runs.known_records(caller, run_id)
    events = await face.service.runs.events(caller, run_id)
    answers = why_kept(row, records, events, stream=face.streams.chats.seen(row))
    held: dict[str, JsonValue] = {
        "run_id": run_id,
        "status": row.status.value,
        "says": standing_words(row, language),
        "answers": [answer_json(each, language) for each in answers],
    }
    return JSONResponse(held)


@router.get(
    "/v1/runs/{run_id}/report.md",
    summary="Its report",
    response_class=Response,
    responses={
        200: {"content": MARKDOWN, "description": "For people, with numbered citations."},
        **problems(P.RUN_GOES_ON),
    },
)
async def report(run_id: RunId, face: TheFace, caller: TheCaller) -> Response:
    """The report of an ended run as Markdown, in the run's language."""
    row = await _ended(face, caller, run_id)
    document = await face.service.runs.document(caller, run_id)
    lists = row.intent is IntentType.SYSTEM_CHAT
    text = markdown(document, answer=_text_of(row), lists=lists)
    return Response(text, media_type="text/markdown; charset=utf-8")


@router.get(
    "/v1/runs/{run_id}/document",
    summary="Its document",
    response_class=Response,
    responses={
        200: {"content": DOCUMENT, "description": "Byte for byte as `diagnose verify` reads it."},
        **problems(P.RUN_GOES_ON),
    },
)
async def document(run_id: RunId, face: TheFace, caller: TheCaller) -> Response:
    """The whole document of an ended run: save it, and verify it offline."""
    saved = saved_bytes(await face.service.runs.document(caller, run_id))
    disposition = f'attachment; filename="{run_id}.json"'
    return Response(saved, media_type="application/json", headers={"content-disposition": disposition})


@router.post(
    "/v1/runs/{run_id}/cancel",
    summary="Cancel it",
    responses={
        200: {"model": CancelOut, "description": "What was stopped, and what was still in flight."},
        202: {
            "model": CancelOut,
            "description": "The process that runs it has been asked, and is yet to answer.",
        },
        **problems(P.NOT_PERMITTED),
    },
)
async def cancel(run_id: RunId, face: TheFace, caller: TheCaller) -> Response:
    """Cancel a run, wherever it is. Cancelling what has ended changes nothing and says so."""
    service = face.service
    done = await cancelled(
        service.runs, caller, run_id, clock=service.core.clock, answer_within_s=CANCEL_WAIT_S
    )
    return JSONResponse(cancel_json(done), status_code=202 if done.effect is CancelEffect.ASKED else 200)


async def _ended(face: Face, caller: Caller, run_id: str) -> RunRow:
    row = await face.service.runs.row(caller, run_id)
    if not row.is_closed:
        raise RunGoesOn(run_id)
    return row


def _text_of(row: RunRow) -> str | None:
    """What a path without a report answered."""
    answer = row.ending.answer if row.ending else None
    text = answer.get("text") if isinstance(answer, dict) else None
    return text if isinstance(text, str) else None


def _is_held(etag: str, if_none_match: str | None) -> bool:
    """RFC 9110 §13.1.2: the weak comparison; `*` is held as well."""
    if if_none_match is None:
        return False
    held = [each.strip().removeprefix("W/") for each in if_none_match.split(",")]
    return etag in held or held == ["*"]
