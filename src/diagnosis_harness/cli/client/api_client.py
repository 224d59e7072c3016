"""A client of the HTTP API: each call is exactly one request; nothing is retried (HR-03)."""

from __future__ import annotations

import json
import os
import ssl
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass
from importlib.metadata import version
from typing import IO, Self
from urllib.parse import urlsplit

import httpx2

from diagnosis_harness.application.runs.feedback import FeedbackVerdict
from diagnosis_harness.application.runs.store import RunQuery
from diagnosis_harness.cli.client.runs_client import RunRows
from diagnosis_harness.cli.words import runs as words
from diagnosis_harness.cli.words.runs import Step
from diagnosis_harness.kernel.errors import (
    FailureKind,
    InvalidInput,
    NotPermitted,
    RunGoesOn,
    RunUnknown,
    ServiceFailure,
)
from diagnosis_harness.kernel.json_value import JsonValue
from diagnosis_harness.kernel.language import Language
from diagnosis_harness.report.measure import measure
from diagnosis_harness.report.timestamps import escape_line
from diagnosis_harness.server.feedback_view import FeedbackView
from diagnosis_harness.server.run_view import RunView, WholeRunView
from diagnosis_harness.server.source_view import SourceView
from diagnosis_harness.trace.event import TraceEvent
from diagnosis_harness.trace.json_lines import events_of

_TEXT_MAX = 300
"""Characters of a server's text that a message shows."""
_PLAIN_HTTP_REASONS = ("WRONG_VERSION_NUMBER", "RECORD_LAYER_FAILURE")
_EVENT_BYTES_MAX = 64_000_000
"""The most bytes of an event; the largest is the answer, which contains the run document."""


_SOURCE_READ_S = 300.0
"""The time for a server to unpack and read a source, which may have a gigabyte."""
_CHUNK_BYTES = 256 * 1024


@dataclass(frozen=True, slots=True)
class ServerAddress:
    """A server and how to reach it. `key`, `proxy` and `ca_file` are empty if not used."""

    url: str
    key: str
    timeout_s: float
    proxy: str = ""
    ca_file: str = ""

    def __repr__(self) -> str:
        return f"ServerAddress({self.host})"

    @property
    def host(self) -> str:
        """Host and port for messages, without user and password."""
        return escape_line(urlsplit(self.url).netloc.rpartition("@")[2])


def check_address(address: ServerAddress) -> ServerAddress:
    """The address, after checking it.

    Raises:
        InvalidInput: the URL is not http or https, or the key cannot be sent in a header.
    """
    try:
        parts = urlsplit(address.url)
        is_url = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        is_url = False
    if not is_url:
        raise InvalidInput("--server", "it is not an http or https URL", "write it as https://HOST:PORT")
    if not (address.key.isascii() and address.key.isprintable() and " " not in address.key):
        raise InvalidInput("--key", "it is not an API key", "give one that `diagnose keys add` printed")
    return address


class ApiClient:
    """A `RunsClient` over the HTTP API. Use as an asynchronous context manager."""

    def __init__(self, address: ServerAddress, *, language: Language) -> None:
        self._address = address
        self._language = language
        headers = {
            "accept-language": language.value,
            "user-agent": f"diagnose/{version('diagnosis-harness')}",
        }
        if address.key:
            headers["authorization"] = f"Bearer {address.key}"
        self._client = httpx2.AsyncClient(
            base_url=address.url.rstrip("/"),
            headers=headers,
            timeout=address.timeout_s,
            proxy=address.proxy or None,
            verify=_tls_context(address.ca_file),
            trust_env=False,
            follow_redirects=False,
        )

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *error: object) -> None:
        await self._client.aclose()

    async def page(self, query: RunQuery) -> RunRows:
        """A page of runs."""
        wanted = {
            "status": query.status,
            "outcome": query.outcome,
            "intent": query.intent,
            "session": query.session_id,
            "limit": str(query.limit),
            "before": query.before,
        }
        params = {name: value for name, value in wanted.items() if value is not None}
        body = self._json(await self._ask("GET", "/v1/runs", params=params))
        match body:
            case {"runs": list(rows), "next": None | str() as following}:
                for row in rows:
                    self._check_row(row)
                return RunRows(tuple(rows), following)
            case _:
                raise self._invalid_response("not a page of runs")

    async def row(self, run_id: str) -> JsonValue:
        """The row of a run as JSON, with its public answer under `content`."""
        return self._check_row(self._json(await self._of_run("GET", run_id)), WholeRunView)

    async def document(self, run_id: str) -> bytes:
        """The run document, in its canonical bytes."""
        return (await self._of_run("GET", run_id, "/document")).content

    async def events(self, run_id: str) -> tuple[TraceEvent, ...]:
        """All events written so far."""
        response = await self._of_run("GET", run_id, "/trace", params={"format": "jsonl"})
        try:
            return events_of(response.content)
        except ValueError as error:
            raise self._invalid_response(str(error)) from error

    async def why(self, run_id: str, language: Language) -> JsonValue:
        """The seven answers in words."""
        body = self._json(await self._of_run("GET", run_id, "/why", params={"lang": language.value}))
        match body:
            case {"answers": [_, *_] as answers}:
                return answers
            case {"answers": []}:
                raise RunGoesOn(run_id)
            case _:
                raise self._invalid_response("it has no answers")

    async def cancel(self, run_id: str) -> JsonValue:
        """Cancel a run."""
        body = self._json(await self._of_run("POST", run_id, "/cancel"))
        if not isinstance(body, dict) or not isinstance(body.get("effect"), str):
            raise self._invalid_response("not a cancellation result")
        self._check_row(body.get("run"))
        return body

    async def mark(self, run_id: str, verdict: FeedbackVerdict, *, cause: str | None, note: str) -> JsonValue:
        """Store this caller's verdict on a run."""
        wanted: dict[str, JsonValue] = {"verdict": verdict.value, "cause": cause, "note": note}
        body = self._json(await self._of_run("POST", run_id, "/feedback", body=wanted))
        try:
            FeedbackView.read(body)
        except ValueError as error:
            raise self._invalid_response(str(error)) from error
        return body

    async def submit(self, body: Mapping[str, JsonValue]) -> tuple[str, bool]:
        """Submit a question in the background; returns the run's id, and whether the run is new."""
        response = await self._ask("POST", "/v1/runs", body=body)
        row = self._check_row(self._json(response))
        return RunView.read(row).run_id, response.status_code == httpx2.codes.ACCEPTED

    async def send_source(self, content: IO[bytes], *, name: str, key: str) -> SourceView:
        """Send an archive, and return what the server read in it. The same key stores it only once."""
        content.seek(0)
        try:
            response = await self._client.post(
                "/v1/sources",
                params={"name": name},
                content=_chunks(content),
                headers={"content-type": "application/gzip", "idempotency-key": key},
                timeout=httpx2.Timeout(self._address.timeout_s, read=_SOURCE_READ_S),
            )
        except httpx2.TimeoutException as error:
            raise self._timeout_failure(error) from error
        except (httpx2.HTTPError, httpx2.InvalidURL, httpx2.StreamError) as error:
            raise self._unreachable(error) from error
        if not response.is_success:
            raise self._problem(response)
        try:
            return SourceView.read(self._json(response))
        except ValueError as error:
            raise self._invalid_response(str(error)) from error

    async def chat(self, body: Mapping[str, JsonValue]) -> AsyncIterator[tuple[str, JsonValue]]:
        """Ask, and yield the events of the answer by name as they arrive; leaving early cancels the run.

        Raises:
            NotPermitted, ServiceFailure: as for every call; also if the stream breaks off between two events.
        """
        try:
            async with self._client.stream("POST", "/v1/chat", json=body) as response:
                if not response.is_success:
                    await response.aread()
                    raise self._problem(response)
                async for event in httpx2.EventSource(response, max_event_size=_EVENT_BYTES_MAX):
                    if event.data:  # without data it is only an id or a retry time
                        yield event.event, self._parse(event.data)
        except httpx2.TimeoutException as error:
            raise self._timeout_failure(error) from error
        except httpx2.HTTPError as error:
            raise self._unreachable(error) from error

    # ------------------------------------------------------------------ one request

    async def _of_run(
        self,
        method: str,
        run_id: str,
        part: str = "",
        *,
        params: Mapping[str, str] | None = None,
        body: Mapping[str, JsonValue] | None = None,
    ) -> httpx2.Response:
        try:
            return await self._ask(method, f"/v1/runs/{run_id}{part}", params=params, body=body)
        except ServiceFailure as failure:
            if failure.status == 404:
                raise RunUnknown(run_id) from failure
            if failure.status == 409:
                raise RunGoesOn(run_id) from failure
            raise

    async def _ask(
        self,
        method: str,
        path: str,
        *,
        params: Mapping[str, str] | None = None,
        body: Mapping[str, JsonValue] | None = None,
    ) -> httpx2.Response:
        """Make one request and give its successful response.

        Raises:
            ServiceFailure: the request failed.
            NotPermitted: the role of the key does not allow it.
        """
        try:
            response = await self._client.request(method, path, params=params, json=body)
        except httpx2.TimeoutException as error:
            raise self._timeout_failure(error) from error
        except (httpx2.HTTPError, httpx2.InvalidURL, httpx2.StreamError) as error:
            raise self._unreachable(error) from error
        if response.is_success:
            return response
        raise self._problem(response)

    def _json(self, response: httpx2.Response) -> JsonValue:
        return self._parse(response.content)

    def _parse(self, data: str | bytes) -> JsonValue:
        try:
            body: JsonValue = json.loads(data if isinstance(data, str) else data.decode("utf-8"))
        except (ValueError, RecursionError):
            raise self._invalid_response("not JSON") from None
        return body

    def _check_row(self, row: JsonValue, view: type[RunView] = RunView) -> JsonValue:
        try:
            view.read(row)
        except ValueError as error:
            raise self._invalid_response(str(error)) from error
        return row

    # ------------------------------------------------------------------ failures

    def _problem(self, response: httpx2.Response) -> ServiceFailure | NotPermitted:
        """A problem (RFC 9457) as a sentence; any other response is reported by its status."""
        if response.status_code == 403:
            return NotPermitted("the server refused it")
        try:
            body = json.loads(response.content.decode("utf-8"))
        except (ValueError, RecursionError):
            body = None
        if not isinstance(body, dict) or not isinstance(body.get("title"), str):
            return self._invalid_response(f"HTTP {response.status_code}", status=response.status_code)
        detail, instance = body.get("detail"), body.get("instance")
        sentence = words.PROBLEM.render(
            self._language,
            host=self._address.host,
            title=_short(body["title"]),
            detail=f" {_short(detail)}" if isinstance(detail, str) and detail else "",
            instance=f" ({_short(instance)})"
            if response.is_server_error and isinstance(instance, str)
            else "",
        )
        return ServiceFailure(sentence, status=response.status_code)

    def _invalid_response(self, problem: str, *, status: int | None = None) -> ServiceFailure:
        message = words.NOT_UNDERSTOOD.render(
            self._language, host=self._address.host, problem=_short(problem)
        )
        return ServiceFailure(message, status=status, kind=FailureKind.INVALID_OUTPUT)

    def _timeout_failure(self, error: httpx2.TimeoutException) -> ServiceFailure:
        step = {
            httpx2.ConnectTimeout: Step.CONNECT,
            httpx2.PoolTimeout: Step.CONNECT,
            httpx2.WriteTimeout: Step.SEND,
        }.get(type(error), Step.ANSWER)
        limit = measure(self._address.timeout_s, "s")
        message = words.TOO_SLOW[step].render(self._language, host=self._address.host, limit=limit)
        return ServiceFailure(message, kind=FailureKind.TIMEOUT)

    def _unreachable(self, error: Exception) -> ServiceFailure:
        step, cause = Step.ANSWER, _root_cause(error)
        if isinstance(error, httpx2.ConnectError | httpx2.ProxyError | httpx2.InvalidURL):
            step = Step.TLS if isinstance(cause, ssl.SSLError) else Step.CONNECT
        elif isinstance(error, httpx2.WriteError | httpx2.LocalProtocolError):
            step = Step.SEND
        problem = _short(_problem_of(cause) or str(error) or type(error).__name__).rstrip(".")
        message = words.NOT_REACHED[step].render(self._language, host=self._address.host, problem=problem)
        return ServiceFailure(message, kind=FailureKind.TRANSPORT)


async def _chunks(content: IO[bytes]) -> AsyncIterator[bytes]:
    while chunk := content.read(_CHUNK_BYTES):
        yield chunk


def _tls_context(ca_file: str) -> ssl.SSLContext | bool:
    if not ca_file:
        return True
    try:
        return ssl.create_default_context(cafile=ca_file)
    except (OSError, ssl.SSLError):
        raise InvalidInput(
            "remote.ca_file", f"{ca_file} has no readable certificates", "name a PEM file"
        ) from None


def _root_cause(error: BaseException) -> BaseException:
    """The first error of a chain, as the operating system or TLS raised it."""
    while (below := error.__cause__ or error.__context__) is not None:
        error = below
    if isinstance(error, BaseExceptionGroup):
        return _root_cause(error.exceptions[-1])
    return error


def _problem_of(cause: BaseException) -> str:
    """A text that helps a person; empty if there is none better than the error's own."""
    if isinstance(cause, ssl.SSLError):
        if cause.reason in _PLAIN_HTTP_REASONS:
            return "it does not use TLS; try http:// in the address"
        return getattr(cause, "verify_message", "") or (cause.reason or "").replace("_", " ").lower()
    if isinstance(cause, OSError) and cause.errno is not None and cause.errno > 0:
        return os.strerror(cause.errno)
    return getattr(cause, "strerror", None) or ""


def _short(text: str) -> str:
    plain = escape_line(" ".join(text.split()))
    return plain if len(plain) <= _TEXT_MAX else f"{plain[: _TEXT_MAX - 1]}…"
