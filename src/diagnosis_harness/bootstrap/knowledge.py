"""Opens the folder of runbooks according to the settings."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from diagnosis_harness.adapters.knowledge.base import Changes, FolderKnowledge, FolderSizes
from diagnosis_harness.application.knowledge_query import KnowledgeQuery
from diagnosis_harness.bootstrap.players import build_writer
from diagnosis_harness.harness.core import DiagnosisHarnessCore
from diagnosis_harness.harness.workers import WorkerPool
from diagnosis_harness.kernel.clock import Clock
from diagnosis_harness.kernel.errors import InvalidSetting
from diagnosis_harness.knowledge.embedder import Embedder
from diagnosis_harness.llm.role import RoleBoundary
from diagnosis_harness.settings import Settings

CACHE = ".cache/diagnosis-harness/knowledge"
"""Below the user's home; contains one folder for each folder of runbooks."""


@dataclass(frozen=True, slots=True)
class Library:
    """An opened folder of runbooks, and what opening it did."""

    base: FolderKnowledge
    changes: Changes


def open_library(
    settings: Settings, *, clock: Clock, progress: Callable[[str, int, int], None], folder: Path | None = None
) -> Library | None:
    """The configured folder of runbooks, indexed; None if there is none. `folder` overrides it.

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
            "knowledge.index_folder", "there is no home folder for the index", "name a folder for it"
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


def build_knowledge_query(
    core: DiagnosisHarnessCore, settings: Settings, library: Library | None, workers: WorkerPool
) -> KnowledgeQuery:
    """The path that answers from the runbooks."""
    base = None if library is None else library.base
    return KnowledgeQuery(core, RoleBoundary(core), build_writer(core, settings), base, workers)
