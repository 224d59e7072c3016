"""The configured database alone, for commands that look at its runs and keys while other processes serve."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from diagnosis_harness.adapters.persistence.address import engine_url, shown
from diagnosis_harness.adapters.persistence.archive import SqlRunArchive
from diagnosis_harness.adapters.persistence.database import Database
from diagnosis_harness.adapters.persistence.failures import AWAY
from diagnosis_harness.adapters.persistence.keys import SqlKeyStore
from diagnosis_harness.adapters.queue.local_queue import LocalRunQueue
from diagnosis_harness.application.callers.key_store import KeyStore
from diagnosis_harness.application.runs.active import ActiveRuns
from diagnosis_harness.application.runs.asking import AskingRules
from diagnosis_harness.application.runs.desk import Runs, RunsSettings
from diagnosis_harness.application.runs.evidence_archive import EvidenceArchive
from diagnosis_harness.harness.core import DiagnosisHarnessCore
from diagnosis_harness.harness.waiting import passed
from diagnosis_harness.harness.workers import WorkerPool
from diagnosis_harness.kernel.clock import Clock, SystemClock
from diagnosis_harness.kernel.errors import StoreFailure
from diagnosis_harness.kernel.ids import IdSource, RandomIds
from diagnosis_harness.settings import Settings
from diagnosis_harness.trace.sink import NullSink

_ASK_AGAIN_S: Final = 0.5


@dataclass(frozen=True, slots=True)
class KeptRuns:
    """What is kept. No run is made here; one that another process works on is cancelled by a wish."""

    runs: Runs
    keys: KeyStore
    clock: Clock
    ids: IdSource


def has_database(settings: Settings) -> bool:
    """Whether there is one to look into: a file that is not there is none, a server is asked later.

    Raises:
        InvalidSetting: the URL is refused.
    """
    url = engine_url(settings.database.url)
    return not url.drivername.startswith("sqlite") or Path(url.database or "").is_file()


def database_name(settings: Settings) -> str:
    """Where it is, for people; no secret.

    Raises:
        InvalidSetting: the URL is refused.
    """
    return shown(engine_url(settings.database.url))


async def wait_for_database(
    settings: Settings, *, waiting: Callable[[StoreFailure], None], clock: Clock | None = None
) -> None:
    """Return when it answers. A PostgreSQL that is away or starts is asked again for `database.start_wait_s`.

    Args:
        waiting: told once, when the first answer fails.

    Raises:
        InvalidSetting: the URL is refused, or what it needs is not installed.
        StoreFailure: it did not answer in that time, or with a refusal that no waiting helps.
    """
    clock = clock or SystemClock()
    is_server = not engine_url(settings.database.url).drivername.startswith("sqlite")
    until_s, is_told = clock.now_s() + settings.database.start_wait_s, False
    while True:
        try:
            database = await Database.opened(
                settings.database.url, pool_size=1, busy_timeout_s=settings.database.busy_timeout_s
            )
        except StoreFailure as failure:
            if not is_server or failure.kind not in AWAY or clock.now_s() >= until_s:
                raise
            if not is_told:
                waiting(failure)
            is_told = True
        else:
            await database.close()
            return
        await passed(clock, _ASK_AGAIN_S)


@asynccontextmanager
async def open_kept_runs(settings: Settings) -> AsyncIterator[KeptRuns]:
    """Open the database, which is made where it is not there.

    Raises:
        InvalidSetting: a URL is refused, or what it needs is not installed.
        StoreFailure: the database cannot be reached.
    """
    clock, ids = SystemClock(), RandomIds()
    async with AsyncExitStack() as stack:
        database = await Database.opened(
            settings.database.url, pool_size=1, busy_timeout_s=settings.database.busy_timeout_s
        )
        stack.push_async_callback(database.close)
        workers = WorkerPool(threads_max=1)
        core = DiagnosisHarnessCore(clock=clock, ids=ids, sink=NullSink(), workers=workers)
        stack.enter_context(core)
        runs = Runs(
            core,
            archive=SqlRunArchive(database, evidence=_evidence(stack, settings)),
            queue=LocalRunQueue(),
            active=ActiveRuns(),
            owner="",
            settings=RunsSettings(AskingRules((), 1.0, 1.0, 1.0), unfinished_max=1),
        )
        yield KeptRuns(runs, SqlKeyStore(database), clock, ids)


def _evidence(stack: AsyncExitStack, settings: Settings) -> EvidenceArchive | None:
    """Where records are kept outside of the database, if they are."""
    if not settings.evidence.url:
        return None
    from diagnosis_harness.adapters.evidence_stores.redis import RedisEvidenceStore

    store = RedisEvidenceStore.at(settings.evidence.url, ttl_s=settings.evidence.ttl_s)
    stack.push_async_callback(store.close)
    return store
