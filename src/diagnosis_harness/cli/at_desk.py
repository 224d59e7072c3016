"""Opens the runs that a command is about, here or on a server, and says what went wrong there."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from diagnosis_harness.cli.exit_codes import BAD_INPUT, UNEXPECTED
from diagnosis_harness.cli.output import tell
from diagnosis_harness.cli.ports import RunsDesk
from diagnosis_harness.cli.runs_words import RunsWords, runs_words
from diagnosis_harness.kernel.errors import (
    DiagnosisHarnessError,
    InvalidInput,
    NotPermitted,
    RunDocumentInvalid,
    RunGoesOn,
    RunUnknown,
    ServiceFailure,
    StoreFailure,
)
from diagnosis_harness.kernel.language import Language
from diagnosis_harness.report.timestamps import shown
from diagnosis_harness.settings import Settings, load_settings

if TYPE_CHECKING:
    from diagnosis_harness.bootstrap.stored_runs import StoredRuns
    from diagnosis_harness.cli.remote_desk import RemoteDesk

_SAID = (RunUnknown, RunGoesOn, NotPermitted, RunDocumentInvalid, StoreFailure, ServiceFailure)

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Where:
    """Where the runs are.

    Attributes:
        server: URL of one; None is the configured one, empty is the database of this machine.
        key: for the server; None is the configured one.
        language: to complain in.
    """

    settings_file: Path | None = None
    server: str | None = None
    key: str | None = None
    language: Language = Language.EN

    @property
    def words(self) -> RunsWords:
        """The words of its language."""
        return runs_words(self.language)


def at_desk(where: Where, work: Callable[[RunsDesk], Awaitable[int]]) -> int:
    """Do a command's work over the runs, and give its exit code; what went wrong is told on standard error.

    Raises:
        InvalidInput: what the person gave cannot be used.
    """
    settings = load_settings(where.settings_file)

    async def worked() -> int:
        async with _opened(where, settings) as desk:
            return await work(desk)

    return told(where.words, lambda: asyncio.run(worked()))


def told(words: RunsWords, work: Callable[[], int]) -> int:
    """What `work` gives; a failure of the runs' keeper becomes a sentence and an exit code.

    Raises:
        InvalidInput: what the person gave cannot be used.
    """
    try:
        return work()
    except _SAID as error:
        sentence, code = _said(error, words)
        tell(sentence, sys.stderr)
        return code


@asynccontextmanager
async def opened_server(where: Where, settings: Settings, url: str) -> AsyncIterator[RemoteDesk]:
    """The desk of a server.

    Raises:
        InvalidInput: the address cannot be used, or the client is not installed.
    """
    with _installed(where.words, "server"):
        from diagnosis_harness.cli.remote_desk import RemoteDesk, ServerAddress, checked_address

    address = ServerAddress(
        url=url,
        key=settings.api_key.get_secret_value() if where.key is None else where.key,
        timeout_s=settings.remote.timeout_s,
        proxy=settings.remote.proxy,
        ca_file=settings.remote.ca_file,
    )
    async with RemoteDesk(checked_address(address), words=where.words, language=where.language) as desk:
        yield desk


@asynccontextmanager
async def opened_database(where: Where, settings: Settings, *, makes: bool) -> AsyncIterator[StoredRuns]:
    """The database of this machine; with `makes` one that is not there yet is made.

    Raises:
        InvalidInput: there is none, it cannot be used, or what it needs is not installed.
    """
    with _installed(where.words, "server"):
        from diagnosis_harness.bootstrap.stored_runs import has_database, open_stored_runs

    if not makes and not has_database(settings):
        raise InvalidInput(settings.database.url, where.words.no_database, where.words.no_database_remedy)
    async with open_stored_runs(settings) as kept:
        yield kept


@asynccontextmanager
async def _opened(where: Where, settings: Settings) -> AsyncIterator[RunsDesk]:
    url = settings.remote.url if where.server is None else where.server
    if url:
        async with opened_server(where, settings, url) as desk:
            yield desk
        return
    async with opened_database(where, settings, makes=False) as kept:
        from diagnosis_harness.cli.local_desk import LocalDesk

        yield LocalDesk(kept.runs, clock=kept.clock)


@contextmanager
def _installed(words: RunsWords, extra: str) -> Iterator[None]:
    """Turn an import that does not work into the sentence that says what to install."""
    try:
        yield
    except ModuleNotFoundError as error:
        problem = words.not_installed.format(module=(error.name or "").partition(".")[0])
        raise InvalidInput("diagnose", problem, words.install.format(extra=extra)) from error


def _said(error: DiagnosisHarnessError, words: RunsWords) -> tuple[str, int]:
    """The sentence, and whether it is for the person to put right."""
    problem = shown(" ".join(str(error).split()))
    match error:
        case RunUnknown():
            return words.unknown.format(run=problem), BAD_INPUT
        case RunGoesOn():
            return words.gone_on.format(run=problem), BAD_INPUT
        case NotPermitted():
            return words.not_permitted, BAD_INPUT
        case ServiceFailure(status=status):
            is_ours = status is not None and 400 <= status < 500 and status != 429
            return problem, BAD_INPUT if is_ours else UNEXPECTED
        case RunDocumentInvalid():
            return words.damaged.format(problem=problem.rstrip(".")), UNEXPECTED
        case _:
            return words.store.format(problem=problem.rstrip(".")), UNEXPECTED
