"""Sends spans over OTLP/HTTP as Protobuf, in one request for each run, without retries.

OpenTelemetry's own exporter retries up to five times, so only its Protobuf classes are used here.
"""

from __future__ import annotations

import base64
from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import urlsplit

import httpx2
from google.protobuf.json_format import ParseDict  # type: ignore[import-untyped]  # it has no types
from google.protobuf.message import DecodeError  # type: ignore[import-untyped]  # it has no types
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
    ExportTraceServiceRequest,
    ExportTraceServiceResponse,
)

from diagnosis_harness.kernel.errors import FailureKind, InvalidSetting, TechnicalFailure
from diagnosis_harness.trace.otlp import otlp_request
from diagnosis_harness.trace.spans import RunSpans

ENDPOINT_PLACE = "telemetry.endpoint"
_TRACES = "/v1/traces"


@dataclass(frozen=True, slots=True)
class OtlpTarget:
    """Where spans are sent.

    Attributes:
        endpoint: base URL of a collector, such as `http://collector:4318`, or the whole URL for traces.
        headers: sent with every request; they may hold a secret, and no error repeats them.
        timeout_s: for connecting, and for each wait after it.
    """

    endpoint: str
    headers: Mapping[str, str]
    service: str
    version: str
    timeout_s: float

    @property
    def url(self) -> str:
        """The URL for traces.

        Raises:
            InvalidSetting: the endpoint is not an http or https URL.
        """
        refused = InvalidSetting(
            ENDPOINT_PLACE, "is not an http or https URL", "write it as http://HOST:4318"
        )
        try:
            parts = urlsplit(self.endpoint)
            is_url = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
        except ValueError:
            raise refused from None
        if not is_url:
            raise refused
        return self.endpoint if parts.path.strip("/") else parts._replace(path=_TRACES).geturl()


class OtlpHttpSender:
    """Sends the spans of one run at a time. One call is one request, even if it fails."""

    def __init__(self, target: OtlpTarget) -> None:
        self._target = target
        self._url = target.url
        self._client = httpx2.AsyncClient(
            headers={**target.headers, "content-type": "application/x-protobuf"},
            timeout=target.timeout_s,
            trust_env=False,
            follow_redirects=False,
            transport=httpx2.AsyncHTTPTransport(retries=0, trust_env=False),
        )

    async def send(self, run: RunSpans) -> None:
        """Send the request.

        Raises:
            TechnicalFailure: the backend was not reached, or did not accept all spans.
        """
        try:
            response = await self._client.post(self._url, content=encode(run, self._target))
        except httpx2.TimeoutException as error:
            raise _failure("did not answer in time", FailureKind.TIMEOUT) from error
        except (httpx2.HTTPError, httpx2.InvalidURL) as error:
            raise _failure(f"was not reached ({type(error).__name__})", FailureKind.TRANSPORT) from error
        if not response.is_success:
            raise _failure(f"answered {response.status_code}", FailureKind.REJECTED)
        _check_accepted(response)

    async def close(self) -> None:
        """Close the connection."""
        await self._client.aclose()


def encode(run: RunSpans, target: OtlpTarget) -> bytes:
    """Encode the spans as an `ExportTraceServiceRequest`, with the same content as the JSON form."""
    body = otlp_request(
        run,
        service=target.service,
        version=target.version,
        id_text=lambda number: base64.b64encode(number).decode("ascii"),
    )
    request = ExportTraceServiceRequest()
    ParseDict(body, request)
    return bytes(request.SerializeToString())


def _check_accepted(response: httpx2.Response) -> None:
    """Raise if the backend accepted a part only, which it reports with status 200."""
    try:
        accepted = ExportTraceServiceResponse.FromString(response.content)
    except DecodeError:
        return
    if accepted.partial_success.rejected_spans:
        raise _failure(f"refused {accepted.partial_success.rejected_spans} spans", FailureKind.REJECTED)


def _failure(what: str, kind: FailureKind) -> TechnicalFailure:
    return TechnicalFailure(f"the backend for traces {what}", kind=kind)
