"""Asks runbooks for the command line: one run for each question, in this process."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from diagnosis_harness.application.path_answer import PathAnswer
from diagnosis_harness.bootstrap.knowledge import build_knowledge_query, open_library
from diagnosis_harness.harness.core import DiagnosisHarnessCore
from diagnosis_harness.harness.workers import WorkerPool
from diagnosis_harness.kernel.clock import SystemClock
from diagnosis_harness.kernel.closing import Closing
from diagnosis_harness.kernel.errors import InvalidInput
from diagnosis_harness.kernel.ids import RandomIds
from diagnosis_harness.kernel.language import Language
from diagnosis_harness.kernel.masking import mask
from diagnosis_harness.knowledge.retrieval import Holdings
from diagnosis_harness.settings import Settings


class KnowledgeSearch(Closing):
    """Opens the folder of runbooks and answers questions from it. Close it after the last question.

    Attributes:
        changes: what opening the folder changed in its index; None if no folder is configured.
    """

    def __init__(
        self, settings: Settings, *, folder: Path | None, progress: Callable[[str, int, int], None]
    ) -> None:
        self._settings = settings
        workers = WorkerPool(threads_max=settings.run.worker_threads)
        self._core = DiagnosisHarnessCore(clock=SystemClock(), ids=RandomIds(), workers=workers)
        self._folder = folder or (Path(settings.knowledge.folder) if settings.knowledge.folder else None)
        library = open_library(settings, clock=self._core.clock, progress=progress, folder=folder)
        self._base = None if library is None else library.base
        self.changes = None if library is None else library.changes
        self._query = build_knowledge_query(self._core, settings, library, workers)

    def close(self) -> None:
        """End runs and threads. Closing twice does no harm."""
        self._core.close()

    @property
    def holdings(self) -> Holdings:
        """The size of the index."""
        return Holdings(0, 0) if self._base is None else self._base.contents

    def check_files(self) -> None:
        """Refuse a folder without usable files.

        Raises:
            InvalidInput: it holds no usable file.
        """
        if self._folder is not None and not self.holdings.documents:
            raise InvalidInput(
                str(self._folder),
                "it contains no Markdown, text or HTML file with text",
                "name a folder that holds runbooks",
            )

    async def ask(self, question: str, language: Language) -> PathAnswer:
        """The answer of the runbooks.

        Raises:
            TechnicalFailure, RunAborted: the run ended without an answer.
        """
        ctx = self._core.start_run(
            session_id=self._core.ids.new_session_id(),
            timeout_s=self._settings.run.timeout_s,
            limits=self._settings.budget_limits(),
            retry_policies=self._settings.retry_policies(),
        )
        try:
            answer = await self._query.answer(ctx, mask(question).text, language)
        except BaseException as error:
            self._core.complete_failure(ctx, type(error).__name__)
            raise
        self._core.complete_success(ctx)
        return answer
