"""Has the caretaker look, by the clock, for as long as the process serves."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress

from diagnosis_harness.application.runs.caretaker import CareAccount, Caretaker
from diagnosis_harness.harness.waiting import passed
from diagnosis_harness.kernel.clock import Clock
from diagnosis_harness.kernel.errors import StoreFailure
from diagnosis_harness.settings import CareSection

_LOG = logging.getLogger("diagnosis_harness.care")


class Upkeep:
    """Beats and looks. A store that does not work is said once and looked at again; nothing is lost by it."""

    def __init__(self, caretaker: Caretaker, *, clock: Clock, settings: CareSection) -> None:
        self._caretaker = caretaker
        self._clock = clock
        self._settings = settings
        self._is_away = False

    @asynccontextmanager
    async def going(self) -> AsyncIterator[None]:
        """Beat once, then go on for the time of the body; last, say that this process goes.

        Raises:
            StoreFailure: the first beat cannot be kept: a process that nobody knows of must not own runs.
        """
        await self._caretaker.beat()
        tasks = [
            # Apart from the care itself: whatever that waits for, this process says that it lives.
            asyncio.create_task(self._every(self._settings.beat_s, self._caretaker.beat), name="care-beat"),
            asyncio.create_task(self._every(self._settings.beat_s, self._tended), name="care-tend"),
            asyncio.create_task(self._every(self._settings.look_s, self._heeded), name="care-look"),
        ]
        try:
            yield
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            with suppress(StoreFailure):
                await self._caretaker.leave()

    async def _every(self, period_s: float, look: Callable[[], Awaitable[None]]) -> None:
        while True:
            try:
                await look()
            except StoreFailure as failure:
                if not self._is_away:
                    _LOG.warning("the store does not work: %s", failure)
                self._is_away = True
            else:
                if self._is_away:
                    _LOG.warning("the store works again")
                self._is_away = False
            await passed(self._clock, period_s)

    async def _tended(self) -> None:
        _say(await self._caretaker.tend())

    async def _heeded(self) -> None:
        for run_id in await self._caretaker.heed():
            _LOG.info("run %s was cancelled from another process", run_id)


def _say(account: CareAccount) -> None:
    for run_id in account.lost:
        _LOG.warning("run %s could not be kept in time and ended FAILED", run_id)
    for run_id in account.orphaned:
        _LOG.warning("run %s belonged to a process that is gone and ended FAILED", run_id)
    for run_id in account.put_again:
        _LOG.info("run %s was put into the queue again", run_id)
