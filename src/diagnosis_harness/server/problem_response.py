"""Problems as ASGI responses, for answers outside of a route."""

from __future__ import annotations

from starlette.requests import HTTPConnection
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from diagnosis_harness.server.languages import preferred_language
from diagnosis_harness.server.problems import ALERT_PATHS, PROBLEM_MEDIA_TYPE, Problem, for_alerts


def problem_response(scope: Scope, problem: Problem) -> Response:
    """The problem as a response to this request, in the language that it asks for."""
    if scope["path"] in ALERT_PATHS:
        problem = for_alerts(problem)
    scope["state"]["problem"] = problem  # for the refusal log
    headers = HTTPConnection(scope).headers
    language = preferred_language(headers.get("accept-language", ""))
    return Response(
        problem.body(language, request_id_of(scope)),
        status_code=problem.row.status,
        headers={**problem.headers(), "content-language": language.value},
        media_type=PROBLEM_MEDIA_TYPE,
    )


async def send_problem(scope: Scope, receive: Receive, send: Send, problem: Problem) -> None:
    """Send the problem as the whole answer."""
    await problem_response(scope, problem)(scope, receive, send)


def request_id_of(scope: Scope) -> str:
    """The id that `ErrorMiddleware` gave the request."""
    return str(scope["state"]["request_id"])
