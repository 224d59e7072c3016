"""Liveness, readiness and metrics."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import Literal

from fastapi import APIRouter, Request, Response
from starlette.responses import JSONResponse

from diagnosis_harness.application.runs.row import RunStatus
from diagnosis_harness.application.runs.store import RunQuery
from diagnosis_harness.application.service import DATABASE, EVIDENCE
from diagnosis_harness.kernel.errors import StoreFailure
from diagnosis_harness.server.app_state import AppState, AppStateDep
from diagnosis_harness.server.metrics import METRICS_MEDIA_TYPE
from diagnosis_harness.server.request_bodies import PAGE_SIZE_MAX
from diagnosis_harness.server.time_limit import with_time_limit
from diagnosis_harness.server.view import View
from diagnosis_harness.server.write_check import LIMIT_S

router = APIRouter(tags=["health"])

OK = "ok"
OTHER_PROCESSES = "left to other processes"


class HealthView(View):
    """The process is alive."""

    status: Literal["ok"]


class ReadyView(View):
    """Whether the service is ready, and the state of each part that it needs."""

    status: Literal["ready", "not ready"]
    checks: dict[str, str]


@router.get(
    "/healthz", summary="The process is alive", responses={200: {"model": HealthView, "description": "Yes."}}
)
async def healthz() -> Response:
    """Answers while the process is alive; checks nothing else."""
    return JSONResponse(HealthView(status="ok").body())


@router.get(
    "/readyz",
    summary="The service is ready",
    responses={
        200: {"model": ReadyView, "description": "Yes."},
        503: {"model": ReadyView, "description": "The service is not ready; `checks` says what is missing."},
    },
)
async def readyz(state: AppStateDep, request: Request) -> Response:
    """Whether all stores accept writes, this process takes runs if it should, and its background tasks run.

    Waiting notifications of alerts, however many, do not make it unready.
    """
    service = state.service
    database, evidence = await _stores(state)
    takes_runs = service.queue.is_listening or not service.takes_runs
    queue = (OK if service.takes_runs else OTHER_PROCESSES) if takes_runs else "takes no runs in this process"
    background = {name: check() for name, check in service.checks.items()}
    is_ready = database is None and evidence is None and takes_runs and not any(background.values())
    checks = {
        DATABASE: database or OK,
        EVIDENCE: evidence or OK,
        "queue": queue,
        "sources": _sources(service.left_runs()),
        **{name: problem or OK for name, problem in background.items()},
    }
    if not is_ready:
        request.state.reason = "; ".join(
            f"{name}: {problem}" for name, problem in checks.items() if problem != OK
        )
    view = ReadyView(status="ready" if is_ready else "not ready", checks=checks)
    return JSONResponse(view.body(), status_code=200 if is_ready else 503)


def _sources(left: int) -> str:
    """The state of the sources; runs that wait for another process's source do not make this one unready."""
    if not left:
        return OK
    return f"queued runs that ask about a source that this process does not have: {left}"


async def _stores(state: AppState) -> tuple[str | None, str | None]:
    """What is wrong with the database and with the evidence store, which may be the same."""
    names = (DATABASE, EVIDENCE if EVIDENCE in state.stores else DATABASE)
    database, evidence = await asyncio.gather(*(state.stores[name].problem() for name in names))
    return database, evidence


@router.get(
    "/metrics",
    summary="Counters for Prometheus",
    response_class=Response,
    responses={
        200: {"content": {"text/plain": {"schema": {"type": "string"}}}, "description": "Text format."}
    },
)
async def metrics(state: AppStateDep) -> Response:
    """Runs, guards, requests and streams. Works also while the database is unavailable."""
    meters, service = state.metrics, state.service
    meters.active.set(len(service.stores.active))
    meters.streams.set(len(state.streams.hub))
    meters.count_exports(service.exports())
    meters.left.set(service.left_runs())
    database, evidence = await _stores(state)
    meters.store_up.set(database is None)
    meters.evidence_store_up.set(evidence is None)
    with suppress(StoreFailure, TimeoutError):
        asked = service.stores.archive.runs(RunQuery(status=RunStatus.QUEUED, limit=PAGE_SIZE_MAX))
        waiting = await with_time_limit(service.core.clock, LIMIT_S, asked)
        meters.queued.set(len(waiting.rows))
        alerts = await with_time_limit(service.core.clock, LIMIT_S, service.alerts.waiting())
        now_s = service.core.clock.now_s()
        meters.alerts_waiting.set(alerts.count)
        meters.alerts_oldest_s.set(0 if alerts.oldest_s is None else max(0.0, now_s - alerts.oldest_s))
    return Response(meters.text(), media_type=METRICS_MEDIA_TYPE)
