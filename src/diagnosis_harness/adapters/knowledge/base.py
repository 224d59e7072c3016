"""The knowledge base over a folder: kept up to date with its files, searched from any thread."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from diagnosis_harness.adapters.knowledge.folder import (
    FileStamp,
    RunbookListing,
    RunbookNote,
    check_folder,
    list_documents,
)
from diagnosis_harness.adapters.knowledge.index_file import VERSION, FileEntry, StoredIndex, load, save
from diagnosis_harness.harness.context import RunContext
from diagnosis_harness.kernel.canonical import digest
from diagnosis_harness.kernel.clock import Clock
from diagnosis_harness.knowledge.document import read_runbook
from diagnosis_harness.knowledge.embedder import Embedder
from diagnosis_harness.knowledge.index import KnowledgeIndex, terms_of_passage, text_to_index
from diagnosis_harness.knowledge.retrieval import Holdings, Retrieval

INDEX_NAME = f"knowledge-{VERSION}.npz"


@dataclass(frozen=True, slots=True)
class FolderSizes:
    """Bounds of reading.

    Attributes:
        passage_size: characters of a passage.
        refresh_s: how long a listing of the folder stays valid before a search lists it again.
    """

    file_size_max: int
    files_max: int
    passage_size: int
    refresh_s: float


@dataclass(frozen=True, slots=True)
class Changes:
    """The result of a refresh.

    Attributes:
        read: files that were new or changed.
        removed: files that are gone.
        notes: what is not used and why; notes on the index are under the folder's own name.
    """

    read: int
    removed: int
    notes: tuple[RunbookNote, ...]


class FolderKnowledge:
    """Implements `KnowledgeBase` over the Markdown, text and HTML files of a folder.

    Files whose size and time are as before are not read again; of those, only the ones whose bytes differ are
    masked and embedded again.
    """

    def __init__(
        self,
        folder: Path,
        index_folder: Path,
        *,
        sizes: FolderSizes,
        clock: Clock,
        embedder: Embedder | None = None,
    ) -> None:
        self._folder, self._file = folder, index_folder / INDEX_NAME
        self._sizes, self._clock, self._embedder = sizes, clock, embedder
        self._made_with: dict[str, object] = {
            "folder": str(folder.resolve()),
            "passage_size": sizes.passage_size,
            "embedder": None if embedder is None else embedder.name,
        }
        self._refreshing = threading.Lock()
        self._stored = StoredIndex((), {})
        self._index = KnowledgeIndex((), terms=())
        self._listed_s = -np.inf
        self._is_stale = False

    def open(self, progress: Callable[[str, int, int], None]) -> Changes:
        """Bring the index up to the folder; `progress` is called before each file.

        Raises:
            InvalidInput: the folder cannot be listed.
        """
        check_folder(self._folder)
        with self._refreshing:
            loaded = load(self._file, self._made_with)
            notes = (
                (RunbookNote(str(self._file), f"rebuilt: {loaded}"),)
                if isinstance(loaded, str) and loaded
                else ()
            )
            if isinstance(loaded, StoredIndex):
                self._stored = loaded
            changes = self._refresh(progress)
            return Changes(changes.read, changes.removed, (*notes, *changes.notes))

    def search(self, ctx: RunContext, question: str) -> Retrieval:  # noqa: D102 - see KnowledgeBase
        del ctx
        self._keep_up()
        found = self._index.search(question)
        return Retrieval(found.hits, found.nearest, found.searched, is_stale=self._is_stale)

    def holdings(self, ctx: RunContext) -> Holdings:  # noqa: D102 - see KnowledgeBase
        del ctx
        return self.contents

    @property
    def contents(self) -> Holdings:
        """The present content of the index."""
        return self._index.holdings

    def _keep_up(self) -> None:
        """Scan the folder again if the last scan is old; meanwhile other callers use the present index."""
        if self._clock.now_s() - self._listed_s < self._sizes.refresh_s:
            return
        if self._refreshing.acquire(blocking=False):
            try:
                self._refresh(_silent)
            except OSError:
                self._is_stale = True
            finally:
                self._refreshing.release()

    def _refresh(self, progress: Callable[[str, int, int], None]) -> Changes:
        self._listed_s = self._clock.now_s()
        listing = list_documents(
            self._folder, file_size_max=self._sizes.file_size_max, files_max=self._sizes.files_max
        )
        entries, read, unread = self._read(listing, progress)
        known = {entry.stamp.file for entry in self._stored.entries}
        removed = known - {entry.stamp.file for entry in entries}
        notes = [*listing.notes, *unread, *(RunbookNote(e.stamp.file, e.note) for e in entries if e.note)]
        if entries != self._stored.entries or not self._index.passages:
            self._stored = StoredIndex(entries, self._vectors(entries, progress))
            self._index = self._build_index()
            if read or removed or not self._file.exists():
                notes += self._save()
        self._is_stale = False
        return Changes(read, len(removed), tuple(sorted(notes, key=lambda note: note.file)))

    def _read(
        self, listing: RunbookListing, progress: Callable[[str, int, int], None]
    ) -> tuple[tuple[FileEntry, ...], int, list[RunbookNote]]:
        """The entries of all files, how many were read again, and those that could not be read."""
        before = {entry.stamp.file: entry for entry in self._stored.entries}
        entries: list[FileEntry] = []
        notes: list[RunbookNote] = []
        read = 0
        for number, stamp in enumerate(listing.files):
            known = before.get(stamp.file)
            if known is not None and known.stamp == stamp:
                entries.append(known)
                continue
            progress(stamp.file, number, len(listing.files))
            try:
                entry = self._entry(stamp, known)
            except OSError as error:
                notes.append(RunbookNote(stamp.file, f"not used: it cannot be read ({error.strerror})"))
                continue
            read += known is None or entry.digest != known.digest
            entries.append(entry)
        return tuple(entries), read, notes

    def _entry(self, stamp: FileStamp, known: FileEntry | None) -> FileEntry:
        with (self._folder / stamp.file).open("rb") as file:
            data = file.read(self._sizes.file_size_max + 1)
        if known is not None and known.digest == digest(data):
            return FileEntry(stamp, known.digest, known.passages, known.note)
        document = read_runbook(stamp.file, data[: self._sizes.file_size_max], size=self._sizes.passage_size)
        return FileEntry(stamp, document.digest, document.passages, document.note)

    def _vectors(
        self, entries: tuple[FileEntry, ...], progress: Callable[[str, int, int], None]
    ) -> dict[str, NDArray[np.float32]]:
        """The rows of every file; those of unchanged bytes come from the index."""
        if self._embedder is None:
            return {}
        before = {entry.stamp.file: entry.digest for entry in self._stored.entries}
        rows: dict[str, NDArray[np.float32]] = {}
        for number, entry in enumerate(entries):
            name = entry.stamp.file
            if name in self._stored.vectors and before.get(name) == entry.digest:
                rows[name] = self._stored.vectors[name]
            elif entry.passages:
                progress(name, number, len(entries))
                rows[name] = self._embedder.embed([text_to_index(one) for one in entry.passages])
        return rows

    def _build_index(self) -> KnowledgeIndex:
        used = [entry for entry in self._stored.entries if entry.passages]
        passages = [passage for entry in used for passage in entry.passages]
        rows = [self._stored.vectors[entry.stamp.file] for entry in used if self._embedder is not None]
        return KnowledgeIndex(
            passages,
            terms=[terms_of_passage(passage) for passage in passages],
            vectors=np.concatenate(rows) if rows else None,
            embedder=self._embedder,
        )

    def _save(self) -> list[RunbookNote]:
        """Save the index. If that fails, it is only rebuilt at the next start."""
        try:
            save(self._file, self._stored, self._made_with)
        except OSError as error:
            return [RunbookNote(str(self._file), f"the index was not saved ({error.strerror})")]
        return []


def _silent(file: str, done: int, total: int) -> None:
    """A progress callback that shows nothing, for searches."""
