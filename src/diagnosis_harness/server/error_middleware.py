"""The outermost middleware: gives each request an id, counts each answer, turns each error into a problem.

It logs failures and refused callers (`RefusalLog`).
"""

from __future__ import annotations

import logging

from starlette.datastructures import MutableHeaders
from starlette.requests import ClientDisconnect
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from diagnosis_harness.kernel.clock import Clock
from diagnosis_harness.kernel.ids import IdSource
from diagnosis_harness.server.error_log import log_unexpected_error
from diagnosis_harness.server.metrics import Metrics
from diagnosis_harness.server.problem_response import send_problem
from diagnosis_harness.server.problems import Problem, ProblemKind
from diagnosis_harness.server.refusal_log import RefusalLog

OTHER_ROUTE = "other"
_LOG = logging.getLogger("diagnosis_harness.server")
_HEADERS = {
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-resource-policy": "same-origin",
}


class ErrorMiddleware:
    """ASGI middleware; one of the places that may catch every exception."""

    def __init__(self, app: ASGIApp, *, ids: IdSource, metrics: Metrics, clock: Clock) -> None:
        self._app = app
        self._ids = ids
        self._metrics = metrics
        self._refusals = RefusalLog(clock)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, also when an inner layer raises."""
        if scope["type"] != "http":
            try:
                await self._app(scope, receive, send)
            finally:
                self._refusals.sum_up()  # the other kind is the lifespan, which ends when the service stops
            return
        request_id = self._ids.new_request_id()
        scope.setdefault("state", {})["request_id"] = request_id
        status, is_logged = 0, False

        async def send_with_headers(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                if not is_logged:
                    self._refusals.write(scope, request_id, status)
                _add_headers(message, request_id, path=scope["path"])
            await send(message)

        try:
            await self._app(scope, receive, send_with_headers)
        except ClientDisconnect:
            return
        except Exception as error:  # noqa: BLE001 - the server's edge: a bug is logged, and reported as a problem
            log_unexpected_error(_LOG, f"request {request_id}", error)
            is_logged = True
            if status == 0:
                await send_problem(scope, receive, send_with_headers, Problem(ProblemKind.INTERNAL))
        finally:
            self._count(scope, status)

    def _count(self, scope: Scope, status: int) -> None:
        path = getattr(scope.get("route"), "path", OTHER_ROUTE)
        self._metrics.requests.labels(path, str(status)).inc()


def _add_headers(message: Message, request_id: str, *, path: str) -> None:
    headers = MutableHeaders(scope=message)
    headers["x-request-id"] = request_id
    for name, value in _HEADERS.items():
        headers.setdefault(name, value)
    if path.startswith("/v1/"):
        headers.setdefault("cache-control", "no-store")
