"""Every evidence store keeps the one contract; a store that breaks it is caught."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import replace

import pytest
from tests.support.store_contract import CHECKS, Check

from diagnosis_harness.adapters.evidence_stores.memory import MemoryEvidenceStore
from diagnosis_harness.adapters.evidence_stores.redis import RedisEvidenceStore
from diagnosis_harness.adapters.persistence.database import Database
from diagnosis_harness.adapters.persistence.evidence import SqlEvidenceStore
from diagnosis_harness.harness.budget import RunBudgetLimits
from diagnosis_harness.harness.context import RunContext
from diagnosis_harness.harness.core import DiagnosisHarnessCore
from diagnosis_harness.testing.clock import ManualClock
from diagnosis_harness.testing.ids import CountingIds
from diagnosis_harness.tools.invocation import EvidenceRecord
from diagnosis_harness.tools.store import EvidenceStore


@asynccontextmanager
async def in_memory(url: str) -> AsyncIterator[EvidenceStore]:
    """A store in memory."""
    yield MemoryEvidenceStore()


@asynccontextmanager
async def in_a_database(url: str) -> AsyncIterator[EvidenceStore]:
    """A store in the database of a URL."""
    base = await Database.open(url)
    try:
        yield SqlEvidenceStore(base, owner="p1")
    finally:
        await base.close()


@asynccontextmanager
async def in_valkey(url: str) -> AsyncIterator[EvidenceStore]:
    """A store in the Valkey of a URL."""
    store = RedisEvidenceStore.at(url, ttl_s=60)
    try:
        yield store
    finally:
        await store.close()


Opened = Callable[[str], AbstractAsyncContextManager[EvidenceStore]]
STORES: dict[str, Opened] = {
    "tmp_path": in_memory,
    "sqlite_url": in_a_database,
    "postgres_url": in_a_database,
    "valkey_url": in_valkey,
}


def two_runs() -> tuple[RunContext, RunContext]:
    """Two open runs of one core."""
    core = DiagnosisHarnessCore(clock=ManualClock(), ids=CountingIds())
    limits = RunBudgetLimits(
        llm_calls=1,
        tool_calls=1,
        tool_calls_per_tool=1,
        input_tokens=1,
        output_tokens=1,
        total_tokens=1,
        run_bytes=1,
    )
    first, second = (core.start_run(session_id="s", timeout_s=60, limits=limits) for _ in range(2))
    return first, second


def run_check(check: Check, store: EvidenceStore) -> None:
    """Run one check against one store."""
    asyncio.run(_await_check(check, store))


async def _await_check(check: Check, store: EvidenceStore) -> None:
    await check(store, *two_runs())


async def _run_check_there(check: Check, opened: AbstractAsyncContextManager[EvidenceStore]) -> None:
    async with opened as store:
        await _await_check(check, store)


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
@pytest.mark.parametrize("place", STORES)
def test_a_store_keeps_the_contract(place: str, check: Check, request: pytest.FixtureRequest) -> None:
    """One check against one store."""
    asyncio.run(_run_check_there(check, STORES[place](request.getfixturevalue(place))))


class Overwriting(MemoryEvidenceStore):
    """Takes whatever comes."""

    async def begin(self, ctx: RunContext, record: EvidenceRecord) -> bool:
        """Overwrite."""
        self._records[record.key] = record
        return True

    async def finish(self, ctx: RunContext, record: EvidenceRecord) -> bool:
        """Overwrite."""
        self._records[record.key] = record
        return True


class Sorting(MemoryEvidenceStore):
    """Lists by name."""

    async def of_run(self, ctx: RunContext) -> tuple[EvidenceRecord, ...]:
        """Sort."""
        return tuple(sorted(await super().of_run(ctx), key=lambda record: record.tool_call_id))


class Altering(MemoryEvidenceStore):
    """Gives back something near."""

    async def get(self, ctx: RunContext, key: str) -> EvidenceRecord | None:
        """Alter a time."""
        record = await super().get(ctx, key)
        return record and replace(record, started_s=record.started_s + 1)


class Mixing(MemoryEvidenceStore):
    """Forgets whose records they are."""

    async def of_run(self, ctx: RunContext) -> tuple[EvidenceRecord, ...]:
        """Everybody's."""
        return tuple(self._records.values())


@pytest.mark.parametrize("broken", [Overwriting, Sorting, Altering, Mixing])
def test_a_store_that_breaks_the_contract_is_caught(broken: type[MemoryEvidenceStore]) -> None:
    """At least one check objects to each of the usual faults."""
    objections = []
    for check in CHECKS:
        try:
            run_check(check, broken())
        except AssertionError as objection:
            objections.append(str(objection))
    assert objections
