"""Makes files that hold questions, evidence and hashes of keys readable by their owner only."""

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
"""SQLite makes these with the rights of the file itself, so only older ones need to be looked at."""


def make_private(file: Path) -> None:
    """Have a SQLite file, which may not be there yet, readable and writable by its owner alone.

    A new one is made so from its first moment, whatever the umask. An older one is tightened where it is
    ours; of another's the log says so in one sentence. What cannot be done is left to whoever opens the file:
    the sentence is theirs.
    """
    file = Path(os.path.realpath(file))  # where a link leads to: SQLite keeps its other files there
    with suppress(OSError):
        # Never opened where it is there: to close it takes the locks of this process's other connections.
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
