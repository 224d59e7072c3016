"""The queue of a single process: what it holds goes with the process, and the rows tell what it held."""

from __future__ import annotations

from collections.abc import Collection

from diagnosis_harness.adapters.queue.desk import Desk
from diagnosis_harness.application.runs.queue import Work
from diagnosis_harness.application.runs.sources import ANY_LANE, Lane
from diagnosis_harness.kernel.errors import FailureKind, StoreFailure


class LocalRunQueue:
    """A `RunQueue` in memory, used from one event loop. It needs no extra."""

    def __init__(self) -> None:
        self._desk = Desk()
        self._lanes: frozenset[Lane] = frozenset()
        self._aside: dict[str, Lane] = {}  # nobody listens to their lanes

    @property
    def is_listening(self) -> bool:
        """Whether this process takes deliveries."""
        return self._desk.is_open

    async def put(self, run_id: str, lane: Lane) -> None:
        """Have a run delivered, unless it waits or is at work.

        Raises:
            StoreFailure: the queue is closed.
        """
        if self._desk.is_closed:
            raise StoreFailure("the queue is closed", kind=FailureKind.UNAVAILABLE)
        if lane in self._lanes or self._desk.has(run_id):
            self._desk.take(run_id)
        else:
            self._aside[run_id] = lane

    async def put_again(self, run_id: str, lane: Lane) -> bool:
        """The same as `put`: what is not here was lost.

        Returns:
            Whether it was not here.

        Raises:
            StoreFailure: the queue is closed.
        """
        was_here = self._desk.has(run_id) or (run_id in self._aside and not self._desk.is_open)
        if self._desk.is_open:
            self._aside.pop(run_id, None)
            self._desk.take(run_id)
        elif not was_here:
            await self.put(run_id, lane)
        return not was_here

    async def listen(self, work: Work, *, parallel_max: int, lanes: Collection[Lane] = (ANY_LANE,)) -> None:
        """Begin to take deliveries of these lanes."""
        self._desk.open(work, parallel_max=parallel_max)
        self._lanes = frozenset(lanes)
        for run_id in [run_id for run_id, lane in self._aside.items() if lane in self._lanes]:
            del self._aside[run_id]
            self._desk.take(run_id)

    async def close(self) -> None:
        """Take no more deliveries."""
        self._desk.close()
        self._aside.clear()
