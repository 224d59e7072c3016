"""Callers over HTTP: keys, roles, limits, and that one caller's runs are private to it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import httpx2
import pytest
from tests.support.live_service import QUESTION, RunningServer, problem, run_server, submit

from diagnosis_harness.application.callers.caller import ALERTS, CallerRole
from diagnosis_harness.application.runs.submission import Submission


@dataclass(frozen=True, slots=True)
class People:
    """A server that asks for keys, and clients of it."""

    server: RunningServer
    ann: httpx2.Client
    bob: httpx2.Client
    viewer: httpx2.Client
    admin: httpx2.Client
    nobody: httpx2.Client
    run_id: str
    """A diagnosis of Ann's that has ended."""


@pytest.fixture(scope="module")
def people(tmp_path_factory: pytest.TempPathFactory) -> Iterator[People]:
    """Four keys and a run."""
    with run_server(tmp_path_factory.mktemp("callers"), needs_key=True, rate_per_minute=100_000) as server:
        ann = server.client(server.key("ann"))
        run_id = submit(ann, session_id="ses-ann")["run_id"]
        server.wait_for_end(ann, run_id)
        yield People(
            server=server,
            ann=ann,
            bob=server.client(server.key("bob")),
            viewer=server.client(server.key("vic", CallerRole.VIEWER)),
            admin=server.client(server.key("root", CallerRole.ADMIN)),
            nobody=server.client(),
            run_id=run_id,
        )


PARTS = ("", "/trace", "/evidence", "/evidence/t1", "/why", "/report.md", "/document", "/events")


@pytest.mark.parametrize("part", PARTS)
def test_anothers_run_is_reported_as_one_that_does_not_exist(people: People, part: str) -> None:
    """404 everywhere, word for word the same; the owner and an admin see it."""
    there = people.bob.get(f"/v1/runs/{people.run_id}{part}")
    nowhere = people.bob.get(f"/v1/runs/run-none{part}")
    one, other = dict(problem(there, 404, "not-found")), dict(problem(nowhere, 404, "not-found"))
    assert one.pop("instance") != other.pop("instance")
    assert one == other
    for client in (people.ann, people.admin):
        assert client.get(f"/v1/runs/{people.run_id}{part}").status_code == 200


def test_anothers_run_is_neither_cancelled_nor_tried_again_nor_listed(people: People) -> None:
    """Nor is its session visible; a query for another caller's runs returns the caller's own."""
    problem(people.bob.post(f"/v1/runs/{people.run_id}/cancel"), 404, "not-found")
    asked = {"question": QUESTION, "retry_of": people.run_id}
    problem(people.bob.post("/v1/runs", json=asked), 404, "not-found")
    problem(people.bob.get("/v1/sessions/ses-ann"), 404, "not-found")
    assert people.bob.get("/v1/runs", params={"asked_by": "ann"}).json()["runs"] == []
    assert people.bob.get("/v1/runs", params={"session": "ses-ann"}).json()["runs"] == []
    listed = people.admin.get("/v1/runs", params={"asked_by": "ann"}).json()["runs"]
    assert people.run_id in {row["run_id"] for row in listed}


def test_a_session_id_of_another_shows_nothing_of_theirs(people: People) -> None:
    """Two people may use the same id; each has their own turns and their own next turn."""
    run_id = submit(people.bob, "What can you do?", session_id="ses-ann")["run_id"]
    people.server.wait_for_end(people.bob, run_id)
    body = people.bob.get("/v1/sessions/ses-ann").json()
    assert [turn["run_id"] for turn in body["turns"]] == [run_id]
    assert (body["next_turn"]["asked_by"], body["next_turn"]["objection"]) == ("bob", "NO_DIAGNOSIS")
    assert people.ann.get("/v1/sessions/ses-ann").json()["next_turn"]["run_id"] == people.run_id
    everyone = people.admin.get("/v1/sessions/ses-ann").json()
    assert len(everyone["turns"]) == 2
    assert everyone["next_turn"]["asked_by"] == "bob"


def test_the_role_of_a_run_is_that_of_its_key(people: People) -> None:
    """Each record names the caller whose role its tool call had."""
    records = people.ann.get(f"/v1/runs/{people.run_id}/evidence").json()["records"]
    assert {record["caller"] for record in records} == {"operator/ann"}


def test_a_viewer_reads_and_neither_asks_nor_cancels(people: People) -> None:
    """403 for what the role does not allow."""
    assert people.viewer.get("/v1/runs").json() == {"runs": [], "next": None}
    for path, body in (
        ("/v1/runs", {"question": QUESTION}),
        ("/v1/chat", {"question": QUESTION}),
        (f"/v1/runs/{people.run_id}/cancel", None),
    ):
        problem(people.viewer.post(path, json=body), 403, "not-permitted")


def test_without_a_key_only_health_is_reported(people: People) -> None:
    """Also on loopback, where the service can be reached from elsewhere."""
    for path in ("/healthz", "/readyz", "/openapi.json"):
        assert people.nobody.get(path).status_code == 200
    for path in ("/v1/runs", "/metrics", "/v1/sessions/ses-ann", f"/v1/runs/{people.run_id}", "/nowhere"):
        response = people.nobody.get(path, headers={"accept-language": "zh-CN"})
        assert problem(response, 401, "unauthenticated")["title"] == "需要有效的 API 密钥。"
        assert response.headers["www-authenticate"].startswith("Bearer")
    problem(people.nobody.post("/v1/runs", content=b"{" * 100), 401, "unauthenticated")


def test_a_revoked_key_is_refused(people: People) -> None:
    """As soon as what was remembered of it is forgotten."""
    server = people.server
    key = server.key("leaver")
    key_id = key.split("_")[1]
    at_s = server.service.core.clock.now_s()
    assert server.inside(lambda: server.service.keys.revoke(key_id, at_s=at_s))
    problem(server.client(key).get("/v1/runs"), 401, "unauthenticated")


def test_a_key_may_have_so_many_unfinished_runs(people: People) -> None:
    """429 with the number and the time to come again; a run that ends makes room. Nobody else is held up."""
    server = people.server
    client = server.client(server.key("busy", concurrent_runs=2))
    server.hold()
    try:
        runs = [submit(client)["run_id"] for _ in range(2)]
        for path in ("/v1/runs", "/v1/chat"):
            response = client.post(path, json={"question": QUESTION})
            assert problem(response, 429, "too-many-runs")["limit"] == 2
            assert int(response.headers["retry-after"]) > 0
        other = submit(people.bob)["run_id"]
        for run_id in (runs[0], other):
            server.analyst.has_reached(run_id)
        assert client.post(f"/v1/runs/{runs[0]}/cancel").json()["effect"] == "STOPPED"
        server.wait_for_end(client, runs[0])
        assert client.post("/v1/runs", json={"question": QUESTION}).status_code == 202
    finally:
        server.let_go()


def test_a_key_may_ask_so_often(people: People) -> None:
    """Its own number before the server's; refused requests say when to come again."""
    client = people.server.client(people.server.key("eager", rate_per_minute=3))
    statuses = [client.get("/v1/runs").status_code for _ in range(5)]
    assert statuses[:3] == [200, 200, 200]
    assert 429 in statuses
    refused = next(
        response for response in (client.get("/v1/runs") for _ in range(5)) if response.status_code == 429
    )
    problem(refused, 429, "too-many-requests")
    assert 1 <= int(refused.headers["retry-after"]) <= 20


def test_without_a_key_nobody_is_an_admin_over_http(tmp_path: Path) -> None:
    """A proxy that says nothing of itself makes everybody look like us: the runs of a key stay its own."""
    with run_server(tmp_path, works=False) as server:
        ann, here = server.client(server.key("ann")), server.client()
        theirs = submit(ann, session_id="ses-ann")["run_id"]
        ours = submit(here, "What can you do?")["run_id"]
        for part in PARTS:
            problem(here.get(f"/v1/runs/{theirs}{part}"), 404, "not-found")
        problem(here.post(f"/v1/runs/{theirs}/cancel"), 404, "not-found")
        problem(here.get("/v1/sessions/ses-ann"), 404, "not-found")
        for query in ({}, {"asked_by": "ann"}, {"session": "ses-ann"}, {"asked_by": "local"}):
            listed = {row["run_id"] for row in here.get("/v1/runs", params=query).json()["runs"]}
            assert theirs not in listed
        assert here.get(f"/v1/runs/{ours}").json()["asked_by"] == "local"


def test_without_a_key_people_see_what_alerts_asked_without_one(tmp_path: Path) -> None:
    """Their unfinished runs are limited separately, but both are visible: alerts are for people."""

    async def question_in_store() -> str:
        return (await server.service.runs.submit(ALERTS, Submission(question="What can you do?"))).row.run_id

    with run_server(tmp_path, works=False) as server:
        here, bob = server.client(), server.client(server.key("bob"))
        run_id = server.inside(question_in_store)
        assert here.get(f"/v1/runs/{run_id}").status_code == 200
        for query in ({}, {"asked_by": "alerts"}):
            assert [row["run_id"] for row in here.get("/v1/runs", params=query).json()["runs"]] == [run_id]
        problem(bob.get(f"/v1/runs/{run_id}"), 404, "not-found")


def test_on_loopback_a_foreign_page_is_kept_out(tmp_path: Path) -> None:
    """By name and by origin; neither is asked for where a key is."""
    with run_server(tmp_path, works=False) as server:
        client = server.client()
        assert client.get("/v1/runs").status_code == 200
        problem(client.get("/v1/runs", headers={"host": "evil.test"}), 403, "foreign-page")
        origin = {"origin": "http://evil.test"}
        problem(client.post("/v1/runs/run-1/cancel", headers=origin), 403, "foreign-page")
        answer = client.options("/v1/runs", headers={**origin, "access-control-request-method": "POST"})
        assert answer.status_code == 403
        assert not [name for name in answer.headers if name.startswith("access-control")]
