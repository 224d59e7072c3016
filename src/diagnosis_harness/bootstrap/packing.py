"""Packs an incident folder for a service, for the command line."""

from __future__ import annotations

from pathlib import Path
from typing import IO

from diagnosis_harness.adapters.sources.incident_folder.packing import PackedFolder
from diagnosis_harness.adapters.sources.incident_folder.packing import pack_folder as pack


def pack_incident(folder: Path, target: IO[bytes]) -> PackedFolder:
    """Write the files that a diagnosis of the folder would read into an archive.

    Raises:
        InvalidInput: the folder does not exist, a file in it cannot be read, or its baseline is outside of
            it.
    """
    return pack(folder, target)
