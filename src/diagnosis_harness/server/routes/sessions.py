"""Sessions: the turns of one conversation, and what the next turn will see."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated, Any

from fastapi import APIRouter, Path, Query, Request, Response
from pydantic import Field
from starlette.responses import JSONResponse

from diagnosis_harness.application.callers.caller import Caller
from diagnosis_harness.application.intent import IntentType
from diagnosis_harness.application.previous_turn import NoPreviousTurn, PreviousTurn
from diagnosis_harness.application.runs.row import RunRow, RunStatus
from diagnosis_harness.application.runs.store import RunQuery
from diagnosis_harness.application.session_context import previous_of
from diagnosis_harness.harness.keys import is_safe_segment
from diagnosis_harness.kernel.errors import RunUnknown
from diagnosis_harness.kernel.language import Language, Text
from diagnosis_harness.kernel.window import utc_text
from diagnosis_harness.release.outcome import ReleaseOutcome
from diagnosis_harness.server.app_state import AppState, AppStateDep, CallerDep, request_language
from diagnosis_harness.server.request_bodies import PAGE_SIZE_MAX
from diagnosis_harness.server.view import Timestamp, View

router = APIRouter(tags=["sessions"])

_NEXT_TURN = {
    None: Text(
        en="The next turn will see what the latest diagnosis published.",
        zh="下一轮会看到最近一次诊断公布的结果。",
    ),
    NoPreviousTurn.NO_DIAGNOSIS: Text(
        en="The next turn will see nothing: this session holds no diagnosis.",
        zh="下一轮不会看到任何结果：此会话没有诊断。",
    ),
    NoPreviousTurn.NOT_SUCCESS: Text(
        en="The next turn will see nothing: the latest diagnosis did not end with SUCCESS.",
        zh="下一轮不会看到任何结果：最近一次诊断未以 SUCCESS 结束。",
    ),
    NoPreviousTurn.NO_PUBLISHED_RESULT: Text(
        en="The next turn will see nothing: the latest diagnosis published no result.",
        zh="下一轮不会看到任何结果：最近一次诊断没有公布结果。",
    ),
}


class TurnView(View):
    """One run of a session."""

    run_id: str
    question: str
    intent: IntentType | None
    status: RunStatus
    outcome: ReleaseOutcome | None
    conclusion: str | None
    submitted_at: Timestamp

    @classmethod
    def of(cls, row: RunRow) -> TurnView:
        """A run as a turn of its session."""
        ending = row.ending
        return cls(
            run_id=row.run_id,
            question=row.request.question,
            intent=row.intent,
            status=row.status,
            outcome=None if ending is None else ending.outcome,
            conclusion=None if ending is None else ending.conclusion,
            submitted_at=utc_text(row.request.submitted_s),
        )


class NextTurnView(View):
    """What the caller's next question in this session will see: a published result, or why there is none."""

    asked_by: str
    run_id: str | None
    published_result: Any
    objection: NoPreviousTurn | None
    says: str


class SessionView(View):
    """A session's turns, the oldest first."""

    session_id: str
    turns: list[TurnView]
    next: Annotated[str | None, Field(description="Pass it as `before` to get the turns before these.")]
    next_turn: NextTurnView


@router.get(
    "/v1/sessions/{session_id}",
    summary="One session",
    responses={
        200: {"model": SessionView, "description": "Its turns, oldest first."},
    },
)
async def session(
    session_id: Annotated[str, Path(max_length=200)],
    request: Request,
    *,
    state: AppStateDep,
    caller: CallerDep,
    before: Annotated[str | None, Query(max_length=400, description="`next` of the previous page.")] = None,
    limit: Annotated[int, Query(ge=1, le=PAGE_SIZE_MAX)] = 50,
) -> Response:
    """The latest turns that the caller may see, the oldest first, and what the next turn will see."""
    if not is_safe_segment(session_id):
        raise RunUnknown(session_id)
    query = RunQuery(session_id=session_id, before=before, limit=limit)
    found = await state.service.runs.page(caller, query)
    latest = (
        found
        if before is None
        else await state.service.runs.page(caller, replace(query, before=None, limit=1))
    )
    if not latest.rows:
        raise RunUnknown(session_id)
    asked_by = await _next_asker(state, caller, query, latest.rows[0])
    previous = await previous_of(state.service.stores.archive, session_id, asked_by=asked_by)
    view = SessionView(
        session_id=session_id,
        turns=[TurnView.of(row) for row in reversed(found.rows)],
        next=found.next,
        next_turn=_next_turn(previous, asked_by, request_language(request)),
    )
    return JSONResponse(view.body())


async def _next_asker(state: AppState, caller: Caller, query: RunQuery, latest: RunRow) -> str:
    """Whose next turn this is about: the caller's or, if the caller only reads, that of the last asker."""
    own = replace(query, asked_by=caller.name, before=None, limit=1)
    has_asked = (await state.service.runs.page(caller, own)).rows
    return caller.name if has_asked else latest.request.asked_by.name


def _next_turn(previous: PreviousTurn | NoPreviousTurn, asked_by: str, language: Language) -> NextTurnView:
    shown = previous if isinstance(previous, PreviousTurn) else None
    objection = previous if isinstance(previous, NoPreviousTurn) else None
    return NextTurnView(
        asked_by=asked_by,
        run_id=None if shown is None else shown.run_id,
        published_result=None if shown is None else shown.published_result,
        objection=objection,
        says=_NEXT_TURN[objection].in_(language),
    )
