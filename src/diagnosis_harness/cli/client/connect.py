"""Connect a command to the stored runs, local or remote, and report their failures."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from typing import TYPE_CHECKING

from diagnosis_harness.cli.client.find_run import find_run
from diagnosis_harness.cli.client.runs_client import RunsClient
from diagnosis_harness.cli.exit_codes import BAD_INPUT, UNEXPECTED
from diagnosis_harness.cli.options import RunsOptions
from diagnosis_harness.cli.output import write_line
from diagnosis_harness.cli.words import runs as words
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
from diagnosis_harness.report.timestamps import escape_line
from diagnosis_harness.server.run_view import WholeRunView
from diagnosis_harness.settings import Settings, load_settings

if TYPE_CHECKING:  # slow imports, made only when needed
    from diagnosis_harness.bootstrap.stored_runs import StoredRuns
    from diagnosis_harness.cli.client.api_client import ApiClient

_REPORTED = (RunUnknown, RunGoesOn, NotPermitted, RunDocumentInvalid, StoreFailure, ServiceFailure)


def with_runs_client(options: RunsOptions, work: Callable[[RunsClient], Awaitable[int]]) -> int:
    """Do a command's work with a client, and give its exit code; a failure is reported on standard error.

    Raises:
        InvalidInput: an argument or a setting cannot be used.
    """

    async def connect_and_work() -> int:
        async with _open_client(options, load_settings(options.settings_file)) as client:
            return await work(client)

    return report_failures(options.language, lambda: asyncio.run(connect_and_work()))


def with_run(
    options: RunsOptions, reference: str, work: Callable[[RunsClient, WholeRunView], Awaitable[int]]
) -> int:
    """`with_runs_client` for a command about one run, which it first finds by its reference."""

    async def find_and_work(client: RunsClient) -> int:
        return await work(client, await find_run(client, reference, options.language))

    return with_runs_client(options, find_and_work)


def has_stored_runs(options: RunsOptions) -> bool:
    """Whether a server is named, or the database of a service is there.

    Raises:
        InvalidInput: a setting cannot be used.
    """
    if is_server_named(options):
        return True
    try:
        from diagnosis_harness.bootstrap.stored_runs import has_database
    except ModuleNotFoundError:  # a plain installation has no database
        return False
    return has_database(load_settings(options.settings_file))


def is_server_named(options: RunsOptions) -> bool:
    """Whether an option or the settings name a server.

    Raises:
        InvalidInput: a setting cannot be used.
    """
    settings = load_settings(options.settings_file)
    return bool(settings.remote.url if options.server is None else options.server)


def report_failures(language: Language, work: Callable[[], int]) -> int:
    """The exit code of `work`; a failure of the store or server becomes a sentence and an exit code.

    Raises:
        InvalidInput: an argument or a setting cannot be used.
    """
    try:
        return work()
    except _REPORTED as error:
        sentence, code = _describe(error, language)
        write_line(sentence, sys.stderr)
        return code


@asynccontextmanager
async def open_api_client(options: RunsOptions, settings: Settings, url: str) -> AsyncIterator[ApiClient]:
    """The client of a server.

    Raises:
        InvalidInput: the address cannot be used, or the client is not installed.
    """
    with _require_extra(options.language, "server"):
        from diagnosis_harness.cli.client.api_client import ApiClient, ServerAddress, check_address

    address = ServerAddress(
        url=url,
        key=settings.api_key.get_secret_value() if options.key is None else options.key,
        timeout_s=settings.remote.timeout_s,
        proxy=settings.remote.proxy,
        ca_file=settings.remote.ca_file,
    )
    async with ApiClient(check_address(address), language=options.language) as client:
        yield client


@asynccontextmanager
async def open_database(
    options: RunsOptions, settings: Settings, *, create_if_missing: bool
) -> AsyncIterator[StoredRuns]:
    """The local database.

    Raises:
        InvalidInput: there is none, it cannot be used, or what it needs is not installed.
    """
    with _require_extra(options.language, "server"):
        from diagnosis_harness.bootstrap.stored_runs import has_database, open_stored_runs

    if not create_if_missing and not has_database(settings):
        problem, remedy = words.NO_DATABASE, words.NO_DATABASE_REMEDY
        raise InvalidInput(settings.database.url, problem.in_(options.language), remedy.in_(options.language))
    async with open_stored_runs(settings) as stored:
        yield stored


@asynccontextmanager
async def _open_client(options: RunsOptions, settings: Settings) -> AsyncIterator[RunsClient]:
    if url := settings.remote.url if options.server is None else options.server:
        async with open_api_client(options, settings, url) as client:
            yield client
        return
    async with open_database(options, settings, create_if_missing=False) as stored:
        from diagnosis_harness.cli.client.database_client import DatabaseClient

        yield DatabaseClient(stored.runs, stored.feedback, clock=stored.clock)


@contextmanager
def _require_extra(language: Language, extra: str) -> Iterator[None]:
    """Turn a failed import into a sentence that names what to install."""
    try:
        yield
    except ModuleNotFoundError as error:
        problem = words.NOT_INSTALLED.render(language, module=(error.name or "").partition(".")[0])
        raise InvalidInput("diagnose", problem, words.INSTALL.render(language, extra=extra)) from error


def _describe(error: DiagnosisHarnessError, language: Language) -> tuple[str, int]:
    """A failure as a sentence, and the exit code: BAD_INPUT if the person can correct it."""
    problem = escape_line(" ".join(str(error).split()))
    match error:
        case RunUnknown():
            return words.UNKNOWN.render(language, run=problem), BAD_INPUT
        case RunGoesOn():
            return words.STILL_RUNNING.render(language, run=problem), BAD_INPUT
        case NotPermitted():
            return words.NOT_PERMITTED.in_(language), BAD_INPUT
        case ServiceFailure(status=status):
            is_client_error = status is not None and 400 <= status < 500 and status != 429
            return problem, BAD_INPUT if is_client_error else UNEXPECTED
        case RunDocumentInvalid():
            return words.DAMAGED.render(language, problem=problem.rstrip(".")), UNEXPECTED
        case _:
            return words.STORE.render(language, problem=problem.rstrip(".")), UNEXPECTED
