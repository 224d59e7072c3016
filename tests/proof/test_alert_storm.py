"""A storm of alerts against a whole server: every group has its run, and people get in meanwhile."""

from __future__ import annotations

import threading
from collections import Counter, defaultdict
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.support.live_service import RunningServer, run_server

pytestmark = pytest.mark.proof

PATH = "/v1/alerts/alertmanager"
STARTS = "2024-02-26T15:41:00Z"
DRAIN_S = 600.0
LOOK_S = 0.2


def notification(status: str, key: int, alerts: int = 1) -> dict[str, Any]:
    """A group of so many alerts."""
    several = [
        {
            "status": status,
            "labels": {"alertname": "HighLatency", "service": f"service-{key}", "pod": f"pod-{number}"},
            "startsAt": STARTS,
        }
        for number in range(alerts)
    ]
    return {"version": "4", "groupKey": f"group-{key}", "status": status, "alerts": several}


def all_rows(server: RunningServer) -> list[dict[str, Any]]:
    """Every run about an alert."""
    client, rows, before = server.client(), [], None
    while True:
        marked: dict[str, str] = {} if before is None else {"before": before}
        page = client.get("/v1/runs", params={"asked_by": "alerts", "limit": 200, **marked}).json()
        rows += page["runs"]
        if (before := page["next"]) is None:
            return rows


def wait_until_drained(server: RunningServer) -> list[dict[str, Any]]:
    """Every run about an alert, when no notification waits and all have ended."""
    for _ in range(round(DRAIN_S / LOOK_S)):
        waiting = server.inside(server.service.alerts.waiting).count
        rows = all_rows(server)
        if waiting == 0 and all(row["is_closed"] for row in rows):
            return rows
        threading.Event().wait(LOOK_S)
    raise TimeoutError("the storm does not drain")


def test_a_storm_loses_no_group_and_leaves_people_in(tmp_path: Path, scale: float) -> None:
    """1,000 notifications of 300 groups at once: 916 were refused with 429, final to Alertmanager."""
    count, groups = max(300, round(1_000 * scale)), max(100, round(300 * scale))
    random = np.random.default_rng(11)
    keys = [*range(groups), *random.integers(0, groups, count - groups).tolist()]
    random.shuffle(keys)

    with run_server(tmp_path, is_brief=True) as server:
        clients = [server.client() for _ in range(8)]

        def send(place: int) -> dict[str, Any]:
            body = notification("firing", keys[place], alerts=1 + place % 7)
            response = clients[place % len(clients)].post(PATH, json=body)
            assert response.status_code == 202, response.text
            content: dict[str, Any] = response.json()
            return content

        server.hold()
        with ThreadPoolExecutor(len(clients)) as pool:
            taken = list(pool.map(send, range(count)))
        assert server.inside(server.service.alerts.waiting).count > 0
        chat = server.client().post("/v1/chat", json={"question": "What can you do?"})
        assert chat.status_code == 200
        assert "event: content" in chat.text
        server.let_go()
        rows = wait_until_drained(server)

    about = Counter(row["fingerprint"] for row in rows)
    assert set(about) == {each["fingerprint"] for each in taken}
    assert about.total() == len(about) == groups  # nothing ended before all had been sent
    assert all(row["started_at"] for row in rows)


def test_a_resolved_alert_never_ends_a_run_that_has_started(tmp_path: Path, scale: float) -> None:
    """Fired and resolved at any distance: of some 300 groups three said LEFT_RUNNING, and were cancelled."""
    count = round(300 * scale)
    waits_s = np.random.default_rng(5).uniform(0.0, 0.6, count)
    done: dict[str, list[str]] = defaultdict(list)

    with run_server(tmp_path) as server, ThreadPoolExecutor(4) as pool:

        def fire_and_resolve(key: int) -> None:
            client = server.client()
            fired = client.post(PATH, json=notification("firing", key)).json()
            threading.Event().wait(waits_s[key])
            answer = client.post(PATH, json=notification("resolved", key)).json()
            for each in answer["runs"]:
                done[each["run_id"]].append(each["did"])
            assert answer["fingerprint"] == fired["fingerprint"]

        list(pool.map(fire_and_resolve, range(count)))
        rows = {row["run_id"]: row for row in wait_until_drained(server)}

    assert len(rows) == count
    for row in rows.values():
        assert (row["status"] == "CANCELLED") == (row["started_at"] is None)
    for run_id, dids in done.items():
        assert len(dids) == 1
        assert (rows[run_id]["status"] == "CANCELLED") == (dids == ["CANCELLED"])
