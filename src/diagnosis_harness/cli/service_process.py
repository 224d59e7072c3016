"""Shared by the long-running commands (serve, worker): settings, logging, signals, shutdown."""

from __future__ import annotations

import asyncio
import logging
import signal
import sys
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from diagnosis_harness.cli.exit_codes import UNEXPECTED
from diagnosis_harness.cli.interrupt import CANCELLED, exit_now
from diagnosis_harness.cli.output import write_line
from diagnosis_harness.cli.words import service as words
from diagnosis_harness.kernel.errors import InvalidInput, InvalidSetting, StoreFailure
from diagnosis_harness.kernel.language import Language

if TYPE_CHECKING:  # slow imports, made only when needed
    from diagnosis_harness.application.service import Service
    from diagnosis_harness.settings import Settings

_NEEDED = ("sqlalchemy", "alembic", "bm25s", "fastapi", "uvicorn")
_CHATTY = ("alembic", "uvicorn", "dbos", "httpx2")

ServiceWork = Callable[["Service"], Awaitable[None]]


def load_service_settings(file: Path | None) -> Settings:
    """The settings of a service process.

    Raises:
        InvalidSetting: a setting is invalid, or the extra `server` is not installed.
    """
    if missing := [name for name in _NEEDED if find_spec(name) is None]:
        raise InvalidSetting(
            "diagnosis-harness[server]",
            f"it is not installed ({', '.join(missing)} missing)",
            "install it: pip install 'diagnosis-harness[server]'",
        )
    from diagnosis_harness.settings import load_settings

    return load_settings(file)


def add_source(settings: Settings, folder: Path | None, baseline: Path | None) -> Settings:
    """The settings with a source for `folder`, named after it.

    Raises:
        InvalidInput: a baseline is given without a folder.
    """
    from diagnosis_harness.settings import SourceSettings

    if folder is None:
        if baseline is not None:
            raise InvalidInput("--baseline", "it is given without --from", "name the incident folder as well")
        return settings
    source = SourceSettings(folder=folder, baseline=baseline)
    return settings.model_copy(update={"sources": {**settings.sources, folder.resolve().name: source}})


def run_in_service(
    settings: Settings,
    work: ServiceWork,
    *,
    accept_background_runs: bool,
    language: Language,
    wait_for_database: bool = False,
) -> int:
    """Open the service, do the work, close the service, and return the exit code.

    Args:
        wait_for_database: whether to wait for a PostgreSQL that does not answer yet.

    Raises:
        InvalidInput: a setting or a folder cannot be used.
    """
    logging.basicConfig(
        stream=sys.stderr, level=logging.INFO, format="%(asctime)s %(levelname)s %(name)s: %(message)s"
    )
    for name in _CHATTY:
        logging.getLogger(name).setLevel(logging.WARNING)
    try:
        with asyncio.Runner(loop_factory=_loop_factory()) as runner:
            print_status(words.DATABASE.render(language, database=_database_name(settings)))
            if wait_for_database:
                runner.run(_wait_for_database(settings, language))
            runner.run(_open_and_work(settings, work, accept_background_runs=accept_background_runs))
    except StoreFailure as failure:
        print_status(words.CANNOT_START.render(language, problem=str(failure)))
        return UNEXPECTED
    print_status(words.STOPPED.in_(language))
    return 0


def _database_name(settings: Settings) -> str:
    from diagnosis_harness.bootstrap.stored_runs import database_name

    return database_name(settings)


async def _wait_for_database(settings: Settings, language: Language) -> None:
    from diagnosis_harness.bootstrap.stored_runs import wait_for_database

    def waiting(problem: StoreFailure) -> None:
        print_status(
            words.WAITING.render(language, problem=str(problem), limit=settings.database.start_wait_s)
        )

    await wait_for_database(settings, on_wait=waiting)


async def _open_and_work(settings: Settings, work: ServiceWork, *, accept_background_runs: bool) -> None:
    from diagnosis_harness.bootstrap.service import open_service
    from diagnosis_harness.cli.live import LiveView
    from diagnosis_harness.cli.output import make_console
    from diagnosis_harness.kernel.clock import SystemClock
    from diagnosis_harness.kernel.language import Language

    async with AsyncExitStack() as stack:
        console = make_console(color=True, stderr=True)
        with LiveView(console, clock=SystemClock(), language=Language.EN) as view:
            service = await stack.enter_async_context(
                open_service(
                    settings, accept_background_runs=accept_background_runs, progress=view.show_loading
                )
            )
        await work(service)


async def warn_if_evidence_store_is_unavailable(service: Service, language: Language) -> None:
    """Warn if the evidence store accepts no writes; the service starts anyway."""
    from diagnosis_harness.application.service import EVIDENCE

    write = service.writes.get(EVIDENCE)
    if write is None:
        return
    try:
        await write()
    except StoreFailure as failure:
        print_status(words.STORE_AWAY.render(language, problem=str(failure)))


async def wait_for_shutdown_signal() -> None:
    """Return at the first SIGTERM or Ctrl+C; the second one ends the process at once."""
    loop, stopping = asyncio.get_running_loop(), asyncio.Event()

    def stop() -> None:
        if stopping.is_set():
            exit_now(CANCELLED)
        stopping.set()

    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop)
    await stopping.wait()


def print_status(sentence: str) -> None:
    """Print one line on standard error."""
    write_line(sentence, sys.stderr)


def _loop_factory() -> Callable[[], asyncio.AbstractEventLoop] | None:
    if find_spec("uvloop") is None:
        return None
    import uvloop

    return uvloop.new_event_loop
