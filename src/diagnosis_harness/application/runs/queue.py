"""Delivery of queued runs to whichever process has room, as the application sees it.

A process is handed the runs of the lanes that it listens to, one lane for each source that it has. The queue
delivers run ids and keeps nothing else: the row is the truth. It may deliver a run twice or late;
`RunStore.begin` lets one of them work on it, once.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection
from typing import Protocol, TypeAlias

from diagnosis_harness.application.runs.sources import ANY_LANE, Lane

Work: TypeAlias = Callable[[str], Awaitable[None]]
"""Works on one run, by its id. Never raises, and returns when the run has ended or was not its own to do."""


class RunQueue(Protocol):
    """Takes run ids, and hands them to one of the processes that listen. A failure is `StoreFailure`."""

    @property
    def is_listening(self) -> bool:
        """Whether this process takes deliveries."""
        ...

    async def put(self, run_id: str, lane: Lane) -> None:
        """Have a run delivered to a process that listens to its lane, now or later.

        Putting the same id again changes nothing.
        """
        ...

    async def put_again(self, run_id: str, lane: Lane) -> bool:
        """Have a run delivered that may have been lost with the process it was handed to.

        Called by a process that can work on the run: where it listens, and not to this lane, the run is
        handed to itself.

        Returns:
            False when a delivery of it waits still: nothing was put then.
        """
        ...

    async def listen(self, work: Work, *, parallel_max: int, lanes: Collection[Lane] = (ANY_LANE,)) -> None:
        """Begin to take deliveries of these lanes in this process, at most so many at work at a time."""
        ...

    async def close(self) -> None:
        """Take no more deliveries; those at work are left to their runs' own ends."""
        ...
