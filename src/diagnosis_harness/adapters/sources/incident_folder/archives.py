"""Unpacks the archives in an incident folder into a private folder, within limits."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import IO, Final

from diagnosis_harness.adapters.sources.incident_folder.archive_reading import DAMAGE, members, too_large
from diagnosis_harness.adapters.sources.incident_folder.listing import ListedFile, Listing, list_member
from diagnosis_harness.adapters.sources.incident_folder.names import printable
from diagnosis_harness.adapters.sources.incident_folder.settings_file import FileSettings
from diagnosis_harness.adapters.sources.private_folder import PrivateRoot
from diagnosis_harness.kernel.errors import InvalidInput, InvalidSetting
from diagnosis_harness.toolbox.ports import FileNote

MEMBERS_LIMIT: Final = 1000
UNPACKED_LIMIT_BYTES: Final = 2_000_000_000
"""Disk space for all archives of a folder, counted while unpacking, since sizes in headers can be wrong."""
ENDINGS: Final = (".zip", ".tar", ".tar.gz", ".tgz", ".tar.bz2", ".tar.xz")
_CHUNK_BYTES: Final = 1 << 20


@dataclass(frozen=True, slots=True)
class Unpacked:
    """A listing whose archives are replaced by their files, and the folder with these files."""

    listing: Listing
    folder: PrivateRoot | None

    def remove(self) -> None:
        """Remove the unpacked files."""
        if self.folder is not None:
            self.folder.close()


def unpack_archives(
    listing: Listing, settings: Mapping[str, FileSettings], *, below: Path | None = None
) -> Unpacked:
    """Unpack the archives of a listing below a folder; None is the system's folder for temporary files.

    Folders inside are flattened, and no name inside decides where anything is written. Links, hidden files,
    nested archives and everything beyond the limits are left out, each with its reason.
    Files that a killed process unpacked are removed by the next process that unpacks at the same place.

    Raises:
        InvalidInput: nothing can be written there.
    """
    archives = [file for file in listing.files if _is_archive(file)]
    if not archives:
        return Unpacked(listing, None)
    folder = _private_root(below or Path(tempfile.gettempdir()))
    files = [file for file in listing.files if file not in archives]
    unpacking = _Unpacking(folder.path, settings)
    for archive in archives:
        before = unpacking.state
        try:
            files += unpacking.files_of(archive)
        except InvalidInput as error:
            unpacking.go_back(before)
            unpacking.leave_out(archive.name, f"{error.problem}; {error.remedy}")
        except (OSError, *DAMAGE):
            unpacking.go_back(before)
            unpacking.leave_out(archive.name, "it is not a complete archive; create it again")
    return Unpacked(Listing(tuple(files), (*listing.left_out, *unpacking.left_out)), folder)


def _private_root(parent: Path) -> PrivateRoot:
    try:
        return PrivateRoot(parent)
    except InvalidSetting as error:
        raise InvalidInput(
            printable(str(parent)),
            "archives cannot be unpacked there, nothing can be written to it",
            "set TMPDIR to a folder that can be written to",
        ) from error


def _is_archive(file: ListedFile) -> bool:
    return file.form is None and file.path.name.lower().endswith(ENDINGS)


class _Unpacking:
    def __init__(self, folder: Path, settings: Mapping[str, FileSettings]) -> None:
        self._folder = folder
        self._settings = settings
        self._count = 0
        self._room = UNPACKED_LIMIT_BYTES
        self.left_out: list[FileNote] = []

    @property
    def state(self) -> tuple[int, int]:
        """How many files were unpacked, and how many bytes may follow."""
        return self._count, self._room

    def go_back(self, state: tuple[int, int]) -> None:
        """Remove the files that were unpacked after that state."""
        for number in range(state[0] + 1, self._count + 1):
            (self._folder / str(number)).unlink(missing_ok=True)
        self._count, self._room = state

    def leave_out(self, name: str, why: str) -> None:
        """Note a file that is not read."""
        self.left_out.append(FileNote(name, None, 0, f"left out: {why}."))

    def files_of(self, archive: ListedFile) -> list[ListedFile]:
        """Unpack one archive, and return its files.

        Raises:
            InvalidInput: it exceeds the limits.
        """
        files: list[ListedFile] = []
        for member in members(archive.path, place=archive.name, bytes_max=UNPACKED_LIMIT_BYTES):
            if not member.is_file:
                continue
            inner = member.name
            name = f"{archive.name}/{printable(inner)}"
            if any(is_hidden(part) for part in PurePosixPath(inner).parts):
                continue
            if inner.lower().endswith(ENDINGS):
                self.leave_out(name, "it is an archive inside an archive; unpack it")
                continue
            self._count += 1
            if self._count > MEMBERS_LIMIT:
                raise InvalidInput(archive.name, f"it holds more than {MEMBERS_LIMIT} files", "keep fewer")
            target = self._folder / str(self._count)
            with member.open() as content:
                self._copy(archive, content, target)
            listed = list_member(target, name, self._settings.get(name, FileSettings()))
            if isinstance(listed, ListedFile):
                files.append(listed)
            else:
                self.left_out.append(FileNote(name, None, 0, listed))
        return files

    def _copy(self, archive: ListedFile, content: IO[bytes], target: Path) -> None:
        with target.open("wb") as out:
            while chunk := content.read(_CHUNK_BYTES):
                self._room -= len(chunk)
                if self._room < 0:
                    raise too_large(archive.name, UNPACKED_LIMIT_BYTES)
                out.write(chunk)


def is_hidden(part: str) -> bool:
    """Whether a part of a path was made by the system and not by a person: hidden, or of macOS."""
    return part.startswith(("__MACOSX", ".")) and part not in {".", ".."}
