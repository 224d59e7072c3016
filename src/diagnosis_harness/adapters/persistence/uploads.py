"""Uploads in the database of the runs, so that every process can read them; content in chunks."""

from __future__ import annotations

from typing import Any, Final

from sqlalchemy import Connection, RowMapping, delete, func, select, update

from diagnosis_harness.adapters.persistence.database import Database
from diagnosis_harness.adapters.persistence.failures import readable
from diagnosis_harness.adapters.persistence.insertion import insert_if_absent, lock
from diagnosis_harness.adapters.persistence.json_text import from_json_text, json_text
from diagnosis_harness.adapters.persistence.schema import source_upload, upload_chunk
from diagnosis_harness.application.uploads.upload import CallerLimits, Upload
from diagnosis_harness.kernel.errors import FailureKind, StoreFailure, TooManySources

_UPLOAD, _CHUNK = source_upload.c, upload_chunk.c
_UPLOADS_LOCK: Final = 3
_REMOVED_CHUNKS: Final = 16
"""Chunks that one transaction removes: 16 MB, well below the time limit of a statement."""


class SqlUploadStore:
    """`UploadStore`."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def begin(self, upload: Upload, limits: CallerLimits) -> Upload | None:
        """Insert the row if its owner may have one more, counting those that are being stored."""
        columns = {
            "upload_id": upload.upload_id,
            "owner": upload.owner,
            "name": upload.name,
            "size_bytes": upload.size_bytes,
            "digest": upload.digest,
            "created_s": upload.created_s,
            "expires_s": upload.expires_s,
            "seen": json_text(dict(upload.seen)),
            "is_complete": False,
        }
        of_id = select(source_upload).where(_UPLOAD.upload_id == upload.upload_id)
        usage = select(func.count(), func.coalesce(func.sum(_UPLOAD.size_bytes), 0)).where(
            _UPLOAD.owner == upload.owner, _UPLOAD.expires_s > upload.created_s
        )

        def insert(connection: Connection) -> Upload | None:
            lock(connection, upload.owner, kind=_UPLOADS_LOCK)
            expired = (_UPLOAD.upload_id == upload.upload_id, _UPLOAD.expires_s <= upload.created_s)
            connection.execute(delete(source_upload).where(*expired))
            before = connection.execute(of_id).mappings().one_or_none()
            if before is not None:
                with readable():
                    return _upload_of(before)
            count, size_bytes = connection.execute(usage).one()
            if count >= limits.count:
                raise TooManySources(limits.count)
            if int(size_bytes) + upload.size_bytes > limits.size_bytes:
                raise TooManySources(limits.size_bytes)
            insert_if_absent(connection, source_upload, columns)
            return None

        return await self._database.write(insert)

    async def add_chunk(self, upload_id: str, number: int, content: bytes) -> None:
        """Insert one chunk."""
        row = {"upload_id": upload_id, "number": number, "content": content}
        await self._database.write(lambda connection: connection.execute(upload_chunk.insert().values(row)))

    async def complete(self, upload_id: str, *, expires_s: float) -> None:
        """Make the row visible.

        Raises:
            StoreFailure: also if it no longer exists (REJECTED).
        """
        change = (
            update(source_upload)
            .where(_UPLOAD.upload_id == upload_id)
            .values(is_complete=True, expires_s=expires_s)
        )
        if await self._database.write(lambda connection: connection.execute(change).rowcount) != 1:
            raise StoreFailure("the upload was removed while it was stored", kind=FailureKind.REJECTED)

    async def upload(self, upload_id: str, *, at_s: float) -> Upload | None:
        """The row, if it is complete and has not expired."""
        found = await self._select(at_s, _UPLOAD.upload_id == upload_id)
        return found[0] if found else None

    async def of_owners(self, owners: tuple[str, ...], *, at_s: float) -> tuple[Upload, ...]:
        """The rows of these owners, the latest first."""
        return await self._select(at_s, _UPLOAD.owner.in_(owners))

    async def chunk(self, upload_id: str, number: int) -> bytes | None:
        """One chunk."""
        query = select(_CHUNK.content).where(_CHUNK.upload_id == upload_id, _CHUNK.number == number)
        content = await self._database.read(lambda connection: connection.execute(query).scalar_one_or_none())
        return None if content is None else bytes(content)

    async def expire(self, upload_id: str, *, at_s: float) -> None:
        """Make the row expire now."""
        change = update(source_upload).where(_UPLOAD.upload_id == upload_id).values(expires_s=at_s)
        await self._database.write(lambda connection: connection.execute(change).rowcount)

    async def remove_expired(self, *, at_s: float) -> int:
        """Delete some chunks of one expired upload, and then its row; several processes may do it at once."""
        first = (
            select(_UPLOAD.upload_id).where(_UPLOAD.expires_s <= at_s).order_by(_UPLOAD.expires_s).limit(1)
        )

        def remove(connection: Connection) -> int:
            upload_id = connection.execute(first).scalar_one_or_none()
            if upload_id is None:
                return 0
            numbers = select(_CHUNK.number).where(_CHUNK.upload_id == upload_id).limit(_REMOVED_CHUNKS)
            chunks = delete(upload_chunk).where(_CHUNK.upload_id == upload_id, _CHUNK.number.in_(numbers))
            if removed := connection.execute(chunks).rowcount:
                return removed
            row = delete(source_upload).where(_UPLOAD.upload_id == upload_id, _UPLOAD.expires_s <= at_s)
            return connection.execute(row).rowcount

        if await self._database.read(lambda connection: connection.execute(first).first()) is None:
            return 0
        return await self._database.write(remove)

    async def _select(self, at_s: float, *conditions: Any) -> tuple[Upload, ...]:  # noqa: ANN401 - as SQLAlchemy's own `where`
        query = (
            select(source_upload)
            .where(*conditions, _UPLOAD.is_complete, _UPLOAD.expires_s > at_s)
            .order_by(_UPLOAD.created_s.desc(), _UPLOAD.upload_id)
        )
        rows = await self._database.read(lambda connection: connection.execute(query).mappings().all())
        with readable():
            return tuple(_upload_of(row) for row in rows)


def _upload_of(row: RowMapping) -> Upload:
    seen = from_json_text(row["seen"])
    if not isinstance(seen, dict):
        raise TypeError("the summary is not an object")
    return Upload(
        upload_id=row["upload_id"],
        owner=row["owner"],
        name=row["name"],
        size_bytes=row["size_bytes"],
        digest=row["digest"],
        created_s=row["created_s"],
        expires_s=row["expires_s"],
        seen=seen,
        is_complete=bool(row["is_complete"]),
    )
