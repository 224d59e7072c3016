"""`diagnose serve`: one address to ask, watch, stop, reread and audit."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from diagnosis_harness.cli.own_folder import BaselineOption, FromOption, with_folder
from diagnosis_harness.kernel.language import Language

if TYPE_CHECKING:
    from diagnosis_harness.application.service import Service
    from diagnosis_harness.cli.process import Work
    from diagnosis_harness.cli.process_words import ProcessWords
    from diagnosis_harness.server.listening import EndStreams
    from diagnosis_harness.settings import Settings

HostOption = Annotated[
    str | None, typer.Option("--host", help="Address to listen on; beyond loopback with keys.")
]
PortOption = Annotated[
    int | None, typer.Option("--port", min=0, max=65_535, help="Port; 0 takes a free one.")
]
ConfigOption = Annotated[
    Path | None, typer.Option("--config", metavar="FILE", help="A settings file, as `diagnose --settings`.")
]
WorksOption = Annotated[
    bool, typer.Option("--work/--no-work", help="Whether this process takes queued runs as well.")
]
LangOption = Annotated[Language, typer.Option("--lang", help="Language of what the process says.")]


def register(app: typer.Typer, settings_file: Callable[[], Path | None]) -> None:
    """Add the command `serve`."""

    @app.command()
    def serve(  # noqa: PLR0913 - the options of a command
        *,
        host: HostOption = None,
        port: PortOption = None,
        config: ConfigOption = None,
        folder: FromOption = None,
        baseline: BaselineOption = None,
        works: WorksOption = True,
        lang: LangOption = Language.EN,
    ) -> int:
        """Serve the HTTP API: chat as a stream, runs in the background, history, trace, evidence, cancel.

        Told to stop (SIGTERM, Ctrl+C), it takes nothing new, ends chats, lets background runs end for a
        while, and ends the rest; a second Ctrl+C leaves at once.
        """
        from diagnosis_harness.cli.process import in_service, service_settings
        from diagnosis_harness.cli.process_words import process_words

        settings = service_settings(config or settings_file())
        settings = _listening(settings, host=host, port=port)
        settings = with_folder(settings, folder, baseline)
        words = process_words(lang)
        return in_service(settings, _served(settings, words), works=works, words=words)


def _listening(settings: Settings, *, host: str | None, port: int | None) -> Settings:
    given = {name: value for name, value in (("host", host), ("port", port)) if value is not None}
    return settings.model_copy(update={"server": settings.server.model_copy(update=given)})


def _served(settings: Settings, words: ProcessWords) -> Work:
    async def serve(service: Service) -> None:
        from diagnosis_harness.application.draining import drain
        from diagnosis_harness.cli.process import say, say_what_is_away
        from diagnosis_harness.cli.stopping import CANCELLED, leave
        from diagnosis_harness.server.auth import is_loopback, require_key
        from diagnosis_harness.server.listening import serve_until_told

        server = settings.server
        await require_key(service.keys, host=server.host)
        needs_key = server.require_key or not is_loopback(server.host)
        has_key = any(key.revoked_at_s is None for key in await service.keys.keys())
        if not settings.sources:
            say(words.no_source)
        await say_what_is_away(service, words)

        def listening(url: str) -> None:
            say(words.listening.format(url=url))
            if not needs_key:
                say(words.open_to_all)
            elif not has_key:
                say(words.no_key)

        async def stopping(end_streams: EndStreams) -> None:
            say(words.stopping)
            await end_streams()
            await drain(
                service, drain_s=settings.care.drain_s, finalise_timeout_s=settings.run.finalise_timeout_s
            )

        await serve_until_told(
            service,
            server,
            needs_key=needs_key,
            listening=listening,
            stopping=stopping,
            told_again=lambda: leave(CANCELLED),
        )

    return serve
