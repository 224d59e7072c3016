"""One process with a run log of its own bounds, over a database that a test chooses."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from tests.support.rows import Process

from diagnosis_harness.adapters.persistence.archive import SqlRunArchive
from diagnosis_harness.adapters.persistence.database import Database
from diagnosis_harness.adapters.persistence.run_log import SqlRunLog
from diagnosis_harness.adapters.persistence.run_store import SqlRunStore
from diagnosis_harness.harness.core import DiagnosisHarnessCore
from diagnosis_harness.testing.clock import ManualClock
from diagnosis_harness.testing.ids import CountingIds


@asynccontextmanager
async def a_process(
    url: str, *, run_events_max: int = 100, events_max: int = 1000, busy_timeout_s: float = 5.0
) -> AsyncIterator[tuple[Process, SqlRunLog, SqlRunArchive, ManualClock]]:
    """One process with bounds of its own, and a reader."""
    clock = ManualClock()
    base = await Database.open(url, busy_timeout_s=busy_timeout_s)
    log = SqlRunLog(base, owner="p", clock=clock, run_events_max=run_events_max, events_max=events_max)
    await log.start()
    core = DiagnosisHarnessCore(clock=clock, ids=CountingIds(), sink=log)
    store = SqlRunStore(base, owner="p")
    try:
        yield Process("p", core, store, log, log, None), log, SqlRunArchive(base), clock  # type: ignore[arg-type]  # no evidence here
    finally:
        await log.stop()
        await base.close()
