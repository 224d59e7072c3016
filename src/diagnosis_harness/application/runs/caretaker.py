"""What keeps the rows true while processes come and go (DESIGN §8): every run ends once, nothing is redone.

A tick is one look and what follows from it. Whoever holds the process calls the ticks by a clock; each may
fail with `StoreFailure` and is simply made again at the next one.
"""

from __future__ import annotations

from dataclasses import dataclass

from diagnosis_harness.application.runs.desk import cancel_body
from diagnosis_harness.application.runs.keeping import Keeping
from diagnosis_harness.application.runs.queue import RunQueue
from diagnosis_harness.application.runs.row import CancelWish
from diagnosis_harness.application.runs.store import RunCare
from diagnosis_harness.harness.cancellation import CancellationReason
from diagnosis_harness.harness.core import DiagnosisHarnessCore


@dataclass(frozen=True, slots=True)
class CareSettings:
    """Times of the care.

    Attributes:
        dead_after_s: a process that has not beaten for so long is dead; clocks agree better than that.
        redeliver_after_s: a run that has been queued for so long is put into the queue again.
    """

    dead_after_s: float = 10.0
    redeliver_after_s: float = 10.0


@dataclass(frozen=True, slots=True)
class CareAccount:
    """What one look came to: runs given up of this process and of dead ones, and runs put again."""

    lost: tuple[str, ...] = ()
    orphaned: tuple[str, ...] = ()
    put_again: tuple[str, ...] = ()


class Caretaker:
    """One for each process."""

    def __init__(
        self,
        core: DiagnosisHarnessCore,
        keeping: Keeping,
        *,
        care: RunCare,
        queue: RunQueue,
        settings: CareSettings,
    ) -> None:
        self._core = core
        self._owner = keeping.owner
        self._archive = keeping.archive
        self._active = keeping.active
        self._care = care
        self._queue = queue
        self._settings = settings

    async def heed(self) -> tuple[str, ...]:
        """Carry out the cancels that other processes asked for of runs of this one; which runs that were.

        Raises:
            StoreFailure: they cannot be read or answered.
        """
        heeded = []
        for run_id, wish in await self._care.wishes(self._owner):
            ctx = self._active.get(run_id)
            if ctx is not None:
                answer = self._core.cancel(ctx, wish.reason)
                await self._care.answer_wish(run_id, cancel_body(answer))
                heeded.append(run_id)
        return tuple(heeded)

    async def beat(self) -> None:
        """Say that this process lives.

        Raises:
            StoreFailure: it cannot be said.
        """
        await self._care.beat(self._owner, at_s=self._core.clock.now_s())

    async def tend(self) -> CareAccount:
        """End what nobody ends any more, and deliver again what may have been lost.

        Raises:
            StoreFailure: it cannot be looked at, or not ended.
        """
        return CareAccount(
            lost=await self._give_up_lost(),
            orphaned=await self._give_up_orphans(),
            put_again=await self._put_again(),
        )

    async def leave(self) -> None:
        """Say that this process goes, in an orderly way.

        Raises:
            StoreFailure: it cannot be said.
        """
        await self._care.left(self._owner)

    async def _give_up_lost(self) -> tuple[str, ...]:
        """Rows that name this process, of runs that it does not have: their end could not be kept in time."""
        before = {ctx.run_id for ctx in self._active.all()}
        kept = await self._care.running(self._owner)
        lost = [run_id for run_id in kept if run_id not in before and self._active.get(run_id) is None]
        return await self._given_up(self._owner, lost)

    async def _give_up_orphans(self) -> tuple[str, ...]:
        orphaned: tuple[str, ...] = ()
        beat_before_s = self._core.clock.now_s() - self._settings.dead_after_s
        for owner in await self._care.dead(beat_before_s=beat_before_s):
            if owner != self._owner:
                orphaned += await self._given_up(owner, await self._care.running(owner))
        return orphaned

    async def _given_up(self, owner: str, run_ids: tuple[str, ...] | list[str]) -> tuple[str, ...]:
        at_s = self._core.clock.now_s()
        changed = [run_id for run_id in run_ids if await self._care.give_up(run_id, owner=owner, at_s=at_s)]
        return tuple(changed)

    async def _put_again(self) -> tuple[str, ...]:
        now_s = self._core.clock.now_s()
        waiting = await self._care.waiting(submitted_before_s=now_s - self._settings.redeliver_after_s)
        put = []
        for row in waiting:
            start_by_s = row.request.start_by_s
            if start_by_s is not None and now_s >= start_by_s:
                late = CancelWish(CancellationReason.DEADLINE_EXCEEDED, now_s)
                await self._archive.wish_cancel(row.run_id, late)
            else:
                await self._queue.put_again(row.run_id)
                put.append(row.run_id)
        return tuple(put)
