"""Which files of a folder may be read: regular ones inside it, of a known form, not too many."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from diagnosis_harness.kernel.errors import InvalidInput
from diagnosis_harness.knowledge.document import SUFFIXES


@dataclass(frozen=True, slots=True)
class FileStamp:
    """A file as the folder lists it; with unchanged size and time it is not read again.

    Attributes:
        file: path inside the folder, with forward slashes.
        mtime_ns: when it was last changed, by the file system.
    """

    file: str
    size_bytes: int
    mtime_ns: int


@dataclass(frozen=True, slots=True)
class RunbookNote:
    """One sentence about a file, without a full stop."""

    file: str
    note: str


@dataclass(frozen=True, slots=True)
class RunbookListing:
    """Content of a folder: files to read, and what is left out and why, both by name."""

    files: tuple[FileStamp, ...]
    notes: tuple[RunbookNote, ...]


def check_folder(folder: Path) -> Path:
    """The folder, if it exists and can be listed.

    Raises:
        InvalidInput: it does not exist or cannot be listed.
    """
    try:
        os.listdir(folder)  # noqa: PTH208 - the error is what is needed
    except FileNotFoundError:
        raise InvalidInput(str(folder), "there is no such folder", "name one that holds runbooks") from None
    except NotADirectoryError:
        raise InvalidInput(str(folder), "it is a file", "name the folder that holds it") from None
    except (OSError, ValueError) as error:
        problem = f"it cannot be read ({getattr(error, 'strerror', None) or error})"
        raise InvalidInput(str(folder), problem, "name one that can be read") from None
    return folder


def list_documents(folder: Path, *, file_size_max: int, files_max: int) -> RunbookListing:
    """The readable files of a folder and its subfolders; hidden ones and links out of it are not followed.

    Raises:
        OSError: the folder itself cannot be listed.
    """
    os.listdir(folder)  # noqa: PTH208 - `walk` would treat an unreadable folder as empty
    root = folder.resolve()
    files: list[FileStamp] = []
    notes: list[RunbookNote] = []
    for path in _paths(folder):
        name = path.relative_to(folder).as_posix()
        found = _stamp(path, name, root=root, file_size_max=file_size_max)
        if isinstance(found, RunbookNote):
            notes.append(found)
        elif len(files) == files_max:
            notes.append(
                RunbookNote(name, f"not used: more than {files_max:,} files, so the rest is left out")
            )
            break
        else:
            files.append(found)
    return RunbookListing(tuple(files), tuple(notes))


def _paths(folder: Path) -> Iterator[Path]:
    for where, folders, names in os.walk(folder):
        linked = [name for name in folders if (Path(where) / name).is_symlink()]
        folders[:] = sorted(name for name in folders if not name.startswith(".") and name not in linked)
        yield from (Path(where) / name for name in sorted((*names, *linked)) if not name.startswith("."))


def _stamp(path: Path, name: str, *, root: Path, file_size_max: int) -> FileStamp | RunbookNote:
    try:
        name.encode()
        if not path.resolve().is_relative_to(root):
            return RunbookNote(name, "not used: it is a link that leads out of the folder")
        about = path.stat()
    except UnicodeEncodeError:
        return RunbookNote(name.encode("utf-8", "replace").decode(), "not used: its name is not UTF-8")
    except (OSError, RuntimeError) as error:  # pathlib raises RuntimeError for a loop of links
        return RunbookNote(name, f"not used: it cannot be read ({getattr(error, 'strerror', None) or error})")
    if stat.S_ISDIR(about.st_mode):
        return RunbookNote(name, "not used: links to folders are not followed")
    if not stat.S_ISREG(about.st_mode):
        return RunbookNote(name, "not used: it is not a regular file")
    if path.suffix.lower() not in SUFFIXES:
        return RunbookNote(name, "not used: it is neither Markdown, text nor HTML")
    if about.st_size > file_size_max:
        return RunbookNote(name, f"not used: {about.st_size:,} bytes are more than {file_size_max:,}")
    return FileStamp(name, about.st_size, about.st_mtime_ns)
