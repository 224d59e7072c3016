"""The API client over real sockets: each call is one request, and a failure is one sentence."""

from __future__ import annotations

import asyncio
import json
import socket
from collections.abc import Awaitable, Callable

import pytest
from tests.support.counting_server import Answer, Asked, CountingServer, Trouble
from tests.unit.cli.shown_runs import row

from diagnosis_harness.application.intent import IntentType
from diagnosis_harness.application.runs.feedback import FeedbackVerdict
from diagnosis_harness.application.runs.row import RunStatus
from diagnosis_harness.application.runs.store import RunQuery
from diagnosis_harness.cli.client.api_client import ApiClient, ServerAddress, check_address
from diagnosis_harness.kernel.errors import (
    DiagnosisHarnessError,
    InvalidInput,
    NotPermitted,
    RunGoesOn,
    RunUnknown,
    ServiceFailure,
)
from diagnosis_harness.kernel.json_value import JsonValue
from diagnosis_harness.kernel.language import Language
from diagnosis_harness.release.outcome import ReleaseOutcome

Look = Callable[[ApiClient], Awaitable[object]]


async def whole_chat(client: ApiClient) -> object:
    """Ask a question, and collect every event of the answer."""
    return [event async for event in client.chat({"question": "why?"})]


CALLS: dict[str, Look] = {
    "chat": whole_chat,
    "page": lambda client: client.page(RunQuery()),
    "row": lambda client: client.row("run-1"),
    "document": lambda client: client.document("run-1"),
    "events": lambda client: client.events("run-1"),
    "why": lambda client: client.why("run-1", Language.EN),
    "cancel": lambda client: client.cancel("run-1"),
    "mark": lambda client: client.mark("run-1", FeedbackVerdict.WRONG, cause=None, note=""),
    "submit": lambda client: client.submit({"question": "why?"}),
}
TROUBLES: dict[str, Answer | Trouble] = {
    "503": Answer(503, headers={"retry-after": "0"}),
    "429": Answer(429, headers={"retry-after": "0"}),
    "302": Answer(302, headers={"location": "/v1/elsewhere"}),
    "drop": Trouble.DROP,
    "half": Trouble.HALF,
    "hang": Trouble.HANG,
}


def problem(status: int, title: str, **more: JsonValue) -> Answer:
    """A problem as the server writes it."""
    return Answer(status, json.dumps({"title": title, "status": status, **more}).encode())


def as_json(value: JsonValue) -> Answer:
    """An answer."""
    return Answer(body=json.dumps(value).encode())


def always(answer: Answer) -> Callable[[Asked], Answer]:
    """The same for every request."""
    return lambda _: answer


def call(
    server: CountingServer | str, at: Look, *, timeout_s: float = 20.0, key: str = "", proxy: str = ""
) -> object:
    """Make one call to a server."""
    url = server if isinstance(server, str) else server.url

    async def connect_and_call() -> object:
        address = ServerAddress(url, key, timeout_s, proxy)
        async with ApiClient(address, language=Language.EN) as client:
            return await at(client)

    return asyncio.run(connect_and_call())


def failure_of(
    server: CountingServer | str, at: Look = CALLS["row"], *, timeout_s: float = 20.0
) -> ServiceFailure:
    """The failure that one call ends with."""
    with pytest.raises(ServiceFailure) as failure:
        call(server, at, timeout_s=timeout_s)
    return failure.value


def find_closed_port() -> int:
    """A loopback port without a listener."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])


@pytest.mark.parametrize("trouble", TROUBLES)
@pytest.mark.parametrize("name", CALLS)
def test_each_call_is_one_request(name: str, trouble: str) -> None:
    """Whatever the server does, nothing is retried and no redirect is followed."""
    with CountingServer(lambda _: TROUBLES[trouble]) as server:
        failure_of(server, CALLS[name], timeout_s=0.2 if trouble == "hang" else 20.0)
        assert len(server.asked) == 1


def test_an_unreachable_server_is_named() -> None:
    """Host and port, and the step that failed."""
    host = f"127.0.0.1:{find_closed_port()}"

    assert (
        str(failure_of(f"http://{host}"))
        == f"{host} cannot be reached: Connection refused; is `diagnose serve` running there?"
    )


def test_a_server_without_tls_is_not_reported_as_unreachable() -> None:
    """The step is TLS, and the address is not the trouble; the connection is tried once."""
    with CountingServer(lambda _: Answer()) as server:
        failure = failure_of(server.url.replace("http:", "https:"))
        host = server.url.removeprefix("http://")
        assert server.connections == 1

    assert (
        str(failure)
        == f"No secure connection to {host} (TLS): it does not use TLS; try http:// in the address."
    )


@pytest.mark.parametrize(
    ("trouble", "message"),
    [
        (Trouble.HANG, "accepted the request but did not answer within 200 ms."),
        (Trouble.HALF, "accepted the request, but its answer broke off: "),
        (Trouble.DROP, "accepted the request, but its answer broke off: "),
    ],
)
def test_the_step_that_failed_is_named(trouble: Trouble, message: str) -> None:
    """A server that took the request may have acted on it; the sentence says that it had it."""
    with CountingServer(lambda _: trouble) as server:
        failure = failure_of(server, CALLS["cancel"], timeout_s=0.2 if trouble is Trouble.HANG else 20.0)
        host = server.url.removeprefix("http://")

    assert str(failure).startswith(f"{host} {message}")
    assert failure.status is None


def test_a_problem_is_one_sentence() -> None:
    """Title, then what is wrong with which field; the id of the request only where the server is at fault."""
    refused = problem(
        422, "A value cannot be used.", detail="limit: too large; send less.", instance="urn:r:1"
    )
    broken = problem(500, "Something went wrong here.", instance="urn:r:1")
    received = []
    for answer in (refused, broken):
        with CountingServer(always(answer)) as server:
            received.append(str(failure_of(server)).removeprefix(f"{server.url.removeprefix('http://')}: "))

    assert received == [
        "A value cannot be used. limit: too large; send less.",
        "Something went wrong here. (urn:r:1)",
    ]


@pytest.mark.parametrize(
    ("status", "expected"), [(404, RunUnknown), (409, RunGoesOn), (403, NotPermitted), (401, ServiceFailure)]
)
def test_the_server_and_the_database_raise_the_same_errors(
    status: int, expected: type[DiagnosisHarnessError]
) -> None:
    """So a command reports the same for both."""
    with CountingServer(lambda _: problem(status, "No.")) as server, pytest.raises(expected):
        call(server, CALLS["document"])


@pytest.mark.parametrize("name", [name for name in CALLS if name not in ("document", "chat")])
@pytest.mark.parametrize(
    "body", [b"", b"<html>", b"[]", b'{"runs": [{}], "next": null}', b"\xff", b"[" * 99_999]
)
def test_an_invalid_response_becomes_a_sentence(name: str, body: bytes) -> None:
    """Another server, another version: a sentence, never a traceback. No events at all are a trace, too."""
    with CountingServer(lambda _: Answer(body=body)) as server:
        if (name, body) == ("events", b""):
            assert call(server, CALLS[name]) == ()
        else:
            assert "is not valid" in str(failure_of(server, CALLS[name]))


def test_the_filters_of_a_page_are_sent_as_parameters() -> None:
    """Every filter under its name, and nothing for what is not asked for."""
    query = RunQuery(
        status=RunStatus.SUCCESS,
        outcome=ReleaseOutcome.FALLBACK,
        intent=IntentType.DIAGNOSIS,
        session_id="ses-1",
        before="m&rk",
        limit=7,
    )
    with CountingServer(lambda _: as_json({"runs": [row()], "next": "more"})) as server:
        page = call(server, lambda client: client.page(query))
        call(server, lambda client: client.page(RunQuery(limit=5)))
        first, second = server.asked

    assert first.path == (
        "/v1/runs?status=SUCCESS&outcome=FALLBACK&intent=DIAGNOSIS&session=ses-1&limit=7&before=m%26rk"
    )
    assert second.path == "/v1/runs?limit=5"
    assert (page.rows, page.next) == ((row(),), "more")  # type: ignore[attr-defined]  # it is a Listing


def test_a_chat_yields_its_events_as_they_arrive() -> None:
    """By name, with their data; heartbeats and retry times are not events."""
    parts = (
        "retry: 1000",
        'event: metadata\ndata: {"run_id": "run-1"}',
        ": hb",
        'id: 3.1\nevent: done\ndata: {"outcome": "慢"}',
    )
    body = "".join(f"{part}\n\n" for part in parts)
    answer = Answer(body=body.encode(), content_type="text/event-stream; charset=utf-8")
    with CountingServer(always(answer)) as server:
        events = call(server, whole_chat)

    assert events == [("metadata", {"run_id": "run-1"}), ("done", {"outcome": "慢"})]


def test_the_key_is_sent_and_never_shown() -> None:
    """As a bearer token; not in a failure, not in the address."""
    key = "dk_000000000001_" + "5" * 64
    asked: list[Asked] = []

    def answer(request: Asked) -> Answer:
        asked.append(request)
        return problem(401, "A valid API key is required.")

    with CountingServer(answer) as server, pytest.raises(ServiceFailure) as failure:
        call(server, CALLS["row"], key=key)

    assert asked[0].headers["authorization"] == f"Bearer {key}"
    assert key not in str(failure.value) + repr(ServerAddress(server.url, key, 1.0))


def test_only_the_configured_proxy_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    """A proxy of the environment is ignored: a key goes only where the settings say."""
    answer = as_json(row())
    with CountingServer(lambda _: answer) as server, CountingServer(lambda _: answer) as proxy:
        for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY"):
            monkeypatch.setenv(name, proxy.url)
        call(server, CALLS["row"])
        assert (len(server.asked), len(proxy.asked)) == (1, 0)

        call(server, CALLS["row"], proxy=proxy.url)
        assert (len(server.asked), len(proxy.asked)) == (1, 1)


@pytest.mark.parametrize(
    ("url", "key"),
    [
        ("localhost:8300", ""),
        ("ftp://host", ""),
        ("http://", ""),
        ("http://[::1", ""),
        ("http://host", "a b"),
    ],
)
def test_an_invalid_address_is_refused_before_anything_is_sent(url: str, key: str) -> None:
    """As invalid input."""
    with pytest.raises(InvalidInput):
        check_address(ServerAddress(url, key, 1.0))
