"""Every run queue keeps the one contract; a queue that breaks it is caught."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection
from pathlib import Path

import pytest
from tests.support.queue_contract import CHECKS, Check

from diagnosis_harness.adapters.queue.dbos_queue import DbosRunQueue
from diagnosis_harness.adapters.queue.local_queue import LocalRunQueue
from diagnosis_harness.application.runs.queue import RunQueue, Work
from diagnosis_harness.application.runs.sources import ANY_LANE, Lane


async def _run_check(check: Check, make: Callable[[], RunQueue]) -> None:
    queue = make()
    try:
        await check(queue)
    finally:
        await queue.close()


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
def test_the_local_queue_keeps_the_contract(check: Check) -> None:
    """One check against the queue in memory."""
    asyncio.run(_run_check(check, LocalRunQueue))


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
def test_dbos_keeps_the_contract_on_sqlite(check: Check, tmp_path: Path) -> None:
    """One check against DBOS with a file."""
    url = f"sqlite:///{tmp_path / 'queue.db'}"
    asyncio.run(_run_check(check, lambda: DbosRunQueue(url, executor_id="p1", poll_interval_s=0.05)))


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
def test_dbos_keeps_the_contract_on_postgresql(check: Check, postgres_url: str) -> None:
    """One check against DBOS in the database that holds the runs."""
    asyncio.run(_run_check(check, lambda: DbosRunQueue(postgres_url, executor_id="p1", poll_interval_s=0.05)))


class Doubling(LocalRunQueue):
    """Delivers twice."""

    async def listen(self, work: Work, *, parallel_max: int, lanes: Collection[Lane] = (ANY_LANE,)) -> None:
        """Work on everything two times."""

        async def twice(run_id: str) -> None:
            await work(run_id)
            await work(run_id)

        await super().listen(twice, parallel_max=parallel_max, lanes=lanes)


class Reversing(LocalRunQueue):
    """Last come first served."""

    async def put(self, run_id: str, lane: Lane) -> None:
        """Put it before the others."""
        waiting = list(self._worker._waiting.items())
        self._worker._waiting.clear()
        await super().put(run_id, lane)
        self._worker._waiting.update(waiting)


class Crowded(LocalRunQueue):
    """Takes one more than there is room for."""

    async def listen(self, work: Work, *, parallel_max: int, lanes: Collection[Lane] = (ANY_LANE,)) -> None:
        """Make room."""
        await super().listen(work, parallel_max=parallel_max + 1, lanes=lanes)


class Mixing(LocalRunQueue):
    """Delivers the runs of every lane."""

    async def put(self, run_id: str, lane: Lane) -> None:
        """Put it where everybody looks."""
        await super().put(run_id, ANY_LANE)


class Deaf(LocalRunQueue):
    """Takes puts for ever."""

    async def close(self) -> None:
        """Close nothing."""


@pytest.mark.parametrize("broken", [Doubling, Reversing, Crowded, Mixing, Deaf])
def test_a_queue_that_breaks_the_contract_is_caught(broken: type[LocalRunQueue]) -> None:
    """One check or another objects to each of the usual faults."""

    def objects(check: Check) -> bool:
        try:
            asyncio.run(_run_check(check, broken))
        except AssertionError:
            return True
        return False

    assert any(objects(check) for check in CHECKS)
