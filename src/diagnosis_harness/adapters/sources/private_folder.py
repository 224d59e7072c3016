"""Folders of this process only, removed when unused, or by the next process if this one dies."""

from __future__ import annotations

import fcntl
import os
import shutil
import stat
import tempfile
import weakref
from contextlib import suppress
from pathlib import Path
from typing import Final

from diagnosis_harness.kernel.errors import InvalidSetting, NoRoomForUpload

_PREFIX: Final = "diagnosis-sources-"
_LOCK: Final = "lock"


class PrivateFolder:
    """A folder that only this user can enter; removed with its content when the object is collected."""

    def __init__(self, parent: Path) -> None:
        """Create the folder.

        Raises:
            NoRoomForUpload: the disk is full or not writable.
        """
        try:
            self.path = Path(tempfile.mkdtemp(dir=parent))  # 0700
        except OSError as error:
            raise NoRoomForUpload(f"no folder can be made for uploads ({error.strerror})") from error
        self._finalizer = weakref.finalize(self, shutil.rmtree, self.path, ignore_errors=True)

    def remove(self) -> None:
        """Remove it now; idempotent."""
        self._finalizer()


class PrivateRoot:
    """The folder of this process that contains its private folders.

    A lock shows that the process is alive. The next process that starts removes what a killed one left
    behind.
    """

    def __init__(self, parent: Path) -> None:
        """Remove what dead processes left in `parent`, and create a folder there.

        Raises:
            InvalidSetting: nothing can be written there.
        """
        try:
            parent.mkdir(parents=True, exist_ok=True)
            for left in parent.glob(f"{_PREFIX}*"):
                _remove_if_dead(left)
            self.path, self._lock = _make_locked(parent)
        except OSError as error:
            raise InvalidSetting(
                "uploads.folder", f"{parent} cannot be written to ({error.strerror})", "name another folder"
            ) from error
        self._finalizer = weakref.finalize(self, _remove, self.path, self._lock)

    def close(self) -> None:
        """Remove the folder with its content; idempotent."""
        self._finalizer()


def _make_locked(parent: Path) -> tuple[Path, int]:
    """Create a folder and lock it.

    Until we hold the lock, another process that starts may take the folder for a dead one's and remove it;
    then another folder is created.
    """
    while True:
        path = Path(tempfile.mkdtemp(prefix=_PREFIX, dir=parent))  # 0700
        with suppress(FileNotFoundError):
            lock = os.open(path / _LOCK, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
            fcntl.flock(lock, fcntl.LOCK_EX)
            if os.fstat(lock).st_nlink:
                return path, lock
            os.close(lock)


def _remove(path: Path, lock: int) -> None:
    shutil.rmtree(path, ignore_errors=True)
    os.close(lock)


def _remove_if_dead(folder: Path) -> None:
    """Remove the folder of a harness process that has died."""
    with suppress(OSError):  # another's, or gone by now
        found = folder.lstat()
        if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.geteuid():
            return
        lock = os.open(folder / _LOCK, os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            shutil.rmtree(folder, ignore_errors=True)
        finally:
            os.close(lock)
