"""Works on the runs that the queue delivers."""

from __future__ import annotations

from collections.abc import Callable

from diagnosis_harness.application.chat import ChatApplicationUseCase
from diagnosis_harness.application.runs.row import CancelWish, RunStatus
from diagnosis_harness.application.runs.store import RunArchive
from diagnosis_harness.harness.cancellation import CancellationReason
from diagnosis_harness.kernel.clock import Clock
from diagnosis_harness.kernel.errors import RunTaken, TechnicalFailure


class RunWorker:
    """Takes one delivery at a time to its end; several may be at work.

    Args:
        failed: told of a run whose work could not be kept; the row is ended by the caretaker.
    """

    def __init__(
        self,
        chat: ChatApplicationUseCase,
        *,
        archive: RunArchive,
        clock: Clock,
        failed: Callable[[str, TechnicalFailure], None],
    ) -> None:
        self._chat = chat
        self._archive = archive
        self._clock = clock
        self._failed = failed

    async def work(self, run_id: str) -> None:
        """Work on a queued run, unless it is queued no more; one that has waited too long ends TIMED_OUT.

        Raises:
            Exception: a bug; the run has ended FAILED.
        """
        try:
            row = await self._archive.run(run_id)
            if row is None or row.status is not RunStatus.QUEUED:
                return
            now_s = self._clock.now_s()
            start_by_s = row.request.start_by_s
            if start_by_s is not None and now_s >= start_by_s:
                late = CancelWish(CancellationReason.DEADLINE_EXCEEDED, now_s)
                await self._archive.wish_cancel(run_id, late)
                return
            await self._chat.answer(row.request, lambda _: None)
        except RunTaken:
            return
        except TechnicalFailure as failure:
            self._failed(run_id, failure)
