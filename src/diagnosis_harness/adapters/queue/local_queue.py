"""The queue of a single process. Its content is lost with the process, but the QUEUED rows remain."""

from __future__ import annotations

from collections.abc import Collection

from diagnosis_harness.adapters.queue.worker import QueueWorker
from diagnosis_harness.application.runs.queue import Work
from diagnosis_harness.application.runs.sources import ANY_LANE, Lane
from diagnosis_harness.kernel.errors import FailureKind, StoreFailure


class LocalRunQueue:
    """A `RunQueue` in memory, used from one event loop. It needs no extra."""

    def __init__(self) -> None:
        self._worker = QueueWorker()
        self._lanes: frozenset[Lane] = frozenset()
        self._not_listened: dict[str, Lane] = {}  # runs whose lane this process does not listen to

    @property
    def is_listening(self) -> bool:
        """Whether this process takes deliveries."""
        return self._worker.is_open

    async def put(self, run_id: str, lane: Lane) -> None:
        """Enqueue a run, unless it is waiting or active.

        Raises:
            StoreFailure: the queue is closed.
        """
        if self._worker.is_closed:
            raise StoreFailure("the queue is closed", kind=FailureKind.UNAVAILABLE)
        if lane in self._lanes or self._worker.holds(run_id):
            self._worker.take(run_id)
        else:
            self._not_listened[run_id] = lane

    async def requeue(self, run_id: str, lane: Lane) -> bool:
        """Enqueue a run if it is not here, because then it was lost.

        Returns:
            Whether it was not here.

        Raises:
            StoreFailure: the queue is closed.
        """
        was_here = self._worker.holds(run_id) or (run_id in self._not_listened and not self._worker.is_open)
        if self._worker.is_open:
            self._not_listened.pop(run_id, None)
            self._worker.take(run_id)
        elif not was_here:
            await self.put(run_id, lane)
        return not was_here

    async def listen(self, work: Work, *, parallel_max: int, lanes: Collection[Lane] = (ANY_LANE,)) -> None:
        """Start to take deliveries of these lanes."""
        self._worker.open(work, parallel_max=parallel_max)
        self._lanes = frozenset(lanes)
        for run_id in [run_id for run_id, lane in self._not_listened.items() if lane in self._lanes]:
            del self._not_listened[run_id]
            self._worker.take(run_id)

    async def close(self) -> None:
        """Take no more deliveries."""
        self._worker.close()
        self._not_listened.clear()
