"""What keeps the rows true while processes come and go (DESIGN §8): every run ends once, nothing is redone.

A tick is one look and what follows from it. Whoever holds the process calls the ticks by a clock; what fails
with `StoreFailure` is simply done again at the next one.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final

from diagnosis_harness.application.runs.desk import cancel_body
from diagnosis_harness.application.runs.keeping import Keeping
from diagnosis_harness.application.runs.queue import RunQueue
from diagnosis_harness.application.runs.silence import NOTHING_SEEN, dead, forgettable, is_served, seen
from diagnosis_harness.application.runs.sources import (
    ANY_LANE,
    Lane,
    LeftRuns,
    NoSources,
    OwnSources,
    lane_of,
)
from diagnosis_harness.application.runs.store import Beat, RunCare
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
    """What one look came to.

    Attributes:
        lost, orphaned: runs given up of this process and of dead ones.
        put_again: runs put into the queue again.
        left: queued runs that this process cannot work on, as it does not have their sources.
        failed: what did not work.
    """

    lost: tuple[str, ...] = ()
    orphaned: tuple[str, ...] = ()
    put_again: tuple[str, ...] = ()
    left: tuple[LeftRuns, ...] = ()
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
        sources: OwnSources | None = None,
    ) -> None:
        self._core = core
        self._owner = keeping.owner
        self._archive = keeping.archive
        self._active = keeping.active
        self._care = care
        self._queue = queue
        self._settings = settings
        self._sources = sources or NoSources()
        self._seen = NOTHING_SEEN
        self._beats: Mapping[str, Beat] | None = None
        self._left: tuple[LeftRuns, ...] = ()

    @property
    def left(self) -> int:
        """How many queued runs look into sources that this process does not have, as of the last look."""
        return sum(each.backlog.runs for each in self._left)

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
        """Say that this process lives, and which runs it takes.

        Raises:
            StoreFailure: it cannot be said.
        """
        lanes = self._sources.lanes() if self._queue.is_listening else ()
        await self._care.beat(self._owner, at_s=self._core.clock.now_s(), lanes=lanes)

    async def tend(self) -> CareAccount:
        """End what nobody ends any more, and deliver again what may have been lost.

        One run or one part that does not work keeps nothing else from being done; the account says so.
        """
        failed: list[CareFailure] = []
        lost = await self._give_up_lost(failed)
        orphaned = await self._give_up_orphans(failed)
        late = await self._expire(failed)
        with _noted(failed, "sources of queued runs"):
            self._left = await self._look_for_sources()
        put_again = await self._put_again(failed, late)
        return CareAccount(lost, orphaned, put_again, self._left, tuple(failed))

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
            self._seen, self._beats = (
                NOTHING_SEEN,
                None,
            )  # the others may not have reached the database either
            raise
        beats = {owner: beat for owner, beat in beats.items() if owner != self._owner}
        self._seen = seen(
            self._seen, beats, now_s=self._core.clock.now_s(), gap_s=self._settings.dead_after_s
        )
        for owner, value in forgettable(self._seen, beats, after_s=_FORGET_AFTER_S):
            await self._care.forget(owner, value=value)
        self._beats = beats
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

    async def _expire(self, failed: list[CareFailure]) -> frozenset[str]:
        """End what was to have begun by now, with the reason: no room, or no process that has its source.

        Returns:
            All of them, also those that could not be ended yet.
        """
        now_s, late = self._core.clock.now_s(), set[str]()
        with _noted(failed, "runs that did not begin"):
            for run in await self._care.overdue(at_s=now_s):
                late.add(run.run_id)
                served = self._is_served(run.lane)
                if served is not None:
                    with _noted(failed, f"run {run.run_id}"):
                        await self._archive.expire(run.run_id, at_s=now_s, is_served=served)
        return frozenset(late)

    async def _look_for_sources(self) -> tuple[LeftRuns, ...]:
        """What is queued and not for this process; its own sources are looked at anew before it says so."""
        backlog = await self._care.backlog()
        if any(each.lane not in self._sources.lanes() for each in backlog):
            await self._sources.refresh()
        own = self._sources.lanes()
        return tuple(
            LeftRuns(each, is_another=each.name is not None and lane_of(each.name, None) in own)
            for each in backlog
            if each.lane not in own
        )

    async def _put_again(self, failed: list[CareFailure], late: frozenset[str]) -> tuple[str, ...]:
        """Of the runs that this process could work on; the others' own processes do the same."""
        before_s = self._core.clock.now_s() - self._settings.redeliver_after_s
        put: list[str] = []
        with _noted(failed, "queued runs"):
            own, without = self._sources.lanes(), [each.backlog for each in self._left]
            for run in await self._care.waiting(submitted_before_s=before_s, without=without):
                if run.run_id in late or run.lane not in own:
                    continue
                with _noted(failed, f"run {run.run_id}"):
                    if await self._queue.put_again(run.run_id, run.lane):
                        put.append(run.run_id)
        return tuple(put)

    def _is_served(self, lane: Lane) -> bool | None:
        """Whether a process takes such runs; None where it is not known yet."""
        if lane == ANY_LANE or (self._queue.is_listening and lane in self._sources.lanes()):
            return True
        if self._beats is None:
            return None
        return is_served(self._seen, self._beats, lane, after_s=self._settings.dead_after_s)


@contextmanager
def _noted(failed: list[CareFailure], what: str) -> Iterator[None]:
    """Go on after a store that failed, with a note of it."""
    try:
        yield
    except StoreFailure as failure:
        failed.append(CareFailure(what, failure))
