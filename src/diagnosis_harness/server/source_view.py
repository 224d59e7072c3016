"""A source that a caller has sent, as the API shows it."""

from __future__ import annotations

from typing import Annotated, Self

from pydantic import Field

from diagnosis_harness.application.uploads.upload import Upload
from diagnosis_harness.kernel.window import utc_text
from diagnosis_harness.server.view import Timestamp, View


class SentFileView(View):
    """One file of a source, and how it was read."""

    name: str
    role: Annotated[str | None, Field(description="What it holds; null if it was not read.")]
    form: str
    rows: int
    note: Annotated[str, Field(description="How it was read, or why it was not and what to do.")]


class SourceWindowView(View):
    """The first and the last time in the data."""

    start: Timestamp
    end: Timestamp


class SourceView(View):
    """A source, and what was read in it."""

    source_id: Annotated[str, Field(description="The `source` of a question about it.")]
    name: str
    size_bytes: int
    sha256: str
    created_at: Timestamp
    expires_at: Timestamp
    files: list[SentFileView]
    services: Annotated[list[str], Field(description="The first 200.")]
    signals: Annotated[list[str], Field(description="The first 200.")]
    window: SourceWindowView | None
    missing: Annotated[list[str], Field(description="Kinds of telemetry that it does not hold.")]
    notes: Annotated[list[str], Field(description="What was left out when it was unpacked, and why.")]

    @classmethod
    def of(cls, upload: Upload) -> Self:
        """The view of an upload."""
        return cls.model_validate(
            {
                **upload.seen,
                "source_id": upload.upload_id,
                "name": upload.name,
                "size_bytes": upload.size_bytes,
                "sha256": upload.digest,
                "created_at": utc_text(upload.created_s),
                "expires_at": utc_text(upload.expires_s),
            }
        )


class SourceListView(View):
    """All sources of a caller, the latest first."""

    sources: list[SourceView]
