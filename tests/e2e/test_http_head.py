"""HEAD wherever GET is, and how many streams one caller may have open."""

from __future__ import annotations

import json
import socket
from collections.abc import Iterator
from contextlib import ExitStack

import httpx2
import pytest
from tests.support.live_service import WAIT_S, RunningServer, problem, run_server, submit


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    """A server with keys that lets each have two streams, and works on nothing."""
    with run_server(tmp_path_factory.mktemp("head"), works=False, needs_key=True, streams_max=2) as running:
        yield running


@pytest.fixture(scope="module")
def ann(server: RunningServer) -> httpx2.Client:
    """A client with a key."""
    return server.client(server.key("ann"))


@pytest.mark.parametrize("path", ["/healthz", "/readyz", "/openapi.json", "/v1/runs", "/v1/runs/run-none"])
def test_head_is_get_without_its_body(ann: httpx2.Client, path: str) -> None:
    """Status and type are the same, and the length is that which GET would send."""
    head, get = ann.head(path), ann.get(path)
    assert (head.status_code, head.content) == (get.status_code, b"")
    for name in ("content-type", "content-length"):
        assert head.headers[name] == get.headers[name]


def test_head_of_a_path_without_get_is_refused(ann: httpx2.Client) -> None:
    """405, with what is allowed."""
    response = ann.head("/v1/chat")
    assert (response.status_code, response.headers["allow"]) == (405, "POST")


def test_head_of_a_stream_ends_at_once_and_holds_no_place(server: RunningServer, ann: httpx2.Client) -> None:
    """The connection is free for the next request."""
    run_id = submit(ann, "What can you do?")["run_id"]
    key = ann.headers["authorization"]
    with socket.create_connection(("127.0.0.1", server.port), WAIT_S) as sock:
        for _ in range(5):
            head = (
                f"HEAD /v1/runs/{run_id}/events HTTP/1.1\r\nhost: 127.0.0.1\r\nauthorization: {key}\r\n\r\n"
            )
            sock.sendall(head.encode())
            received = b""
            while not received.endswith(b"\r\n\r\n"):
                received += sock.recv(4096)
            assert received.startswith(b"HTTP/1.1 200 ")
            assert b"text/event-stream" in received


def test_one_caller_may_have_so_many_streams_and_others_have_their_own(
    server: RunningServer, ann: httpx2.Client
) -> None:
    """429 says how many; a chat counts as well, a stream that is over does not."""
    run_id = submit(ann, "What can you do?")["run_id"]
    path = f"/v1/runs/{run_id}/events"
    with ExitStack() as stack:
        for _ in range(2):
            assert stack.enter_context(ann.stream("GET", path)).status_code == 200
        body = problem(ann.get(path), 429, "too-many-streams")
        assert body["limit"] == 2
        problem(ann.post("/v1/chat", json={"question": "Why?"}), 429, "too-many-streams")
        bob = server.client(server.key("bob"))
        bobs = submit(bob, "What can you do?")["run_id"]
        assert stack.enter_context(bob.stream("GET", f"/v1/runs/{bobs}/events")).status_code == 200
    for _ in range(200):  # the server sees a moment later that its clients are gone
        with ann.stream("GET", path) as again:
            if again.status_code == 200:
                return
            json.loads(again.read())
    raise AssertionError("the places of closed streams were not given back")
