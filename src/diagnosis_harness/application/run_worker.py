"""Works on the runs that the queue delivers."""

from __future__ import annotations

from collections.abc import Callable

from diagnosis_harness.application.chat import ChatApplicationUseCase
from diagnosis_harness.application.runs.row import RunStatus
from diagnosis_harness.application.runs.sources import NoSources, OwnSources
from diagnosis_harness.application.runs.store import RunArchive
from diagnosis_harness.kernel.clock import Clock
from diagnosis_harness.kernel.errors import RunTaken, TechnicalFailure


class RunWorker:
    """Executes one delivered run to its end; several may run at the same time.

    Args:
        sources: the sources of this process; runs about other sources are left to other processes.
        failed: called for a run whose result could not be stored; the supervisor ends its row.
    """

    def __init__(
        self,
        chat: ChatApplicationUseCase,
        *,
        archive: RunArchive,
        clock: Clock,
        failed: Callable[[str, TechnicalFailure], None],
        sources: OwnSources | None = None,
    ) -> None:
        self._chat = chat
        self._archive = archive
        self._clock = clock
        self._failed = failed
        self._sources = sources or NoSources()

    async def work(self, run_id: str) -> None:
        """Work on a run if it is still queued; one that has waited too long ends TIMED_OUT.

        A run whose source this process does not have stays QUEUED, even if it was delivered here.

        Raises:
            Exception: a bug; the run has ended FAILED.
        """
        try:
            row = await self._archive.run(run_id)
            if row is None or row.status is not RunStatus.QUEUED:
                return
            if row.request.lane not in self._sources.lanes():
                return
            now_s = self._clock.now_s()
            start_by_s = row.request.start_by_s
            if start_by_s is not None and now_s >= start_by_s:
                await self._archive.expire(run_id, at_s=now_s, is_served=True)
                return
            await self._chat.answer(row.request, lambda _: None)
        except RunTaken:
            return
        except TechnicalFailure as failure:
            self._failed(run_id, failure)
