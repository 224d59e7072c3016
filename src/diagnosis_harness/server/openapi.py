"""The OpenAPI document: FastAPI's, completed with every problem that a path can answer with."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi
from pydantic import BaseModel, ConfigDict, Field

from diagnosis_harness.kernel.language import Language
from diagnosis_harness.server.auth import OPEN_PATHS
from diagnosis_harness.server.problems import PROBLEM_MEDIA_TYPE, PROBLEMS, Problem, ProblemKind
from diagnosis_harness.server.view import View

ResponseContent = dict[str, dict[str, Any]]
Responses = dict[int | str, dict[str, Any]]

_TEXT = {"schema": {"type": "string"}}
JSON_LINES: ResponseContent = {"application/x-ndjson": _TEXT}
MARKDOWN: ResponseContent = {"text/markdown": _TEXT}
DOCUMENT: ResponseContent = {"application/json": {"schema": {"type": "object"}}}

_REF = "#/components/schemas/Problem"
_ALWAYS = (
    ProblemKind.UNAUTHENTICATED,
    ProblemKind.FOREIGN_PAGE,
    ProblemKind.PROXIED,
    ProblemKind.TOO_MANY_REQUESTS,
    ProblemKind.INVALID_INPUT,
    ProblemKind.INTERNAL,
    ProblemKind.STORE_UNAVAILABLE,
)
_OF_BODIES = (
    ProblemKind.NOT_JSON,
    ProblemKind.TOO_SLOW,
    ProblemKind.TOO_LARGE,
    ProblemKind.UNSUPPORTED_MEDIA,
)

_EARLIER_NAMES = {"CancelRequest": "Wish", "EventSummary": "Moment", "PhaseSection": "Stretch"}
"""Schemas that are published under earlier names, since generated clients use those."""


class FieldProblemView(View):
    """What is wrong with one field."""

    field: str
    problem: str
    remedy: str


class ProblemView(BaseModel):
    """A problem (RFC 9457)."""

    model_config = ConfigDict(extra="forbid")

    type: str
    title: str
    status: int
    instance: str
    detail: str = ""
    errors: list[FieldProblemView] = Field(default_factory=list)
    limit: int = 0


def problems(*kinds: ProblemKind) -> Responses:
    """Responses for the problems of one path, in addition to those of every path."""
    responses: Responses = {}
    for kind in kinds:
        row = PROBLEMS[kind]
        response = responses.setdefault(
            row.status,
            {
                "description": row.title.in_(Language.EN),
                "content": {PROBLEM_MEDIA_TYPE: {"schema": {"$ref": _REF}, "examples": {}}},
            },
        )
        if response["description"] != row.title.in_(Language.EN):
            response["description"] += f" Or: {row.title.in_(Language.EN)}"
        response["content"][PROBLEM_MEDIA_TYPE]["examples"][kind.value] = {"value": _example(kind)}
    for response in responses.values():
        response["headers"] = {"X-Request-Id": {"schema": {"type": "string"}}}
    return responses


def describe_api(app: FastAPI, *, needs_key: bool) -> None:
    """Make the application serve the complete document."""

    def build() -> dict[str, Any]:
        if app.openapi_schema is None:
            app.openapi_schema = _document(app, needs_key=needs_key)
        return app.openapi_schema

    app.openapi = build  # type: ignore[method-assign]  # FastAPI's own way of changing it


def _document(app: FastAPI, *, needs_key: bool) -> dict[str, Any]:
    document = _with_published_names(
        get_openapi(
            title=app.title,
            version=app.version,
            summary=app.summary,
            description=app.description,
            routes=app.routes,
        )
    )
    components = document["components"]
    schemas = components["schemas"] = dict(sorted(components["schemas"].items()))
    problem = _with_published_names(
        ProblemView.model_json_schema(ref_template="#/components/schemas/{model}")
    )
    schemas.update(problem.pop("$defs", {}))
    schemas["Problem"] = problem
    for unused in ("HTTPValidationError", "ValidationError"):
        schemas.pop(unused, None)
    components["securitySchemes"] = {
        "key": {
            "type": "http",
            "scheme": "bearer",
            "description": "An API key: the `dk_…` that `diagnose keys add` prints.",
        }
    }
    for path, operations in document["paths"].items():
        for method, operation in operations.items():
            if path not in OPEN_PATHS:
                _complete(operation, takes_body=method == "post", names_resource="{" in path)
                operation["security"] = [{"key": []}] if needs_key else [{}, {"key": []}]
    return document


def _with_published_names(document: dict[str, Any]) -> dict[str, Any]:
    """Publish the schema of `RunView` as `RunOut`, and so on: the names that generated clients know."""
    text = re.sub(r'(?<=["/])(\w+)View"', _schema_name, json.dumps(document))
    renamed: dict[str, Any] = json.loads(text)
    return renamed


def _schema_name(match: re.Match[str]) -> str:
    return f'{_EARLIER_NAMES.get(match[1], match[1])}Out"'


def _complete(operation: dict[str, Any], *, takes_body: bool, names_resource: bool) -> None:
    """Add the responses of every path to this operation's own."""
    unknown = (ProblemKind.NOT_FOUND,) if names_resource else ()
    common = problems(*_ALWAYS, *unknown, *(_OF_BODIES if takes_body else ()))
    for status, response in common.items():
        own = operation["responses"].setdefault(str(status), {"description": response["description"]})
        content = own.setdefault("content", {})
        content.pop("application/json", None)  # FastAPI's own form of a 422, which is not ours
        if PROBLEM_MEDIA_TYPE not in content:
            own.update(response)
        elif response["description"] not in own["description"]:
            own["description"] += f" Or: {response['description']}"
            content[PROBLEM_MEDIA_TYPE]["examples"].update(
                response["content"][PROBLEM_MEDIA_TYPE]["examples"]
            )


def _example(kind: ProblemKind) -> Mapping[str, Any]:
    return Problem(kind).as_json(Language.EN, "req-0f3c")
