"""Why, asked of the server and of the database while a run goes on, and of a server that did not serve it."""

from __future__ import annotations

import asyncio
from pathlib import Path

import httpx2
from tests.support.streaming_server import StreamServer, streaming

from diagnosis_harness.cli.client.database_client import DatabaseClient
from diagnosis_harness.kernel.json_value import JsonValue
from diagnosis_harness.kernel.language import Language


async def by_both(it: StreamServer, run_id: str) -> tuple[list[JsonValue], list[JsonValue]]:
    """The answers over HTTP, and those of the command line over the database."""
    async with httpx2.AsyncClient(base_url=f"http://127.0.0.1:{it.port}", trust_env=False) as client:
        response = await client.get(f"/v1/runs/{run_id}/why", params={"lang": "en"})
    remote = response.raise_for_status().json()["answers"]
    service = it.service
    database = DatabaseClient(service.runs, service.feedback, clock=service.core.clock)
    here = await database.why(run_id, Language.EN)
    assert isinstance(here, list)
    assert len(remote) == len(here) == 7
    return remote, here


def sentences_of(answers: list[JsonValue], question: str) -> list[str]:
    """The sentences of one answer."""
    (found,) = [each for each in answers if isinstance(each, dict) and each["question"] == question]
    says = found["says"]
    assert isinstance(says, list)
    return [str(sentence) for sentence in says]


def test_server_and_command_line_say_the_same_of_a_run_that_goes_on_and_that_has_ended(
    tmp_path: Path,
) -> None:
    """But for the stream, which the server alone has seen: the command line says that it does not know."""

    async def run_act() -> None:
        async with streaming(tmp_path) as it:
            it.path.go.clear()
            client = await it.ask("1")
            await client.until("status", 2)
            await it.path.entered.get()
            run_id = str(client.events[0].data["run_id"])

            remote, here = await by_both(it, run_id)
            assert [one for one in remote if one not in here] == [remote[5]]
            assert sentences_of(remote, "FALLBACK")[0] == "The run is still in progress."
            assert sentences_of(remote, "NO_DONE")[0].startswith("The stream is still open")
            assert "only the process that serves the client" in sentences_of(here, "NO_DONE")[0]

            it.path.go.set()
            await client.rest()
            await it.still()
            remote, here = await by_both(it, run_id)
            assert [one for one in remote if one not in here] == [remote[5]]
            assert sentences_of(remote, "NO_DONE") == ["It was sent: done(SUCCESS)."]
            assert sentences_of(here, "NO_DONE")[0].startswith("Unknown here")
            await client.close()

    asyncio.run(run_act())


def test_a_server_that_did_not_serve_the_stream_does_not_claim_its_end(tmp_path: Path) -> None:
    """As after a restart: it says what the command line says."""

    async def run_act() -> None:
        async with streaming(tmp_path) as it:
            client = await it.ask("1")
            await client.rest()
            await client.close()
            await it.still()
            run_id = str(client.events[0].data["run_id"])
        async with streaming(tmp_path) as it:
            remote, here = await by_both(it, run_id)
            assert remote == here
            assert sentences_of(remote, "NO_DONE")[0].startswith("Unknown here")

    asyncio.run(run_act())
