"""The runs of one process that were handed to it: those that wait, those at work, and the room for them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable

from diagnosis_harness.application.runs.queue import Work
from diagnosis_harness.kernel.errors import ContractViolation


def _nobody() -> None:
    """Nobody waits for the end of this delivery."""


class Desk:
    """Starts runs in the order in which they came, at most so many at a time. Used from one event loop.

    All work is started by one task of its own, so nothing of whoever brought an id travels into the run.
    """

    def __init__(self) -> None:
        self._waiting: dict[str, list[Callable[[], None]]] = {}
        self._at_work: dict[asyncio.Task[None], tuple[str, list[Callable[[], None]]]] = {}
        self._wanted = asyncio.Event()
        self._clerk: asyncio.Task[None] | None = None
        self._is_closed = False

    @property
    def is_closed(self) -> bool:
        """Whether nothing is started any more."""
        return self._is_closed

    @property
    def is_open(self) -> bool:
        """Whether what is taken is started."""
        return self._clerk is not None and not self._is_closed

    def take(self, run_id: str, ended: Callable[[], None] = _nobody) -> bool:
        """Have the run started when there is room; `ended` is called once, when it is of no concern any more.

        Returns:
            False when the desk is closed and the run is not taken. A run that is at work here is left to
            its first delivery; of one that waits here, all deliveries end when the first does, so that
            whoever looks sees that it waits still.
        """
        if self._is_closed:
            ended()
            return False
        if not self.waits(run_id) and self.has(run_id):
            ended()
            return True
        self._waiting.setdefault(run_id, []).append(ended)
        self._wanted.set()
        return True

    def waits(self, run_id: str) -> bool:
        """Whether the run was taken and has not begun."""
        return run_id in self._waiting

    def has(self, run_id: str) -> bool:
        """Whether the run waits here or is at work."""
        return self.waits(run_id) or any(run_id == held for held, _ in self._at_work.values())

    def open(self, work: Work, *, parallel_max: int) -> None:
        """Begin to start what was taken.

        Raises:
            ContractViolation: it is open or closed, or there is no room for anything.
        """
        if self._clerk is not None or self._is_closed:
            raise ContractViolation("a queue is listened to once")
        if parallel_max < 1:
            raise ContractViolation("there is room for one run at least")
        self._clerk = asyncio.get_running_loop().create_task(self._served(work, parallel_max))

    def close(self) -> tuple[str, ...]:
        """Start nothing any more and let go of what is at work, which goes on.

        Returns:
            The runs that were taken and not started.
        """
        self._is_closed = True
        if self._clerk is not None:
            self._clerk.cancel()
        left = tuple(self._waiting)
        ends = [*self._waiting.values(), *(ends for _, ends in self._at_work.values())]
        self._waiting.clear()
        for task, (run_id, _) in self._at_work.items():
            self._at_work[task] = (run_id, [])
        _tell(end for several in ends for end in several)
        return left

    async def _served(self, work: Work, parallel_max: int) -> None:
        loop = asyncio.get_running_loop()
        while True:
            await self._wanted.wait()
            self._wanted.clear()
            while self._waiting and len(self._at_work) < parallel_max:
                run_id = next(iter(self._waiting))
                task = loop.create_task(_worked(work, run_id), name=f"run {run_id}")
                self._at_work[task] = (run_id, self._waiting.pop(run_id))
                task.add_done_callback(self._left)

    def _left(self, task: asyncio.Task[None]) -> None:
        _, ends = self._at_work.pop(task)
        _tell(ends)
        self._wanted.set()
        error = None if task.cancelled() else task.exception()
        if error is not None:
            # Work must not raise. Where it does, that is told, and the next run is started all the same.
            task.get_loop().call_exception_handler(
                {"message": f"{task.get_name()} raised", "exception": error, "task": task}
            )


def _tell(ends: Iterable[Callable[[], None]]) -> None:
    for ended in tuple(ends):
        ended()


async def _worked(work: Work, run_id: str) -> None:
    await work(run_id)
