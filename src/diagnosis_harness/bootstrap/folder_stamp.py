"""Which incident folder one is, and what it holds, wherever on whatever machine it lies."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final, TypeAlias

from diagnosis_harness.adapters.sources.incident_folder.summary import FolderSummary
from diagnosis_harness.application.runs.sources import SourceStamp
from diagnosis_harness.kernel.canonical import canonical_json, digest
from diagnosis_harness.settings import SourceSettings

KIND: Final = "incident-folder"


@dataclass(frozen=True, slots=True)
class FileMark:
    """A file as it is told from itself after a change, without reading it."""

    path: Path
    size: int
    changed_ns: int


Files: TypeAlias = Mapping[str, FileMark]
"""Every file of the folder and its baseline, by its path inside of them: another mapping, another content."""


def files_of(source: SourceSettings) -> Files:
    """The files of a folder and its baseline.

    Raises:
        OSError: they cannot be listed.
    """
    roots = {"incident": source.folder}
    if source.baseline is not None:
        roots["baseline"] = source.baseline
    return {
        f"{root}/{file.relative_to(folder).as_posix()}": _mark(file)
        for root, folder in roots.items()
        for file in folder.rglob("*")
        if file.is_file()
    }


class FolderStamps:
    """Stamps of folders; a file that has not changed is read once. Used from one thread at a time."""

    def __init__(self) -> None:
        self._digests: dict[FileMark, str] = {}

    def stamp(self, files: Files, summary: FolderSummary) -> SourceStamp:
        """The stamp of a folder that was read. A file that cannot be read counts as that."""
        identity = {
            "kind": KIND,
            "description": summary.described,
            "entities": list(summary.value.entities),
        }
        content = {name: self._digest(mark) for name, mark in files.items()}
        return SourceStamp(digest(canonical_json(identity)), digest(canonical_json(content)))

    def forget(self, files: Files) -> None:
        """Keep nothing of files that a folder has no more."""
        for mark in files.values():
            self._digests.pop(mark, None)

    def _digest(self, mark: FileMark) -> str:
        if mark not in self._digests:
            try:
                with mark.path.open("rb") as file:
                    self._digests[mark] = hashlib.file_digest(file, "sha256").hexdigest()
            except OSError:  # also one that is no telemetry, which nobody else reads
                return "unreadable"
        return self._digests[mark]


def _mark(file: Path) -> FileMark:
    stat = file.stat()
    return FileMark(file, stat.st_size, stat.st_mtime_ns)
