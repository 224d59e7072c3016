"""Lays out one file or archive that a caller sent as an incident folder.

Paths inside an archive do not decide where anything is written: only a file's own name is kept, in the folder
or in the baseline's folder. Notes list what is left out and what is renamed.
"""

from __future__ import annotations

import errno
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path, PurePosixPath
from typing import IO, Final

from diagnosis_harness.adapters.sources.incident_folder.archive_reading import (
    DAMAGE,
    is_archive_by_content,
    members,
    too_large,
)
from diagnosis_harness.adapters.sources.incident_folder.archives import ENDINGS, MEMBERS_LIMIT, is_hidden
from diagnosis_harness.adapters.sources.incident_folder.names import printable
from diagnosis_harness.adapters.sources.incident_folder.settings_file import SETTINGS_NAME, read_settings
from diagnosis_harness.kernel.errors import InvalidInput, NoRoomForUpload

PLACE: Final = "body"
_CHUNK_BYTES: Final = 1 << 20
_NAME_BYTES_MAX: Final = 200
"""The most bytes of a file's own name; file systems allow 255, and a number may be added."""
_LEFT_OUT_MAX: Final = 50
"""Notes that are listed; a last one counts the rest."""
_FULL: Final = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)

Parts = tuple[str, ...]


def lay_out(content: Path, name: str, folder: Path, *, unpacked_bytes_max: int) -> tuple[str, ...]:
    """Write what was sent into a folder, and return notes on what is left out or renamed.

    Args:
        content: the file as it arrived; it is not removed.
        name: its name, as the sender gave it.

    Raises:
        InvalidInput: it is damaged, exceeds a limit, or names a baseline outside itself.
        NoRoomForUpload: the disk is full.
    """
    with _room_for():
        folder.mkdir()
    if not _is_archive(content):
        with _room_for():
            shutil.copyfile(content, folder / _own_name(name))
        _baseline_in(folder)
        return ()
    staged = folder / ".staged"
    with _room_for():
        staged.mkdir()
    unpacking = _Unpacking(staged, unpacked_bytes_max)
    try:
        files = unpacking.unpack(content)
    except (OSError, *DAMAGE) as error:
        raise InvalidInput(PLACE, "it is not a complete archive", "create it again and send it") from error
    if not files:
        raise InvalidInput(PLACE, "the archive holds no file that can be read", "put telemetry into it")
    with _room_for():
        _place(files, folder, unpacking)
        shutil.rmtree(staged)
    return unpacking.notes()


def _is_archive(content: Path) -> bool:
    try:
        return is_archive_by_content(content)
    except OSError as error:
        raise InvalidInput(PLACE, "it cannot be read", "send it again") from error


def _own_name(name: str) -> str:
    own = PurePosixPath(name.replace("\\", "/")).name
    if not _is_usable(own) or is_hidden(own):
        raise InvalidInput("name", "it is not the name of a file", "send one such as metrics.csv")
    return own


def _is_usable(own: str) -> bool:
    try:
        size_bytes = len(os.fsencode(own))
    except UnicodeEncodeError:
        return False
    return own not in {"", ".", ".."} and own.isprintable() and size_bytes <= _NAME_BYTES_MAX


class _Unpacking:
    def __init__(self, staged: Path, bytes_max: int) -> None:
        self._staged = staged
        self._bytes_max = self._room = bytes_max
        self._notes: list[str] = []

    def note(self, name: str, what: str) -> None:
        """Note what happened to one member."""
        self._notes.append(f"{printable(name)}: {what}")

    def notes(self) -> tuple[str, ...]:
        """All notes, shortened if there are many."""
        more = len(self._notes) - _LEFT_OUT_MAX
        return (*self._notes[:_LEFT_OUT_MAX], *([f"and {more} more"] if more > 0 else []))

    def unpack(self, content: Path) -> dict[Parts, Path]:
        """The files of the archive, under numbers, by their paths inside it."""
        files: dict[Parts, Path] = {}
        for member in members(content, place=PLACE, bytes_max=self._bytes_max):
            written = [part for part in member.name.replace("\\", "/").split("/") if part not in {"", "."}]
            parts = tuple(part for part in written if part != "..")
            if any(is_hidden(part) for part in parts):
                continue
            if not member.is_file:
                self.note(member.name, "left out, it is a link or a device")
            elif not parts or not _is_usable(parts[-1]):
                self.note(member.name, "left out, its name cannot be that of a file")
            elif parts in files:
                self.note(member.name, "left out, the archive holds another file of this name")
            elif len(files) >= MEMBERS_LIMIT:
                raise InvalidInput(PLACE, f"it holds more than {MEMBERS_LIMIT:,} files", "keep fewer")
            else:
                files[parts] = self._staged / str(len(files))
                with member.open() as unpacked:
                    self._copy(unpacked, files[parts])
                if parts[-1].lower().endswith(ENDINGS):
                    self._count_inner(files[parts])
        return files

    def _copy(self, unpacked: IO[bytes], target: Path) -> None:
        with _room_for(), target.open("xb") as out:
            while chunk := unpacked.read(_CHUNK_BYTES):
                self._use_room(chunk)
                out.write(chunk)

    def _count_inner(self, archive: Path) -> None:
        """Count the disk space of a nested archive, since reading the folder unpacks it."""
        with suppress(OSError, *DAMAGE):  # the reader of the folder reports the damage
            for member in members(archive, place=PLACE, bytes_max=self._bytes_max):
                if member.is_file:
                    with member.open() as unpacked:
                        while chunk := unpacked.read(_CHUNK_BYTES):
                            self._use_room(chunk)

    def _use_room(self, chunk: bytes) -> None:
        self._room -= len(chunk)
        if self._room < 0:
            raise too_large(PLACE, self._bytes_max)


def _place(files: dict[Parts, Path], folder: Path, unpacking: _Unpacking) -> None:
    """Rename the files to their own names, without any folder that they were in."""
    files = _without_common(files)
    if (SETTINGS_NAME,) in files:
        files.pop((SETTINGS_NAME,)).rename(folder / SETTINGS_NAME)
    baseline = _baseline_in(folder)
    for parts, file in files.items():
        if parts[-1] == SETTINGS_NAME and parts[:-1] != baseline:
            unpacking.note("/".join(parts), "left out, settings are read from the top of the archive alone")
            continue
        target, inside = folder, parts
        if baseline and parts[: len(baseline)] == baseline and len(parts) > len(baseline):
            target, inside = folder.joinpath(*baseline), parts[len(baseline) :]
            target.mkdir(parents=True, exist_ok=True)
        own = _free_name(target, inside)
        if own != inside[-1]:
            unpacking.note("/".join(parts), f"read as {own}, another file has its name")
        file.rename(target / own)


def _without_common(files: dict[Parts, Path]) -> dict[Parts, Path]:
    while files and len({parts[0] for parts in files}) == 1 and all(len(parts) > 1 for parts in files):
        files = {parts[1:]: file for parts, file in files.items()}
    return files


def _baseline_in(folder: Path) -> Parts:
    """The folder of the baseline that incident.toml names, which must be inside the upload."""
    named = read_settings(folder).baseline_folder
    if named is None:
        return ()
    path = PurePosixPath(named)
    if path.is_absolute() or ".." in path.parts or not path.parts or any(map(is_hidden, path.parts)):
        place = f"{SETTINGS_NAME} (baseline.folder)"
        raise InvalidInput(place, "it is outside the upload", "put the baseline into a folder of it")
    return path.parts


def _free_name(folder: Path, inside: Parts) -> str:
    """The file's own name, with a number before the extension if another file has that name."""
    own = inside[-1]
    number, free = 1, own
    while (folder / free).exists():
        number += 1
        stem, dot, ending = own.partition(".")
        free = f"{stem}-{number}{dot}{ending}"
    return free


@contextmanager
def _room_for() -> Iterator[None]:
    try:
        yield
    except OSError as error:
        if error.errno in _FULL:
            raise NoRoomForUpload("the disk for uploads is full") from error
        raise InvalidInput(PLACE, "it cannot be unpacked", "create the archive again and send it") from error
