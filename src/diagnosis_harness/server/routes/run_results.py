"""Results of a running or ended run: its trace, evidence, explanation, report and document."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Literal, Self

from fastapi import APIRouter, Header, Path, Query, Request, Response
from pydantic import Field
from starlette.responses import JSONResponse

from diagnosis_harness.application.callers.caller import Caller
from diagnosis_harness.application.intent import IntentType
from diagnosis_harness.application.runs.row import RunRow, RunStatus
from diagnosis_harness.audit.why.answer import WhyQuestion
from diagnosis_harness.audit.why.stored import why_stored
from diagnosis_harness.kernel.errors import RunGoesOn, RunUnknown
from diagnosis_harness.kernel.language import Language, Text
from diagnosis_harness.report.document import RecordEntry, plain_json
from diagnosis_harness.report.document_file import document_bytes
from diagnosis_harness.report.markdown import markdown
from diagnosis_harness.report.timeline import timeline, timeline_events
from diagnosis_harness.server.app_state import AppState, AppStateDep, CallerDep, request_language
from diagnosis_harness.server.openapi import DOCUMENT, JSON_LINES, MARKDOWN, problems
from diagnosis_harness.server.problems import ProblemKind as P
from diagnosis_harness.server.run_id import RunId
from diagnosis_harness.server.view import JsonObject, Timestamp, View
from diagnosis_harness.tools.evidence import EvidenceStatus, InvocationStatus
from diagnosis_harness.tools.invocation import ErrorCode, EvidenceRecord
from diagnosis_harness.trace.event import TraceEvent, TraceEventStatus, TraceName, TracePhase
from diagnosis_harness.trace.json_lines import event_json, lines_of
from diagnosis_harness.trace.timeline import PhaseVerdict, fold

router = APIRouter(tags=["runs"])

Lang = Annotated[Language | None, Query(description="Language of the texts; `Accept-Language` if omitted.")]
_IN_PROGRESS = {
    RunStatus.QUEUED: Text(
        en="The run is queued and has not started; these answers describe it as of now.",
        zh="运行正在排队，尚未开始；以下回答截至目前。",
    ),
    RunStatus.RUNNING: Text(
        en="The run is in progress; these answers describe it as of now.",
        zh="运行仍在进行；以下回答截至目前。",
    ),
}
_ENDED = Text(en="The run has ended.", zh="运行已结束。")


class EventView(View):
    """One event of a run's trace."""

    seq: int
    run_id: str
    at_s: float
    name: TraceName
    phase: TracePhase
    status: TraceEventStatus
    payload: JsonObject

    @classmethod
    def of(cls, event: TraceEvent) -> EventView:
        """The event with its whole payload."""
        return cls.model_validate(event_json(event))


class EventSummaryView(View):
    """A short form of one event."""

    at_s: float
    name: TraceName
    status: TraceEventStatus
    text: str


class PhaseSectionView(View):
    """Consecutive events of one phase."""

    phase: TracePhase
    moments: list[EventSummaryView]


class PhaseView(View):
    """Totals of one phase."""

    phase: TracePhase
    moments: int
    duration_s: float
    verdict: PhaseVerdict


class TimelineView(View):
    """What happened, in order, and how each phase ended."""

    started_s: float
    duration_s: float
    stretches: list[PhaseSectionView]
    phases: list[PhaseView]


class TraceView(View):
    """A run's trace as far as it is written."""

    run_id: str
    is_closed: bool
    timeline: TimelineView
    events: list[EventView]

    @classmethod
    def of(cls, row: RunRow, events: Sequence[TraceEvent]) -> TraceView:
        """The events of a run, and how each phase ended."""
        return cls(
            run_id=row.run_id,
            is_closed=row.is_closed,
            timeline=TimelineView.model_validate(
                fold(timeline_events(timeline(events))), from_attributes=True
            ),
            events=[EventView.of(event) for event in events],
        )


class WindowView(View):
    """A window of time."""

    start: Timestamp
    end: Timestamp


class RecordView(View):
    """One stored tool call, without its findings."""

    tool_call_id: str
    tool: str
    caller: str
    scope: Annotated[str, Field(description="The normalised request, as canonical JSON.")]
    window: WindowView | None
    status: InvocationStatus
    evidence_status: EvidenceStatus | None
    error_code: ErrorCode | None
    started_at: Timestamp
    duration_s: float | None
    size_bytes: int
    digest: str | None
    items: int

    @classmethod
    def of(cls, record: EvidenceRecord) -> Self:
        """The record, with its findings if the class has a field for them."""
        return cls.model_validate({**plain_json(RecordEntry.of(record)), "items": len(record.items)})


class EvidenceView(View):
    """The records of a run, in the order in which the calls started."""

    run_id: str
    records: list[RecordView]


class StoredRecordView(RecordView):
    """One record with its findings exactly as stored; `digest` is over these bytes."""

    stored: str | None


class FactView(View):
    """A field of the run's document that supports an answer."""

    place: str
    value: str


class WhyAnswerView(View):
    """The answer to one question."""

    question: WhyQuestion
    asks: str
    arises: bool
    says: list[str]
    rests_on: list[FactView]


class WhyView(View):
    """The seven answers; while the run is in progress they are as of now, and `says` states that."""

    run_id: str
    status: RunStatus
    says: str
    answers: list[WhyAnswerView]


@router.get(
    "/v1/runs/{run_id}/trace",
    summary="What happened",
    responses={
        200: {"model": TraceView, "description": "The part written so far.", "content": JSON_LINES},
    },
)
async def trace(
    run_id: RunId,
    state: AppStateDep,
    caller: CallerDep,
    form: Annotated[Literal["json", "jsonl"], Query(alias="format")] = "json",
) -> Response:
    """The timeline and every event; with `format=jsonl` only the events, one JSON object per line."""
    row = await state.service.runs.row(caller, run_id)
    events = await state.service.runs.events(caller, run_id)
    if form == "jsonl":
        return Response(lines_of(events), media_type=next(iter(JSON_LINES)))
    return JSONResponse(TraceView.of(row, events).body())


@router.get(
    "/v1/runs/{run_id}/evidence",
    summary="Its evidence records",
    responses={
        200: {"model": EvidenceView, "description": "In the order in which the calls started."},
    },
)
async def evidence(run_id: RunId, state: AppStateDep, caller: CallerDep) -> Response:
    """One record for each tool call, without its findings."""
    records = await state.service.runs.records(caller, run_id)
    view = EvidenceView(run_id=run_id, records=[RecordView.of(each) for each in records])
    return JSONResponse(view.body())


@router.get(
    "/v1/runs/{run_id}/evidence/{tool_call_id}",
    summary="One evidence record",
    responses={
        200: {
            "model": StoredRecordView,
            "description": "With the stored bytes, if any; their digest is the `ETag`.",
        },
        304: {"description": "The client's copy is current."},
    },
)
async def record(
    run_id: RunId,
    tool_call_id: Annotated[str, Path(max_length=200)],
    *,
    state: AppStateDep,
    caller: CallerDep,
    if_none_match: Annotated[str | None, Header(max_length=1_000)] = None,
) -> Response:
    """One tool call with its findings, exactly as stored: hash `stored` and compare it with `digest`."""
    records = await state.service.runs.records(caller, run_id)
    found = next((each for each in records if each.tool_call_id == tool_call_id), None)
    if found is None:
        raise RunUnknown(tool_call_id)
    headers = {"etag": f'"{found.digest}"'} if found.digest else {}
    if found.digest and _is_current(headers["etag"], if_none_match):
        return Response(status_code=304, headers=headers)
    return JSONResponse(StoredRecordView.of(found).body(), headers=headers)


@router.get(
    "/v1/runs/{run_id}/why",
    summary="Why the run ended as it did",
    responses={200: {"model": WhyView, "description": "In words."}},
)
async def why_of(
    run_id: RunId, request: Request, *, state: AppStateDep, caller: CallerDep, lang: Lang = None
) -> Response:
    """Seven questions about the run, answered as of now, each with the document fields that support it."""
    language = lang or request_language(request)
    row = await state.service.runs.row(caller, run_id)
    records = await state.service.runs.records_if_reachable(caller, run_id)
    events = await state.service.runs.events(caller, run_id)
    answers = why_stored(row, records, events, stream=state.streams.chats.client_stream_end(row))
    view = WhyView(
        run_id=run_id,
        status=row.status,
        says=_progress(row, language),
        answers=[WhyAnswerView.model_validate(each.as_json(language)) for each in answers],
    )
    return JSONResponse(view.body())


@router.get(
    "/v1/runs/{run_id}/report.md",
    summary="Its report",
    response_class=Response,
    responses={
        200: {"content": MARKDOWN, "description": "For people, with numbered citations."},
        **problems(P.RUN_GOES_ON),
    },
)
async def report(run_id: RunId, state: AppStateDep, caller: CallerDep) -> Response:
    """The report of an ended run as Markdown, in the run's language."""
    row = await _require_closed_row(state, caller, run_id)
    document = await state.service.runs.document(caller, run_id)
    lists = row.intent is IntentType.SYSTEM_CHAT
    text = markdown(document, answer=_text_of(row), lists=lists)
    return Response(text, media_type="text/markdown; charset=utf-8")


@router.get(
    "/v1/runs/{run_id}/document",
    summary="Its document",
    response_class=Response,
    responses={
        200: {"content": DOCUMENT, "description": "The exact bytes that `diagnose verify` reads."},
        **problems(P.RUN_GOES_ON),
    },
)
async def document(run_id: RunId, state: AppStateDep, caller: CallerDep) -> Response:
    """The whole document of an ended run: save it, and verify it offline."""
    saved = document_bytes(await state.service.runs.document(caller, run_id))
    disposition = f'attachment; filename="{run_id}.json"'
    return Response(saved, media_type="application/json", headers={"content-disposition": disposition})


async def _require_closed_row(state: AppState, caller: Caller, run_id: str) -> RunRow:
    row = await state.service.runs.row(caller, run_id)
    if not row.is_closed:
        raise RunGoesOn(run_id)
    return row


def _text_of(row: RunRow) -> str | None:
    """The answer of a path that writes no report."""
    answer = row.ending.answer if row.ending else None
    text = answer.get("text") if isinstance(answer, dict) else None
    return text if isinstance(text, str) else None


def _is_current(etag: str, if_none_match: str | None) -> bool:
    """Whether the client holds this version (RFC 9110 §13.1.2: weak comparison; `*` matches all)."""
    if if_none_match is None:
        return False
    etags = [each.strip().removeprefix("W/") for each in if_none_match.split(",")]
    return etag in etags or etags == ["*"]


def _progress(row: RunRow, language: Language) -> str:
    """Whether the run has ended, in a sentence."""
    text = _ENDED if row.is_closed else _IN_PROGRESS.get(row.status, _IN_PROGRESS[RunStatus.RUNNING])
    return text.in_(language)
