"""Makes files with questions, evidence and hashes of keys readable only by their owner."""

from __future__ import annotations

import logging
import os
import stat
from contextlib import suppress
from pathlib import Path

_LOG = logging.getLogger("diagnosis_harness.files")
_OWN = 0o600
_OTHERS = 0o077
_BESIDE = ("", "-wal", "-shm", "-journal")
"""SQLite creates these with the permissions of the main file, so only existing ones need a check."""


def make_private(file: Path) -> None:
    """Make a SQLite file, which may not exist yet, readable and writable only by its owner.

    A new file is created with these permissions, whatever the umask. An existing one is restricted if it is
    ours; for another owner's, the log has one sentence. Other failures are ignored here, since the code that
    opens the file reports them.
    """
    file = Path(os.path.realpath(file))  # the target of a link, since SQLite keeps its other files there
    with suppress(OSError):
        # An existing file is not opened: closing it would drop the locks of this process's other connections.
        os.close(os.open(file, os.O_CREAT | os.O_EXCL | os.O_RDWR | os.O_CLOEXEC, _OWN))
        return
    for suffix in _BESIDE:
        with suppress(OSError):
            _tighten(file.with_name(file.name + suffix))


def _tighten(file: Path) -> None:
    found = file.stat()
    mode = stat.S_IMODE(found.st_mode)
    if not stat.S_ISREG(found.st_mode) or not mode & _OTHERS:
        return
    if found.st_uid == os.geteuid():
        file.chmod(mode & ~_OTHERS)
        return
    _LOG.warning(
        "%s can be opened by other users of this machine and is not ours: have its owner run chmod 600 on it",
        file,
    )
