"""`diagnose worker`: work on the runs that a service has queued."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from diagnosis_harness.cli.options import BaselineOption, OutputLangOption, SettingsFile, SourceFolderOption
from diagnosis_harness.cli.words import service as words
from diagnosis_harness.kernel.errors import InvalidSetting
from diagnosis_harness.kernel.language import Language

if TYPE_CHECKING:  # slow imports, made only when needed
    from diagnosis_harness.application.service import Service
    from diagnosis_harness.cli.service_process import ServiceWork
    from diagnosis_harness.settings import Settings

ParallelOption = Annotated[
    int | None,
    typer.Option(
        "--parallel", metavar="N", min=1, help="How many runs to work on at a time; as configured by default."
    ),
]


def register(app: typer.Typer, settings_file: SettingsFile) -> None:
    """Add the command `worker`."""

    @app.command()
    def worker(
        *,
        folder: SourceFolderOption = None,
        baseline: BaselineOption = None,
        parallel: ParallelOption = None,
        lang: OutputLangOption = Language.EN,
    ) -> int:
        """Work on queued runs from the database of a service until stopped.

        Any number of workers may share one database, on any number of machines. Each takes only the runs
        about the sources that it has; the folders may be at different paths on each machine. On SIGTERM or
        Ctrl+C it takes no more runs, gives those in progress time to finish, then ends the rest; a second
        Ctrl+C exits at once.
        """
        from diagnosis_harness.cli.service_process import add_source, load_service_settings, run_in_service

        settings = add_source(load_service_settings(settings_file()), folder, baseline)
        if parallel is not None:
            queue = settings.queue.model_copy(update={"parallel_max": parallel})
            settings = settings.model_copy(update={"queue": queue})
        _require_database(settings, lang)
        return run_in_service(
            settings,
            _work(settings, lang),
            accept_background_runs=True,
            language=lang,
            wait_for_database=True,
        )


def _require_database(settings: Settings, language: Language) -> None:
    """Refuse a missing database: one created in the wrong folder would stay empty, and the worker idle.

    Raises:
        InvalidSetting: the file does not exist, or the setting is refused.
    """
    from diagnosis_harness.bootstrap.stored_runs import database_name, has_database

    if not has_database(settings):
        problem = words.NO_DATABASE.render(language, database=database_name(settings))
        raise InvalidSetting("database.url", problem, words.NO_DATABASE_REMEDY.in_(language))


def _work(settings: Settings, language: Language) -> ServiceWork:
    async def work(service: Service) -> None:
        from diagnosis_harness.application.draining import drain
        from diagnosis_harness.cli.service_process import (
            print_status,
            wait_for_shutdown_signal,
            warn_if_evidence_store_is_unavailable,
        )

        if not settings.sources:
            print_status(words.NO_SOURCE_HERE.in_(language))
        await warn_if_evidence_store_is_unavailable(service, language)
        print_status(
            words.WORKING.render(language, owner=service.stores.owner, parallel=settings.queue.parallel_max)
        )
        await wait_for_shutdown_signal()
        print_status(words.STOPPING.in_(language))
        await drain(
            service, drain_s=settings.supervision.drain_s, finalise_timeout_s=settings.run.finalise_timeout_s
        )

    return work
