"""`diagnose serve`: the HTTP API."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from diagnosis_harness.cli.options import BaselineOption, OutputLangOption, SettingsFile, SourceFolderOption
from diagnosis_harness.cli.words import service as words
from diagnosis_harness.kernel.language import Language

if TYPE_CHECKING:  # slow imports, made only when needed
    from diagnosis_harness.application.service import Service
    from diagnosis_harness.cli.service_process import ServiceWork
    from diagnosis_harness.server.serve import EndStreams
    from diagnosis_harness.settings import Settings

HostOption = Annotated[
    str | None, typer.Option("--host", help="Address to listen on; other than loopback requires keys.")
]
PortOption = Annotated[
    int | None, typer.Option("--port", min=0, max=65_535, help="Port; 0 picks a free one.")
]
ConfigOption = Annotated[
    Path | None, typer.Option("--config", metavar="FILE", help="A settings file, like `diagnose --settings`.")
]
WorkOption = Annotated[
    bool, typer.Option("--work/--no-work", help="Whether this process also works on queued runs.")
]


def register(app: typer.Typer, settings_file: SettingsFile) -> None:
    """Add the command `serve`."""

    @app.command()
    def serve(  # noqa: PLR0913 - the options of a command
        *,
        host: HostOption = None,
        port: PortOption = None,
        config: ConfigOption = None,
        folder: SourceFolderOption = None,
        baseline: BaselineOption = None,
        work: WorkOption = True,
        lang: OutputLangOption = Language.EN,
    ) -> int:
        """Serve the HTTP API: chat as a stream, runs in the background, history, trace, evidence, cancel.

        On SIGTERM or Ctrl+C it accepts nothing new, ends chats, gives background runs time to finish, then
        ends the rest; a second Ctrl+C exits at once.
        """
        from diagnosis_harness.cli.service_process import add_source, load_service_settings, run_in_service

        settings = load_service_settings(config or settings_file())
        settings = _with_address(settings, host=host, port=port)
        settings = add_source(settings, folder, baseline)
        return run_in_service(settings, _serve(settings, lang), accept_background_runs=work, language=lang)


def _with_address(settings: Settings, *, host: str | None, port: int | None) -> Settings:
    values = {name: value for name, value in (("host", host), ("port", port)) if value is not None}
    return settings.model_copy(update={"server": settings.server.model_copy(update=values)})


def _serve(settings: Settings, language: Language) -> ServiceWork:
    async def serve(service: Service) -> None:
        from diagnosis_harness.application.draining import drain
        from diagnosis_harness.cli.interrupt import CANCELLED, exit_now
        from diagnosis_harness.cli.service_process import print_status, warn_if_evidence_store_is_unavailable
        from diagnosis_harness.server.auth import is_loopback, require_key
        from diagnosis_harness.server.serve import serve_until_stopped

        server = settings.server
        await require_key(service.keys, host=server.host)
        needs_key = server.require_key or not is_loopback(server.host)
        has_key = any(key.revoked_at_s is None for key in await service.keys.keys())
        if not settings.sources:
            print_status(words.NO_SOURCE.in_(language))
        await warn_if_evidence_store_is_unavailable(service, language)

        def listening(url: str) -> None:
            print_status(words.LISTENING.render(language, url=url))
            if not needs_key:
                print_status(words.OPEN_TO_ALL.in_(language))
            elif not has_key:
                print_status(words.NO_KEY.in_(language))

        async def stopping(end_streams: EndStreams) -> None:
            print_status(words.STOPPING.in_(language))
            await end_streams()
            await drain(
                service,
                drain_s=settings.supervision.drain_s,
                finalise_timeout_s=settings.run.finalise_timeout_s,
            )

        await serve_until_stopped(
            service,
            server,
            needs_key=needs_key,
            listening=listening,
            stopping=stopping,
            on_second_signal=lambda: exit_now(CANCELLED),
        )

    return serve
