"""Accept, list and delete uploads on behalf of a caller, who sees only their own."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from diagnosis_harness.application.callers.caller import Caller
from diagnosis_harness.application.runs.sources import UPLOAD_PREFIX, SourceStamp
from diagnosis_harness.application.uploads.received import CheckedContent, UploadFolders
from diagnosis_harness.application.uploads.upload import UPLOAD_CHUNK_BYTES, CallerLimits, Upload, UploadStore
from diagnosis_harness.kernel.clock import Clock
from diagnosis_harness.kernel.errors import (
    InvalidInput,
    NotPermitted,
    SourceUnknown,
    StoreFailure,
)
from diagnosis_harness.kernel.ids import IdSource

_STORING_MAX_S: Final = 600.0
"""An upload that is still incomplete after this time was left by a dead process, and is removed."""
_REMOVALS_MAX: Final = 50
"""The most batches of one removal, so that a process still does its other work after a long pause."""


@dataclass(frozen=True, slots=True)
class UploadSettings:
    """Which uploads this service accepts.

    Attributes:
        bytes_max: of one upload, as sent.
        keep_s: how long one is stored.
        timeout_s: how long one may take to arrive.
    """

    bytes_max: int
    keep_s: float
    timeout_s: float
    of_caller: CallerLimits


@dataclass(frozen=True, slots=True, kw_only=True)
class Arrived:
    """Content that has arrived completely, with the caller's statements; `upload_id` None creates an id."""

    content: Path
    name: str
    size_bytes: int
    digest: str
    upload_id: str | None = None


class UploadService:
    """One for each process."""

    def __init__(
        self,
        store: UploadStore,
        folders: UploadFolders,
        *,
        clock: Clock,
        ids: IdSource,
        settings: UploadSettings,
    ) -> None:
        self.folders = folders
        self.settings = settings
        self._store = store
        self._clock = clock
        self._ids = ids

    async def add(self, caller: Caller, arrived: Arrived) -> tuple[Upload, bool]:
        """Check and store arrived content; return the upload, and whether it is new.

        If the same content is sent twice under one id, both get the first one's upload.

        Raises:
            NotPermitted: the caller may not ask.
            InvalidInput: it cannot be used, its id was used for other content, or is just being stored.
            TooManySources: the caller has too many.
            NoRoomForUpload, StoreFailure: there is no room for it, or it cannot be stored.
        """
        check_may_upload(caller)
        if arrived.upload_id is not None:
            before = await self._store.upload(arrived.upload_id, at_s=self._clock.now_s())
            if before is not None:
                return _same(before, arrived), False
        checked = await self.folders.check(arrived.content, arrived.name)
        now_s = self._clock.now_s()
        upload = Upload(
            upload_id=arrived.upload_id or f"{UPLOAD_PREFIX}{self._ids.new_secret()[:32]}",
            owner=caller.name,
            name=arrived.name,
            size_bytes=arrived.size_bytes,
            digest=arrived.digest,
            created_s=now_s,
            expires_s=now_s + min(_STORING_MAX_S, self.settings.keep_s),
            seen=checked.seen,
        )
        before = await self._store.begin(upload, self.settings.of_caller)
        if before is not None:
            return _same(before, arrived), False
        return await self._keep(upload, arrived.content, checked), True

    async def _keep(self, upload: Upload, content: Path, checked: CheckedContent) -> Upload:
        try:
            number = 0
            async for chunk in self.folders.chunks(content, size_bytes=UPLOAD_CHUNK_BYTES):
                await self._store.add_chunk(upload.upload_id, number, chunk)
                number += 1
            expires_s = upload.created_s + self.settings.keep_s
            await self._store.complete(upload.upload_id, expires_s=expires_s)
        except BaseException:
            with suppress(StoreFailure):  # it expires by itself
                await self._store.expire(upload.upload_id, at_s=self._clock.now_s())
            raise
        kept = await self._store.upload(upload.upload_id, at_s=self._clock.now_s())
        if kept is None:
            raise SourceUnknown(upload.upload_id)
        self.folders.adopt(kept, checked)
        return kept

    async def upload(self, caller: Caller, upload_id: str) -> Upload:
        """An upload of this caller.

        Raises:
            SourceUnknown: it does not exist, has expired, or belongs to another caller.
            StoreFailure: it cannot be read.
        """
        found = await self._store.upload(upload_id, at_s=self._clock.now_s())
        if found is None or found.owner not in caller.sees:
            raise SourceUnknown(upload_id)
        return found

    async def uploads(self, caller: Caller) -> tuple[Upload, ...]:
        """The uploads of this caller, the latest first.

        Raises:
            StoreFailure: they cannot be read.
        """
        return await self._store.of_owners(caller.sees, at_s=self._clock.now_s())

    async def stamp(self, caller: Caller, upload_id: str) -> SourceStamp:
        """The stamp of the upload for a run of this caller.

        Raises:
            SourceUnknown, StoreFailure: as `upload`.
        """
        return (await self.upload(caller, upload_id)).stamp

    async def delete(self, caller: Caller, upload_id: str) -> None:
        """Delete an upload. A run that has started to read it continues.

        Raises:
            NotPermitted: the caller may not ask.
            SourceUnknown, StoreFailure: as `upload`.
        """
        check_may_upload(caller)
        found = await self.upload(caller, upload_id)
        await self._store.expire(found.upload_id, at_s=self._clock.now_s())
        self.folders.drop(found.upload_id)

    async def remove_expired(self) -> None:
        """Remove expired uploads, from the store in bounded batches and from the disk of this process.

        Raises:
            StoreFailure: the store failed; the next call continues.
        """
        for _ in range(_REMOVALS_MAX):
            if not await self._store.remove_expired(at_s=self._clock.now_s()):
                break
        await self.folders.drop_expired()


def check_may_upload(caller: Caller) -> None:
    """Refuse a caller who may only read.

    Raises:
        NotPermitted: the caller may only read.
    """
    if not caller.may_ask:
        raise NotPermitted("a viewer may only read")


def _same(before: Upload, arrived: Arrived) -> Upload:
    if before.digest != arrived.digest:
        raise InvalidInput("Idempotency-Key", "it was already used for another source", "send a new one")
    if not before.is_complete:
        problem = "the source that was sent with it is still being stored"
        raise InvalidInput("Idempotency-Key", problem, "send it again in a moment")
    return before
