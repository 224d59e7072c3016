"""`POST /v1/runs/{run_id}/cancel`."""

from __future__ import annotations

from fastapi import APIRouter, Response
from starlette.responses import JSONResponse

from diagnosis_harness.application.runs.cancellation import CancelEffect, cancel_and_wait
from diagnosis_harness.server.app_state import AppStateDep, CallerDep
from diagnosis_harness.server.openapi import problems
from diagnosis_harness.server.problems import ProblemKind as P
from diagnosis_harness.server.run_id import RunId
from diagnosis_harness.server.run_view import CancelView

router = APIRouter(tags=["runs"])

CANCEL_WAIT_S = 1.5
"""A live owner polls several times a second and answers within this time; a person can wait that long."""


@router.post(
    "/v1/runs/{run_id}/cancel",
    summary="Cancel it",
    responses={
        200: {"model": CancelView, "description": "What was stopped, and what was still in flight."},
        202: {
            "model": CancelView,
            "description": "The process that runs it has been asked to stop and has not answered yet.",
        },
        **problems(P.NOT_PERMITTED),
    },
)
async def cancel(run_id: RunId, state: AppStateDep, caller: CallerDep) -> Response:
    """Cancel a run in any process. Cancelling a run that has ended changes nothing, and `effect` says so."""
    service = state.service
    done = await cancel_and_wait(
        service.runs, caller, run_id, clock=service.core.clock, answer_within_s=CANCEL_WAIT_S
    )
    status = 202 if done.effect is CancelEffect.ASKED else 200
    return JSONResponse(CancelView.of(done).body(), status_code=status)
