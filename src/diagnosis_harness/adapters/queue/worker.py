"""The worker of one process: runs that were delivered to it, waiting or active, and their limit."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable

from diagnosis_harness.application.runs.queue import Work
from diagnosis_harness.kernel.errors import ContractViolation


def _ignore() -> None:
    """For a delivery whose end no caller waits for."""


class QueueWorker:
    """Starts runs in the order they were taken, a limited number at a time. Used from one event loop.

    A single task starts all work, so that a run does not inherit the submitter's context variables.
    """

    def __init__(self) -> None:
        self._waiting: dict[str, list[Callable[[], None]]] = {}
        self._active: dict[asyncio.Task[None], tuple[str, list[Callable[[], None]]]] = {}
        self._wanted = asyncio.Event()
        self._starter: asyncio.Task[None] | None = None
        self._is_closed = False

    @property
    def is_closed(self) -> bool:
        """Whether no more runs are started."""
        return self._is_closed

    @property
    def is_open(self) -> bool:
        """Whether runs that are taken are started."""
        return self._starter is not None and not self._is_closed

    def take(self, run_id: str, on_end: Callable[[], None] = _ignore) -> bool:
        """Start the run when there is room. `on_end` is called once, when this delivery is over.

        A delivery of an active run ends at once, since the run belongs to its first delivery. All deliveries
        of a waiting run end with the first, so that a queue can see that the run is still waiting.

        Returns:
            False if the worker is closed and the run was not taken.
        """
        if self._is_closed:
            on_end()
            return False
        if not self.is_waiting(run_id) and self.holds(run_id):
            on_end()
            return True
        self._waiting.setdefault(run_id, []).append(on_end)
        self._wanted.set()
        return True

    def is_waiting(self, run_id: str) -> bool:
        """Whether the run was taken and not started."""
        return run_id in self._waiting

    def holds(self, run_id: str) -> bool:
        """Whether the run is waiting or active here."""
        return self.is_waiting(run_id) or any(run_id == active for active, _ in self._active.values())

    def open(self, work: Work, *, parallel_max: int) -> None:
        """Begin to start runs.

        Raises:
            ContractViolation: the worker is open or closed, or `parallel_max` is less than one.
        """
        if self._starter is not None or self._is_closed:
            raise ContractViolation("a queue can be listened to once only")
        if parallel_max < 1:
            raise ContractViolation("at least one run must be allowed at a time")
        self._starter = asyncio.get_running_loop().create_task(self._start_runs(work, parallel_max))

    def close(self) -> tuple[str, ...]:
        """Start no more runs and end all deliveries; active runs continue.

        Returns:
            The runs that were taken and not started.
        """
        self._is_closed = True
        if self._starter is not None:
            self._starter.cancel()
        not_started = tuple(self._waiting)
        callbacks = [*self._waiting.values(), *(callbacks for _, callbacks in self._active.values())]
        self._waiting.clear()
        for task, (run_id, _) in self._active.items():
            self._active[task] = (run_id, [])
        _call_all(callback for several in callbacks for callback in several)
        return not_started

    async def _start_runs(self, work: Work, parallel_max: int) -> None:
        loop = asyncio.get_running_loop()
        while True:
            await self._wanted.wait()
            self._wanted.clear()
            while self._waiting and len(self._active) < parallel_max:
                run_id = next(iter(self._waiting))
                task = loop.create_task(_work_on(work, run_id), name=f"run {run_id}")
                self._active[task] = (run_id, self._waiting.pop(run_id))
                task.add_done_callback(self._finish)

    def _finish(self, task: asyncio.Task[None]) -> None:
        _, callbacks = self._active.pop(task)
        _call_all(callbacks)
        self._wanted.set()
        error = None if task.cancelled() else task.exception()
        if error is not None:
            # Work must not raise. If it does, that is reported, and the next run is started anyway.
            task.get_loop().call_exception_handler(
                {"message": f"{task.get_name()} raised", "exception": error, "task": task}
            )


def _call_all(callbacks: Iterable[Callable[[], None]]) -> None:
    for callback in tuple(callbacks):
        callback()


async def _work_on(work: Work, run_id: str) -> None:
    await work(run_id)
