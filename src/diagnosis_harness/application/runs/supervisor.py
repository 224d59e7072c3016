"""Keeps runs correct while processes come and go: every run ends once, and none is repeated.

The process calls each method periodically; what fails with `StoreFailure` is tried again by the next call.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final

from diagnosis_harness.application.runs.cancellation import cancel_body
from diagnosis_harness.application.runs.liveness import (
    NOTHING_OBSERVED,
    dead,
    forgettable,
    is_served,
    observe,
)
from diagnosis_harness.application.runs.queue import RunQueue
from diagnosis_harness.application.runs.run_stores import RunStores
from diagnosis_harness.application.runs.sources import (
    ANY_LANE,
    Lane,
    LeftRuns,
    NoSources,
    OwnSources,
    lane_of,
)
from diagnosis_harness.application.runs.store import Heartbeat, RunRecovery
from diagnosis_harness.harness.core import DiagnosisHarnessCore
from diagnosis_harness.kernel.errors import StoreFailure

_FORGET_AFTER_S: Final = 86_400.0
"""A day: a dead process stays listed long enough to be investigated, and the table stays small."""


@dataclass(frozen=True, slots=True)
class RecoverySettings:
    """When the runs of other processes are taken over.

    Attributes:
        dead_after_s: a process whose heartbeat has not changed for so long, by the observer's clock, is dead.
        requeue_after_s: a run that has been queued for so long is requeued.
    """

    dead_after_s: float = 10.0
    requeue_after_s: float = 10.0


@dataclass(frozen=True, slots=True)
class RecoveryFailure:
    """A step that one call of `recover` could not do; the next call tries it again.

    Attributes:
        what: the run, or the step.
    """

    what: str
    failure: StoreFailure


@dataclass(frozen=True, slots=True)
class RecoveryReport:
    """The result of one call of `recover`.

    Attributes:
        lost: abandoned runs of this process.
        orphaned: abandoned runs of dead processes.
        requeued: runs that were enqueued again.
        left: queued runs that this process cannot work on, because it does not have their sources.
        failed: steps that failed.
    """

    lost: tuple[str, ...] = ()
    orphaned: tuple[str, ...] = ()
    requeued: tuple[str, ...] = ()
    left: tuple[LeftRuns, ...] = ()
    failed: tuple[RecoveryFailure, ...] = ()


class RunSupervisor:
    """One for each process: sends its heartbeat, recovers runs, applies cancellation requests."""

    def __init__(
        self,
        core: DiagnosisHarnessCore,
        stores: RunStores,
        *,
        recovery: RunRecovery,
        queue: RunQueue,
        settings: RecoverySettings,
        sources: OwnSources | None = None,
    ) -> None:
        self._core = core
        self._owner = stores.owner
        self._archive = stores.archive
        self._active = stores.active
        self._recovery = recovery
        self._queue = queue
        self._settings = settings
        self._sources = sources or NoSources()
        self._observed = NOTHING_OBSERVED
        self._heartbeats: Mapping[str, Heartbeat] | None = None
        self._left: tuple[LeftRuns, ...] = ()

    @property
    def left(self) -> int:
        """How many queued runs need sources that this process does not have, as of the last `recover`."""
        return sum(each.backlog.runs for each in self._left)

    async def apply_cancel_requests(self) -> tuple[str, ...]:
        """Cancel the runs of this process whose cancellation others requested, and return their ids.

        Raises:
            StoreFailure: the requests cannot be read or answered.
        """
        # Cancel all before answering the first: an answer may have to wait for the database.
        answers = [
            (run_id, cancel_body(self._core.cancel(ctx, request.reason)))
            for run_id, request in await self._recovery.cancel_requests(self._owner)
            if (ctx := self._active.get(run_id)) is not None
        ]
        for run_id, answer in answers:
            await self._recovery.answer_cancel_request(run_id, answer)
        return tuple(run_id for run_id, _ in answers)

    async def send_heartbeat(self) -> None:
        """Record that this process is alive, and which runs it takes.

        Raises:
            StoreFailure: it cannot be recorded.
        """
        lanes = self._sources.lanes() if self._queue.is_listening else ()
        await self._recovery.record_heartbeat(self._owner, at_s=self._core.clock.now_s(), lanes=lanes)

    async def recover(self) -> RecoveryReport:
        """Abandon runs that no process works on, expire overdue ones, and requeue those that may be lost.

        The failure of one run or one step stops no other; the report names it.
        """
        failed: list[RecoveryFailure] = []
        lost = await self._abandon_lost(failed)
        orphaned = await self._abandon_orphans(failed)
        late = await self._expire(failed)
        with _collect_failure(failed, "sources of queued runs"):
            self._left = await self._runs_without_source()
        requeued = await self._requeue(failed, late)
        return RecoveryReport(lost, orphaned, requeued, self._left, tuple(failed))

    async def sign_off(self) -> None:
        """Record that this process stops in an orderly way.

        Raises:
            StoreFailure: it cannot be recorded.
        """
        await self._recovery.sign_off(self._owner)

    async def _abandon_lost(self, failed: list[RecoveryFailure]) -> tuple[str, ...]:
        """Abandon own rows whose runs are not active here: their end could not be stored in time."""
        before = {ctx.run_id for ctx in self._active.all()}
        ended: tuple[str, ...] = ()
        with _collect_failure(failed, "runs of this process"):
            owned = await self._recovery.running(self._owner)
            lost = [run_id for run_id in owned if run_id not in before and self._active.get(run_id) is None]
            ended += await self._abandon(self._owner, lost, failed)
        return ended

    async def _abandon_orphans(self, failed: list[RecoveryFailure]) -> tuple[str, ...]:
        orphaned: tuple[str, ...] = ()
        with _collect_failure(failed, "runs of other processes"):
            for owner in await self._find_dead():
                orphaned += await self._abandon(owner, await self._recovery.running(owner), failed)
        return orphaned

    async def _find_dead(self) -> tuple[str, ...]:
        """Processes that are dead and own runs; those without runs are forgotten after a day."""
        try:
            found = await self._recovery.heartbeats()
        except StoreFailure:
            # The others may not have reached the database either.
            self._observed, self._heartbeats = NOTHING_OBSERVED, None
            raise
        others = {owner: heartbeat for owner, heartbeat in found.items() if owner != self._owner}
        self._observed = observe(
            self._observed, others, now_s=self._core.clock.now_s(), gap_s=self._settings.dead_after_s
        )
        for owner, value in forgettable(self._observed, others, after_s=_FORGET_AFTER_S):
            await self._recovery.forget(owner, value=value)
        self._heartbeats = others
        return dead(self._observed, others, after_s=self._settings.dead_after_s)

    async def _abandon(
        self, owner: str, run_ids: Iterable[str], failed: list[RecoveryFailure]
    ) -> tuple[str, ...]:
        changed = []
        for run_id in run_ids:
            with _collect_failure(failed, f"run {run_id}"):
                if await self._recovery.abandon(run_id, owner=owner, at_s=self._core.clock.now_s()):
                    changed.append(run_id)
        return tuple(changed)

    async def _expire(self, failed: list[RecoveryFailure]) -> frozenset[str]:
        """End queued runs whose time to start is over: no process had room, or none has their source.

        Returns:
            All of them, including those that could not be ended yet.
        """
        now_s, late = self._core.clock.now_s(), set[str]()
        with _collect_failure(failed, "runs that did not start in time"):
            for run in await self._recovery.overdue(at_s=now_s):
                late.add(run.run_id)
                is_served = self._is_served(run.lane)
                if is_served is not None:
                    with _collect_failure(failed, f"run {run.run_id}"):
                        await self._archive.expire(run.run_id, at_s=now_s, is_served=is_served)
        return frozenset(late)

    async def _runs_without_source(self) -> tuple[LeftRuns, ...]:
        """Queued runs whose sources this process does not have, after it has refreshed its own."""
        backlog = await self._recovery.backlog()
        if any(each.lane not in self._sources.lanes() for each in backlog):
            await self._sources.refresh()
        own = self._sources.lanes()
        return tuple(
            LeftRuns(each, is_another=each.name is not None and lane_of(each.name, None) in own)
            for each in backlog
            if each.lane not in own
        )

    async def _requeue(self, failed: list[RecoveryFailure], late: frozenset[str]) -> tuple[str, ...]:
        """Requeue runs that this process could work on; every other process does the same with its own."""
        before_s = self._core.clock.now_s() - self._settings.requeue_after_s
        put: list[str] = []
        with _collect_failure(failed, "queued runs"):
            own, without = self._sources.lanes(), [each.backlog for each in self._left]
            for run in await self._recovery.waiting(submitted_before_s=before_s, without=without):
                if run.run_id in late or run.lane not in own:
                    continue
                with _collect_failure(failed, f"run {run.run_id}"):
                    if await self._queue.requeue(run.run_id, run.lane):
                        put.append(run.run_id)
        return tuple(put)

    def _is_served(self, lane: Lane) -> bool | None:
        """Whether some process takes the runs of this lane; None if that is not known yet."""
        if lane == ANY_LANE or (self._queue.is_listening and lane in self._sources.lanes()):
            return True
        if self._heartbeats is None:
            return None
        return is_served(self._observed, self._heartbeats, lane, after_s=self._settings.dead_after_s)


@contextmanager
def _collect_failure(failed: list[RecoveryFailure], what: str) -> Iterator[None]:
    """Continue after a `StoreFailure`, and add it to the list."""
    try:
        yield
    except StoreFailure as failure:
        failed.append(RecoveryFailure(what, failure))
