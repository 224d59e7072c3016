"""Feedback over HTTP: who may say what of which run."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import httpx2
import pytest
from tests.support.live_service import RunningServer, problem, run_server, submit

from diagnosis_harness.application.callers.caller import CallerRole


@dataclass(frozen=True, slots=True)
class People:
    """A server, clients of it, and a diagnosis of Ann's that has ended."""

    server: RunningServer
    ann: httpx2.Client
    bob: httpx2.Client
    admin: httpx2.Client
    run_id: str

    @property
    def path(self) -> str:
        """Where feedback on Ann's run is."""
        return f"/v1/runs/{self.run_id}/feedback"


@pytest.fixture(scope="module")
def people(tmp_path_factory: pytest.TempPathFactory) -> Iterator[People]:
    """Three keys and a run."""
    with run_server(tmp_path_factory.mktemp("feedback"), needs_key=True, rate_per_minute=100_000) as server:
        ann = server.client(server.key("ann"))
        run_id = submit(ann)["run_id"]
        server.wait_for_end(ann, run_id)
        admin = server.client(server.key("root", CallerRole.ADMIN))
        yield People(server, ann, server.client(server.key("bob")), admin, run_id)


def mark(client: httpx2.Client, path: str, **body: Any) -> dict[str, Any]:
    """Send a verdict, and give what is stored."""
    response = client.post(path, json=body)
    assert response.status_code == 200, response.text
    stored: dict[str, Any] = response.json()
    return stored


def test_a_run_is_marked_again_and_by_others_who_see_it(people: People) -> None:
    """A later verdict replaces the caller's own, not an admin's; secrets in a note are masked."""
    mark(people.ann, people.path, verdict="WRONG", cause="payment", note="password=hunter2secret")
    mark(people.admin, people.path, verdict="WRONG")
    stored = mark(people.ann, people.path, verdict="RIGHT", note="password=hunter2secret")

    assert (stored["run_id"], stored["given_by"], stored["cause"]) == (people.run_id, "ann", None)
    assert "hunter2secret" not in stored["note"]
    body = people.ann.get(people.path).json()["feedback"]
    assert [(each["given_by"], each["verdict"]) for each in body] == [("root", "WRONG"), ("ann", "RIGHT")]
    assert people.ann.delete(people.path).json() == {"withdrawn": True}
    assert people.ann.delete(people.path).json() == {"withdrawn": False}
    assert [each["given_by"] for each in people.ann.get(people.path).json()["feedback"]] == ["root"]


def test_anothers_run_is_neither_marked_nor_read(people: People) -> None:
    """It is reported as one that does not exist."""
    problem(people.bob.post(people.path, json={"verdict": "WRONG"}), 404, "not-found")
    problem(people.bob.get(people.path), 404, "not-found")
    problem(people.bob.delete(people.path), 404, "not-found")


def test_a_viewer_only_reads(people: People) -> None:
    """403, also for a run of its own name's."""
    viewer = people.server.client(people.server.key("vic", CallerRole.VIEWER))
    problem(viewer.post(people.path, json={"verdict": "WRONG"}), 403, "not-permitted")
    problem(viewer.delete(people.path), 403, "not-permitted")


def test_what_cannot_be_right_or_wrong_is_refused(people: People) -> None:
    """A chat about the system gives no diagnosis."""
    run_id = submit(people.ann, "What can you do?")["run_id"]
    people.server.wait_for_end(people.ann, run_id)
    problem(people.ann.post(f"/v1/runs/{run_id}/feedback", json={"verdict": "RIGHT"}), 422, "invalid-input")


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"verdict": "maybe"},
        {"verdict": "RIGHT", "cause": ""},
        {"verdict": "RIGHT", "cause": "two\nlines"},
        {"verdict": "RIGHT", "cause": "x" * 129},
        {"verdict": "RIGHT", "note": "x" * 1_001},
        {"verdict": "RIGHT", "given_by": "root"},
    ],
)
def test_a_verdict_that_cannot_be_read_changes_nothing(people: People, body: dict[str, Any]) -> None:
    """No caller can act for another either."""
    before = people.ann.get(people.path).json()
    problem(people.ann.post(people.path, json=body), 422, "invalid-input")
    assert people.ann.get(people.path).json() == before
