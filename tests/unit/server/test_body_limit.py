"""A body is read whole, in time and within bounds before any route is called."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import pytest
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.types import Message, Receive, Scope, Send

from diagnosis_harness.server.body_limit import BodyLimitMiddleware
from diagnosis_harness.testing.clock import ManualClock

JSON = [(b"content-type", b"application/json"), (b"transfer-encoding", b"chunked")]


@dataclass(slots=True)
class Gate:
    """The gate before an application that says what it got; the client is played message by message."""

    clock: ManualClock = field(default_factory=ManualClock)
    came: asyncio.Queue[Message] = field(default_factory=asyncio.Queue)
    sent: list[Message] = field(default_factory=list)
    reached: list[bytes] = field(default_factory=list)
    after: list[Message] = field(default_factory=list)

    async def inside(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Read the body, then what the client does after it, if the test has it do something."""
        self.reached.append(await Request(scope, receive).body())
        if not self.came.empty():
            self.after.append(await receive())
        await JSONResponse({})(scope, receive, send)

    def call(
        self, headers: list[tuple[bytes, bytes]] = JSON, *, path: str = "/v1/runs"
    ) -> asyncio.Task[None]:
        """Begin a request."""
        gate = BodyLimitMiddleware(
            self.inside, clock=self.clock, bytes_max=100, alert_bytes_max=200, timeout_s=5.0
        )
        scope = {
            "type": "http",
            "method": "POST",
            "path": path,
            "headers": headers,
            "query_string": b"",
            "state": {"request_id": "req-1"},
        }

        async def send(message: Message) -> None:
            self.sent.append(message)

        return asyncio.create_task(gate(scope, self.came.get, send))

    def part(self, data: bytes, *, more: bool = False) -> None:
        """The client sends a piece."""
        self.came.put_nowait({"type": "http.request", "body": data, "more_body": more})

    @property
    def status(self) -> int:
        """What was answered."""
        return int(self.sent[0]["status"])

    @property
    def slug(self) -> str:
        """Which problem was answered."""
        content: dict[str, Any] = json.loads(self.sent[1]["body"])
        return str(content["type"]).rpartition(":")[2]


def play(act: Callable[[Gate], Any]) -> None:
    """Run a test in a loop."""

    async def finish() -> None:
        await act(Gate())

    asyncio.run(finish())


def test_a_body_in_pieces_arrives_whole_and_what_follows_it_is_the_clients_going() -> None:
    """The route reads it as one; a disconnect after it is not swallowed."""

    async def act(gate: Gate) -> None:
        gate.part(b'{"a"', more=True)
        gate.part(b": 1}")
        gate.came.put_nowait({"type": "http.disconnect"})
        await gate.call()
        assert gate.reached == [b'{"a": 1}']
        assert gate.after == [{"type": "http.disconnect"}]

    play(act)


def test_a_body_that_comes_too_slowly_is_abandoned_by_the_clock() -> None:
    """A drop now and then does not keep a request alive."""

    async def act(gate: Gate) -> None:
        task = gate.call()
        for _ in range(5):
            gate.part(b" ", more=True)
            for _ in range(5):
                await asyncio.sleep(0)  # noqa: TID251 - a turn of the loop, no time
            gate.clock.advance(1.0)
        await asyncio.wait_for(task, 10.0)
        assert (gate.status, gate.slug, gate.reached) == (408, "too-slow", [])
        assert (b"connection", b"close") in gate.sent[0]["headers"]

    play(act)


@pytest.mark.parametrize("stated", [b"101", b"9" * 30, b"10000000"])
def test_a_body_that_says_it_is_too_large_is_not_read(stated: bytes) -> None:
    """Nothing of it is waited for."""

    async def act(gate: Gate) -> None:
        await asyncio.wait_for(
            gate.call([(b"content-type", b"application/json"), (b"content-length", stated)]), 10.0
        )
        assert (gate.status, gate.slug, gate.reached) == (413, "too-large", [])

    play(act)


def test_a_body_that_turns_out_too_large_is_abandoned_at_once() -> None:
    """Whatever it says, or when it says nothing."""

    async def act(gate: Gate) -> None:
        for _ in range(3):
            gate.part(b"x" * 40, more=True)
        await asyncio.wait_for(gate.call(), 10.0)
        assert (gate.status, gate.slug, gate.reached) == (413, "too-large", [])

    play(act)


@pytest.mark.parametrize(("size", "is_taken"), [(200, True), (201, False)])
def test_a_notification_of_alerts_may_be_larger(size: int, is_taken: bool) -> None:
    """It grows with the storm that it tells of, and one that is refused is lost."""

    async def act(gate: Gate) -> None:
        body = b'"' + b"x" * (size - 2) + b'"'
        answered = gate.call(path="/v1/alerts/alertmanager")
        gate.part(body)
        await answered
        assert gate.reached == ([body] if is_taken else [])
        assert gate.status == (200 if is_taken else 413)

    play(act)


def test_a_client_that_goes_before_its_body_has_come_reaches_nothing() -> None:
    """There is no client to answer, and half a question is no question."""

    async def act(gate: Gate) -> None:
        gate.part(b'{"question": "wh', more=True)
        gate.came.put_nowait({"type": "http.disconnect"})
        await asyncio.wait_for(gate.call(), 10.0)
        assert (gate.sent, gate.reached) == ([], [])

    play(act)


@pytest.mark.parametrize(
    "headers",
    [
        [(b"content-type", b"text/plain")],
        [(b"content-type", b"application/json; charset=latin-1")],
        [(b"content-type", b"application/x-www-form-urlencoded")],
        [(b"content-type", b"application/json"), (b"content-type", b"application/json")],
        [(b"content-type", b"application/json"), (b"content-encoding", b"gzip")],
        [(b"content-type", b"\xff\xfe")],
        [],
    ],
)
def test_only_json_in_utf_8_is_taken(headers: list[tuple[bytes, bytes]]) -> None:
    """What a page of another can send without being asked is none of it."""

    async def act(gate: Gate) -> None:
        gate.part(b"{}")
        await gate.call([*headers, (b"transfer-encoding", b"chunked")])
        assert (gate.status, gate.slug, gate.reached) == (415, "unsupported-media", [])

    play(act)


@pytest.mark.parametrize("stated", [b"application/json", b"Application/JSON; charset=UTF-8"])
def test_json_is_taken_however_it_is_written(stated: bytes) -> None:
    """Case and an explicit UTF-8 make no difference; a request without a body is not refused."""

    async def act(gate: Gate) -> None:
        gate.part(b"{}")
        await gate.call([(b"content-type", stated), (b"transfer-encoding", b"chunked")])
        gate.part(b"")
        await gate.call([(b"content-length", b"0")])
        assert gate.reached == [b"{}", b""]

    play(act)


def test_what_is_not_json_says_where() -> None:
    """A problem with the reason, and the route is not called."""

    async def act(gate: Gate) -> None:
        gate.part(b'{"a": 1, "a": 2}')
        await gate.call()
        assert (gate.status, gate.slug, gate.reached) == (400, "not-json", [])
        detail = json.loads(gate.sent[1]["body"])["detail"]
        assert detail.startswith("body: expected each name once in an object, found 'a' twice;")

    play(act)
