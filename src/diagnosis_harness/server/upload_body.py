"""Writes the body of an upload to a file as it arrives, limited in bytes and time, with its digest."""

from __future__ import annotations

import asyncio
import errno
import hashlib
from pathlib import Path
from typing import IO, Final

from starlette.requests import Request

from diagnosis_harness.application.uploads.upload_service import Arrived
from diagnosis_harness.kernel.clock import Clock
from diagnosis_harness.kernel.errors import InvalidInput, NoRoomForUpload
from diagnosis_harness.server.problems import Problem, ProblemKind
from diagnosis_harness.server.time_limit import with_time_limit

FILE_NAMES: Final = {
    "application/zip": "upload.zip",
    "application/x-zip-compressed": "upload.zip",
    "application/x-tar": "upload.tar",
    "application/gzip": "upload.tar.gz",
    "application/x-gzip": "upload.tar.gz",
    "application/x-gtar": "upload.tar.gz",
    "application/x-bzip2": "upload.tar.bz2",
    "application/x-xz": "upload.tar.xz",
    "application/octet-stream": "upload.txt",
    "text/csv": "upload.csv",
    "text/tab-separated-values": "upload.tsv",
    "text/plain": "upload.txt",
    "application/json": "upload.json",
    "application/x-ndjson": "upload.jsonl",
    "application/vnd.apache.parquet": "upload.parquet",
}
"""The accepted content types, with the name of a file that is sent without one."""
_DISK_FULL: Final = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


def file_name_of(request: Request) -> str | None:
    """The name of a file of this content type; None if it is not accepted."""
    stated = request.headers.getlist("content-type")
    if len(stated) != 1 or "content-encoding" in request.headers:
        return None
    return FILE_NAMES.get(stated[0].partition(";")[0].strip().lower())


async def receive_upload(
    request: Request, content: Path, name: str, *, bytes_max: int, clock: Clock, timeout_s: float
) -> Arrived | Problem:
    """Write the whole body to the file, or stop and return a problem if it is too large or too slow.

    Raises:
        InvalidInput: it is empty.
        NoRoomForUpload: the disk is full.
        ClientDisconnect: the client disconnected before it was complete.
    """
    stated = request.headers.get("content-length", "")
    if stated.isascii() and stated.isdigit() and int(stated[:20]) > bytes_max:
        return Problem(ProblemKind.TOO_LARGE, limit=bytes_max)
    try:
        with content.open("wb") as file:
            work = _write(request, file, bytes_max)
            size_bytes, digest = await with_time_limit(clock, timeout_s, work)
    except TimeoutError:
        return Problem(ProblemKind.TOO_SLOW)
    except OSError as error:
        if error.errno in _DISK_FULL:
            raise NoRoomForUpload("the disk for uploads is full") from error
        raise
    if size_bytes > bytes_max:
        return Problem(ProblemKind.TOO_LARGE, limit=bytes_max)
    if not size_bytes:
        raise InvalidInput("body", "it is empty", "send an archive or a file")
    return Arrived(content=content, name=name, size_bytes=size_bytes, digest=digest)


async def _write(request: Request, file: IO[bytes], bytes_max: int) -> tuple[int, str]:
    """Write the body as it arrives, and return its size; reading stops once that exceeds the limit."""
    size_bytes, digest = 0, hashlib.sha256()
    async for part in request.stream():
        size_bytes += len(part)
        if size_bytes > bytes_max:
            break
        digest.update(part)
        await asyncio.to_thread(file.write, part)
    await asyncio.to_thread(file.flush)
    return size_bytes, digest.hexdigest()
