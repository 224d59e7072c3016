"""The port of the queue, which delivers queued runs to any process that has room.

A process receives the runs of the lanes that it listens to, one lane for each source that it has. The queue
contains only run ids: the row is authoritative. It may deliver a run twice or late; `RunStore.begin` lets
only one process work on it, once.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection
from typing import Protocol, TypeAlias

from diagnosis_harness.application.runs.sources import ANY_LANE, Lane

Work: TypeAlias = Callable[[str], Awaitable[None]]
"""Works on the run of an id. Never raises, and returns when the run has ended or must not be worked on."""


class RunQueue(Protocol):
    """Delivers each run id to one of the processes that listen. A failure is `StoreFailure`."""

    @property
    def is_listening(self) -> bool:
        """Whether this process takes deliveries."""
        ...

    async def put(self, run_id: str, lane: Lane) -> None:
        """Enqueue a run for a process that listens to its lane, now or later.

        Enqueuing the same id again changes nothing.
        """
        ...

    async def requeue(self, run_id: str, lane: Lane) -> bool:
        """Deliver a run again that may have been lost with the process it was delivered to.

        Called by a process that can work on the run. If it listens, but not to this lane, it takes the run
        itself.

        Returns:
            False if a delivery of the run is still waiting; then nothing was enqueued.
        """
        ...

    async def listen(self, work: Work, *, parallel_max: int, lanes: Collection[Lane] = (ANY_LANE,)) -> None:
        """Start to take deliveries of these lanes, and work on at most `parallel_max` runs at a time."""
        ...

    async def close(self) -> None:
        """Take no more deliveries; runs in progress continue."""
        ...
