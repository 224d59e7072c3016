"""Whether a store accepts writes is tested with one small write a second, however often it is asked."""

from __future__ import annotations

import asyncio

import pytest

from diagnosis_harness.kernel.errors import StoreFailure
from diagnosis_harness.kernel.store_trouble import StoreTrouble
from diagnosis_harness.server.store_problems import STORE_PROBLEMS
from diagnosis_harness.server.write_check import LATE, LIMIT_S, PERIOD_S, WriteCheck
from diagnosis_harness.testing.clock import ManualClock


class Store:
    """Counts its writes; refuses them, or holds them, as a test likes."""

    def __init__(self) -> None:
        self.writes = 0
        self.trouble: StoreTrouble | None = None
        self.open = asyncio.Event()
        self.open.set()

    async def write(self) -> None:
        """One write."""
        self.writes += 1
        await self.open.wait()
        if self.trouble is not None:
            raise StoreFailure("in words of its own", trouble=self.trouble)


def test_however_many_ask_there_is_one_write_a_second() -> None:
    """Anybody may ask for readiness: it must not become a load on the database."""

    async def story() -> list[int]:
        store, clock, counts = Store(), ManualClock(), []
        check = WriteCheck(clock, store.write)
        for _ in range(3):
            for _ in range(5):
                answers = await asyncio.gather(*(check.problem() for _ in range(200)))
                assert answers == [None] * 200
            counts.append(store.writes)
            clock.advance(PERIOD_S)
        return counts

    assert asyncio.run(story()) == [1, 2, 3]


@pytest.mark.parametrize("trouble", StoreTrouble)
def test_a_write_that_is_refused_is_reported_by_the_sentence_of_its_trouble(trouble: StoreTrouble) -> None:
    """And no longer than until the next write works."""

    async def story() -> None:
        store, clock = Store(), ManualClock()
        check = WriteCheck(clock, store.write)
        store.trouble = trouble
        assert await check.problem() == STORE_PROBLEMS[trouble].title.en
        store.trouble = None
        clock.advance(PERIOD_S)
        assert await check.problem() is None

    asyncio.run(story())


def test_a_write_that_does_not_come_back_is_reported_in_time_and_not_begun_again() -> None:
    """Whoever asks later waits no more; the one write is still at work, and says at its end what it met."""

    async def story() -> None:
        store, clock = Store(), ManualClock()
        check = WriteCheck(clock, store.write)
        store.open.clear()
        asked = asyncio.ensure_future(check.problem())
        await asyncio.wait((asked,), timeout=0.01)
        assert not asked.done()
        clock.advance(LIMIT_S)
        assert await asked == LATE
        clock.advance(60.0)
        assert await check.problem() == LATE
        assert store.writes == 1
        store.trouble = StoreTrouble.DATABASE_LOCKED
        store.open.set()
        await asyncio.wait((asyncio.ensure_future(store.open.wait()),), timeout=1.0)
        assert await check.problem() == STORE_PROBLEMS[StoreTrouble.DATABASE_LOCKED].title.en

    asyncio.run(story())
