"""A run while it works."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import suppress

from diagnosis_harness.api.answer import Answer
from diagnosis_harness.api.step import RunStep, step_of
from diagnosis_harness.trace.event import TraceEvent


class LiveRun:
    """One question in progress, in the event loop in which it was asked.

    Iterate over it to see the run's steps; it ends with the run. `answer` gives the answer with or without
    that. Leaving the iteration early does not end the run: `cancel` does.
    """

    def __init__(self, run_id: str, cancel: Callable[[], object]) -> None:
        self.run_id = run_id
        self._cancel = cancel
        self._loop = asyncio.get_running_loop()
        self._steps: asyncio.Queue[RunStep | None] = asyncio.Queue()
        self._task: asyncio.Task[Answer] | None = None

    async def answer(self) -> Answer:
        """The answer, when the run has ended; a cancelled or timed out run has one too.

        Cancelling the task that waits here cancels the run.

        Raises:
            InvalidInput: the question names a time without data in the sources.
        """
        return await self.task

    def cancel(self) -> None:
        """End the run: no further call starts, and what calls still return is discarded. From any thread."""
        self._cancel()

    async def __aiter__(self) -> AsyncIterator[RunStep]:
        """The steps, from the first one; for one reader. It ends with the run, also where `answer` raises."""
        while (step := await self._steps.get()) is not None:
            yield step
        self._steps.put_nowait(None)

    @property
    def task(self) -> asyncio.Task[Answer]:
        """The task that works on the answer."""
        if self._task is None:
            raise RuntimeError("the run has not started")
        return self._task

    def start(self, work: Coroutine[object, object, Answer]) -> None:
        """Begin to work; called once, by the harness."""
        self._task = self._loop.create_task(work)
        self._task.add_done_callback(lambda _: self._steps.put_nowait(None))

    def notify(self, event: TraceEvent) -> None:
        """Pass on an event of the run, from any thread."""
        step = step_of(event)
        if step is not None:
            with suppress(RuntimeError):  # the loop was closed, so nothing reads steps
                self._loop.call_soon_threadsafe(self._steps.put_nowait, step)
