"""The queue of a single process: what it holds goes with the process, and the rows tell what it held."""

from __future__ import annotations

from diagnosis_harness.adapters.queue.desk import Desk
from diagnosis_harness.application.runs.queue import Work
from diagnosis_harness.kernel.errors import FailureKind, StoreFailure


class LocalRunQueue:
    """A `RunQueue` in memory, used from one event loop. It needs no extra."""

    def __init__(self) -> None:
        self._desk = Desk()

    @property
    def is_listening(self) -> bool:
        """Whether this process takes deliveries."""
        return self._desk.is_open

    async def put(self, run_id: str) -> None:
        """Have a run delivered, unless it waits or is at work.

        Raises:
            StoreFailure: the queue is closed.
        """
        if not self._desk.take(run_id):
            raise StoreFailure("the queue is closed", kind=FailureKind.UNAVAILABLE)

    async def put_again(self, run_id: str) -> bool:
        """The same as `put`: what is not here was lost.

        Returns:
            Whether it was not here.

        Raises:
            StoreFailure: the queue is closed.
        """
        was_here = self._desk.has(run_id)
        await self.put(run_id)
        return not was_here

    async def listen(self, work: Work, *, parallel_max: int) -> None:
        """Begin to take deliveries."""
        self._desk.open(work, parallel_max=parallel_max)

    async def close(self) -> None:
        """Take no more deliveries."""
        self._desk.close()
