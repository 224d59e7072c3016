"""Alertmanager's webhook against the whole service: one run for a group, and what becomes of it."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from typing import Any

import httpx2
import pytest
from tests.support.live_service import WAIT_S, RunningServer, problem, run_server, submit

from diagnosis_harness.application.callers.caller import CallerRole

PATH = "/v1/alerts/alertmanager"
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


def send_notification(client: httpx2.Client, status: str, *services: str, key: str) -> dict[str, Any]:
    """What a notification that is taken is answered."""
    response = client.post(PATH, json=notification(status, *services, key=key))
    assert response.status_code == 202, response.text
    content: dict[str, Any] = response.json()
    return content


def runs_of(client: httpx2.Client, fingerprint: str) -> list[dict[str, Any]]:
    """Every run about a group, the latest first."""
    runs = client.get("/v1/runs", params={"limit": 200}).json()["runs"]
    return [run for run in runs if run["fingerprint"] == fingerprint]


def gauge(client: httpx2.Client, name: str) -> float:
    """The current value of a gauge."""
    lines = client.get("/metrics").text.splitlines()
    return float(next(line for line in lines if line.startswith(f"{name} ")).split()[1])


@pytest.fixture(scope="module")
def queueing(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    """A server that takes runs in, and works on none."""
    with run_server(tmp_path_factory.mktemp("alerts"), works=False, unfinished_runs=5) as server:
        yield server


def test_a_firing_group_is_one_run_whichever_alerts_are_in_it(queueing: RunningServer) -> None:
    """A growing group was a new run at each notification; it joins the one there is, of caller `alerts`."""
    client = queueing.client()

    first = send_notification(client, "firing", "a", "b", key="often")
    others = [
        send_notification(client, "firing", *services, key="often")
        for services in (("b", "a"), ("a", "c"), "abcdefgh")
    ]

    (run,) = first["runs"]
    assert (run["did"], first["is_waiting"], first["ahead"]) == ("SUBMITTED", False, 0)
    assert [each["runs"] for each in others] == [[{"run_id": run["run_id"], "did": "JOINED"}]] * 3
    row = client.get(f"/v1/runs/{run['run_id']}").json()
    assert row["question"].startswith("Alert firing:")
    assert (row["onset_at"], row["asked_by"]) == ("2024-02-26T15:41:00Z", "alerts")
    assert row["fingerprint"] == first["fingerprint"]
    send_notification(client, "resolved", "a", key="often")


def test_the_answer_names_the_notification_by_its_request(queueing: RunningServer) -> None:
    """The id that both logs contain."""
    response = queueing.client().post(PATH, json=notification("resolved", "a", key="named"))

    assert response.status_code == 202
    assert response.json()["notification_id"] == response.headers["x-request-id"]


def test_a_group_of_thousands_of_alerts_is_taken(queueing: RunningServer) -> None:
    """Where Alertmanager is set to leave none out: a storm makes the largest groups."""
    several = [
        {**ALERT, "labels": {"alertname": "HighLatency", "pod": f"pod-{number}", "node": "n" * 400}}
        for number in range(5_000)
    ]
    body = {**notification("firing", key="large"), "alerts": several}

    response = queueing.client().post(PATH, json=body)

    assert response.status_code == 202, response.text
    (run,) = response.json()["runs"]
    question = queueing.client().get(f"/v1/runs/{run['run_id']}").json()["question"]
    assert "(5000 alerts)" in question
    send_notification(queueing.client(), "resolved", "a", key="large")


def test_a_resolved_group_takes_back_what_has_not_started(queueing: RunningServer) -> None:
    """Of that group alone, whichever alerts it had; resolved again there is nothing to do."""
    client = queueing.client()
    fire = send_notification(client, "firing", "a", "b", key="gone")
    other = send_notification(client, "firing", "a", key="stays")

    done = send_notification(client, "resolved", "b", key="gone")
    again = send_notification(client, "resolved", "b", key="gone")

    assert done["runs"] == [{"run_id": fire["runs"][0]["run_id"], "did": "CANCELLED"}]
    row = client.get(f"/v1/runs/{fire['runs'][0]['run_id']}").json()
    assert (row["status"], row["started_at"]) == ("CANCELLED", None)
    assert row["termination"]["detail"] == "its alert was resolved before it began"
    assert client.get(f"/v1/runs/{other['runs'][0]['run_id']}").json()["status"] == "QUEUED"
    assert again["runs"] == []
    send_notification(client, "resolved", "a", key="stays")


@pytest.mark.parametrize("inside", [(), ("resolved",)])
def test_a_group_in_which_nothing_fires_starts_no_run(
    queueing: RunningServer, inside: tuple[str, ...]
) -> None:
    """A run about nothing is no answer; why nothing was done is said, in the language asked for."""
    empty = {
        **notification("firing", key="nothing"),
        "alerts": [{**ALERT, "status": status} for status in inside],
    }
    for language, word in (("en", "none of its alerts is"), ("zh", "没有正在触发的告警")):
        client = queueing.client(**{"accept-language": language})
        response = client.post(PATH, json=empty)
        body = response.json()
        assert (response.status_code, body["notification_id"], body["runs"]) == (200, None, [])
        assert word in body["ignored"]


def test_a_notification_may_name_the_source_and_is_refused_by_field(
    queueing: RunningServer, caplog: pytest.LogCaptureFixture
) -> None:
    """What can never be taken is a 4xx that says what is wrong, to our log as well: Alertmanager drops it."""
    client = queueing.client()
    named = notification("firing", "a", key="named")
    body = problem(client.post(f"{PATH}?source=nowhere", json=named), 422, "invalid-input")
    assert (body["errors"][0]["field"], "shop" in body["errors"][0]["remedy"]) == ("source", True)
    assert any("source: it is not configured" in record.getMessage() for record in caplog.records)
    old = {**named, "version": "3"}
    body = problem(client.post(PATH, json=old), 422, "invalid-input")
    assert body["errors"][0]["field"] == "version"
    assert runs_of(client, send_notification(client, "resolved", "a", key="named")["fingerprint"]) == []


def test_a_group_that_is_being_looked_into_is_left_to_its_end(
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    """Resolved while its run works: its findings are still useful. Firing again starts a new run."""
    with run_server(tmp_path_factory.mktemp("working")) as server:
        client = server.client()
        server.hold()
        run_id = send_notification(client, "firing", "a", key="g")["runs"][0]["run_id"]
        assert server.analyst.has_reached(run_id)
        done = send_notification(client, "resolved", "a", key="g")
        assert done["runs"] == [{"run_id": run_id, "did": "LEFT_RUNNING"}]
        again = send_notification(client, "firing", "a", key="g")["runs"]
        assert [run["did"] for run in again] == ["SUBMITTED"]
        assert again[0]["run_id"] != run_id
        server.let_go()
        row = server.wait_for_end(client, run_id)
        assert (row["intent"], row["status"], row["cancel"]) == ("DIAGNOSIS", "SUCCESS", None)
        assert server.wait_for_end(client, again[0]["run_id"])["status"] == "SUCCESS"


def test_what_there_is_no_room_for_waits_and_a_person_still_gets_in(
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    """A storm was refused with 429, which Alertmanager takes for final, and people were refused with it."""
    alerts = {"unfinished_runs": 2, "waiting_max": 3}
    with run_server(tmp_path_factory.mktemp("storm"), unfinished_runs=2, alerts=alerts) as server:
        client = server.client()
        server.hold()
        first = [send_notification(client, "firing", "a", key=f"storm-{number}") for number in range(2)]
        waits = [send_notification(client, "firing", "a", key=f"storm-{number}") for number in range(2, 5)]
        joins = send_notification(client, "firing", "a", "b", key="storm-4")
        assert [run["did"] for each in first for run in each["runs"]] == ["SUBMITTED"] * 2
        assert [(each["is_waiting"], each["ahead"], each["runs"]) for each in waits] == [
            (True, number, []) for number in range(3)
        ]
        assert joins["notification_id"] == waits[2]["notification_id"]
        one_more = client.post(PATH, json=notification("firing", "a", key="storm-5"))
        assert problem(one_more, 503, "too-many-alerts")["limit"] == 3
        assert int(one_more.headers["retry-after"]) > 0
        zh = server.client(**{"accept-language": "zh"})
        body = problem(zh.post(PATH, json=notification("firing", "a", key="storm-5")), 503, "too-many-alerts")
        assert "通知" in body["title"]
        assert (gauge(client, "diagnosis_alerts_waiting"), client.get("/readyz").status_code) == (3, 200)
        assert gauge(client, "diagnosis_alerts_oldest_seconds") > 0
        question = submit(client)["run_id"]
        server.let_go()
        for each in (*first, *waits):
            assert len(_runs_in_time(client, each["fingerprint"])) == 1
        assert server.wait_for_end(client, question)["asked_by"] == "local"
        assert gauge(client, "diagnosis_alerts_waiting") == 0
        assert gauge(client, "diagnosis_alerts_oldest_seconds") == 0


def _runs_in_time(client: httpx2.Client, fingerprint: str) -> list[dict[str, Any]]:
    """The runs of a group, when there are any."""
    for _ in range(round(WAIT_S / 0.05)):
        if runs := runs_of(client, fingerprint):
            return runs
        threading.Event().wait(0.05)
    raise TimeoutError(f"{fingerprint} has no run")


def test_a_key_counts_its_alerts_against_no_rate_and_they_are_its_own(
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    """Alertmanager would drop what a rate refuses. A key's number of unfinished runs bounds its alerts."""
    with run_server(tmp_path_factory.mktemp("keyed"), works=False, needs_key=True) as server:
        bot = server.client(server.key("bot", rate_per_minute=1, concurrent_runs=3))
        viewer = server.client(server.key("eve", CallerRole.VIEWER))

        responses = [send_notification(bot, "firing", "a", key=f"{number}") for number in range(5)]

        assert [each["is_waiting"] for each in responses] == [False] * 3 + [True] * 2
        problem(viewer.post(PATH, json=notification("firing", "a", key="0")), 403, "not-permitted")
        problem(server.client().post(PATH, json=notification("firing", "a", key="0")), 401, "unauthenticated")
        admin = server.client(server.key("root", CallerRole.ADMIN))
        assert {run["asked_by"] for run in admin.get("/v1/runs").json()["runs"]} == {"bot"}


def test_a_body_that_comes_too_slowly_is_to_be_sent_again(tmp_path_factory: pytest.TempPathFactory) -> None:
    """A 408 is final to Alertmanager; elsewhere it stays what it is."""
    with run_server(tmp_path_factory.mktemp("slow"), works=False, read_timeout_s=0.3) as server:
        alerts, runs = (_half_sent(server.port, path) for path in (PATH, "/v1/runs"))

        assert alerts.startswith("HTTP/1.1 503 ")
        assert "\r\nretry-after: 5\r\n" in alerts.lower()
        assert "\r\nconnection: close\r\n" in alerts.lower()
        assert runs.startswith("HTTP/1.1 408 ")


def _half_sent(port: int, path: str) -> str:
    """The answer to a request whose body does not come to its end."""
    with socket.create_connection(("127.0.0.1", port), timeout=WAIT_S) as connection:
        head = f"POST {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nContent-Type: application/json\r\n"
        connection.sendall(f"{head}Content-Length: 50\r\n\r\n{{".encode())
        parts = []
        while part := connection.recv(4096):
            parts.append(part)
    return b"".join(parts).decode()
