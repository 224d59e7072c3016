"""A process that is paused, declared dead, and wakes up: the first end is kept, and it publishes nothing."""

from __future__ import annotations

import asyncio
import signal
from pathlib import Path
from urllib.parse import urlsplit

import psutil  # type: ignore[import-untyped]  # it has no stubs
import pytest
from tests.kill.stage import Member, Stage, assert_whole, open_stage
from tests.support.streaming_server import EventClient

from diagnosis_harness.adapters.persistence.log_rows import event_columns
from diagnosis_harness.application.runs.row import RunStatus

PLACES = ["postgres_url", "sqlite_url"]
ASKED = "steady pauses AGENT_MODEL_STEP written"
"""At a step of the policy nothing of the run is on its way to the database, so nothing of it is locked."""
RARELY = {"supervision": {"heartbeat_s": 5.0}, "database": {"busy_timeout_s": 1.0}}
"""Beats are rare, and a lock that is held by a paused process all the same is lost to it within 10 s."""


async def _pause(stage: Stage, owner: Member) -> None:
    async def is_paused() -> bool:
        return bool(psutil.Process(owner.process.pid).status() == psutil.STATUS_STOPPED)

    await stage.until(is_paused)


async def _wait_until_abandoned(stage: Stage, owner: Member, run_id: str) -> None:
    """A paused process is silent for so long that the others hold it for dead and end its run."""

    async def has_ended() -> bool:
        await stage.service.supervisor._recovery.sign_off(owner.owner)
        return (await stage.row(run_id)).is_closed

    await stage.until(has_ended)


@pytest.mark.parametrize("place", PLACES)
def test_a_woken_worker_changes_nothing_of_an_abandoned_run_and_works_on(
    place: str, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    """Two caretakers give its run up at once; woken, it lets go of the run and takes the next one."""

    async def story() -> None:
        async with open_stage(request.getfixturevalue(place), tmp_path, **RARELY) as stage:
            (owner,) = await stage.start_members(1)
            (run_id,) = await stage.submit(ASKED)
            await _pause(stage, owner)
            (other,) = await stage.start_members(1)
            await _wait_until_abandoned(stage, owner, run_id)
            given_up = await stage.row(run_id), [event_columns(event) for event in await stage.events(run_id)]
            assert given_up[0].status is RunStatus.FAILED

            other.signal(signal.SIGKILL)
            await other.dead()
            owner.signal(signal.SIGCONT)
            (next_id,) = await stage.submit("greet")
            await assert_whole(stage)
            after = await stage.row(next_id)
            assert (after.status, after.owner) == (RunStatus.SUCCESS, owner.owner)
            assert given_up == (
                await stage.row(run_id),
                [event_columns(event) for event in await stage.events(run_id)],
            )

    asyncio.run(story())


@pytest.mark.parametrize("place", PLACES)
def test_a_woken_server_gives_its_client_no_content_of_an_abandoned_run(
    place: str, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    """The run would have reached a conclusion; its failure is stored, and the client gets that."""

    async def story() -> None:
        async with open_stage(request.getfixturevalue(place), tmp_path, **RARELY) as stage:
            (server,) = await stage.start_members(1, serves=True)
            port = urlsplit(server.url).port or 0
            client = await EventClient.connect(
                port, "POST", "/v1/chat", body={"question": ASKED, "trace": True}
            )
            try:
                metadata = await client.until("metadata")
                await _pause(stage, server)
                await _wait_until_abandoned(stage, server, metadata.data["run_id"])
                server.signal(signal.SIGCONT)
                await client.rest()
            finally:
                await client.close()
            assert "content" not in client.names()
            assert client.names()[-2:] == ["failure", "done"]
            await assert_whole(stage)

    asyncio.run(story())
