"""Servers killed in the middle of a storm of alerts: what was acknowledged has its run, and has it once."""

from __future__ import annotations

import asyncio
import signal
from collections import Counter
from pathlib import Path
from typing import Any

import httpx2
import pytest
from tests.kill.stage import WAIT_S, Member, Stage, assert_whole, open_stage

GROUPS = 24
_AT_ONCE = 6


def notification(group: int, *, status: str = "firing") -> dict[str, Any]:
    """One group of alerts."""
    alert = {"status": status, "labels": {"alertname": "Slow", "service": f"s{group}"}}
    return {"version": "4", "groupKey": f"group-{group}", "status": status, "alerts": [alert]}


@pytest.mark.parametrize("place", ["sqlite_url", "postgres_url"])
def test_what_was_acknowledged_by_servers_that_are_killed_has_its_run_once(
    place: str, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    """Two of three servers die while they process notifications; the sender retries with the next."""

    async def story() -> None:
        alerts = {"unfinished_runs": 1_000}
        async with open_stage(request.getfixturevalue(place), tmp_path, alerts=alerts) as stage:
            servers = await stage.start_members(3, serves=True)
            fingerprints = await _send_all_alerts(servers)

            async def none_waits() -> bool:
                return (await stage.service.alerts.waiting()).count == 0

            await stage.until(none_waits)
            made = Counter(row.request.fingerprint for row in (await stage.rows()).values())
            assert made == Counter(fingerprints)
            await _wait_until_drained(stage)

    asyncio.run(story())


async def _send_all_alerts(servers: list[Member]) -> list[str]:
    """Send every group, kill two servers meanwhile; the fingerprints that were answered."""
    order, acknowledged = list(range(GROUPS)), asyncio.Semaphore(0)
    fingerprints: dict[int, str] = {}

    async def send() -> None:
        async with httpx2.AsyncClient(timeout=WAIT_S, trust_env=False) as client:
            while order:
                group = order.pop()
                fingerprints[group] = await _send_alert(client, servers, notification(group))
                acknowledged.release()

    async def kill() -> None:
        for server in servers[:2]:
            for _ in range(GROUPS // 4):
                await acknowledged.acquire()
            server.signal(signal.SIGKILL)
            await server.dead()

    await asyncio.gather(kill(), *(send() for _ in range(_AT_ONCE)))
    return [fingerprints[group] for group in range(GROUPS)]


async def _send_alert(client: httpx2.AsyncClient, servers: list[Member], body: dict[str, Any]) -> str:
    """Its fingerprint, from the first server that answers."""
    for server in servers:
        try:
            response = await client.post(f"{server.url}/v1/alerts/alertmanager", json=body)
        except httpx2.TransportError:
            continue
        assert response.status_code == 202, response.text
        return str(response.json()["fingerprint"])
    raise AssertionError("the last server lives")


async def _wait_until_drained(stage: Stage) -> None:
    """The runs drain, each worked on once."""
    await stage.start_members(2)
    assert await assert_whole(stage) == GROUPS
