"""The runbooks: their folder opened as it is configured, and a question asked of them on the command line."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from diagnosis_harness.adapters.knowledge.base import Changes, FolderKnowledge, FolderSizes
from diagnosis_harness.application.knowledge_query import KnowledgeQuery
from diagnosis_harness.application.path_answer import PathAnswer
from diagnosis_harness.bootstrap.players import build_writer
from diagnosis_harness.harness.core import DiagnosisHarnessCore
from diagnosis_harness.harness.workers import WorkerPool
from diagnosis_harness.kernel.clock import Clock, SystemClock
from diagnosis_harness.kernel.closing import Closing
from diagnosis_harness.kernel.errors import InvalidInput, InvalidSetting
from diagnosis_harness.kernel.ids import RandomIds
from diagnosis_harness.kernel.language import Language
from diagnosis_harness.kernel.masking import mask
from diagnosis_harness.knowledge.embedder import Embedder
from diagnosis_harness.knowledge.retrieval import Holdings
from diagnosis_harness.llm.role import RoleBoundary
from diagnosis_harness.settings import Settings

CACHE = ".cache/diagnosis-harness/knowledge"
"""Below the user's home; one folder in it for each folder of runbooks."""


@dataclass(frozen=True, slots=True)
class Library:
    """A folder of runbooks that was opened, and what opening it did."""

    base: FolderKnowledge
    changes: Changes


def open_library(
    settings: Settings,
    *,
    clock: Clock,
    progress: Callable[[str, int, int], None],
    folder: Path | None = None,
) -> Library | None:
    """The configured folder of runbooks, indexed; None where there is none. `folder` stands in its place.

    Raises:
        InvalidInput: the folder cannot be read, or the libraries for it are not installed.
    """
    chosen = settings.knowledge
    if folder is None:
        if not chosen.folder:
            return None
        folder = Path(chosen.folder).expanduser()
    base = FolderKnowledge(
        folder,
        _index_folder(chosen.index_folder, folder),
        sizes=FolderSizes(
            file_size_max=chosen.file_bytes_max,
            files_max=chosen.files_max,
            passage_size=chosen.passage_characters,
            refresh_s=chosen.refresh_s,
        ),
        clock=clock,
        embedder=_embedder(vectors=chosen.vectors),
    )
    return Library(base, base.open(progress))


def _index_folder(configured: str, folder: Path) -> Path:
    try:
        root = Path(configured).expanduser() if configured else Path.home() / CACHE
    except RuntimeError as error:
        raise InvalidSetting(
            "knowledge.index_folder", "there is no home folder to keep the index in", "name a folder for it"
        ) from error
    return root / sha256(str(folder.resolve()).encode("utf-8", "surrogateescape")).hexdigest()[:16]


def _embedder(*, vectors: bool) -> Embedder | None:
    try:
        import bm25s  # type: ignore[import-untyped]  # it has none; here only whether it is there
        import snowballstemmer  # type: ignore[import-untyped]  # likewise
    except ImportError as error:
        raise InvalidSetting(
            "knowledge", f"{error.name} is not installed", "install diagnosis-harness[server]"
        ) from error
    del bm25s, snowballstemmer
    if not vectors:
        return None
    from diagnosis_harness.adapters.knowledge.sentence_encoder import SentenceEncoder

    return SentenceEncoder()


class LibraryDesk(Closing):
    """Questions to the runbooks on the command line, one run each; closed when no further question comes."""

    def __init__(
        self, settings: Settings, *, folder: Path | None, progress: Callable[[str, int, int], None]
    ) -> None:
        self._settings = settings
        self._workers = WorkerPool(threads_max=settings.run.worker_threads)
        self._writer = build_writer(settings)
        self._core = DiagnosisHarnessCore(clock=SystemClock(), ids=RandomIds(), workers=self._workers)
        self.folder = folder or (Path(settings.knowledge.folder) if settings.knowledge.folder else None)
        self._library = open_library(settings, clock=self._core.clock, progress=progress, folder=folder)

    def close(self) -> None:
        """End what runs, and let all threads end. Twice is once."""
        self._core.close()

    @property
    def changes(self) -> Changes | None:
        """What opening the folder did; None where no folder is configured."""
        return None if self._library is None else self._library.changes

    @property
    def holdings(self) -> Holdings:
        """What is indexed."""
        return Holdings(0, 0) if self._library is None else self._library.base.held

    async def ask(self, question: str, language: Language) -> PathAnswer:
        """The answer of the runbooks.

        Raises:
            TechnicalFailure, RunAborted: there is none.
        """
        ctx = self._core.start_run(
            session_id=self._core.ids.new_session_id(),
            timeout_s=self._settings.run.timeout_s,
            limits=self._settings.budget_limits(),
            retry_policies=self._settings.retry_policies(),
        )
        query = KnowledgeQuery(
            self._core,
            RoleBoundary(self._core),
            self._writer,
            None if self._library is None else self._library.base,
            self._workers,
        )
        try:
            answer = await query.answer(ctx, mask(question).text, language)
        except BaseException as error:
            self._core.complete_failure(ctx, type(error).__name__)
            raise
        self._core.complete_success(ctx)
        return answer


def checked_files(folder: Path | None, holdings: Holdings) -> None:
    """Refuse a folder that there is nothing to be read of.

    Raises:
        InvalidInput: it holds no usable file.
    """
    if folder is not None and not holdings.documents:
        raise InvalidInput(
            str(folder),
            "no Markdown, text or HTML file with text is in it",
            "name a folder that holds runbooks",
        )
