"""Servers killed in the middle of a chat, over real HTTP: what was received is stored, the rest follows."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from tests.kill.kinds import GROUPS, in_turns, question
from tests.kill.stage import Member, assert_whole, expect_death, open_stage
from tests.support.streaming_server import EventClient, Received


@pytest.mark.parametrize("group", GROUPS)
@pytest.mark.parametrize(("place", "turn"), [("postgres_url", 0), ("sqlite_url", 1)])
def test_what_a_client_got_from_a_killed_server_is_logged_and_another_sends_the_rest(
    place: str, turn: int, group: str, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    """A chat for each kind of event; its client comes again elsewhere, with the id of its last event."""
    kinds = in_turns(GROUPS[group], turn)

    async def story() -> None:
        async with open_stage(request.getfixturevalue(place), tmp_path) as stage:
            *servers, other = await stage.start_members(len(kinds) + 1, serves=True)
            asked = [question(kind, moment) for kind, moment in kinds.items()]
            had = await asyncio.gather(*map(_chat, servers, asked))
            await asyncio.gather(*(server.dead() for server in servers))
            assert await assert_whole(stage) == len(kinds)
            runs = {row.request.question: run_id for run_id, row in (await stage.rows()).items()}
            for text, events, (kind, moment) in zip(asked, had, kinds.items(), strict=True):
                await expect_death(stage, runs[text], kind, moment)
                await _goes_on(other, runs[text], events)

    asyncio.run(story())


def _port(server: Member) -> int:
    port = urlsplit(server.url).port
    assert port
    return port


async def _chat(server: Member, asked: str) -> Sequence[Received]:
    """What came until the server was gone; nothing, where it died before the stream began."""
    try:
        client = await EventClient.connect(
            _port(server), "POST", "/v1/chat", body={"question": asked, "trace": True}
        )
    except (asyncio.IncompleteReadError, ConnectionError):
        return ()
    try:
        return await client.rest()
    finally:
        await client.close()


async def _goes_on(server: Member, run_id: str, had: Sequence[Received]) -> None:
    """Elsewhere the same run begins with what the client had, to the letter, and goes on to its end."""
    whole = await _watch(server, run_id, {})
    assert list(had) == whole[: len(had)]
    assert [event.name for event in whole[-2:]] in (["failure", "done"], ["content", "done"])
    if had:
        rest = await _watch(server, run_id, {"last-event-id": had[-1].id})
        assert rest == whole[len(had) :]


async def _watch(server: Member, run_id: str, headers: dict[str, str]) -> list[Received]:
    client = await EventClient.connect(_port(server), "GET", f"/v1/runs/{run_id}/events", headers=headers)
    try:
        assert client.status == 200
        return list(await client.rest())
    finally:
        await client.close()
