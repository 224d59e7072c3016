"""Health: whether the process lives, whether it can work, and what it counts."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine

from fastapi import APIRouter, Response
from starlette.responses import JSONResponse

from diagnosis_harness.application.runs.row import RunStatus
from diagnosis_harness.application.runs.store import RunQuery
from diagnosis_harness.application.service import Service
from diagnosis_harness.kernel.errors import StoreFailure
from diagnosis_harness.server.face import TheFace
from diagnosis_harness.server.metrics import MEDIA_TYPE
from diagnosis_harness.server.wire import PAGE_MAX
from diagnosis_harness.server.wire_out import HealthOut, ReadyOut
from diagnosis_harness.server.within import within

router = APIRouter(tags=["health"])

OK = "ok"
STORE_LIMIT_S = 1.5
"""Whoever looks after a service waits less patiently than whoever uses it."""
LEFT = "left to other processes"


@router.get(
    "/healthz", summary="The process lives", responses={200: {"model": HealthOut, "description": "Yes."}}
)
async def healthz() -> Response:
    """Answers as long as the process does; nothing else is looked at."""
    return JSONResponse({"status": "ok"})


@router.get(
    "/readyz",
    summary="The service can work",
    responses={
        200: {"model": ReadyOut, "description": "Yes."},
        503: {"model": ReadyOut, "description": "No; `checks` says what is missing."},
    },
)
async def readyz(face: TheFace) -> Response:
    """Whether all stores answer, this process takes runs where it is to, and cares for its runs.

    Notifications of alerts that wait, however many, are no reason not to be ready.
    """
    service = face.service
    archive = service.keeping.archive
    database, evidence = await asyncio.gather(
        _answering(service, archive.unfinished("")), _answering(service, archive.records("readyz"))
    )
    takes_runs = service.queue.is_listening or not service.takes_runs
    queue = (OK if service.takes_runs else LEFT) if takes_runs else "takes no runs in this process"
    background = {name: check() for name, check in service.checks.items()}
    is_ready = database == evidence == OK and takes_runs and not any(background.values())
    checks = {
        "database": database,
        "evidence": evidence,
        "queue": queue,
        "sources": _sources(service.left_runs()),
        **{name: said or OK for name, said in background.items()},
    }
    held = {"status": "ready" if is_ready else "not ready", "checks": checks}
    return JSONResponse(held, status_code=200 if is_ready else 503)


def _sources(left: int) -> str:
    """Runs that wait for a source of another process are no fault of this one: it stays ready."""
    if not left:
        return OK
    return f"queued runs that ask about a source that this process does not have: {left}"


async def _answering(service: Service, question: Coroutine[object, object, object]) -> str:
    try:
        await within(service.core.clock, STORE_LIMIT_S, question)
    except (StoreFailure, TimeoutError):
        return "does not answer"
    return OK


@router.get(
    "/metrics",
    summary="Counters for Prometheus",
    response_class=Response,
    responses={
        200: {"content": {"text/plain": {"schema": {"type": "string"}}}, "description": "Text format."}
    },
)
async def metrics(face: TheFace) -> Response:
    """Runs, guards, requests and streams. Answers also while the database does not."""
    meters, service = face.metrics, face.service
    meters.active.set(len(service.keeping.active))
    meters.streams.set(len(face.streams.hub))
    meters.exported(service.exports())
    meters.left.set(service.left_runs())
    try:
        asked = service.keeping.archive.runs(RunQuery(status=RunStatus.QUEUED, limit=PAGE_MAX))
        waiting = await within(service.core.clock, STORE_LIMIT_S, asked)
        meters.queued.set(len(waiting.rows))
        alerts = await within(service.core.clock, STORE_LIMIT_S, service.alerts.waiting())
        now_s = service.core.clock.now_s()
        meters.alerts_waiting.set(alerts.count)
        meters.alerts_oldest_s.set(0 if alerts.oldest_s is None else max(0.0, now_s - alerts.oldest_s))
        meters.store_up.set(1)
    except (StoreFailure, TimeoutError):
        meters.store_up.set(0)
    return Response(meters.text(), media_type=MEDIA_TYPE)
