"""Builds the application: middleware and routes around one service. Pure composition."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from importlib.metadata import version

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.responses import Response

from diagnosis_harness.application.service import Service
from diagnosis_harness.kernel.errors import DiagnosisHarnessError
from diagnosis_harness.server.app_state import AppState
from diagnosis_harness.server.auth import AuthMiddleware, AuthRules
from diagnosis_harness.server.body_limit import BodyLimitMiddleware
from diagnosis_harness.server.error_middleware import ErrorMiddleware
from diagnosis_harness.server.head_middleware import HeadAsGet
from diagnosis_harness.server.key_cache import KeyCache
from diagnosis_harness.server.metrics import Metrics
from diagnosis_harness.server.openapi import describe_api
from diagnosis_harness.server.problem_response import problem_response
from diagnosis_harness.server.problems import Problem, ProblemKind, problem_of
from diagnosis_harness.server.routes import (
    alerts,
    cancel,
    chat,
    events,
    feedback,
    health,
    run_results,
    runs,
    sessions,
    sources,
)
from diagnosis_harness.server.stream_hub import HubSettings
from diagnosis_harness.server.streams import Streams
from diagnosis_harness.server.validation import problem_of_errors
from diagnosis_harness.server.write_check import WriteCheck
from diagnosis_harness.settings import ServerSettings

_OF_STATUS = {
    400: ProblemKind.NOT_JSON,
    404: ProblemKind.NO_SUCH_PATH,
    405: ProblemKind.METHOD_NOT_ALLOWED,
    413: ProblemKind.TOO_LARGE,
    415: ProblemKind.UNSUPPORTED_MEDIA,
}
_DESCRIPTION = """Diagnoses incidents from evidence and releases only what the evidence supports.

Problems are RFC 9457 documents; titles follow `Accept-Language` (English, Chinese). `instance` and the header
`X-Request-Id` name the request. Times are ISO 8601 in UTC. Another caller's run is 404, as one that does not
exist."""


def make_app(service: Service, settings: ServerSettings, *, needs_key: bool) -> FastAPI:
    """The HTTP interface of a service. Its streams are served for as long as its lifespan.

    Args:
        needs_key: whether every request needs an API key. It must be true wherever the application can be
            reached from another machine; if false, every caller is an anonymous operator and sees what others
            asked without a key.
    """
    streams = Streams(
        service, HubSettings(heartbeat_s=settings.heartbeat_s), streams_max=settings.streams_max
    )
    metrics = Metrics()
    app = FastAPI(
        title="diagnosis-harness",
        summary="Ask for diagnoses, follow, cancel, read and audit them.",
        description=_DESCRIPTION,
        version=version("diagnosis-harness"),
        openapi_url="/openapi.json",
        docs_url=None,  # both load scripts from another host
        redoc_url=None,
        redirect_slashes=False,
        telemetry={"tracing": False, "metrics": False, "logs": False, "operation_spans": False},
        lifespan=_lifespan,
    )
    stores = {name: WriteCheck(service.core.clock, write) for name, write in service.writes.items()}
    app.state.app_state = AppState(service, settings, metrics, streams, stores)
    app.state.streams = streams
    for routes in (chat, runs, run_results, cancel, feedback, events, sessions, sources, alerts, health):
        app.include_router(routes.router)
    app.add_exception_handler(DiagnosisHarnessError, _on_our_error)
    app.add_exception_handler(RequestValidationError, _on_invalid)
    app.add_exception_handler(HTTPException, _on_http_error)
    _add_layers(app, service, settings, needs_key=needs_key, metrics=metrics)
    describe_api(app, needs_key=needs_key)
    return app


def _add_layers(
    app: FastAPI, service: Service, settings: ServerSettings, *, needs_key: bool, metrics: Metrics
) -> None:
    """From the inside out: body limit, authentication, errors, HEAD."""
    clock = service.core.clock
    rules = AuthRules(
        needs_key=needs_key or settings.require_key,
        hosts=frozenset(host.lower() for host in settings.allowed_hosts),
        rate_per_minute=settings.rate_per_minute,
    )
    app.add_middleware(
        BodyLimitMiddleware,
        clock=clock,
        bytes_max=settings.body_bytes_max,
        alert_bytes_max=settings.alert_bytes_max,
        timeout_s=settings.read_timeout_s,
    )
    app.add_middleware(AuthMiddleware, keys=KeyCache(service.keys, clock), rules=rules, clock=clock)
    app.add_middleware(ErrorMiddleware, ids=service.core.ids, metrics=metrics, clock=clock)
    app.add_middleware(HeadAsGet)


@asynccontextmanager
async def _lifespan(app: FastAPI) -> AsyncIterator[None]:
    state: AppState = app.state.app_state
    unsubscribes = (
        state.service.feed.on_written(state.metrics.count_events),
        state.service.closed.on_closed(state.metrics.count_closed_run),
    )
    try:
        async with state.streams.serving():
            yield
    finally:
        for unsubscribe in unsubscribes:
            unsubscribe()


async def _on_our_error(request: Request, error: Exception) -> Response:
    """Answer one of our own errors by its row of the table; `ErrorMiddleware` logs it if it is a bug."""
    problem = problem_of(error) if isinstance(error, DiagnosisHarnessError) else Problem(ProblemKind.INTERNAL)
    if problem.kind is ProblemKind.INTERNAL:
        raise error
    return problem_response(request.scope, problem)


async def _on_invalid(request: Request, error: Exception) -> Response:
    found = error.errors() if isinstance(error, RequestValidationError) else []
    return problem_response(request.scope, problem_of_errors(found))


async def _on_http_error(request: Request, error: Exception) -> Response:
    """Answer a request that the framework itself refuses."""
    status = error.status_code if isinstance(error, HTTPException) else 500
    response = problem_response(request.scope, Problem(_OF_STATUS.get(status, ProblemKind.INTERNAL)))
    if isinstance(error, HTTPException) and error.headers and "Allow" in error.headers:
        response.headers["allow"] = error.headers["Allow"]
    return response
