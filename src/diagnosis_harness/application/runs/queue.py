"""Delivery of queued runs to whichever process has room, as the application sees it.

The queue delivers run ids and keeps nothing else: the row is the truth. It may deliver a run twice or late;
`RunStore.begin` lets one of them work on it, once.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Protocol, TypeAlias

Work: TypeAlias = Callable[[str], Awaitable[None]]
"""Works on one run, by its id. Never raises, and returns when the run has ended or was not its own to do."""


class RunQueue(Protocol):
    """Takes run ids, and hands them to one of the processes that listen. A failure is `StoreFailure`."""

    @property
    def is_listening(self) -> bool:
        """Whether this process takes deliveries."""
        ...

    async def put(self, run_id: str) -> None:
        """Have a run delivered. Putting the same id again changes nothing."""
        ...

    async def put_again(self, run_id: str) -> bool:
        """Have a run delivered that may have been lost with the process it was handed to.

        Returns:
            False when a delivery of it waits still: nothing was put then.
        """
        ...

    async def listen(self, work: Work, *, parallel_max: int) -> None:
        """Begin to take deliveries in this process, at most so many at work at a time."""
        ...

    async def close(self) -> None:
        """Take no more deliveries; those at work are left to their runs' own ends."""
        ...
