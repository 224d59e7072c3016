"""`diagnose worker`: a process, or a machine, that works on what a service has queued."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from diagnosis_harness.cli.own_folder import BaselineOption, FromOption, with_folder
from diagnosis_harness.kernel.errors import InvalidSetting
from diagnosis_harness.kernel.language import Language

if TYPE_CHECKING:
    from diagnosis_harness.application.service import Service
    from diagnosis_harness.cli.process import Work
    from diagnosis_harness.cli.process_words import ProcessWords
    from diagnosis_harness.settings import Settings

ParallelOption = Annotated[
    int | None,
    typer.Option(
        "--parallel", metavar="N", min=1, help="Runs at work at a time; as configured when left out."
    ),
]
LangOption = Annotated[Language, typer.Option("--lang", help="Language of what the process says.")]


def register(app: typer.Typer, settings_file: Callable[[], Path | None]) -> None:
    """Add the command `worker`."""

    @app.command()
    def worker(
        *,
        folder: FromOption = None,
        baseline: BaselineOption = None,
        parallel: ParallelOption = None,
        lang: LangOption = Language.EN,
    ) -> int:
        """Take queued runs from the database of a service, and work on them until told to stop.

        Any number of these may share one database, on any number of machines. Each takes the runs about the
        sources that it has, wherever their folders lie there, and leaves others alone. Told to stop (SIGTERM,
        Ctrl+C), it takes no more, lets what is at work end for a while, and ends the rest; a second Ctrl+C
        leaves at once.
        """
        from diagnosis_harness.cli.process import in_service, service_settings
        from diagnosis_harness.cli.process_words import process_words

        settings = with_folder(service_settings(settings_file()), folder, baseline)
        if parallel is not None:
            queue = settings.queue.model_copy(update={"parallel_max": parallel})
            settings = settings.model_copy(update={"queue": queue})
        words = process_words(lang)
        _require_database(settings, words)
        return in_service(settings, _worked(settings, words), works=True, words=words, waits=True)


def _require_database(settings: Settings, words: ProcessWords) -> None:
    """A worker makes no file: in the wrong folder it would wait beside an empty one for ever.

    Raises:
        InvalidSetting: the file is not there, or the setting is refused.
    """
    from diagnosis_harness.bootstrap.stored_runs import database_name, has_database

    if not has_database(settings):
        problem = words.no_database.format(database=database_name(settings))
        raise InvalidSetting("database.url", problem, words.no_database_remedy)


def _worked(settings: Settings, words: ProcessWords) -> Work:
    async def work(service: Service) -> None:
        from diagnosis_harness.application.draining import drain
        from diagnosis_harness.cli.process import say, say_what_is_away, told_to_stop

        if not settings.sources:
            say(words.no_source_here)
        await say_what_is_away(service, words)
        say(words.working.format(owner=service.keeping.owner, parallel=settings.queue.parallel_max))
        await told_to_stop()
        say(words.stopping)
        await drain(
            service, drain_s=settings.care.drain_s, finalise_timeout_s=settings.run.finalise_timeout_s
        )

    return work
