"""Alertmanager's webhook against the whole service: one run for a group, and what becomes of it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from tests.faced import FacedServer, faced, problem

from diagnosis_harness.server.routes import alerts

ALERT = {
    "status": "firing",
    "labels": {"alertname": "HighLatency", "service": "storefront"},
    "annotations": {"summary": "p99 above 2 s"},
    "startsAt": "2024-02-26T15:41:00Z",
}


def notification(status: str, *services: str, key: str) -> dict[str, Any]:
    """A group of alerts that fires or is resolved."""
    several = [
        {**ALERT, "status": status, "labels": {"alertname": "HighLatency", "service": service}}
        for service in services
    ]
    return {"version": "4", "groupKey": key, "status": status, "alerts": several, "receiver": "diagnosis"}


@pytest.fixture(scope="module")
def queueing(tmp_path_factory: pytest.TempPathFactory) -> Iterator[FacedServer]:
    """A server that takes runs in, and works on none."""
    with faced(tmp_path_factory.mktemp("alerts"), works=False, unfinished_runs=5) as held:
        yield held


def test_a_firing_group_is_one_run_however_often_it_is_sent(queueing: FacedServer) -> None:
    """Sent again it is joined; with another alert in it, it is another question."""
    client = queueing.client()
    sent = notification("firing", "a", "b", key="often")
    first = client.post("/v1/alerts/alertmanager", json=sent).json()
    assert [run["did"] for run in first["runs"]] == ["SUBMITTED"]
    turned = {**sent, "alerts": sent["alerts"][::-1]}
    second = client.post("/v1/alerts/alertmanager", json=turned).json()
    assert second["runs"] == [{"run_id": first["runs"][0]["run_id"], "did": "JOINED"}]
    third = client.post("/v1/alerts/alertmanager", json=notification("firing", "a", "c", key="often")).json()
    assert third["runs"][0]["run_id"] != first["runs"][0]["run_id"]
    row = client.get(f"/v1/runs/{first['runs'][0]['run_id']}").json()
    assert row["question"].startswith("Alert firing:")
    assert row["onset_at"] == "2024-02-26T15:41:00Z"
    assert row["fingerprint"] == first["fingerprint"]
    client.post("/v1/alerts/alertmanager", json=notification("resolved", "a", key="often"))


def test_a_resolved_group_takes_back_what_has_not_started(queueing: FacedServer) -> None:
    """Of that group alone, whichever alerts it had; resolved again there is nothing to do."""
    client = queueing.client()
    fire = client.post("/v1/alerts/alertmanager", json=notification("firing", "a", "b", key="gone")).json()
    other = client.post("/v1/alerts/alertmanager", json=notification("firing", "a", key="stays")).json()
    done = client.post("/v1/alerts/alertmanager", json=notification("resolved", "b", key="gone")).json()
    assert done["runs"] == [{"run_id": fire["runs"][0]["run_id"], "did": "CANCELLED"}]
    assert client.get(f"/v1/runs/{fire['runs'][0]['run_id']}").json()["status"] == "CANCELLED"
    assert client.get(f"/v1/runs/{other['runs'][0]['run_id']}").json()["status"] == "QUEUED"
    again = client.post("/v1/alerts/alertmanager", json=notification("resolved", "b", key="gone")).json()
    assert again["runs"] == []
    client.post("/v1/alerts/alertmanager", json=notification("resolved", "a", key="stays"))


@pytest.mark.parametrize("inside", [(), ("resolved",)])
def test_a_group_in_which_nothing_fires_starts_no_run(queueing: FacedServer, inside: tuple[str, ...]) -> None:
    """A run about nothing is no answer; why nothing was done is said, in the language asked for."""
    sent = {
        **notification("firing", key="nothing"),
        "alerts": [{**ALERT, "status": status} for status in inside],
    }
    for language, word in (("en", "no alert in it does"), ("zh", "没有正在触发的告警")):
        client = queueing.client(**{"accept-language": language})
        held = client.post("/v1/alerts/alertmanager", json=sent).json()
        assert held["runs"] == []
        assert word in held["ignored"]


def test_a_resolved_group_takes_back_also_what_is_far_back_in_the_queue(
    queueing: FacedServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However many runs came after it, page after page."""
    monkeypatch.setattr(alerts, "PAGE_MAX", 1)
    client = queueing.client()
    fire = client.post("/v1/alerts/alertmanager", json=notification("firing", "a", key="far")).json()
    for number in range(3):
        client.post("/v1/alerts/alertmanager", json=notification("firing", "a", key=f"later-{number}"))
    done = client.post("/v1/alerts/alertmanager", json=notification("resolved", "a", key="far")).json()
    assert done["runs"] == [{"run_id": fire["runs"][0]["run_id"], "did": "CANCELLED"}]
    for number in range(3):
        client.post("/v1/alerts/alertmanager", json=notification("resolved", "a", key=f"later-{number}"))


def test_whoever_may_have_no_more_runs_still_joins_the_one_there_is(queueing: FacedServer) -> None:
    """A storm of alerts is bounded; what is already asked about is said, not refused."""
    client = queueing.client()
    for number in range(5):
        sent = notification("firing", "a", key=f"storm-{number}")
        assert client.post("/v1/alerts/alertmanager", json=sent).status_code == 200
    response = client.post("/v1/alerts/alertmanager", json=notification("firing", "a", key="storm-5"))
    problem(response, 429, "too-many-runs")
    joined = client.post("/v1/alerts/alertmanager", json=notification("firing", "a", key="storm-0"))
    assert joined.json()["runs"][0]["did"] == "JOINED"
    for number in range(5):
        client.post("/v1/alerts/alertmanager", json=notification("resolved", "a", key=f"storm-{number}"))


def test_a_notification_may_name_the_source_and_is_refused_by_field(queueing: FacedServer) -> None:
    """An unknown source and a payload of another version say what is wrong."""
    client = queueing.client()
    sent = notification("firing", "a", key="named")
    held = problem(client.post("/v1/alerts/alertmanager?source=nowhere", json=sent), 422, "invalid-input")
    assert (held["errors"][0]["field"], "shop" in held["errors"][0]["remedy"]) == ("source", True)
    old = {**sent, "version": "3"}
    held = problem(client.post("/v1/alerts/alertmanager", json=old), 422, "invalid-input")
    assert held["errors"][0]["field"] == "version"


def test_a_group_that_is_being_looked_into_is_left_to_its_end(
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    """Resolved while its run works: what it finds is worth reading. Then the same group asks anew."""
    with faced(tmp_path_factory.mktemp("working")) as server:
        client = server.client()
        server.hold()
        fire = client.post("/v1/alerts/alertmanager", json=notification("firing", "a", key="g")).json()
        run_id = fire["runs"][0]["run_id"]
        assert server.analyst.has_reached(run_id)
        done = client.post("/v1/alerts/alertmanager", json=notification("resolved", "a", key="g")).json()
        assert done["runs"] == [{"run_id": run_id, "did": "LEFT_RUNNING"}]
        server.let_go()
        row = server.ended(client, run_id)
        assert (row["intent"], row["status"]) == ("DIAGNOSIS", "SUCCESS")
        again = client.post("/v1/alerts/alertmanager", json=notification("firing", "a", key="g")).json()
        assert again["runs"][0]["did"] == "SUBMITTED"
        server.ended(client, again["runs"][0]["run_id"])
