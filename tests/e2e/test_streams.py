"""Streams over real sockets: what a client is sent, what its going does, and what it is never sent."""

from __future__ import annotations

import asyncio
import signal
import socket
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest
from tests.support.streaming_server import WAIT_S, EventClient, StreamServer, streaming, turns

from diagnosis_harness.application.callers.caller import LOCAL
from diagnosis_harness.application.runs.cancellation import CancelEffect
from diagnosis_harness.application.runs.row import RunEnding, RunRow, RunStatus
from diagnosis_harness.audit.why.stream import StreamSeen
from diagnosis_harness.harness.termination import CancellationReason, RunState
from diagnosis_harness.kernel.errors import FailureKind, StoreFailure
from diagnosis_harness.release.outcome import ReleaseOutcome
from diagnosis_harness.trace.event import TraceName

Work = Callable[[StreamServer], Awaitable[None]]


def serve_and_run(folder: Path, work: Work, **options: object) -> None:
    """Run a test against a server of its own; nothing of it may be left at the end."""

    async def whole() -> None:
        async with streaming(folder, **options) as it:  # type: ignore[arg-type]  # named by the caller
            await work(it)
        assert (len(it.streams.chats), len(it.streams.hub), len(it.service.stores.active)) == (0, 0, 0)
        assert not it.streams.hub._tails

    asyncio.run(whole())


async def row_of(it: StreamServer, run_id: str) -> RunRow:
    """The row as it is kept."""
    row = await it.service.stores.archive.run(run_id)
    assert row is not None
    return row


async def wait_for_end(it: StreamServer, run_id: str) -> tuple[RunRow, RunEnding]:
    """The row once nothing is at work any more, and its end."""
    await it.still()
    row = await row_of(it, run_id)
    assert row.ending is not None
    assert row.is_closed
    return row, row.ending


def run_of(client: EventClient) -> str:
    """The run of a stream that has its metadata."""
    return str(client.events[0].data["run_id"])


def test_a_chat_streams_in_order_and_shows_what_was_kept(tmp_path: Path) -> None:
    """When content arrives, its row has ended and is closed; every event carries the ids of the metadata."""

    async def work(it: StreamServer) -> None:
        client = await it.ask("3", session_id="ses-mine")
        content = await client.until("content")
        row = await row_of(it, run_of(client))
        await client.rest()

        assert client.names() == ["metadata", *["status"] * 4, "content", "done"]
        assert client.events[0].data == {"session_id": "ses-mine", "run_id": row.run_id}
        assert row.is_closed
        assert row.ending is not None
        answer = {"kind": "SYSTEM_CHAT", "text": "3\u2028\n\r\x00\x85"}
        assert content.data == {"session_id": "ses-mine", "run_id": row.run_id, "answer": answer}
        assert client.events[-1].data == {"outcome": "SUCCESS"}
        assert client.is_whole
        assert it.streams.chats.client_stream_end(row) is StreamSeen.TERMINAL
        await client.close()

    serve_and_run(tmp_path, work)


def test_the_head_of_a_stream_says_how_to_treat_it(tmp_path: Path) -> None:
    """No cache stores it, no proxy buffers it, and the first bytes say when to reconnect."""

    async def work(it: StreamServer) -> None:
        client = await it.ask("0")
        await client.rest()

        assert client.headers["content-type"] == "text/event-stream; charset=utf-8"
        assert client.headers["cache-control"] == "no-store"
        assert client.headers["x-accel-buffering"] == "no"
        assert client.body.startswith(b"retry: 1000\n\n")
        await client.close()

    serve_and_run(tmp_path, work)


def test_trace_events_come_to_a_chat_that_asks_for_them(tmp_path: Path) -> None:
    """Every event of the log once, except the last, which the stream sends as its end."""

    async def work(it: StreamServer) -> None:
        client = await it.ask("1", trace=True)
        await client.rest()
        logged = await it.service.stores.archive.events(run_of(client))

        traced = [event.data["name"] for event in client.events if event.name == "trace"]
        told_otherwise = (TraceName.STATUS, TraceName.RUN_FINISHED)
        assert traced == [event.name for event in logged if event.name not in told_otherwise]
        await client.close()

    serve_and_run(tmp_path, work)


def test_a_lost_client_ends_its_run_at_once(tmp_path: Path) -> None:
    """CANCELLED in memory and in the row, no content ever, no `done`; slot, stream and tasks are gone."""

    async def work(it: StreamServer) -> None:
        it.path.go.clear()
        client = await it.ask("1")
        await client.until("status", 2)
        await it.path.entered.get()
        client.vanish()

        row, ending = await wait_for_end(it, run_of(client))
        it.path.go.set()
        assert (row.status, ending.outcome, ending.state) == (
            RunStatus.CANCELLED,
            ReleaseOutcome.CANCELLED,
            RunState.CANCELLED,
        )
        assert ending.termination.reason is CancellationReason.CLIENT_DISCONNECTED
        assert ending.answer is None
        assert "content" not in client.names()
        assert "done" not in client.names()
        assert it.streams.chats.client_stream_end(row) is StreamSeen.DISCONNECTED

    serve_and_run(tmp_path, work)


def test_a_lost_watcher_ends_nothing(tmp_path: Path) -> None:
    """The run goes on, and another one sees its end."""

    async def work(it: StreamServer) -> None:
        it.path.go.clear()
        run_id = await it.submit("1")
        first, second = await it.watch(run_id), await it.watch(run_id)
        await first.until("status", 2)
        await it.path.entered.get()
        first.vanish()
        while len(it.streams.hub) > 1:
            await turns(1)
        it.path.go.set()
        await second.rest()

        assert second.names()[-2:] == ["content", "done"]
        _, ending = await wait_for_end(it, run_id)
        assert ending.outcome is ReleaseOutcome.SUCCESS
        await second.close()

    serve_and_run(tmp_path, work)


def test_a_user_who_cancels_and_stays_is_notified(tmp_path: Path) -> None:
    """Failure RUN_CANCELLED, then done(FAILED); what is stored is CANCELLED."""

    async def work(it: StreamServer) -> None:
        it.path.go.clear()
        client = await it.ask("1")
        await client.until("status", 2)
        await it.path.entered.get()
        report = await it.service.runs.cancel(LOCAL, run_of(client))
        await client.rest()

        assert report.effect is CancelEffect.STOPPED
        failure, done = client.events[-2:]
        assert (failure.name, failure.data["code"], failure.data["state"]) == (
            "failure",
            "RUN_CANCELLED",
            "CANCELLED",
        )
        assert done.data == {"outcome": "FAILED"}
        row, ending = await wait_for_end(it, run_of(client))
        assert (row.status, ending.outcome) == (RunStatus.CANCELLED, ReleaseOutcome.CANCELLED)
        assert ending.termination.reason is CancellationReason.USER_REQUESTED
        await client.close()

    serve_and_run(tmp_path, work)


def test_a_run_that_cannot_be_kept_makes_no_stream(tmp_path: Path) -> None:
    """A problem of HTTP, before any event."""

    async def work(it: StreamServer) -> None:
        async def refuses(*_: object, **__: object) -> bool:
            raise StoreFailure("full", kind=FailureKind.UNAVAILABLE)

        it.service.stores.store.begin = refuses  # type: ignore[method-assign]  # the store fails here
        client = await it.ask("1")

        assert client.status == 503
        assert client.headers["content-type"] == "application/problem+json"
        await it.still()
        await client.close()

    serve_and_run(tmp_path, work)


def test_an_end_that_cannot_be_kept_is_not_shown(tmp_path: Path) -> None:
    """The answer is withheld; the client gets the store's failure."""

    async def work(it: StreamServer) -> None:
        async def refuses(*_: object, **__: object) -> bool:
            raise StoreFailure("full", kind=FailureKind.UNAVAILABLE)

        it.service.stores.store.finish = refuses  # type: ignore[method-assign]  # the store fails here
        client = await it.ask("1")
        await client.rest()

        failure, done = client.events[-2:]
        assert (failure.name, failure.data["code"], failure.data["state"]) == (
            "failure",
            "STORE_UNAVAILABLE",
            "FAILED",
        )
        assert done.data == {"outcome": "FAILED"}
        assert b"SYSTEM_CHAT" not in client.body
        await client.close()

    serve_and_run(tmp_path, work)


def test_a_bug_is_reported_as_a_failure(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """The stream ends in order, nothing of the bug is shown, and it is logged."""

    async def work(it: StreamServer) -> None:
        it.path.raises = ZeroDivisionError("secret")
        client = await it.ask("1")
        await client.rest()

        assert client.names()[-2:] == ["failure", "done"]
        assert client.events[-2].data["code"] == "INTERNAL_FAILURE"
        assert b"secret" not in client.body
        _, ending = await wait_for_end(it, run_of(client))
        assert (ending.outcome, ending.state) == (ReleaseOutcome.FAILED, RunState.FAILED)
        await client.close()

    serve_and_run(tmp_path, work)
    assert "failed: ZeroDivisionError" in caplog.text
    assert "secret" not in caplog.text


def test_a_queued_run_is_watched_from_the_queue_on(tmp_path: Path) -> None:
    """Metadata at once, signs of life, and an end in order when it is cancelled before it began."""

    async def work(it: StreamServer) -> None:
        run_id = await it.submit("1")
        client = await it.watch(run_id)
        await client.until("metadata")
        while client.parser.comments < 2:
            await client.next()
        await it.service.runs.cancel(LOCAL, run_id)
        await client.rest()

        assert [name for name in client.names() if name != "trace"] == ["metadata", "failure", "done"]
        assert client.events[-2].data["code"] == "RUN_CANCELLED"
        assert client.events[-1].data == {"outcome": "FAILED"}
        assert client.is_whole
        await client.close()

    serve_and_run(tmp_path, work, works=False, heartbeat_s=0.05)


def test_an_ended_run_is_replayed_from_any_place(tmp_path: Path) -> None:
    """After each of its events come all that follow, with the same bytes; after `done`, nothing ever."""

    async def work(it: StreamServer) -> None:
        run_id = await it.submit("2")
        first = await it.watch(run_id)
        await first.rest()
        await first.close()
        whole = first.events
        for place, event in enumerate(whole[:-1], start=1):
            again = await it.watch(run_id, event.id)
            assert list(await again.rest()) == whole[place:]
            assert again.is_whole
            await again.close()
        over = await it.watch(run_id, whole[-1].id)
        assert over.status == 204
        await over.close()
        asked = await EventClient.connect(
            it.port, "GET", f"/v1/runs/{run_id}/events?last_event_id={whole[-2].id}"
        )
        assert [event.name for event in await asked.rest()] == ["done"]
        await asked.close()

    serve_and_run(tmp_path, work)


def test_an_invalid_place_is_refused(tmp_path: Path) -> None:
    """An id of another form, of the future, or of a half that the event has not got: a problem, no stream."""

    async def work(it: StreamServer) -> None:
        run_id = await it.submit("1")
        first = await it.watch(run_id)
        await first.rest()
        await first.close()
        for text in ("x", "1", "-1.0", "0.1", "1.1", "99.0", "9999999999.0"):
            refused = await it.watch(run_id, text)
            assert (text, refused.status) == (text, 422)
            await refused.close()
        unknown = await it.watch("run-x")
        assert unknown.status == 404
        await unknown.close()

    serve_and_run(tmp_path, work)


def test_a_server_that_stops_notifies_its_chats_and_closes_its_streams(tmp_path: Path) -> None:
    """Chats end FAILED, in order and stored; watchers reconnect elsewhere, because their run is not over."""

    async def work(it: StreamServer) -> None:
        it.path.go.clear()
        queued = await it.submit("0")
        chat, watcher = await it.ask("1"), await it.watch(queued)
        await chat.until("status", 2)
        await watcher.until("metadata")
        it.server.handle_exit(signal.SIGTERM, None)
        it.server._captured_signals.clear()
        await chat.rest()
        await watcher.rest()

        assert chat.names()[-2:] == ["failure", "done"]
        assert chat.events[-2].data["code"] == "SERVICE_STOPPING"
        assert chat.events[-2].data["message"].startswith("The service is stopping")
        assert "done" not in watcher.names()
        assert watcher.is_whole
        row = await row_of(it, run_of(chat))
        assert row.ending is not None
        assert row.ending.termination.reason is CancellationReason.INTERNAL_FAILURE
        await chat.close()
        await watcher.close()
        it.path.go.set()
        await it.still()

    serve_and_run(tmp_path, work)


def test_a_client_that_does_not_read_is_cut(tmp_path: Path) -> None:
    """It cannot hold its run, its memory or its connection: after the bound all of it is gone."""

    async def work(it: StreamServer) -> None:
        it.server.servers[0].sockets[0].setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 4096)
        silent = socket.socket()
        silent.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        silent.setblocking(False)
        loop = asyncio.get_running_loop()
        await loop.sock_connect(silent, ("127.0.0.1", it.port))
        body = b'{"question": "4000", "trace": true}'
        head = b"POST /v1/chat HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\n"
        await loop.sock_sendall(silent, head + b"content-length: %d\r\n\r\n" % len(body) + body)
        it.path.go.clear()
        while not it.server.server_state.connections:
            await turns(1)
        (connection,) = it.server.server_state.connections
        kept = connection.transport.get_extra_info("socket")
        if hasattr(socket, "TCP_USER_TIMEOUT"):  # the kernel would cut it as well
            kept.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, 0)
        async with asyncio.timeout(WAIT_S):
            run_id = await it.path.entered.get()
        _, ending = await wait_for_end(it, run_id)
        async with asyncio.timeout(WAIT_S):
            while it.server.server_state.connections:
                await turns(1)

        assert ending.termination.reason is CancellationReason.CLIENT_DISCONNECTED
        silent.close()

    serve_and_run(tmp_path, work, write_limit_s=0.3)


def test_the_kernel_probes_silent_peers(tmp_path: Path) -> None:
    """A peer that vanished without a word is not waited for longer than one that does not read."""

    async def work(it: StreamServer) -> None:
        it.path.go.clear()
        client = await it.ask("0")
        (connection,) = it.server.server_state.connections
        kept = connection.transport.get_extra_info("socket")
        if hasattr(socket, "TCP_USER_TIMEOUT"):
            assert kept.getsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT) == 30_000
        assert kept.getsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE) == 1
        client.vanish()
        await it.still()
        it.path.go.set()

    serve_and_run(tmp_path, work)
