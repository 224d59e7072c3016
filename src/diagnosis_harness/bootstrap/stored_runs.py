"""Opens the configured database without a service, for commands that read its runs and manage its keys."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from diagnosis_harness.adapters.evidence_stores.redis import RedisEvidenceStore
from diagnosis_harness.adapters.persistence.address import display_location, engine_url
from diagnosis_harness.adapters.persistence.archive import SqlRunArchive
from diagnosis_harness.adapters.persistence.database import Database, wait_until_reachable
from diagnosis_harness.adapters.persistence.feedback import SqlFeedbackStore
from diagnosis_harness.adapters.persistence.keys import SqlKeyStore
from diagnosis_harness.application.callers.key_store import KeyStore
from diagnosis_harness.application.runs.cancellation import RunCanceller
from diagnosis_harness.application.runs.feedback import RunFeedback
from diagnosis_harness.kernel.clock import Clock, SystemClock
from diagnosis_harness.kernel.errors import StoreFailure
from diagnosis_harness.kernel.ids import IdSource, RandomIds
from diagnosis_harness.settings import Settings


@dataclass(frozen=True, slots=True)
class StoredRuns:
    """Stored runs and keys. No run starts here; cancelling one only sends a request to its process."""

    runs: RunCanceller
    feedback: RunFeedback
    keys: KeyStore
    clock: Clock
    ids: IdSource


def has_database(settings: Settings) -> bool:
    """Whether the database exists: False for a missing file, True for any server, which is not contacted.

    Raises:
        InvalidSetting: the URL is refused.
    """
    url = engine_url(settings.database.url)
    return not url.drivername.startswith("sqlite") or Path(url.database or "").is_file()


def database_name(settings: Settings) -> str:
    """The path or the server of the database, without user and password.

    Raises:
        InvalidSetting: the URL is refused.
    """
    return display_location(engine_url(settings.database.url))


async def wait_for_database(settings: Settings, *, on_wait: Callable[[StoreFailure], None]) -> None:
    """Wait for a PostgreSQL that is not reachable yet, for at most `database.start_wait_s`.

    Args:
        on_wait: called once, when the first attempt fails.

    Raises:
        InvalidSetting: the URL is refused, or its driver is not installed.
        StoreFailure: the database cannot be reached in that time, or refuses for good.
    """
    await wait_until_reachable(
        settings.database.url,
        timeout_s=settings.database.start_wait_s,
        busy_timeout_s=settings.database.busy_timeout_s,
        on_wait=on_wait,
        clock=SystemClock(),
    )


@asynccontextmanager
async def open_stored_runs(settings: Settings) -> AsyncIterator[StoredRuns]:
    """Open the database, and create it if it does not exist.

    Raises:
        InvalidSetting: a URL is refused, or a required library is not installed.
        StoreFailure: the database cannot be reached.
    """
    clock, ids = SystemClock(), RandomIds()
    async with AsyncExitStack() as stack:
        database = await Database.open(
            settings.database.url, pool_size=1, busy_timeout_s=settings.database.busy_timeout_s
        )
        stack.push_async_callback(database.close)
        archive = SqlRunArchive(database, evidence=open_redis(stack, settings))
        runs = RunCanceller(archive, clock=clock)
        feedback = RunFeedback(runs, SqlFeedbackStore(database), clock=clock)
        yield StoredRuns(runs, feedback, SqlKeyStore(database), clock, ids)


def open_redis(stack: AsyncExitStack, settings: Settings) -> RedisEvidenceStore | None:
    """Open the evidence store outside of the database, if one is configured; the stack closes it."""
    if not settings.evidence.url:
        return None
    store = RedisEvidenceStore.at(settings.evidence.url, ttl_s=settings.evidence.ttl_s)
    stack.push_async_callback(store.close)
    return store
