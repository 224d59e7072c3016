"""A store that fails, over HTTP: a write detects it, and the answer names the failure."""

from __future__ import annotations

import asyncio
import logging
import re
import resource
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import httpx2
import psycopg
import pytest
from psycopg import sql
from tests.support.live_service import QUESTION, RunningServer, problem, run_server, submit
from tests.support.servers import Databases, Valkey

from diagnosis_harness.kernel.store_trouble import StoreTrouble
from diagnosis_harness.server.store_problems import STORE_PROBLEMS

NOBODY = "redis://127.0.0.1:1/0"
"""A port that nothing listens at."""


@contextmanager
def a_full_disk(folder: Path) -> Iterator[None]:
    """The log of the database may not grow: what is written there meets the end of the disk."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, ((folder / "runs.db-wal").stat().st_size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def until(client: httpx2.Client, status: int) -> dict[str, Any]:
    """What `/readyz` says as soon as it answers with this status."""

    async def look() -> dict[str, Any]:
        async with asyncio.timeout(20):
            while (answer := await asyncio.to_thread(client.get, "/readyz")).status_code != status:
                pass
        content: dict[str, Any] = answer.json()
        return content

    return asyncio.run(look())


def gauge(client: httpx2.Client, name: str) -> float:
    """The value of a gauge."""
    found = re.search(rf"^{name} (\S+)$", client.get("/metrics").text, re.MULTILINE)
    assert found is not None
    return float(found[1])


def test_a_full_disk_is_not_ready_and_is_named(tmp_path: Path) -> None:
    """Reads go on all the while, so that only a write finds it out; and it goes on by itself."""
    with run_server(tmp_path, works=False) as server:
        client = server.client()
        submit(client)
        with a_full_disk(tmp_path):
            body = until(client, 503)
            assert body["checks"]["database"] == STORE_PROBLEMS[StoreTrouble.DATABASE_FULL].title.en
            assert gauge(client, "diagnosis_store_up") == 0
            assert client.get("/v1/runs").status_code == 200
            reported = problem(client.post("/v1/runs", json={"question": QUESTION}), 503, "database-full")
            assert "disk is full" in reported["title"]
        until(client, 200)
        assert gauge(client, "diagnosis_store_up") == 1


def test_a_postgresql_that_may_only_be_read_is_not_ready_and_is_named(
    tmp_path: Path, databases: Databases, template: str
) -> None:
    """Make the server read-only, as a standby is: it answers reads and refuses writes."""
    name, url = databases.fresh(template=template)
    try:
        with run_server(tmp_path, works=False, database=url) as server:
            client = server.client()
            submit(client)
            read_only(url, name, "on")
            body = until(client, 503)
            assert body["checks"]["database"] == STORE_PROBLEMS[StoreTrouble.DATABASE_READ_ONLY].title.en
            assert gauge(client, "diagnosis_store_up") == 0
            problem(client.post("/v1/runs", json={"question": QUESTION}), 503, "database-read-only")
            read_only(url, name, "off")
            until(client, 200)
            assert gauge(client, "diagnosis_store_up") == 1
    finally:
        databases.drop(name)


def read_only(url: str, name: str, value: str) -> None:
    """Have every new session of the database read only, or not, and end those that there are."""
    address = url.replace("postgresql+psycopg://", "postgresql://")
    with closing(psycopg.connect(address, autocommit=True)) as connection:
        connection.execute("SET default_transaction_read_only = off")
        change = "ALTER DATABASE {} SET default_transaction_read_only = {}"
        connection.execute(sql.SQL(change).format(sql.Identifier(name), sql.SQL(value)))
        connection.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
            " WHERE datname = current_database() AND pid <> pg_backend_pid()"
        )


def ask_and_wait(server: RunningServer, question: str = QUESTION) -> dict[str, Any]:
    """Ask as a chat, wait for the end of its stream, and return the run."""
    client = server.client()
    with client.stream("POST", "/v1/chat", json={"question": question}) as stream:
        text = "".join(stream.iter_text())
    found = re.search(r'"run_id": ?"([^"]+)"', text)
    assert found is not None, text
    assert "event: done" in text or '"type": "done"' in text, text
    return server.wait_for_end(client, found[1])


def test_an_evidence_store_that_is_unavailable_is_reported_as_such(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """In the end of the chat, in `why`, where evidence is asked for, in readiness, and once in the log."""
    with caplog.at_level(logging.WARNING), run_server(tmp_path, evidence=NOBODY) as server:
        client = server.client()
        row = ask_and_wait(server)
        assert row["status"] == "FAILED"
        assert row["failure"]["code"] == "EVIDENCE_STORE_UNAVAILABLE"
        assert "evidence store" in row["failure"]["message"]
        why = client.get(f"/v1/runs/{row['run_id']}/why")
        assert why.status_code == 200, why.text
        assert "STORE_UNAVAILABLE" in why.text
        assert "evidence store failed" in why.text
        for part in ("evidence", "report.md", "document"):
            problem(client.get(f"/v1/runs/{row['run_id']}/{part}"), 503, "evidence-store-unavailable")
        body = until(client, 503)
        assert body["checks"]["database"] == "ok"
        assert body["checks"]["evidence"] == "The evidence store does not answer."
        assert gauge(client, "diagnosis_store_up") == 1
        assert gauge(client, "diagnosis_evidence_store_up") == 0
    output = [each.message for each in caplog.records if each.name == "diagnosis_harness.background"]
    assert output == ["evidence-store: the store failed: the evidence store cannot be reached"]


def test_why_is_answered_from_the_database_while_the_evidence_store_is_unavailable(
    tmp_path: Path, valkey_server: Valkey | None, valkey_url: str
) -> None:
    """All answers are those from before, but that one says what it does not know now."""
    if valkey_server is None:
        pytest.skip("program: the server of TEST_REDIS_URL is not ours to stop")
    with run_server(tmp_path, evidence=valkey_url) as server:
        client = server.client()
        run_id = ask_and_wait(server)["run_id"]
        before = client.get(f"/v1/runs/{run_id}/why").json()["answers"]
        valkey_server.stop()
        try:
            during = client.get(f"/v1/runs/{run_id}/why").json()["answers"]
            problem(client.get(f"/v1/runs/{run_id}/document"), 503, "evidence-store-unavailable")
        finally:
            valkey_server.start()
    for old, new in zip(before, during, strict=True):
        if old["question"] != "NO_EVIDENCE":
            assert new == old
            continue
        assert new["says"][0].startswith("The evidence store is not responding")
        assert new["says"][1:] == old["says"]
