"""Handles content that has arrived, before and after it is stored."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from pathlib import Path
from typing import Protocol

from diagnosis_harness.application.uploads.upload import Upload
from diagnosis_harness.kernel.json_value import JsonValue


class CheckedContent(Protocol):
    """Content that was unpacked and read; `seen` is its summary."""

    @property
    def seen(self) -> Mapping[str, JsonValue]:
        """The summary of the content, as JSON."""
        ...


class UploadFolders(Protocol):
    """The private folders in which this process receives and unpacks uploads."""

    def new_file(self) -> Path:
        """A new empty file for content that arrives; the caller removes it.

        Raises:
            NoRoomForUpload: the disk is full.
        """
        ...

    async def check(self, content: Path, name: str) -> CheckedContent:
        """Unpack the content and read it as a diagnosis would.

        Raises:
            InvalidInput: it exceeds a limit, or nothing in it can be diagnosed.
            NoRoomForUpload: the disk is full.
        """
        ...

    def chunks(self, content: Path, *, size_bytes: int) -> AsyncIterator[bytes]:
        """The content in chunks of this size; the last one may be smaller."""
        ...

    def adopt(self, upload: Upload, content: CheckedContent) -> None:
        """Keep the unpacked content for the runs of this process."""
        ...

    def drop(self, upload_id: str) -> None:
        """Remove the unpacked content, as soon as no run of this process uses it."""
        ...

    async def drop_expired(self) -> None:
        """Remove the unpacked content of uploads that no longer exist."""
        ...
