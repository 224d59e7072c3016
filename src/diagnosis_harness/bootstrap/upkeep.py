"""Has the caretaker look, and alerts worked off, by the clock, for as long as the process serves."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from contextlib import asynccontextmanager, suppress
from typing import Final

from diagnosis_harness.application.alerts.alerts import Alerts
from diagnosis_harness.application.runs.caretaker import CareAccount, Caretaker
from diagnosis_harness.application.runs.sources import LeftRuns
from diagnosis_harness.harness.waiting import passed
from diagnosis_harness.kernel.clock import Clock
from diagnosis_harness.kernel.errors import StoreFailure
from diagnosis_harness.settings import CareSection

_LOG = logging.getLogger("diagnosis_harness.care")
_BEAT: Final = "care-beat"
_WATCH: Final = "evidence-store"


class Upkeep:
    """Beats and looks. What does not work is said once and tried again; nothing is lost by it.

    Args:
        evidence: one small write into the evidence store, where it is another than the database: the log says
            when it goes away, and when it is back.
    """

    def __init__(
        self,
        caretaker: Caretaker,
        alerts: Alerts,
        *,
        clock: Clock,
        settings: CareSection,
        evidence: Callable[[], Awaitable[None]] | None = None,
    ) -> None:
        self._caretaker = caretaker
        self._alerts = alerts
        self._clock = clock
        self._dead_after_s = settings.dead_after_s
        self._left: set[str] = set()  # lanes that were told of
        self._troubles: dict[str, str] = {}  # of runs and parts of a look, as they were said
        self._unread: frozenset[str] = frozenset()  # groups of alerts that cannot be worked off, as said
        self._rounds = (
            # Apart from the care itself: whatever that waits for, this process says that it lives.
            _Round(_BEAT, settings.beat_s, caretaker.beat, clock),
            _Round("care-tend", settings.beat_s, self._tended, clock),
            _Round("care-look", settings.look_s, self._heeded, clock),
            _Round("alerts", settings.look_s, self._worked_off, clock),
        )
        self._watches = () if evidence is None else (_Round(_WATCH, settings.beat_s, evidence, clock),)

    @asynccontextmanager
    async def going(self) -> AsyncIterator[None]:
        """Beat once, then go on for the time of the body; last, say that this process goes.

        Raises:
            StoreFailure: the first beat cannot be kept: a process that nobody knows of must not own runs.
        """
        await self._caretaker.beat()
        for each in (*self._rounds, *self._watches):
            each.start()
        try:
            yield
        finally:
            for each in (*self._rounds, *self._watches):
                await each.stop()
            with suppress(StoreFailure):
                await self._caretaker.leave()

    def problem(self) -> str | None:
        """Why others may hold this process for dead, or nobody cares for its runs; None where all is well."""
        now_s = self._clock.now_s()
        for each in self._rounds:
            late = now_s - each.succeeded_s > self._dead_after_s
            if each.has_ended:
                return f"{each.name} has ended"
            if late and (each.is_failing or each.name == _BEAT):
                return f"{each.name} has not succeeded for {now_s - each.succeeded_s:.0f} s"
        return None

    async def _tended(self) -> None:
        account = await self._caretaker.tend()
        _say(account)
        self._say_left(account.left)
        troubles = {each.what: str(each.failure) for each in account.failed}
        fresh = {what: trouble for what, trouble in troubles.items() if what not in self._troubles}
        for trouble in dict.fromkeys(fresh.values()):
            whats = ", ".join(what for what, its in fresh.items() if its == trouble)
            _LOG.warning("care of %s does not work and is tried again: %s", whats, trouble)
        if over := [what for what in self._troubles if what not in troubles]:
            _LOG.warning("care of %s works again", ", ".join(over))
        self._troubles = troubles

    def _say_left(self, left: Iterable[LeftRuns]) -> None:
        """Of each source once: whoever looks for the reason of runs that wait finds it here."""
        for each in left:
            if each.backlog.lane not in self._left:
                self._left.add(each.backlog.lane)
                _LOG.warning(
                    "queued runs ask about source %r, which %s: they are left to a process that has it; give"
                    " it to this one by --from or [sources]",
                    each.backlog.name,
                    "is another one in this process" if each.is_another else "this process does not have",
                )

    async def _worked_off(self) -> None:
        account = await self._alerts.work_off()
        for run_id, effect in account.effects.items():
            _LOG.info("an alert: run %s %s", run_id, effect.value)
        for fingerprint in account.failed.keys() - self._unread:
            failure = account.failed[fingerprint]
            _LOG.error("what waits of alert group %s cannot be worked off: %s", fingerprint, failure)
        self._unread = frozenset(account.failed)

    async def _heeded(self) -> None:
        for run_id in await self._caretaker.heed():
            # Another process was asked, or this one while the run was being claimed.
            _LOG.info("run %s was cancelled as its row asks for", run_id)


class _Round:
    """One look, again and again. An edge: whatever a look raises, the next one is made."""

    def __init__(self, name: str, period_s: float, look: Callable[[], Awaitable[None]], clock: Clock) -> None:
        self.name = name
        self.succeeded_s = clock.now_s()
        self.is_failing = False
        self._period_s = period_s
        self._look = look
        self._clock = clock
        self._task: asyncio.Task[None] | None = None

    @property
    def has_ended(self) -> bool:
        """Whether no further look is made, although nobody stopped it."""
        return self._task is not None and self._task.done()

    def start(self) -> None:
        """Begin to look."""
        self.succeeded_s = self._clock.now_s()
        self._task = asyncio.create_task(self._go(), name=self.name)

    async def stop(self) -> None:
        """Look no more."""
        task, self._task = self._task, None
        if task is not None:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)

    async def _go(self) -> None:
        while True:
            try:
                await self._look()
            except StoreFailure as failure:
                if not self.is_failing:
                    _LOG.warning("%s: the store does not work: %s", self.name, failure)
                self.is_failing = True
            except Exception as error:  # noqa: BLE001 - an edge: a bug in one look must not end all care
                if not self.is_failing:
                    _LOG.exception("%s failed with %s and goes on", self.name, type(error).__name__)
                self.is_failing = True
            else:
                if self.is_failing:
                    _LOG.warning("%s works again", self.name)
                self.is_failing = False
                self.succeeded_s = self._clock.now_s()
            await passed(self._clock, self._period_s)


def _say(account: CareAccount) -> None:
    for run_id in account.lost:
        _LOG.warning("run %s could not be kept in time and ended FAILED", run_id)
    for run_id in account.orphaned:
        _LOG.warning("run %s belonged to a process that is gone and ended FAILED", run_id)
    for run_id in account.put_again:
        _LOG.info("run %s was put into the queue again", run_id)
