"""Reads names and content of the members of an archive, without trusting its headers."""

from __future__ import annotations

import bz2
import gzip
import lzma
import stat
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Final, Self, cast

from diagnosis_harness.kernel.errors import InvalidInput

DAMAGE: Final = (EOFError, zlib.error, lzma.LZMAError, zipfile.BadZipFile, tarfile.TarError, RuntimeError)
"""Errors that damaged, encrypted and unsupported archives raise, besides OSError."""

_HEADER_BYTES_MAX: Final = 1_000_000
"""The most bytes of a long name or extended header, which tarfile reads whole; real ones have hundreds."""
_OVERHEAD_BYTES: Final = 16_000_000
"""Bytes allowed for headers and padding of a tar archive, enough for more members than are accepted."""
_DIRECTORY_BYTES_MAX: Final = 8_000_000
"""The most bytes of a zip archive's file list, which zipfile reads whole; 10,000 names take 2 MB."""
_TAIL_BYTES: Final = 65_535 + 22
"""The part of a zip file that contains the end of that list, even if a comment follows it."""
_END_MARK, _ZIP64_MARK, _FIRST_MARK = b"PK\x05\x06", b"PK\x06\x07", b"PK\x03\x04"
_TAR_MARK, _TAR_MARK_AT = b"ustar", 257
_GZIP_MARK, _BZIP2_MARK, _XZ_MARK = b"\x1f\x8b", b"BZh", b"\xfd7zXZ\x00"


@dataclass(frozen=True, slots=True)
class ArchiveMember:
    """One entry other than a folder; `is_file` is false for links, devices and the like."""

    name: str
    is_file: bool
    open: Callable[[], IO[bytes]]


def is_archive_by_content(path: Path) -> bool:
    """Whether a file is a zip or tar archive, compressed or not, by its first bytes.

    Raises:
        OSError: it cannot be read.
    """
    with path.open("rb") as file:
        if file.read(4) in (_FIRST_MARK, _END_MARK):
            return True
    try:
        with _open_content(path) as content:
            head = content.read(_TAR_MARK_AT + len(_TAR_MARK))
    except (*DAMAGE, gzip.BadGzipFile):
        return False
    return head[_TAR_MARK_AT:] == _TAR_MARK


def members(path: Path, *, place: str, bytes_max: int) -> Iterator[ArchiveMember]:
    """Every entry of an archive except folders, in order; open each before taking the next.

    Args:
        place: the name of the archive in errors.
        bytes_max: of everything unpacked, including entries that the caller does not open.

    Raises:
        InvalidInput: it, or its file list, is too large.
        OSError, and those of `DAMAGE`: it is damaged, or cannot be read.
    """
    with path.open("rb") as file:
        is_zip = file.read(4) in (_FIRST_MARK, _END_MARK)
    if is_zip:
        yield from _zip_members(path, place)
        return
    with (
        closing(_Bounded(path, place, bytes_max)) as content,
        closing(tarfile.open(fileobj=content, mode="r|", tarinfo=_Entry)) as tar,  # type: ignore[call-overload]  # it only reads
    ):
        for entry in tar:
            if not entry.isdir():
                yield ArchiveMember(entry.name, entry.isfile(), _tar_opener(tar, entry))


def _zip_members(path: Path, place: str) -> Iterator[ArchiveMember]:
    _check_directory(path, place)
    with zipfile.ZipFile(path) as archive:
        for info in archive.infolist():
            if not info.is_dir():
                kind = stat.S_IFMT(info.external_attr >> 16)
                yield ArchiveMember(_zip_name(info), kind in (0, stat.S_IFREG), _zip_opener(archive, info))


def _check_directory(path: Path, place: str) -> None:
    """Refuse a file list that would fill the memory; anything that needs zip64 exceeds every limit."""
    with path.open("rb") as file:
        size_bytes = file.seek(0, 2)
        file.seek(max(0, size_bytes - _TAIL_BYTES))
        tail = file.read()
    end = tail.rfind(_END_MARK)
    if end < 0 or len(tail) < end + 22:
        raise zipfile.BadZipFile("it has no list of files")
    listed_bytes = int.from_bytes(tail[end + 12 : end + 16], "little")
    if listed_bytes > _DIRECTORY_BYTES_MAX or _ZIP64_MARK in tail[max(0, end - 20) : end]:
        raise InvalidInput(place, "it lists too many files", "keep fewer, or send a tar archive")


def _zip_name(info: zipfile.ZipInfo) -> str:
    """The name; without the UTF-8 flag it may still be UTF-8, or GBK as Windows writes Chinese names."""
    if info.flag_bits & 0x800 or info.filename.isascii():
        return info.filename
    try:
        written = info.filename.encode("cp437")
    except UnicodeEncodeError:
        return info.filename
    for encoding in ("utf-8", "gb18030"):
        try:
            return written.decode(encoding)
        except UnicodeDecodeError:
            continue
    return info.filename


class _Entry(tarfile.TarInfo):
    """A tar entry whose header cannot make tarfile allocate memory that it does not need."""

    @classmethod
    def frombuf(cls, buf: bytes | bytearray, encoding: str, errors: str) -> Self:
        """Read one block of a header."""
        entry = super().frombuf(buf, encoding, errors)
        is_header = entry.type in {
            tarfile.XHDTYPE,
            tarfile.XGLTYPE,
            tarfile.SOLARIS_XHDTYPE,
            tarfile.GNUTYPE_LONGNAME,
            tarfile.GNUTYPE_LONGLINK,
        }
        if is_header and entry.size > _HEADER_BYTES_MAX:
            raise tarfile.ReadError("a header is too long")
        return entry


class _Bounded:
    """Unpacked content; reading beyond its limit is an error."""

    def __init__(self, path: Path, place: str, bytes_max: int) -> None:
        self._content = _open_content(path)
        self._place = place
        self._bytes_max = bytes_max
        self._room = bytes_max + _OVERHEAD_BYTES

    def read(self, size: int) -> bytes:
        """The next bytes."""
        data = self._content.read(size)
        self._room -= len(data)
        if self._room < 0:
            raise too_large(self._place, self._bytes_max)
        return data

    def close(self) -> None:
        """Close the file."""
        self._content.close()


def too_large(place: str, bytes_max: int) -> InvalidInput:
    """The error for an archive whose unpacked content exceeds the limit."""
    size = f"{bytes_max / 1e9:g} GB" if bytes_max >= 1e9 else f"{bytes_max / 1e6:g} MB"
    return InvalidInput(place, f"it unpacks to more than {size}", "unpack the files that matter yourself")


def _open_content(path: Path) -> IO[bytes]:
    with path.open("rb") as file:
        head = file.read(len(_XZ_MARK))
    if head.startswith(_GZIP_MARK):
        return cast("IO[bytes]", gzip.GzipFile(path, "rb"))
    if head.startswith(_BZIP2_MARK):
        return cast("IO[bytes]", bz2.BZ2File(path, "rb"))
    if head.startswith(_XZ_MARK):
        return cast("IO[bytes]", lzma.LZMAFile(path, "rb"))
    return path.open("rb")


def _zip_opener(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> Callable[[], IO[bytes]]:
    return lambda: archive.open(info)


def _tar_opener(tar: tarfile.TarFile, entry: tarfile.TarInfo) -> Callable[[], IO[bytes]]:
    def open_one() -> IO[bytes]:
        content = tar.extractfile(entry)
        if content is None:
            raise tarfile.ReadError(entry.name)
        return content

    return open_one
