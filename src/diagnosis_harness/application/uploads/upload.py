"""A source that a caller has sent, and the port of the store that holds it for every process."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Protocol

from diagnosis_harness.application.runs.sources import SourceStamp
from diagnosis_harness.kernel.json_value import JsonValue

UPLOAD_CHUNK_BYTES: Final = 1_000_000
"""Of the content in one row: a transaction that writes it is short on any database."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Upload:
    """One source as it was sent.

    Attributes:
        owner: name of the caller who sent it.
        name: of the file, as the caller gave it; empty where it gave none.
        digest: SHA-256 of the content.
        expires_s: from then on it is not there any more.
        seen: what was read in it, as JSON.
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
        """Identity and content: it never changes."""
        return SourceStamp(self.upload_id, self.digest)


@dataclass(frozen=True, slots=True)
class CallerLimits:
    """What one caller may have stored at the same time."""

    count: int
    size_bytes: int


class UploadStore(Protocol):
    """Keeps uploads. Every failure is a `StoreFailure`. What has expired is never given."""

    async def begin(self, upload: Upload, limits: CallerLimits) -> Upload | None:
        """Reserve room for an upload, whose content follows.

        Returns:
            None if it is new; else the upload of this id that is there already.

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
        """The upload, where it is complete."""
        ...

    async def of_owners(self, owners: tuple[str, ...], *, at_s: float) -> tuple[Upload, ...]:
        """The complete uploads of these callers, the latest first."""
        ...

    async def chunk(self, upload_id: str, number: int) -> bytes | None:
        """One chunk; None after the last."""
        ...

    async def expire(self, upload_id: str, *, at_s: float) -> None:
        """Have an upload expire now; `remove_expired` removes it."""
        ...

    async def remove_expired(self, *, at_s: float) -> int:
        """Remove a bounded part of what has expired, and return how many rows that were."""
        ...
