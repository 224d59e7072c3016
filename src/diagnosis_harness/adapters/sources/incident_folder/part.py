"""An incident folder as a part of a source: its state, its content, and how it is opened."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from diagnosis_harness.adapters.sources.incident_folder.opening import read_incident_folder
from diagnosis_harness.adapters.sources.part import OpenedPart, Progress, SourceState
from diagnosis_harness.kernel.json_value import JsonValue

INCIDENT_FOLDER: Final = "incident-folder"


@dataclass(frozen=True, slots=True)
class FileMark:
    """Metadata that changes whenever a file changes, taken without reading it."""

    path: Path
    size: int
    changed_ns: int


class FolderPart:
    """`SourcePart` of an incident folder and its baseline. An unchanged file is digested only once.

    Args:
        unpack_below: where archives in it are unpacked; None is the system's folder for temporary files.
    """

    kind = INCIDENT_FOLDER

    def __init__(
        self,
        *,
        folder: Path,
        baseline: Path | None = None,
        memory_limit_mb: int,
        unpack_below: Path | None = None,
    ) -> None:
        self._folder = folder
        self._baseline = baseline
        self._memory_limit_mb = memory_limit_mb
        self._unpack_below = unpack_below
        self._digests: dict[object, str] = {}

    def state(self) -> SourceState:
        """Every file of the folder and its baseline, by its path inside them.

        Raises:
            OSError: they cannot be listed.
        """
        roots = {"incident": self._folder}
        if self._baseline is not None:
            roots["baseline"] = self._baseline
        return {
            f"{root}/{file.relative_to(folder).as_posix()}": _mark(file)
            for root, folder in roots.items()
            for file in folder.rglob("*")
            if file.is_file()
        }

    def open(self, onset_s: float | None, progress: Progress) -> OpenedPart:
        """Read the folder; see `open_incident_folder`."""
        return read_incident_folder(
            self._folder,
            baseline=self._baseline,
            onset_s=onset_s,
            memory_limit_mb=self._memory_limit_mb,
            progress=progress,
            unpack_below=self._unpack_below,
        )

    def content(self, state: SourceState) -> Mapping[str, JsonValue]:
        """SHA-256 of every file; `unreadable` for one that cannot be read."""
        marks = {name: mark for name, mark in state.items() if isinstance(mark, FileMark)}
        # Unreadable files are tried again, since a change of permissions does not change the mark.
        known = {mark: digest for mark, digest in self._digests.items() if digest != UNREADABLE_FILE}
        self._digests = {mark: known.get(mark) or _digest(mark.path) for mark in marks.values()}
        return {name: self._digests[mark] for name, mark in marks.items()}


UNREADABLE_FILE = "unreadable"


def _digest(path: Path) -> str:
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError:  # not telemetry, so nothing else reads it
        return UNREADABLE_FILE


def _mark(file: Path) -> FileMark:
    stat = file.stat()
    return FileMark(file, stat.st_size, stat.st_mtime_ns)
