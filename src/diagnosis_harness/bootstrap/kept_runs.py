"""The configured database alone, for commands that look at its runs and keys while other processes serve."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from diagnosis_harness.adapters.persistence.address import engine_url
from diagnosis_harness.adapters.persistence.archive import SqlRunArchive
from diagnosis_harness.adapters.persistence.database import Database
from diagnosis_harness.adapters.persistence.keys import SqlKeyStore
from diagnosis_harness.adapters.queue.local_queue import LocalRunQueue
from diagnosis_harness.application.callers.key_store import KeyStore
from diagnosis_harness.application.runs.active import ActiveRuns
from diagnosis_harness.application.runs.asking import AskingRules
from diagnosis_harness.application.runs.desk import Runs, RunsSettings
from diagnosis_harness.application.runs.evidence_archive import EvidenceArchive
from diagnosis_harness.harness.core import DiagnosisHarnessCore
from diagnosis_harness.harness.workers import WorkerPool
from diagnosis_harness.kernel.clock import Clock, SystemClock
from diagnosis_harness.kernel.ids import IdSource, RandomIds
from diagnosis_harness.settings import Settings
from diagnosis_harness.trace.sink import NullSink


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
