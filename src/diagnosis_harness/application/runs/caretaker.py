"""What keeps the rows true while processes come and go (DESIGN §8): every run ends once, nothing is redone.

A tick is one look and what follows from it. Whoever holds the process calls the ticks by a clock; what fails
with `StoreFailure` is simply done again at the next one.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final

from diagnosis_harness.application.runs.desk import cancel_body
from diagnosis_harness.application.runs.keeping import Keeping
from diagnosis_harness.application.runs.queue import RunQueue
from diagnosis_harness.application.runs.row import CancelWish
from diagnosis_harness.application.runs.silence import NOTHING_SEEN, dead, forgettable, seen
from diagnosis_harness.application.runs.store import RunCare
from diagnosis_harness.harness.cancellation import CancellationReason
from diagnosis_harness.harness.core import DiagnosisHarnessCore
from diagnosis_harness.kernel.errors import StoreFailure

_FORGET_AFTER_S: Final = 86_400.0


@dataclass(frozen=True, slots=True)
class CareSettings:
    """Times of the care.

    Attributes:
        dead_after_s: a process whose beat has stood still for so long is dead, by the clock of who looks.
        redeliver_after_s: a run that has been queued for so long is put into the queue again.
    """

    dead_after_s: float = 10.0
    redeliver_after_s: float = 10.0


@dataclass(frozen=True, slots=True)
class CareFailure:
    """What one look could not do. The next one tries it again.

    Attributes:
        what: the run, or the part of the look.
    """

    what: str
    failure: StoreFailure


@dataclass(frozen=True, slots=True)
class CareAccount:
    """What one look came to: runs given up of this process and of dead ones, runs put again, and the rest."""

    lost: tuple[str, ...] = ()
    orphaned: tuple[str, ...] = ()
    put_again: tuple[str, ...] = ()
    failed: tuple[CareFailure, ...] = ()


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
        self._seen = NOTHING_SEEN

    async def heed(self) -> tuple[str, ...]:
        """Carry out the cancels that other processes asked for of runs of this one; which runs that were.

        Raises:
            StoreFailure: they cannot be read or answered.
        """
        # All are cancelled before the first is answered: an answer may have to wait for the database.
        answers = [
            (run_id, cancel_body(self._core.cancel(ctx, wish.reason)))
            for run_id, wish in await self._care.wishes(self._owner)
            if (ctx := self._active.get(run_id)) is not None
        ]
        for run_id, answer in answers:
            await self._care.answer_wish(run_id, answer)
        return tuple(run_id for run_id, _ in answers)

    async def beat(self) -> None:
        """Say that this process lives.

        Raises:
            StoreFailure: it cannot be said.
        """
        await self._care.beat(self._owner, at_s=self._core.clock.now_s())

    async def tend(self) -> CareAccount:
        """End what nobody ends any more, and deliver again what may have been lost.

        One run or one part that does not work keeps nothing else from being done; the account says so.
        """
        failed: list[CareFailure] = []
        return CareAccount(
            lost=await self._give_up_lost(failed),
            orphaned=await self._give_up_orphans(failed),
            put_again=await self._put_again(failed),
            failed=tuple(failed),
        )

    async def leave(self) -> None:
        """Say that this process goes, in an orderly way.

        Raises:
            StoreFailure: it cannot be said.
        """
        await self._care.left(self._owner)

    async def _give_up_lost(self, failed: list[CareFailure]) -> tuple[str, ...]:
        """Rows that name this process, of runs that it does not have: their end could not be kept in time."""
        before = {ctx.run_id for ctx in self._active.all()}
        ended: tuple[str, ...] = ()
        with _noted(failed, "runs of this process"):
            kept = await self._care.running(self._owner)
            lost = [run_id for run_id in kept if run_id not in before and self._active.get(run_id) is None]
            ended += await self._given_up(self._owner, lost, failed)
        return ended

    async def _give_up_orphans(self, failed: list[CareFailure]) -> tuple[str, ...]:
        orphaned: tuple[str, ...] = ()
        with _noted(failed, "runs of other processes"):
            for owner in await self._look_for_dead():
                orphaned += await self._given_up(owner, await self._care.running(owner), failed)
        return orphaned

    async def _look_for_dead(self) -> tuple[str, ...]:
        """Processes that are dead and have work; what the others said before a day is forgotten."""
        try:
            beats = await self._care.beats()
        except StoreFailure:
            self._seen = NOTHING_SEEN  # the others may not have reached the database either
            raise
        beats = {owner: beat for owner, beat in beats.items() if owner != self._owner}
        self._seen = seen(
            self._seen, beats, now_s=self._core.clock.now_s(), gap_s=self._settings.dead_after_s
        )
        for owner, value in forgettable(self._seen, beats, after_s=_FORGET_AFTER_S):
            await self._care.forget(owner, value=value)
        return dead(self._seen, beats, after_s=self._settings.dead_after_s)

    async def _given_up(
        self, owner: str, run_ids: Iterable[str], failed: list[CareFailure]
    ) -> tuple[str, ...]:
        changed = []
        for run_id in run_ids:
            with _noted(failed, f"run {run_id}"):
                if await self._care.give_up(run_id, owner=owner, at_s=self._core.clock.now_s()):
                    changed.append(run_id)
        return tuple(changed)

    async def _put_again(self, failed: list[CareFailure]) -> tuple[str, ...]:
        now_s = self._core.clock.now_s()
        put: list[str] = []
        with _noted(failed, "queued runs"):
            for row in await self._care.waiting(submitted_before_s=now_s - self._settings.redeliver_after_s):
                with _noted(failed, f"run {row.run_id}"):
                    if row.start_by_s is not None and now_s >= row.start_by_s:
                        late = CancelWish(CancellationReason.DEADLINE_EXCEEDED, now_s)
                        await self._archive.wish_cancel(row.run_id, late)
                    elif await self._queue.put_again(row.run_id):
                        put.append(row.run_id)
        return tuple(put)


@contextmanager
def _noted(failed: list[CareFailure], what: str) -> Iterator[None]:
    """Go on after a store that failed, with a note of it."""
    try:
        yield
    except StoreFailure as failure:
        failed.append(CareFailure(what, failure))
