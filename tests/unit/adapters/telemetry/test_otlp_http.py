"""Spans over HTTP: what arrives is what was folded, and one send is one request whatever the backend does."""

from __future__ import annotations

import asyncio
import base64
import json
from collections.abc import Callable
from typing import Any

import pytest
from google.protobuf.json_format import MessageToDict  # type: ignore[import-untyped]  # it brings no types
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
    ExportTracePartialSuccess,
    ExportTraceServiceRequest,
    ExportTraceServiceResponse,
)
from tests.support.counting_server import Answer, Asked, CountingServer, Trouble

from diagnosis_harness.adapters.telemetry.otlp_http import OtlpHttpSender, OtlpTarget
from diagnosis_harness.kernel.errors import FailureKind, InvalidSetting, TechnicalFailure
from diagnosis_harness.trace.event import TraceEvent, TraceEventStatus, TraceName, TracePhase, bound_payload
from diagnosis_harness.trace.otlp import otlp_json
from diagnosis_harness.trace.spans import RunSpans, spans_of

RUN = spans_of(
    [
        TraceEvent(
            1,
            "run-1",
            5.0,
            TraceName.RUN_STARTED,
            TracePhase.RUN,
            TraceEventStatus.STARTED,
            bound_payload({}),
        ),
        TraceEvent(
            2,
            "run-1",
            5.25,
            TraceName.LLM_CALL,
            TracePhase.AGENT,
            TraceEventStatus.SUCCEEDED,
            bound_payload(
                {
                    "llm": "慢",
                    "finish": "STOP",
                    "input_tokens": 2**40,
                    "share": 0.5,
                    "many": 2**70,
                    "cut": True,
                }
            ),
        ),
        TraceEvent(
            3,
            "run-1",
            6.5,
            TraceName.RUN_FINISHED,
            TracePhase.RUN,
            TraceEventStatus.SUCCEEDED,
            bound_payload({"outcome": "FAILED", "reason": "half \ud800"}),
        ),
    ]
)


def target(endpoint: str, *, timeout_s: float = 20.0) -> OtlpTarget:
    """Where a test sends its spans."""
    return OtlpTarget(endpoint, {"x-team": "blue"}, "our-service", "1.2.3", timeout_s)


def send(to: OtlpTarget, run: RunSpans = RUN) -> None:
    """One send, in a loop of its own."""

    async def send() -> None:
        sender = OtlpHttpSender(to)
        try:
            await sender.send(run)
        finally:
            await sender.close()

    asyncio.run(send())


def always(answer: Answer | Trouble) -> Callable[[Asked], Answer | Trouble]:
    """The same for every request."""
    return lambda _: answer


def test_what_arrives_is_what_the_file_says() -> None:
    """The Protobuf request, read by OpenTelemetry's own classes, is the JSON form with ids in base64."""
    with CountingServer(always(Answer())) as server:
        send(target(server.url))

    (asked,) = server.asked
    assert (asked.method, asked.path) == ("POST", "/v1/traces")
    assert asked.headers["content-type"] == "application/x-protobuf"
    assert asked.headers["x-team"] == "blue"
    arrived: dict[str, Any] = MessageToDict(
        ExportTraceServiceRequest.FromString(asked.body), use_integers_for_enums=True
    )
    written = json.loads(otlp_json(RUN, service="our-service", version="1.2.3"))
    assert _hexadecimal(arrived) == _without_defaults(written)


def _hexadecimal(arrived: Any) -> Any:
    """Ids as OTLP/JSON has them."""
    if isinstance(arrived, dict):
        return {
            name: base64.b64decode(value).hex()
            if name.lower().endswith("spanid") or name == "traceId"
            else _hexadecimal(value)
            for name, value in arrived.items()
        }
    return [_hexadecimal(each) for each in arrived] if isinstance(arrived, list) else arrived


def _without_defaults(written: Any) -> Any:
    """What Protobuf does not say, since it is the default."""
    if isinstance(written, dict):
        inner = {name: _without_defaults(value) for name, value in written.items()}
        return {name: value for name, value in inner.items() if value not in ([], 0)}
    return [_without_defaults(each) for each in written] if isinstance(written, list) else written


@pytest.mark.parametrize(
    ("answer", "kind"),
    [
        (Answer(503, headers={"retry-after": "0"}), FailureKind.REJECTED),
        (Answer(429, headers={"retry-after": "0"}), FailureKind.REJECTED),
        (Answer(302, headers={"location": "/elsewhere"}), FailureKind.REJECTED),
        (Trouble.DROP, FailureKind.TRANSPORT),
        (Trouble.HALF, FailureKind.TRANSPORT),
        (Trouble.HANG, FailureKind.TIMEOUT),
    ],
)
def test_one_send_is_one_request(answer: Answer | Trouble, kind: FailureKind) -> None:
    """The failure is reported with its kind; nothing is sent again and no redirection is followed."""
    with CountingServer(always(answer)) as server:
        with pytest.raises(TechnicalFailure) as failure:
            send(target(server.url, timeout_s=0.3 if answer is Trouble.HANG else 20.0))
        assert len(server.asked) == 1

    assert failure.value.kind is kind


def test_one_send_is_one_connection() -> None:
    """Also if no connection is made: this server has no TLS, and it is not tried again."""
    with CountingServer(always(Answer())) as server:
        with pytest.raises(TechnicalFailure) as failure:
            send(target(server.url.replace("http:", "https:")))
        assert (server.connections, server.asked) == (1, [])

    assert failure.value.kind is FailureKind.TRANSPORT


def test_spans_that_were_refused_are_not_success() -> None:
    """A backend that takes a part answers 200 as well."""
    part = ExportTraceServiceResponse(partial_success=ExportTracePartialSuccess(rejected_spans=2))
    answer = Answer(body=part.SerializeToString())
    with CountingServer(always(answer)) as server, pytest.raises(TechnicalFailure, match="refused 2 spans"):
        send(target(server.url))


def test_the_proxy_of_the_environment_is_not_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    """Spans go where the settings say, by no way that they do not."""
    with CountingServer(always(Answer())) as server, CountingServer(always(Answer())) as proxy:
        monkeypatch.setenv("HTTP_PROXY", proxy.url)
        monkeypatch.setenv("ALL_PROXY", proxy.url)
        send(target(server.url))

        assert (len(server.asked), len(proxy.asked)) == (1, 0)


@pytest.mark.parametrize(
    ("endpoint", "url"),
    [
        ("http://collector:4318", "http://collector:4318/v1/traces"),
        ("http://collector:4318/", "http://collector:4318/v1/traces"),
        ("https://host/api/otel/v1/traces", "https://host/api/otel/v1/traces"),
    ],
)
def test_a_base_url_gets_the_path_of_the_protocol(endpoint: str, url: str) -> None:
    """A whole URL is taken as it is."""
    assert target(endpoint).url == url


@pytest.mark.parametrize(
    "endpoint", ["collector:4318", "grpc://collector:4317", "http://", "http://[::1", "http://h:0"]
)
def test_what_is_not_a_url_is_refused(endpoint: str) -> None:
    """When the settings are read, not when the first run has ended."""
    with pytest.raises(InvalidSetting):
        _ = target(endpoint).url
