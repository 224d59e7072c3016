"""A source that a caller has sent, and the port of the store that provides it to every process."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Protocol

from diagnosis_harness.application.runs.sources import SourceStamp
from diagnosis_harness.kernel.json_value import JsonValue

UPLOAD_CHUNK_BYTES: Final = 1_000_000
"""Bytes of content in one row: few enough for a short transaction on any database."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Upload:
    """One source that was sent.

    Attributes:
        owner: name of the caller who sent it.
        name: of the file, as given by the caller; may be empty.
        digest: SHA-256 of the content.
        expires_s: from this time on it is no longer visible.
        seen: its summary, as JSON.
        is_complete: whether all of its content is stored.
    """

    upload_id: str
    owner: str
    name: str
    size_bytes: int
    digest: str
    created_s: float
    expires_s: float
    seen: Mapping[str, JsonValue]
    is_complete: bool = False

    @property
    def stamp(self) -> SourceStamp:
        """Identity and content, which never change."""
        return SourceStamp(self.upload_id, self.digest)


@dataclass(frozen=True, slots=True)
class CallerLimits:
    """How much one caller may have stored at a time."""

    count: int
    size_bytes: int


class UploadStore(Protocol):
    """Stores uploads. Every failure is a `StoreFailure`. Expired uploads are never returned."""

    async def begin(self, upload: Upload, limits: CallerLimits) -> Upload | None:
        """Reserve room for an upload, whose content follows.

        Returns:
            None if it is new; else the existing upload of this id.

        Raises:
            TooManySources: the caller would have too many, or too many bytes.
        """
        ...

    async def add_chunk(self, upload_id: str, number: int, content: bytes) -> None:
        """Store one chunk of the content."""
        ...

    async def complete(self, upload_id: str, *, expires_s: float) -> None:
        """Make the upload visible, now that all of its content is stored."""
        ...

    async def upload(self, upload_id: str, *, at_s: float) -> Upload | None:
        """The upload, if it is complete."""
        ...

    async def of_owners(self, owners: tuple[str, ...], *, at_s: float) -> tuple[Upload, ...]:
        """The complete uploads of these callers, the latest first."""
        ...

    async def chunk(self, upload_id: str, number: int) -> bytes | None:
        """One chunk; None after the last."""
        ...

    async def expire(self, upload_id: str, *, at_s: float) -> None:
        """Make an upload expire now; `remove_expired` removes it."""
        ...

    async def remove_expired(self, *, at_s: float) -> int:
        """Remove a bounded number of expired rows, and return how many were removed."""
        ...
