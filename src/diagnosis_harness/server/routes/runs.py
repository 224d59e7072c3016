"""Runs: ask in the background, list, show."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated

from fastapi import APIRouter, Query, Response
from starlette.responses import JSONResponse

from diagnosis_harness.server.app_state import AdmissionDep, AppStateDep, CallerDep
from diagnosis_harness.server.openapi import problems
from diagnosis_harness.server.problems import ProblemKind as P
from diagnosis_harness.server.request_bodies import Ask, IdempotencyKey, RunsAsked
from diagnosis_harness.server.run_id import RunId
from diagnosis_harness.server.run_view import RunPageView, RunView, WholeRunView
from diagnosis_harness.server.submit import fingerprint_of, submit_once

router = APIRouter(tags=["runs"])


@router.post(
    "/v1/runs",
    status_code=202,
    summary="Ask in the background",
    responses={
        202: {"model": RunView, "description": "The question is queued; `Location` is the URL of its run."},
        200: {
            "model": RunView,
            "description": (
                "An unfinished run that retries the same run was joined, or this `Idempotency-Key` already "
                "started the run."
            ),
        },
        **problems(P.NOT_PERMITTED, P.NOT_FOUND, P.SOURCE_NOT_FOUND, P.RUN_GOES_ON, P.TOO_MANY_RUNS),
    },
)
async def ask(
    body: Ask, *, state: AppStateDep, admission: AdmissionDep, idempotency_key: IdempotencyKey = None
) -> Response:
    """Queue a question. The client need not stay connected: read the run or its events later, or cancel it.

    A request that is repeated with the same `Idempotency-Key`, for example after a timeout, returns the same
    run.
    """
    submission = body.submission()
    if idempotency_key is not None:
        submission = replace(submission, run_id=fingerprint_of("run", admission.caller, idempotency_key))
    submitted = await submit_once(state, admission, submission)
    return JSONResponse(
        RunView.of(submitted.row).body(),
        status_code=202 if submitted.is_new else 200,
        headers={"location": f"/v1/runs/{submitted.row.run_id}"},
    )


@router.get(
    "/v1/runs",
    summary="List runs",
    responses={200: {"model": RunPageView, "description": "The latest first."}},
)
async def page(asked: Annotated[RunsAsked, Query()], state: AppStateDep, caller: CallerDep) -> Response:
    """The caller's own runs; an admin sees all runs."""
    return JSONResponse(RunPageView.of(await state.service.runs.page(caller, asked.query())).body())


@router.get(
    "/v1/runs/{run_id}",
    summary="One run",
    responses={200: {"model": WholeRunView, "description": "As it stands."}},
)
async def run(run_id: RunId, state: AppStateDep, caller: CallerDep) -> Response:
    """The state of a run, and its answer if it is public."""
    return JSONResponse(WholeRunView.of(await state.service.runs.row(caller, run_id)).body())
