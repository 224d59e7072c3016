"""The HTTP interface over PostgreSQL: where it is stricter than SQLite, and when it hangs."""

from __future__ import annotations

import asyncio
import sqlite3
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import httpx2
import pytest
from tests.support.live_service import RunningServer, problem, run_server, submit
from tests.support.servers import Databases

from diagnosis_harness.kernel.clock import SystemClock
from diagnosis_harness.server.store_problems import STORE_PROBLEMS
from diagnosis_harness.server.write_check import LATE

WITHIN_S = 3.0
"""Two seconds, and what a busy machine adds."""


@pytest.fixture(scope="module")
def server(
    tmp_path_factory: pytest.TempPathFactory, databases: Databases, template: str
) -> Iterator[RunningServer]:
    """A server that works on nothing, with one queued run."""
    name, url = databases.fresh(template=template)
    with run_server(tmp_path_factory.mktemp("postgres"), works=False, database=url) as running:
        yield running
    databases.drop(name)


@pytest.mark.parametrize("run_id", ["%00", "a%00b", "%F0%9F%98%80", "x" * 199])
@pytest.mark.parametrize("part", ["", "/events", "/trace", "/why", "/evidence", "/evidence/%00"])
def test_what_can_be_no_id_is_not_found(server: RunningServer, run_id: str, part: str) -> None:
    """The database is not asked for what it cannot hold."""
    problem(server.client().get(f"/v1/runs/{run_id}{part}"), 404, "not-found")


@pytest.mark.parametrize("place", ["9999999999.0", "2147483648.0", "2147483647.1"])
def test_a_place_beyond_every_log_is_refused(server: RunningServer, place: str) -> None:
    """As one that this run has not."""
    client = server.client(**{"last-event-id": place})
    run_id = submit(server.client(), "What can you do?")["run_id"]
    problem(client.get(f"/v1/runs/{run_id}/events"), 422, "invalid-input")


@pytest.mark.parametrize("retry_of", ["\x00", "a\x00b", "", " "])
def test_what_can_be_no_run_is_not_tried_again(server: RunningServer, retry_of: str) -> None:
    """404, in the background as in a chat."""
    for path in ("/v1/runs", "/v1/chat"):
        asked = {"question": "Why?", "retry_of": retry_of}
        problem(server.client().post(path, json=asked), 404, "not-found")


@pytest.mark.skipif(sys.platform != "linux", reason="platform: processes are found in /proc")
def test_while_the_database_hangs_its_state_is_reported_at_once(
    server: RunningServer, databases: Databases
) -> None:
    """It lives, it is not ready, and its meters say why; and when the database moves it is ready again."""
    if databases.server is None:
        pytest.skip("server: the given database is not ours to stop")
    client = server.client()
    with databases.server.standing_still():
        for _ in range(3):
            _is_told_at_once(client)
        problem(client.get("/v1/runs"), 503, "store-unavailable")
    _comes_back(client)


def test_while_the_file_is_held_its_state_is_reported_at_once(tmp_path: Path) -> None:
    """Also for SQLite: reads continue, and requests that write are answered in time."""
    with run_server(tmp_path, works=False) as server:
        client, clock = server.client(), SystemClock()
        with closing(sqlite3.connect(tmp_path / "runs.db", isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")
            _is_told_at_once(client)
            begun = clock.now_s()
            problem(client.post("/v1/runs", json={"question": "Why?"}), 503, "database-locked")
            assert clock.now_s() - begun < 10.0
            other.execute("ROLLBACK")
        submit(client, "What can you do?")


def _is_told_at_once(client: httpx2.Client) -> None:
    clock = SystemClock()
    answers: dict[str, Any] = {}
    for path in ("/healthz", "/readyz", "/metrics"):
        begun = clock.now_s()
        answers[path] = client.get(path)
        assert clock.now_s() - begun < WITHIN_S
    assert answers["/healthz"].status_code == 200
    assert answers["/readyz"].status_code == 503
    check = answers["/readyz"].json()["checks"]["database"]
    assert check in (LATE, *(row.title.en for row in STORE_PROBLEMS.values()))
    assert "diagnosis_store_up 0.0" in answers["/metrics"].text


def _comes_back(client: httpx2.Client) -> None:
    async def look() -> None:
        async with asyncio.timeout(60):
            while (await asyncio.to_thread(client.get, "/readyz")).status_code != 200:
                pass

    asyncio.run(look())
