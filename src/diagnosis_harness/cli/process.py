"""What the commands that stay share: settings, logging, the event loop, signals, and clear ends."""

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
from diagnosis_harness.cli.output import tell
from diagnosis_harness.cli.process_words import ProcessWords
from diagnosis_harness.cli.stopping import CANCELLED, leave
from diagnosis_harness.kernel.errors import InvalidSetting, StoreFailure

if TYPE_CHECKING:
    from diagnosis_harness.application.service import Service
    from diagnosis_harness.settings import Settings

_NEEDED = ("sqlalchemy", "alembic", "bm25s", "fastapi", "uvicorn")
_CHATTY = ("alembic", "uvicorn", "dbos", "httpx2")

Work = Callable[["Service"], Awaitable[None]]


def service_settings(file: Path | None) -> Settings:
    """The settings of a process of the service.

    Raises:
        InvalidSetting: a setting is refused, or the extra `server` is not installed.
    """
    if missing := [name for name in _NEEDED if find_spec(name) is None]:
        raise InvalidSetting(
            "diagnosis-harness[server]",
            f"it is not installed ({', '.join(missing)} missing)",
            "install it: pip install 'diagnosis-harness[server]'",
        )
    from diagnosis_harness.settings import load_settings

    return load_settings(file)


def in_service(
    settings: Settings, work: Work, *, works: bool, words: ProcessWords, waits: bool = False
) -> int:
    """Open the service, do the work in it, close it; gives the exit code.

    Args:
        waits: whether to wait for a PostgreSQL that does not answer yet.

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
            say(words.database.format(database=_database_name(settings)))
            if waits:
                runner.run(_answering(settings, words))
            runner.run(_opened(settings, work, works=works))
    except StoreFailure as failure:
        say(words.cannot_start.format(problem=failure))
        return UNEXPECTED
    say(words.stopped)
    return 0


def _database_name(settings: Settings) -> str:
    from diagnosis_harness.bootstrap.stored_runs import database_name

    return database_name(settings)


async def _answering(settings: Settings, words: ProcessWords) -> None:
    from diagnosis_harness.bootstrap.stored_runs import wait_for_database

    def waiting(problem: StoreFailure) -> None:
        say(words.waiting.format(problem=problem, limit=settings.database.start_wait_s))

    await wait_for_database(settings, on_wait=waiting)


async def _opened(settings: Settings, work: Work, *, works: bool) -> None:
    from diagnosis_harness.bootstrap.service import open_service
    from diagnosis_harness.cli.live import LiveView
    from diagnosis_harness.cli.output import make_console
    from diagnosis_harness.cli.phrases import phrases_of
    from diagnosis_harness.kernel.clock import SystemClock
    from diagnosis_harness.kernel.language import Language

    async with AsyncExitStack() as stack:
        console = make_console(color=True, stderr=True)
        with LiveView(console, clock=SystemClock(), phrases=phrases_of(Language.EN)) as view:
            service = await stack.enter_async_context(
                open_service(settings, accept_background_runs=works, progress=view.loading)
            )
        await work(service)


async def say_what_is_away(service: Service, words: ProcessWords) -> None:
    """Say at once where the evidence store takes no write: the service starts all the same."""
    from diagnosis_harness.application.service import EVIDENCE

    write = service.writes.get(EVIDENCE)
    if write is None:
        return
    try:
        await write()
    except StoreFailure as failure:
        say(words.store_away.format(problem=failure))


async def told_to_stop() -> None:
    """Return at the first SIGTERM or Ctrl+C; from then on, a second one leaves at once."""
    loop, told = asyncio.get_running_loop(), asyncio.Event()

    def stop() -> None:
        if told.is_set():
            leave(CANCELLED)
        told.set()

    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop)
    await told.wait()


def say(sentence: str) -> None:
    """One line on standard error."""
    tell(sentence, sys.stderr)


def _loop_factory() -> Callable[[], asyncio.AbstractEventLoop] | None:
    if find_spec("uvloop") is None:
        return None
    import uvloop

    return uvloop.new_event_loop
