"""`/v1/runs/{run_id}/feedback`: whether the answer was right, and what the cause turned out to be."""

from __future__ import annotations

from fastapi import APIRouter, Response
from starlette.responses import JSONResponse

from diagnosis_harness.server.app_state import AppStateDep, CallerDep
from diagnosis_harness.server.feedback_view import FeedbackListView, FeedbackView, WithdrawnView
from diagnosis_harness.server.openapi import problems
from diagnosis_harness.server.problems import ProblemKind as P
from diagnosis_harness.server.request_bodies import Mark
from diagnosis_harness.server.run_id import RunId

router = APIRouter(tags=["runs"])


@router.post(
    "/v1/runs/{run_id}/feedback",
    summary="Say whether it was right",
    responses={
        200: {"model": FeedbackView, "description": "What is stored. It replaces your earlier verdict."},
        **problems(P.NOT_PERMITTED, P.RUN_GOES_ON),
    },
)
async def mark(body: Mark, run_id: RunId, state: AppStateDep, caller: CallerDep) -> Response:
    """Mark the answer of a run as right or wrong. Each caller has one verdict on a run."""
    feedback = await state.service.feedback.mark(
        caller, run_id, body.verdict, cause=body.cause, note=body.note
    )
    return JSONResponse(FeedbackView.of(feedback).body())


@router.get(
    "/v1/runs/{run_id}/feedback",
    summary="List feedback on it",
    responses={200: {"model": FeedbackListView, "description": "The earliest first."}},
)
async def of_run(run_id: RunId, state: AppStateDep, caller: CallerDep) -> Response:
    """All verdicts on a run that you may see."""
    return JSONResponse(FeedbackListView.of(await state.service.feedback.of_run(caller, run_id)).body())


@router.delete(
    "/v1/runs/{run_id}/feedback",
    summary="Withdraw your verdict",
    responses={
        200: {"model": WithdrawnView, "description": "Whether there was one."},
        **problems(P.NOT_PERMITTED),
    },
)
async def withdraw(run_id: RunId, state: AppStateDep, caller: CallerDep) -> Response:
    """Remove your own verdict on a run; the verdicts of others stay."""
    return JSONResponse(WithdrawnView(withdrawn=await state.service.feedback.withdraw(caller, run_id)).body())
