"""`diagnose ask --server`: one question to a service, watched as if it were asked here; or left to it."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator
from contextlib import aclosing, suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from typer.exceptions import TyperException

from diagnosis_harness.cli.answer import Asking
from diagnosis_harness.cli.ask import Apart
from diagnosis_harness.cli.at_desk import Where, opened_server, told
from diagnosis_harness.cli.exit_codes import exit_code
from diagnosis_harness.cli.interrupt import run_interruptible
from diagnosis_harness.cli.live import LiveView
from diagnosis_harness.cli.output import Output, make_console, publish, save_bytes, tell
from diagnosis_harness.cli.phrases import phrases_of
from diagnosis_harness.cli.runs_words import runs_words
from diagnosis_harness.cli.stopping import CANCELLED
from diagnosis_harness.harness.waiting import passed
from diagnosis_harness.kernel.clock import SystemClock
from diagnosis_harness.kernel.errors import ServiceFailure
from diagnosis_harness.kernel.json_value import JsonValue
from diagnosis_harness.kernel.language import Language
from diagnosis_harness.kernel.window import utc_text
from diagnosis_harness.report.document_file import parsed
from diagnosis_harness.report.reading import read_document
from diagnosis_harness.report.timestamps import shown
from diagnosis_harness.server.run_view import WholeRunView
from diagnosis_harness.settings import load_settings
from diagnosis_harness.trace.event import TraceEvent, TraceEventStatus, TraceName, TracePhase
from diagnosis_harness.trace.json_lines import event_of

if TYPE_CHECKING:
    from diagnosis_harness.cli.remote_desk import RemoteDesk

CLOSED_WITHIN_S = 10.0
"""What a run takes, at most, to be closed after its stream has ended or was cut."""
_LOOK_S = 0.1


def ask_server(asking: Asking, apart: Apart, output: Output, settings_file: Path | None) -> int:
    """Ask a service, print, and say by the exit code how the run ended.

    In the background it is submitted, and its id is printed. Else it is watched: Ctrl+C closes the
    connection, which cancels the run, and what is kept of it is printed all the same.

    Raises:
        InvalidInput: what the person gave cannot be used.
        TyperException: neither a folder nor a server is named.
    """
    settings = load_settings(settings_file)
    where = Where(settings_file, apart.server, apart.key, asking.language)
    url = settings.remote.url if where.server is None else where.server
    if not url:
        raise TyperException("Missing option '--from' / '--server'.")
    body = _body(asking, apart)

    async def submitted() -> int:
        async with opened_server(where, settings, url) as desk:
            run_id, is_new = await desk.submit(body)
        words = where.words
        tell((words.submitted if is_new else words.joined).format(run=run_id), sys.stderr)
        tell(run_id, sys.stdout)
        return 0

    def watched() -> int:
        console = make_console(color=output.color, stderr=True)
        with LiveView(console, clock=SystemClock(), phrases=phrases_of(where.language)) as view:
            watching = _Watching(body, view, where.language)

            async def work() -> tuple[WholeRunView, bytes] | None:
                async with opened_server(where, settings, url) as desk:
                    return await watching.run(desk)

            ended = run_interruptible(work, on_first=watching.stop, on_second=watching.leave)
        if ended is None:
            tell(phrases_of(where.language).stopped, sys.stderr)
            return CANCELLED
        return _published(*ended, where.language, output)

    return told(where.words, (lambda: asyncio.run(submitted())) if apart.background else watched)


def _body(asking: Asking, apart: Apart) -> dict[str, JsonValue]:
    """The question as the HTTP API takes it."""
    held: dict[str, JsonValue] = {
        "question": asking.question,
        "language": asking.language.value,
        "onset": None if asking.onset_s is None else utc_text(asking.onset_s),
        "limit_s": asking.deadline_s,
        "source": apart.source,
        "session_id": apart.session,
    }
    return {name: value for name, value in held.items() if value is not None}


class _Watching:
    """One run of a service, shown while it lives."""

    def __init__(self, body: dict[str, JsonValue], view: LiveView, language: Language) -> None:
        self._body = body
        self._view = view
        self._phrases = phrases_of(language)
        self._words = runs_words(language)
        self._run_id: str | None = None
        self._clock = SystemClock()
        self._following: asyncio.Task[None] | None = None
        self._is_stopped = False

    def stop(self) -> None:
        """Close the connection; for the event loop's thread."""
        calls = ", ".join(self._view.in_flight()) or self._phrases.nothing_in_flight
        self._view.say(self._phrases.cancelling.format(calls=calls))
        self._is_stopped = True
        if self._following is not None:
            self._following.cancel()

    def leave(self) -> None:
        """Say that what is in flight is left."""
        self._view.say(self._phrases.left_at_once)
        self._view.close()

    async def run(self, desk: RemoteDesk) -> tuple[WholeRunView, bytes] | None:
        """Follow the stream to its end or to Ctrl+C, and give what is kept; None where no run had begun.

        Raises:
            ServiceFailure: the connection broke off; it says how to learn what became of the run.
        """
        self._following = asyncio.create_task(self._follow(desk.chat({**self._body, "trace": True})))
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
            lost = self._words.lost.format(run=shown(self._run_id))
            raise ServiceFailure(f"{failure} {lost}", kind=failure.kind) from failure
        if self._run_id is None:
            return None
        facts = await self._closed(desk, self._run_id)
        return facts, await desk.document(facts.run_id)

    async def _follow(self, stream: AsyncIterator[tuple[str, JsonValue]]) -> None:
        async with aclosing(stream) as events:  # type: ignore[type-var]  # an asynchronous generator
            async for name, data in events:
                self._hear(name, data if isinstance(data, dict) else {})

    def _hear(self, name: str, data: dict[str, JsonValue]) -> None:
        match name:
            case "metadata":
                self._run_id = str(data.get("run_id"))
            case "status":
                self._view.emit(self._stage(str(data.get("stage"))))
            case "trace":
                with suppress(ValueError):  # a newer server may tell of more than is known here
                    self._view.emit(replace(event_of(data), at_s=self._clock.now_s()))
            case _:
                pass  # content and failure are read with the document, which holds them

    def _stage(self, stage: str) -> TraceEvent:
        return TraceEvent(
            seq=0,
            run_id=self._run_id or "",
            at_s=self._clock.now_s(),
            name=TraceName.STATUS,
            phase=TracePhase.RUN,
            status=TraceEventStatus.STARTED,
            payload={"stage": stage},
        )

    async def _closed(self, desk: RemoteDesk, run_id: str) -> WholeRunView:
        """The run once all of it is kept; a cut stream ends it, and that takes a moment."""
        until_s = self._clock.now_s() + CLOSED_WITHIN_S
        facts = WholeRunView.read(await desk.row(run_id))
        while facts.is_in_progress and self._clock.now_s() < until_s:
            await passed(self._clock, _LOOK_S)
            facts = WholeRunView.read(await desk.row(run_id))
        return facts


def _published(facts: WholeRunView, data: bytes, language: Language, output: Output) -> int:
    """Print the report of a diagnosis or the text of another path; save the document where that is wanted."""
    document = read_document(parsed(data, file=facts.run_id))
    if facts.text is None or output.as_json:
        publish(document, output)
    else:
        tell("\n".join(shown(line) for line in facts.text.split("\n")), sys.stdout)
        if output.save is not None:
            save_bytes(data, output.save)
    if output.save is not None:
        tell(phrases_of(language).saved.format(file=output.save), sys.stderr)
    if not output.as_json:
        tell(runs_words(language).go_on.format(session=shown(document.run.session_id)), sys.stderr)
    return exit_code(document.release.outcome, document.run.state)
