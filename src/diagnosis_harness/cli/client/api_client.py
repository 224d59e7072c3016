"""The runs of a server, asked over HTTP: one look is one request, never made again by itself (HR-03)."""

from __future__ import annotations

import json
import os
import ssl
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass
from importlib.metadata import version
from typing import Self
from urllib.parse import urlsplit

import httpx2

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
from diagnosis_harness.report.timestamps import shown
from diagnosis_harness.server.run_view import RunView
from diagnosis_harness.trace.event import TraceEvent
from diagnosis_harness.trace.json_lines import events_of

_TEXT_MAX = 300
_NO_TLS = ("WRONG_VERSION_NUMBER", "RECORD_LAYER_FAILURE")
_EVENT_BYTES_MAX = 64_000_000


@dataclass(frozen=True, slots=True)
class ServerAddress:
    """A server, and how it is reached. `key` and `proxy` are empty where there is none."""

    url: str
    key: str
    timeout_s: float
    proxy: str = ""
    ca_file: str = ""

    def __repr__(self) -> str:
        return f"ServerAddress({self.host})"

    @property
    def host(self) -> str:
        """How a person is told of it: host and port, without a user or a password."""
        return shown(urlsplit(self.url).netloc.rpartition("@")[2])


def check_address(address: ServerAddress) -> ServerAddress:
    """The address, if it is one.

    Raises:
        InvalidInput: the URL is none of http or https, or the key cannot be sent.
    """
    try:
        parts = urlsplit(address.url)
        is_url = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        is_url = False
    if not is_url:
        raise InvalidInput("--server", "it is no http or https URL", "write it as https://HOST:PORT")
    if not (address.key.isascii() and address.key.isprintable() and " " not in address.key):
        raise InvalidInput("--key", "it is no API key", "give one that `diagnose keys add` printed")
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
            verify=_trusted(address.ca_file),
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
        held = self._json(await self._ask("GET", "/v1/runs", params=params))
        match held:
            case {"runs": list(rows), "next": None | str() as following}:
                for row in rows:
                    self._checked(row)
                return RunRows(tuple(rows), following)
            case _:
                raise self._not_understood("no page of runs")

    async def row(self, run_id: str) -> JsonValue:
        """The row of a run as JSON, with its public answer under `content`."""
        return self._checked(self._json(await self._of_run("GET", run_id)))

    async def document(self, run_id: str) -> bytes:
        """The run document, in its one form of bytes."""
        return (await self._of_run("GET", run_id, "/document")).content

    async def events(self, run_id: str) -> tuple[TraceEvent, ...]:
        """All events that are written so far."""
        response = await self._of_run("GET", run_id, "/trace", params={"format": "jsonl"})
        try:
            return events_of(response.content)
        except ValueError as error:
            raise self._not_understood(str(error)) from error

    async def why(self, run_id: str, language: Language) -> JsonValue:
        """The seven answers in words."""
        held = self._json(await self._of_run("GET", run_id, "/why", params={"lang": language.value}))
        match held:
            case {"answers": [_, *_] as answers}:
                return answers
            case {"answers": []}:
                raise RunGoesOn(run_id)
            case _:
                raise self._not_understood("no answers")

    async def cancel(self, run_id: str) -> JsonValue:
        """Cancel a run."""
        held = self._json(await self._of_run("POST", run_id, "/cancel"))
        if not isinstance(held, dict) or not isinstance(held.get("effect"), str):
            raise self._not_understood("no word on the cancel")
        self._checked(held.get("run"))
        return held

    async def submit(self, body: Mapping[str, JsonValue]) -> tuple[str, bool]:
        """Have a question asked in the background: the run's id, and whether it is a new run."""
        response = await self._ask("POST", "/v1/runs", body=body)
        row = self._checked(self._json(response))
        return RunView.read(row).run_id, response.status_code == httpx2.codes.ACCEPTED

    async def chat(self, body: Mapping[str, JsonValue]) -> AsyncIterator[tuple[str, JsonValue]]:
        """Ask, and give the events of the answer as they come, by name; leaving early cancels the run.

        Raises:
            NotPermitted, ServiceFailure: as every look; also when the stream breaks off between two events.
        """
        try:
            async with self._client.stream("POST", "/v1/chat", json=body) as response:
                if not response.is_success:
                    await response.aread()
                    raise self._problem(response)
                async for event in httpx2.EventSource(response, max_event_size=_EVENT_BYTES_MAX):
                    if event.data:  # without data there is no event, only an id or a time to come again
                        yield event.event, self._parsed(event.data)
        except httpx2.TimeoutException as error:
            raise self._too_slow(error) from error
        except httpx2.HTTPError as error:
            raise self._not_reached(error) from error

    # ------------------------------------------------------------------ one request

    async def _of_run(
        self, method: str, run_id: str, part: str = "", *, params: Mapping[str, str] | None = None
    ) -> httpx2.Response:
        try:
            return await self._ask(method, f"/v1/runs/{run_id}{part}", params=params)
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
        """Make one request and give its answer, which is a success.

        Raises:
            ServiceFailure: there was none.
            NotPermitted: the role of the key does not allow it.
        """
        try:
            response = await self._client.request(method, path, params=params, json=body)
        except httpx2.TimeoutException as error:
            raise self._too_slow(error) from error
        except (httpx2.HTTPError, httpx2.InvalidURL, httpx2.StreamError) as error:
            raise self._not_reached(error) from error
        if response.is_success:
            return response
        raise self._problem(response)

    def _json(self, response: httpx2.Response) -> JsonValue:
        return self._parsed(response.content)

    def _parsed(self, data: str | bytes) -> JsonValue:
        try:
            held: JsonValue = json.loads(data if isinstance(data, str) else data.decode("utf-8"))
        except (ValueError, RecursionError):
            raise self._not_understood("no JSON") from None
        return held

    def _checked(self, row: JsonValue) -> JsonValue:
        try:
            RunView.read(row)
        except ValueError as error:
            raise self._not_understood(str(error)) from error
        return row

    # ------------------------------------------------------------------ what is said when it fails

    def _problem(self, response: httpx2.Response) -> ServiceFailure | NotPermitted:
        """A problem (RFC 9457) as a sentence; an answer that is none is told by its status."""
        if response.status_code == 403:
            return NotPermitted("the server refused it")
        try:
            held = json.loads(response.content.decode("utf-8"))
        except (ValueError, RecursionError):
            held = None
        if not isinstance(held, dict) or not isinstance(held.get("title"), str):
            return self._not_understood(f"HTTP {response.status_code}", status=response.status_code)
        detail, instance = held.get("detail"), held.get("instance")
        sentence = words.PROBLEM.render(
            self._language,
            host=self._address.host,
            title=_short(held["title"]),
            detail=f" {_short(detail)}" if isinstance(detail, str) and detail else "",
            instance=f" ({_short(instance)})"
            if response.is_server_error and isinstance(instance, str)
            else "",
        )
        return ServiceFailure(sentence, status=response.status_code)

    def _not_understood(self, problem: str, *, status: int | None = None) -> ServiceFailure:
        said = words.NOT_UNDERSTOOD.render(self._language, host=self._address.host, problem=_short(problem))
        return ServiceFailure(said, status=status, kind=FailureKind.INVALID_OUTPUT)

    def _too_slow(self, error: httpx2.TimeoutException) -> ServiceFailure:
        step = {
            httpx2.ConnectTimeout: Step.CONNECT,
            httpx2.PoolTimeout: Step.CONNECT,
            httpx2.WriteTimeout: Step.SEND,
        }.get(type(error), Step.ANSWER)
        limit = measure(self._address.timeout_s, "s")
        said = words.TOO_SLOW[step].render(self._language, host=self._address.host, limit=limit)
        return ServiceFailure(said, kind=FailureKind.TIMEOUT)

    def _not_reached(self, error: Exception) -> ServiceFailure:
        step, cause = Step.ANSWER, _cause(error)
        if isinstance(error, httpx2.ConnectError | httpx2.ProxyError | httpx2.InvalidURL):
            step = Step.TLS if isinstance(cause, ssl.SSLError) else Step.CONNECT
        elif isinstance(error, httpx2.WriteError | httpx2.LocalProtocolError):
            step = Step.SEND
        problem = _short(_problem_of(cause) or str(error) or type(error).__name__).rstrip(".")
        said = words.NOT_REACHED[step].render(self._language, host=self._address.host, problem=problem)
        return ServiceFailure(said, kind=FailureKind.TRANSPORT)


def _trusted(ca_file: str) -> ssl.SSLContext | bool:
    if not ca_file:
        return True
    try:
        return ssl.create_default_context(cafile=ca_file)
    except (OSError, ssl.SSLError):
        raise InvalidInput(
            "remote.ca_file", f"{ca_file} holds no certificates that can be read", "name a PEM file"
        ) from None


def _cause(error: BaseException) -> BaseException:
    """What the operating system or TLS said, at the bottom of a chain of errors."""
    while (below := error.__cause__ or error.__context__) is not None:
        error = below
    if isinstance(error, BaseExceptionGroup):
        return _cause(error.exceptions[-1])
    return error


def _problem_of(cause: BaseException) -> str:
    """What a person can do something with; empty where nothing better than the error's own text is known."""
    if isinstance(cause, ssl.SSLError):
        if cause.reason in _NO_TLS:
            return "it speaks no TLS; the address may begin with http://"
        return getattr(cause, "verify_message", "") or (cause.reason or "").replace("_", " ").lower()
    if isinstance(cause, OSError) and cause.errno is not None and cause.errno > 0:
        return os.strerror(cause.errno)
    return getattr(cause, "strerror", None) or ""


def _short(text: str) -> str:
    plain = shown(" ".join(text.split()))
    return plain if len(plain) <= _TEXT_MAX else f"{plain[: _TEXT_MAX - 1]}…"
