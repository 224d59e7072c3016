"""Packs an incident folder into one archive: only the files that a local diagnosis would read."""

from __future__ import annotations

import gzip
import tarfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Final, cast

from diagnosis_harness.adapters.sources.incident_folder.listing import list_folder
from diagnosis_harness.adapters.sources.incident_folder.settings_file import SETTINGS_NAME, read_settings
from diagnosis_harness.kernel.errors import InvalidInput

_LEVEL: Final = 6
"""The gzip level: half the time of the best level, for a few percent more bytes."""


@dataclass(frozen=True, slots=True)
class PackedFolder:
    """The result of packing: the number of files, and their bytes in the folder."""

    files: int
    size_bytes: int


def pack_folder(folder: Path, target: IO[bytes]) -> PackedFolder:
    """Write the folder into a tar archive with gzip; the same files give the same bytes.

    Raises:
        InvalidInput: there is no such folder, a file in it cannot be read, or its baseline is outside of it.
    """
    files = dict(_files(folder))
    size_bytes = 0
    with (
        gzip.GzipFile(fileobj=target, mode="wb", compresslevel=_LEVEL, mtime=0, filename="") as packed,
        tarfile.open(fileobj=cast("IO[bytes]", packed), mode="w|", format=tarfile.PAX_FORMAT) as archive,
    ):
        for name in sorted(files):
            size_bytes += _add(archive, name, files[name])
    return PackedFolder(len(files), size_bytes)


def _files(folder: Path) -> Iterator[tuple[str, Path]]:
    """The files to send, by their paths in the archive."""
    settings = read_settings(folder) if folder.is_dir() else None
    for file in list_folder(folder, {}).files:  # also files that incident.toml says to ignore
        yield file.path.name, file.path
    if settings is None or not (folder / SETTINGS_NAME).is_file():
        return
    yield SETTINGS_NAME, folder / SETTINGS_NAME
    if settings.baseline_folder is not None:
        baseline = (folder / settings.baseline_folder).resolve()
        if folder.resolve() not in baseline.parents:
            place = f"{SETTINGS_NAME} (baseline.folder)"
            raise InvalidInput(place, "it is outside of the folder that is sent", "move it into the folder")
        inside = baseline.relative_to(folder.resolve()).as_posix()
        for file in list_folder(baseline, {}).files:
            yield f"{inside}/{file.path.name}", file.path


def _add(archive: tarfile.TarFile, name: str, file: Path) -> int:
    """Add one file without its owner and times, which the service must not see; return its size."""
    entry = tarfile.TarInfo(name)
    try:
        with file.open("rb") as content:
            entry.size = file.stat().st_size
            archive.addfile(entry, content)
    except OSError as error:
        raise InvalidInput(name, f"it cannot be read ({error.strerror or error})", "check it") from error
    return entry.size
