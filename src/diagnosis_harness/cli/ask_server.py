"""`diagnose ask --server`: ask a service, and follow the run or leave it in the background."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator
from contextlib import aclosing, suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from typer.exceptions import TyperException

from diagnosis_harness.cli.ask import AskRequest, ServerOptions
from diagnosis_harness.cli.client.connect import open_api_client, report_failures
from diagnosis_harness.cli.client.send_folder import send_folder
from diagnosis_harness.cli.exit_codes import exit_code
from diagnosis_harness.cli.interrupt import CANCELLED, run_interruptible
from diagnosis_harness.cli.live import LiveView
from diagnosis_harness.cli.options import RunsOptions
from diagnosis_harness.cli.output import escape_lines, make_console, save_bytes, write_line
from diagnosis_harness.cli.publish import OutputOptions, write_outputs
from diagnosis_harness.cli.words import phrases
from diagnosis_harness.cli.words import runs as words
from diagnosis_harness.harness.waiting import sleep
from diagnosis_harness.kernel.clock import SystemClock
from diagnosis_harness.kernel.errors import ServiceFailure
from diagnosis_harness.kernel.json_value import JsonValue
from diagnosis_harness.kernel.language import Language
from diagnosis_harness.kernel.window import utc_text
from diagnosis_harness.report.document_file import parse_document
from diagnosis_harness.report.reading import read_document
from diagnosis_harness.report.timestamps import escape_line
from diagnosis_harness.server.run_view import WholeRunView
from diagnosis_harness.settings import load_settings
from diagnosis_harness.trace.event import TraceEvent, TraceEventStatus, TraceName, TracePhase
from diagnosis_harness.trace.json_lines import event_of_line

if TYPE_CHECKING:  # slow imports, made only when needed
    from diagnosis_harness.cli.client.api_client import ApiClient

CLOSED_WITHIN_S = 10.0
"""The longest time until a run is completely stored after its stream ended or was cut."""
_POLL_S = 0.1


def ask_server(
    request: AskRequest, server: ServerOptions, output: OutputOptions, settings_file: Path | None
) -> int:
    """Ask a service, print the report, and return the run's exit code. A folder is sent there first.

    In the background, the run is submitted and its id printed. Otherwise it is followed: Ctrl+C closes the
    connection, which cancels the run, and its stored result is still printed.

    Raises:
        InvalidInput: an argument or a setting cannot be used.
        TyperException: neither a folder nor a server is named.
    """
    settings = load_settings(settings_file)
    options = RunsOptions(
        settings_file=settings_file, server=server.server, key=server.key, lang=request.language
    )
    url = settings.remote.url if server.server is None else server.server
    if not url:
        raise TyperException("Missing option '--from' / '--server'.")
    body = _request_body(request, server)

    async def send() -> dict[str, JsonValue]:
        async with open_api_client(options, settings, url) as client:
            return await _with_source(client, request, body)

    async def submit() -> int:
        async with open_api_client(options, settings, url) as client:
            run_id, is_new = await client.submit(await _with_source(client, request, body))
        write_line(
            (words.SUBMITTED if is_new else words.JOINED).render(request.language, run=run_id), sys.stderr
        )
        write_line(run_id, sys.stdout)
        return 0

    def follow() -> int:
        if request.folder is not None:
            body.update(asyncio.run(send()))
        console = make_console(color=output.color, stderr=True)
        with LiveView(console, clock=SystemClock(), language=request.language) as view:
            follower = _Follower(body, view, request.language)

            async def work() -> tuple[WholeRunView, bytes] | None:
                async with open_api_client(options, settings, url) as client:
                    return await follower.run(client)

            ended = run_interruptible(work, on_first=follower.stop, on_second=view.print_leaving)
        if ended is None:
            write_line(phrases.STOPPED.in_(request.language), sys.stderr)
            return CANCELLED
        return _print_answer(*ended, request.language, output)

    return report_failures(options.language, (lambda: asyncio.run(submit())) if server.background else follow)


async def _with_source(
    client: ApiClient, request: AskRequest, body: dict[str, JsonValue]
) -> dict[str, JsonValue]:
    """The body; if the request names a folder, it is sent first, and the body is about it."""
    if request.folder is None:
        return body
    return {**body, "source": await send_folder(client, request.folder, request.language)}


def _request_body(request: AskRequest, server: ServerOptions) -> dict[str, JsonValue]:
    """The body of the HTTP request."""
    body: dict[str, JsonValue] = {
        "question": request.question,
        "language": request.language.value,
        "onset": utc_text(request.onset) if isinstance(request.onset, float) else None,
        "limit_s": request.deadline_s,
        "source": server.source,
        "session_id": server.session,
    }
    return {name: value for name, value in body.items() if value is not None}


class _Follower:
    """Follows the stream of one run of a service."""

    def __init__(self, body: dict[str, JsonValue], view: LiveView, language: Language) -> None:
        self._body = body
        self._view = view
        self._language = language
        self._run_id: str | None = None
        self._clock = SystemClock()
        self._following: asyncio.Task[None] | None = None
        self._is_stopped = False

    def stop(self) -> None:
        """Close the connection. Call it on the event loop's thread."""
        self._view.print_cancelling()
        self._is_stopped = True
        if self._following is not None:
            self._following.cancel()

    async def run(self, client: ApiClient) -> tuple[WholeRunView, bytes] | None:
        """Follow the stream to its end or to Ctrl+C, and return the stored run; None if no run had started.

        Raises:
            ServiceFailure: the connection broke; the message says how to look up the run.
        """
        self._following = asyncio.create_task(self._follow(client.chat({**self._body, "trace": True})))
        if self._is_stopped:
            self._following.cancel()
        try:
            await self._following
        except asyncio.CancelledError:
            if not self._is_stopped:
                raise
        except ServiceFailure as failure:
            if self._run_id is None:
                raise
            lost = words.LOST.render(self._language, run=escape_line(self._run_id))
            raise ServiceFailure(f"{failure} {lost}", kind=failure.kind) from failure
        if self._run_id is None:
            return None
        facts = await self._wait_until_closed(client, self._run_id)
        return facts, await client.document(facts.run_id)

    async def _follow(self, stream: AsyncIterator[tuple[str, JsonValue]]) -> None:
        async with aclosing(stream) as events:  # type: ignore[type-var]  # an asynchronous generator
            async for name, data in events:
                self._handle(name, data if isinstance(data, dict) else {})

    def _handle(self, name: str, data: dict[str, JsonValue]) -> None:
        match name:
            case "metadata":
                self._run_id = str(data.get("run_id"))
            case "status":
                self._view.emit(self._stage_event(str(data.get("stage"))))
            case "trace":
                with suppress(ValueError):  # a newer server may send events that this version does not know
                    self._view.emit(replace(event_of_line(data), at_s=self._clock.now_s()))
            case _:
                pass  # content and failure are also in the document

    def _stage_event(self, stage: str) -> TraceEvent:
        return TraceEvent(
            seq=0,
            run_id=self._run_id or "",
            at_s=self._clock.now_s(),
            name=TraceName.STATUS,
            phase=TracePhase.RUN,
            status=TraceEventStatus.STARTED,
            payload={"stage": stage},
        )

    async def _wait_until_closed(self, client: ApiClient, run_id: str) -> WholeRunView:
        """The run once it is completely stored, which takes a little time after a cut stream."""
        until_s = self._clock.now_s() + CLOSED_WITHIN_S
        facts = WholeRunView.read(await client.row(run_id))
        while facts.is_in_progress and self._clock.now_s() < until_s:
            await sleep(self._clock, _POLL_S)
            facts = WholeRunView.read(await client.row(run_id))
        return facts


def _print_answer(facts: WholeRunView, data: bytes, language: Language, output: OutputOptions) -> int:
    """Print the report of a diagnosis or the text of another path; save the document if requested."""
    document = read_document(parse_document(data, file=facts.run_id))
    if facts.text is None or output.as_json:
        write_outputs(document, output)
    else:
        write_line(escape_lines(facts.text), sys.stdout)
        if output.save is not None:
            save_bytes(data, output.save)
    if output.save is not None:
        write_line(phrases.SAVED.render(language, file=str(output.save)), sys.stderr)
    if not output.as_json:
        write_line(words.GO_ON.render(language, session=escape_line(document.run.session_id)), sys.stderr)
    return exit_code(document.release.outcome, document.run.state)
