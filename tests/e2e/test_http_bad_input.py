"""What people and programs send wrongly, over real sockets: a problem or a closed connection, never a 500."""

from __future__ import annotations

import json
import socket
from collections.abc import Iterator
from contextlib import suppress

import pytest
from tests.support.live_service import WAIT_S, RunningServer, problem, run_server

from diagnosis_harness.server.problems import PROBLEMS

HEAD = b"POST /v1/runs HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\n"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    """A server that is impatient, and takes small bodies."""
    folder = tmp_path_factory.mktemp("bad")
    most = 60_000
    with run_server(
        folder, works=False, read_timeout_s=0.5, body_bytes_max=most, alert_bytes_max=most
    ) as running:
        yield running


@pytest.mark.parametrize(
    ("body", "status", "slug"),
    [
        (b"", 422, "invalid-input"),
        (b"{", 400, "not-json"),
        (b"null", 422, "invalid-input"),
        (b"[]", 422, "invalid-input"),
        (b'"why?"', 422, "invalid-input"),
        (b'{"question": "a", "question": "b"}', 400, "not-json"),
        (b'{"question": "why?", "limit_s": NaN}', 400, "not-json"),
        (b'{"question": "why?", "limit_s": 1e999}', 400, "not-json"),
        (b'{"question": "\\ud800"}', 400, "not-json"),
        (b'{"question": "why\xff"}', 400, "not-json"),
        (b'{"question": ' + b"[" * 9_000, 400, "not-json"),
        (b'{"question": 1}', 422, "invalid-input"),
        (b'{"question": null}', 422, "invalid-input"),
        (b'{"question": ["why?"]}', 422, "invalid-input"),
        (b'{"question": ""}', 422, "invalid-input"),
        (b'{"question": "  "}', 422, "invalid-input"),
        (b'{"question": "a\\u0000b"}', 422, "invalid-input"),
        (b'{"question": "' + b"x" * 50_001 + b'"}', 422, "invalid-input"),
        (b'{"question": "why?", "limit_s": "60"}', 422, "invalid-input"),
        (b'{"question": "why?", "limit_s": true}', 422, "invalid-input"),
        (b'{"question": "why?", "limit_s": -1}', 422, "invalid-input"),
        (b'{"question": "why?", "limit_s": 1e300}', 422, "invalid-input"),
        (b'{"question": "why?", "onset": "yesterday"}', 422, "invalid-input"),
        (b'{"question": "why?", "onset": "0001-01-01T00:00:00Z"}', 422, "invalid-input"),
        (b'{"question": "why?", "source": "nowhere"}', 422, "invalid-input"),
        (b'{"question": "why?", "language": "fr"}', 422, "invalid-input"),
        (b'{"question": "why?", "retry_of": "run-none"}', 404, "not-found"),
        (b'{"question": "why?", "retry_of": "a\\u0000b"}', 404, "not-found"),
        (b'{"question": "why?", "asked_by": "root"}', 422, "invalid-input"),
    ],
    ids=lambda value: value[:40].decode("utf-8", "replace") if isinstance(value, bytes) else str(value),
)
def test_a_body_that_cannot_be_used_is_a_problem(
    server: RunningServer, body: bytes, status: int, slug: str
) -> None:
    """It names the field and what to do; nothing is queued."""
    client = server.client(**{"content-type": "application/json"})
    answer = problem(client.post("/v1/runs", content=body), status, slug)
    if status == 422:
        assert answer["errors"][0]["field"]
        assert answer["errors"][0]["remedy"]
    assert client.get("/v1/runs").json()["runs"] == []


@pytest.mark.parametrize("path", ["/v1/runs", "/v1/chat", "/v1/alerts/alertmanager", "/v1/runs/run-1/cancel"])
def test_every_path_with_a_body_guards_it(server: RunningServer, path: str) -> None:
    """Too large, of another type, not JSON: the same for all."""
    client = server.client()
    json_type = {"content-type": "application/json"}
    problem(client.post(path, content=b"x" * 70_000, headers=json_type), 413, "too-large")
    problem(
        client.post(path, content=b"{}", headers={"content-type": "text/plain"}), 415, "unsupported-media"
    )
    problem(client.post(path, content=b"{]", headers=json_type), 400, "not-json")


@pytest.mark.parametrize(
    ("method", "path", "status", "slug"),
    [
        ("GET", "/", 404, "no-such-path"),
        ("GET", "/v1", 404, "no-such-path"),
        ("GET", "/v1/runs/", 404, "no-such-path"),
        ("GET", "/docs", 404, "no-such-path"),
        ("GET", "/v1/runs/../../etc/passwd", 404, "no-such-path"),
        ("GET", "/v1/runs/%2e%2e", 404, "not-found"),
        ("GET", "/v1/runs/%00", 404, "not-found"),
        ("GET", "/v1/runs/a%20b/why", 404, "not-found"),
        ("GET", "/v1/runs/%F0%9F%98%80/trace", 404, "not-found"),
        ("GET", f"/v1/runs/{'x' * 201}", 422, "invalid-input"),
        ("GET", "/v1/sessions/%00", 404, "not-found"),
        ("GET", "/v1/runs/run-1/evidence/%00", 404, "not-found"),
        ("DELETE", "/v1/runs/run-1", 405, "method-not-allowed"),
        ("PUT", "/v1/runs", 405, "method-not-allowed"),
        ("GET", "/v1/runs/run-1/cancel", 405, "method-not-allowed"),
        ("POST", "/v1/runs/run-1/cancel", 404, "not-found"),
        ("GET", "/v1/runs/run-1/events", 404, "not-found"),
        ("GET", "/v1/runs?before=%00", 422, "invalid-input"),
        ("GET", "/v1/runs?limit=99999999999999999999", 422, "invalid-input"),
    ],
)
def test_a_path_that_leads_nowhere_is_a_problem(
    server: RunningServer, method: str, path: str, status: int, slug: str
) -> None:
    """Of the kind that it is; a method that is not taken comes with those that are."""
    with socket.create_connection(("127.0.0.1", server.port), WAIT_S) as sock:
        sock.sendall(f"{method} {path} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n".encode())
        answered, headers, body = _answer(sock)
    assert answered == status, body
    assert json.loads(body)["type"] == f"urn:diagnosis-harness:problem:{slug}"
    assert (status != 405) or b"allow" in headers


def test_titles_are_spoken_in_the_language_asked_for(server: RunningServer) -> None:
    """Every kind has both; the one that is sent says which."""
    response = server.client().get("/v1/runs/run-1", headers={"accept-language": "zh-CN,zh;q=0.9"})
    assert response.json()["title"] == "未找到，或您无权查看。"
    assert response.headers["content-language"] == "zh"
    assert all(row.title.zh != row.title.en for row in PROBLEMS.values())


@pytest.mark.parametrize(
    ("sent", "status"),
    [
        (HEAD + b"content-length: 50\r\n\r\n" + b'{"question": "wh', 408),
        (HEAD + b"transfer-encoding: chunked\r\n\r\n" + b'5\r\n{"que\r\n', 408),
        (HEAD + b"content-length: 999999999\r\n\r\n", 413),
        (HEAD + b"content-length: 5\r\ncontent-length: 50\r\n\r\n{}", 400),
        (HEAD + b"content-length: -5\r\n\r\n", 400),
        (HEAD + b"transfer-encoding: chunked\r\n\r\nnonsense\r\n", 400),
        (b"\x16\x03\x01\x02\x00\x01\x00", 400),
        (b"GET / HTTP/9.9\r\n\r\n", 400),
        (b"GET /v1/runs HTTP/1.1\r\n\r\n", 403),
        (b"GET /v1/runs HTTP/1.1\r\nhost: a\r\nhost: localhost\r\n\r\n", 403),
    ],
)
def test_slow_short_and_malformed_requests_are_answered_and_closed(
    server: RunningServer, sent: bytes, status: int
) -> None:
    """The connection does not stay, and the server goes on."""
    with socket.create_connection(("127.0.0.1", server.port), WAIT_S) as sock:
        sock.sendall(sent)
        answered, _, _ = _answer(sock, until_closed=status in (400, 408, 413))
    assert answered == status
    assert server.client().get("/healthz").status_code == 200


@pytest.mark.parametrize(
    "sent",
    [
        b"",
        b"GET /v1/runs HTTP/1.1\r\nhost: loc",
        b"GET /healthz HTTP/1.1\r\nhost: localhost\r\n\r\nGET /v1/ru",
        b"GET / HTTP/1.1\r\nx: " + b"x" * 200_000,
    ],
    ids=["nothing", "half a head", "half a second head", "a head without end"],
)
def test_a_client_that_does_not_say_what_it_wants_is_cut_off(server: RunningServer, sent: bytes) -> None:
    """The server does not wait for it without end."""
    with socket.create_connection(("127.0.0.1", server.port), WAIT_S) as sock, suppress(ConnectionError):
        sock.sendall(sent)
        while sock.recv(65_536):
            pass
    assert server.client().get("/healthz").status_code == 200


def test_a_client_that_vanishes_in_the_middle_of_its_body_leaves_nothing(server: RunningServer) -> None:
    """Many of them, cut hard; nothing is queued and the server goes on."""
    for _ in range(50):
        sock = socket.create_connection(("127.0.0.1", server.port), WAIT_S)
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\x01\x00\x00\x00\x00\x00\x00\x00")
        sock.sendall(HEAD + b"content-length: 50\r\n\r\n" + b'{"question": "wh')
        sock.close()
    client = server.client()
    assert client.get("/v1/runs").json()["runs"] == []
    assert b'status="500"' not in client.get("/metrics").content


def _answer(sock: socket.socket, *, until_closed: bool = False) -> tuple[int, bytes, bytes]:
    """Status, head and body of an answer; with `until_closed` the server must close the connection."""
    data = b""
    while b"\r\n\r\n" not in data:
        part = sock.recv(65_536)
        assert part, data
        data += part
    head, _, body = data.partition(b"\r\n\r\n")
    head = head.lower()
    length = next(
        (int(line.split(b":")[1]) for line in head.split(b"\r\n") if line.startswith(b"content-length")), 0
    )
    while len(body) < length or until_closed:
        part = sock.recv(65_536)
        if not part:
            break
        body += part
    return int(head.split(b" ")[1]), head, body
