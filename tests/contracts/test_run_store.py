"""Runs are kept by one contract in SQLite and PostgreSQL, with evidence in the database or in Valkey."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager

import pytest

from diagnosis_harness.adapters.evidence_stores.redis import RedisEvidenceStore
from diagnosis_harness.adapters.persistence.archive import SqlRunArchive
from diagnosis_harness.adapters.persistence.care import SqlRunCare
from diagnosis_harness.adapters.persistence.database import Database
from diagnosis_harness.adapters.persistence.evidence import SqlEvidenceStore
from diagnosis_harness.adapters.persistence.run_log import SqlRunLog
from diagnosis_harness.adapters.persistence.run_store import SqlRunStore
from diagnosis_harness.harness.core import DiagnosisHarnessCore
from diagnosis_harness.testing.clock import ManualClock
from diagnosis_harness.testing.ids import CountingIds
from diagnosis_harness.testing.rows import Kept, Process
from diagnosis_harness.testing.run_store_contract import CHECKS, Check

PLACES = ("sqlite_url", "postgres_url")


@asynccontextmanager
async def kept(url: str, redis: str | None = None) -> AsyncIterator[Kept]:
    """Two processes with connections of their own, and a third that reads and cares."""
    clock = ManualClock()
    async with AsyncExitStack() as stack:
        bases = [await Database.opened(url) for _ in range(3)]
        for base in bases:
            stack.push_async_callback(base.close)
        store = None if redis is None else RedisEvidenceStore.at(redis)
        if store is not None:
            stack.push_async_callback(store.close)
        processes = []
        for owner, base in zip(("one", "two"), bases, strict=False):
            log = SqlRunLog(base, owner=owner, clock=clock)
            await log.start()
            stack.push_async_callback(log.stop)
            processes.append(
                Process(
                    owner=owner,
                    core=DiagnosisHarnessCore(clock=clock, ids=CountingIds(), sink=log),
                    store=SqlRunStore(base, owner=owner),
                    log=log,
                    feed=log,
                    evidence=store or SqlEvidenceStore(base, owner=owner),
                )
            )
        archive, care = SqlRunArchive(bases[2], evidence=store), SqlRunCare(bases[2], evidence=store)
        yield Kept(clock, archive, care, *processes)


async def _checked(check: Check, url: str, redis: str | None = None) -> None:
    async with kept(url, redis) as place:
        await check(place)


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
@pytest.mark.parametrize("place", PLACES)
def test_runs_are_kept_by_the_contract(place: str, check: Check, request: pytest.FixtureRequest) -> None:
    """One check against one database."""
    asyncio.run(_checked(check, request.getfixturevalue(place)))


@pytest.mark.parametrize(
    "check",
    [check for check in CHECKS if "record" in check.__name__ or "give" in check.__name__],
    ids=lambda check: check.__name__,
)
def test_runs_are_kept_by_the_contract_with_evidence_elsewhere(
    check: Check, sqlite_url: str, valkey_url: str
) -> None:
    """One check with the evidence in Valkey."""
    asyncio.run(_checked(check, sqlite_url, valkey_url))
