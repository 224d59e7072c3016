"""Uploads as sources: checked when they arrive, and unpacked once by every process that needs them."""

from __future__ import annotations

import asyncio
import hashlib
import os
import tempfile
from collections import OrderedDict
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO

from diagnosis_harness.adapters.sources.catalog import ConfiguredPart, LocalSourceCatalog
from diagnosis_harness.adapters.sources.incident_folder.look import look_at_folder
from diagnosis_harness.adapters.sources.incident_folder.part import FolderPart
from diagnosis_harness.adapters.sources.incident_folder.received import PLACE, lay_out
from diagnosis_harness.adapters.sources.part import ignore_progress
from diagnosis_harness.adapters.sources.private_folder import PrivateFolder, PrivateRoot
from diagnosis_harness.application.diagnosis_path import OpenSource, SourceCatalog
from diagnosis_harness.application.folder_look import FolderLook
from diagnosis_harness.application.runs.sources import SourceStamp, is_upload_id
from diagnosis_harness.application.uploads.received import CheckedContent
from diagnosis_harness.application.uploads.upload import Upload, UploadStore
from diagnosis_harness.harness.context import RunContext
from diagnosis_harness.kernel.clock import Clock
from diagnosis_harness.kernel.errors import (
    FailureKind,
    InvalidInput,
    NoRoomForUpload,
    SourceExpired,
    SourceUnavailable,
)
from diagnosis_harness.kernel.json_value import JsonValue
from diagnosis_harness.kernel.window import TimeWindow, utc_text

_INCIDENT = "incident"
"""The folder inside the private one that is read; no answer shows its name."""
_SHOWN_MAX = 200
"""Services and signals of an upload that are listed; a question about it can find all of them."""


@dataclass(frozen=True, slots=True)
class UploadLimits:
    """What uploads may use on this machine.

    Attributes:
        unpacked_bytes_max: of one upload.
        open_max: uploads that stay unpacked between runs.
    """

    unpacked_bytes_max: int
    open_max: int
    memory_limit_mb: int


@dataclass(frozen=True, slots=True)
class _Checked:
    """`CheckedContent` and the folder that it was unpacked into."""

    seen: Mapping[str, JsonValue]
    folder: PrivateFolder


class UploadCatalog:
    """Implements `SourceCatalog` and `UploadFolders`. Used from one event loop; files are read in threads.

    Args:
        configured: the sources of the settings, for all names that are not uploads.
        opened: a separate catalog for unpacked uploads.
        root: where it is unpacked.
    """

    def __init__(
        self,
        configured: SourceCatalog,
        opened: LocalSourceCatalog,
        store: UploadStore,
        *,
        root: PrivateRoot,
        clock: Clock,
        limits: UploadLimits,
    ) -> None:
        self._configured = configured
        self._opened = opened
        self._store = store
        self._root = root
        self._clock = clock
        self._limits = limits
        self._folders: OrderedDict[str, PrivateFolder] = OrderedDict()
        self._unpacking, self._checking = asyncio.Lock(), asyncio.Lock()

    # ------------------------------------------------------------------ SourceCatalog

    async def open(
        self, ctx: RunContext, name: str | None, onset_s: float | None, asked: SourceStamp | None
    ) -> OpenSource:
        """The source of a name: an upload, unpacked if that is not yet done, or a configured source.

        Raises:
            SourceExpired: the upload no longer exists.
            SourceUnavailable, OnsetOutsideData: as for every source.
            StoreFailure: the upload cannot be fetched.
        """
        if name is None or not is_upload_id(name):
            return await self._configured.open(ctx, name, onset_s, asked)
        async with self._unpacking:
            folder = await self._folder_of(name)
        opened = await self._opened.open(ctx, name, onset_s, None)
        return replace(opened, stamp=asked, folder=folder)

    async def _folder_of(self, upload_id: str) -> PrivateFolder:
        upload = await self._store.upload(upload_id, at_s=self._clock.now_s())
        if upload is None:
            self.drop(upload_id)
            raise _expiry_failure(upload_id)
        folder = self._folders.get(upload_id)
        if folder is None:
            folder = await self._fetch(upload)
            self._hold(upload_id, folder)
        self._folders.move_to_end(upload_id)
        return folder

    async def _fetch(self, upload: Upload) -> PrivateFolder:
        try:
            content = self.new_file()
            try:
                if await self._write(upload.upload_id, content) != upload.digest:
                    raise SourceUnavailable(f"source {upload.upload_id} is not stored as it was sent")
                return await asyncio.to_thread(self._lay_out, content, upload.name)
            finally:
                content.unlink(missing_ok=True)
        except (InvalidInput, NoRoomForUpload, OSError) as error:
            problem = f"source {upload.upload_id} cannot be unpacked"
            raise SourceUnavailable(problem, kind=FailureKind.UNAVAILABLE) from error

    async def _write(self, upload_id: str, content: Path) -> str:
        """Write the stored content to a file, and return its digest."""
        digest, number = hashlib.sha256(), 0
        with content.open("wb") as file:
            while (chunk := await self._store.chunk(upload_id, number)) is not None:
                digest.update(chunk)
                await asyncio.to_thread(file.write, chunk)
                number += 1
        return digest.hexdigest()

    # ------------------------------------------------------------------ UploadFolders

    def new_file(self) -> Path:
        """A new empty file for arriving content."""
        try:
            number, name = tempfile.mkstemp(prefix="arriving-", dir=self._root.path)  # 0600
        except OSError as error:
            raise NoRoomForUpload(f"no file can be made for uploads ({error.strerror})") from error
        os.close(number)
        return Path(name)

    async def check(self, content: Path, name: str) -> CheckedContent:
        """Unpack the content and read it as a diagnosis would."""
        async with self._checking:  # one at a time: reading takes the memory of a whole incident
            return await asyncio.to_thread(self._check, content, name)

    async def chunks(self, content: Path, *, size_bytes: int) -> AsyncIterator[bytes]:
        """The content in chunks."""
        with content.open("rb") as file:
            while chunk := await asyncio.to_thread(_read, file, size_bytes):
                yield chunk

    def adopt(self, upload: Upload, content: CheckedContent) -> None:
        """Keep the unpacked content for the runs of this process."""
        if isinstance(content, _Checked):
            self._hold(upload.upload_id, content.folder)

    def drop(self, upload_id: str) -> None:
        """Forget the unpacked content; its folder is removed after the last run that uses it."""
        self._folders.pop(upload_id, None)
        self._opened.remove(upload_id)

    async def drop_expired(self) -> None:
        """Forget all uploads that are no longer in the store."""
        for upload_id in tuple(self._folders):
            if await self._store.upload(upload_id, at_s=self._clock.now_s()) is None:
                self.drop(upload_id)

    def _hold(self, upload_id: str, folder: PrivateFolder) -> None:
        part = FolderPart(
            folder=folder.path / _INCIDENT,
            memory_limit_mb=self._limits.memory_limit_mb,
            unpack_below=folder.path,
        )
        self._opened.add(upload_id, [ConfiguredPart(part)])
        self._folders[upload_id] = folder
        while len(self._folders) > self._limits.open_max:
            self.drop(next(iter(self._folders)))

    def _lay_out(self, content: Path, name: str) -> PrivateFolder:
        return self._lay_out_with_notes(content, name)[0]

    def _lay_out_with_notes(self, content: Path, name: str) -> tuple[PrivateFolder, tuple[str, ...]]:
        folder, bytes_max = PrivateFolder(self._root.path), self._limits.unpacked_bytes_max
        try:
            return folder, lay_out(content, name, folder.path / _INCIDENT, unpacked_bytes_max=bytes_max)
        except BaseException:
            folder.remove()
            raise

    def _check(self, content: Path, name: str) -> _Checked:
        folder, notes = self._lay_out_with_notes(content, name)
        place, limit_mb = folder.path / _INCIDENT, self._limits.memory_limit_mb
        try:
            look = look_at_folder(
                place,
                baseline=None,
                memory_limit_mb=limit_mb,
                progress=ignore_progress,
                unpack_below=folder.path,
            )
            if look.obstacle is not None:
                raise look.obstacle
        except InvalidInput as error:
            folder.remove()
            raise _as_of_body(error, place) from error
        return _Checked(_summary_json(look, notes), folder)


def _read(file: IO[bytes], size_bytes: int) -> bytes:
    return file.read(size_bytes)


def _as_of_body(error: InvalidInput, folder: Path) -> InvalidInput:
    """The refusal, worded for the sender, who does not know our folders."""
    place = PLACE if str(folder) in error.place else error.place
    return InvalidInput(place, error.problem, error.remedy)


def _summary_json(look: FolderLook, notes: tuple[str, ...]) -> dict[str, JsonValue]:
    """The stored part of the explanation: what the sender needs to know before asking."""
    return {
        "files": [
            {"name": file.name, "role": file.role, "form": file.form, "rows": file.rows, "note": file.note}
            for file in look.files
        ],
        "services": [one.name for one in look.services[:_SHOWN_MAX]],
        "signals": [one.name for one in look.signals[:_SHOWN_MAX]],
        "window": _window_json(look.window),
        "missing": [lack.value for lack in look.lacks],
        "notes": list(notes),
    }


def _window_json(window: TimeWindow | None) -> JsonValue:
    if window is None:
        return None
    return {"start": utc_text(window.start_s), "end": utc_text(window.end_s)}


def _expiry_failure(upload_id: str) -> SourceExpired:
    return SourceExpired(f"source {upload_id} has expired or was deleted", kind=FailureKind.REJECTED)
