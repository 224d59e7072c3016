"""The OpenAPI document is true: whatever is sent is answered as it says, and never with a 5xx."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest
import requests
import schemathesis
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from schemathesis import Case, GenerationMode
from schemathesis.checks import load_all_checks, not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
)
from tests.support.live_service import RunningServer, run_server, submit
from tests.support.sent_sources import send_source
from tests.support.servers import Databases

from diagnosis_harness.kernel.language import Language
from diagnosis_harness.server.problems import PROBLEMS

CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
]
OPERATIONS = (
    ("/v1/chat", "POST"),
    ("/v1/runs", "POST"),
    ("/v1/runs", "GET"),
    ("/v1/runs/{run_id}", "GET"),
    ("/v1/runs/{run_id}/trace", "GET"),
    ("/v1/runs/{run_id}/evidence", "GET"),
    ("/v1/runs/{run_id}/evidence/{tool_call_id}", "GET"),
    ("/v1/runs/{run_id}/why", "GET"),
    ("/v1/runs/{run_id}/report.md", "GET"),
    ("/v1/runs/{run_id}/document", "GET"),
    ("/v1/runs/{run_id}/cancel", "POST"),
    ("/v1/runs/{run_id}/feedback", "POST"),
    ("/v1/runs/{run_id}/feedback", "GET"),
    ("/v1/runs/{run_id}/feedback", "DELETE"),
    ("/v1/runs/{run_id}/events", "GET"),
    ("/v1/sessions/{session_id}", "GET"),
    ("/v1/sources", "POST"),
    ("/v1/sources", "GET"),
    ("/v1/sources/{source_id}", "GET"),
    ("/v1/sources/{source_id}", "DELETE"),
    ("/v1/alerts/alertmanager", "POST"),
    ("/healthz", "GET"),
    ("/readyz", "GET"),
    ("/metrics", "GET"),
)
EXAMPLES = 40
"""For each operation and mode, in `make proof`; a tenth in `make test`."""


@dataclass(slots=True)
class Described:
    """A server, its own description as schemathesis reads it, and things that exist there."""

    server: RunningServer
    schema: Any
    session: requests.Session
    document: dict[str, Any]
    known: dict[str, str]


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Over SQLite; in `make proof` over PostgreSQL as well."""
    if "described" in metafunc.fixturenames:
        stores = ["sqlite", "postgres"] if metafunc.config.getoption("--proof") else ["sqlite"]
        metafunc.parametrize("described", stores, indirect=True, scope="module")


@pytest.fixture(scope="module", name="described")
def server_with_a_run(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Described]:
    """A server with one ended run."""
    url = None
    if request.param == "postgres":
        databases: Databases = request.getfixturevalue("databases")
        name, url = databases.fresh(template=request.getfixturevalue("template"))
        request.addfinalizer(lambda: databases.drop(name))  # noqa: PT021 - only where there is one
    folder = tmp_path_factory.mktemp("schema")
    with run_server(folder, database=url, unfinished_runs=100_000, heartbeat_s=1.0) as server:
        client = server.client()
        run = submit(client, session_id="ses-known")
        server.wait_for_end(client, run["run_id"])
        source = send_source(client)
        load_all_checks()
        document = client.get("/openapi.json").json()
        with requests.Session() as session:
            session.trust_env = False
            yield Described(
                server=server,
                schema=schemathesis.openapi.from_dict(document),
                session=session,
                document=document,
                known={
                    "run_id": run["run_id"],
                    "session_id": "ses-known",
                    "tool_call_id": "t1",
                    "source_id": source["source_id"],
                },
            )


def test_every_operation_is_looked_at(described: Described) -> None:
    """A new path must come to this list."""
    described_operations = {
        (path, method.upper())
        for path, operations in described.document["paths"].items()
        for method in operations
    }
    assert described_operations == set(OPERATIONS)


@pytest.mark.proof
# What schemathesis breaks a value with is drawn from `random`, which hypothesis seeds.
@pytest.mark.filterwarnings("ignore::hypothesis.errors.HypothesisDeprecationWarning")
@pytest.mark.parametrize("mode", [GenerationMode.POSITIVE, GenerationMode.NEGATIVE])
@pytest.mark.parametrize(("path", "method"), OPERATIONS)
def test_every_answer_is_one_that_the_document_names(
    described: Described, path: str, method: str, mode: GenerationMode, scale: float
) -> None:
    """Status, type, headers and body; with values that are allowed and with values that are not."""
    operation = described.schema[path][method]
    if mode is GenerationMode.NEGATIVE and not (operation.body or list(operation.iter_parameters())):
        return  # there is nothing to send wrongly

    @settings(
        max_examples=max(3, round(EXAMPLES * scale)),
        deadline=None,
        database=None,
        derandomize=True,
        suppress_health_check=list(HealthCheck),
    )
    @given(exists=st.booleans(), case=operation.as_strategy(generation_mode=mode))
    def look(exists: bool, case: Case[Any]) -> None:
        if exists and case.path_parameters:
            case.path_parameters.update(
                {name: value for name, value in described.known.items() if name in case.path_parameters}
            )
        if isinstance(case.body, dict) and isinstance(case.body.get("question"), str):
            case.body.setdefault("limit_s", 5)
        response = case.call(base_url=described.server.url, session=described.session, timeout=60)
        case.validate_response(response, checks=CHECKS)
        if response.status_code >= 400 and path != "/readyz":
            assert response.json()["title"] in {row.title.in_(Language.EN) for row in PROBLEMS.values()}

    look()
