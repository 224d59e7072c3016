"""Uploads in a database: reserved within limits, seen when complete, and removed bit by bit when expired."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace

import pytest
from sqlalchemy import func, select

from diagnosis_harness.adapters.persistence.database import Database
from diagnosis_harness.adapters.persistence.schema import source_upload, upload_chunk
from diagnosis_harness.adapters.persistence.uploads import SqlUploadStore
from diagnosis_harness.application.uploads.upload import CallerLimits, Upload
from diagnosis_harness.kernel.errors import StoreFailure, TooManySources

AMPLE = CallerLimits(100, 1_000_000)
pytestmark = pytest.mark.parametrize("place", ["sqlite_url", "postgres_url"])


def upload(name: str = "a", *, owner: str = "ann", size_bytes: int = 10, at_s: float = 100.0) -> Upload:
    """An upload that is kept for a hundred seconds."""
    return Upload(
        upload_id=f"upload-{name}",
        owner=owner,
        name="指标.zip",
        size_bytes=size_bytes,
        digest="d",
        created_s=at_s,
        expires_s=at_s + 100.0,
        seen={"services": ["商店"], "notes": []},
    )


async def put(store: SqlUploadStore, sent: Upload, *chunks: bytes) -> None:
    """Store it in full."""
    assert await store.begin(sent, AMPLE) is None
    for number, chunk in enumerate(chunks):
        await store.add_chunk(sent.upload_id, number, chunk)
    await store.complete(sent.upload_id, expires_s=sent.expires_s)


@pytest.fixture
def over(
    place: str, request: pytest.FixtureRequest
) -> Callable[[Callable[[SqlUploadStore, Database], Awaitable[None]]], None]:
    """Tell a story over a store."""
    url = request.getfixturevalue(place)

    def run(story: Callable[[SqlUploadStore, Database], Awaitable[None]]) -> None:
        async def run_story() -> None:
            database = await Database.open(url)
            try:
                await story(SqlUploadStore(database), database)
            finally:
                await database.close()

        asyncio.run(run_story())

    return run


Over = Callable[[Callable[[SqlUploadStore, Database], Awaitable[None]]], None]


def test_an_upload_is_seen_when_it_is_complete_and_until_it_expires(over: Over) -> None:
    """With its content, as it was sent."""

    async def story(store: SqlUploadStore, database: Database) -> None:
        del database
        sent = upload()
        assert await store.begin(sent, AMPLE) is None
        await store.add_chunk(sent.upload_id, 0, b"\x00\xff" * 500_000)
        assert await store.upload(sent.upload_id, at_s=150.0) is None
        await store.add_chunk(sent.upload_id, 1, b"rest")
        await store.complete(sent.upload_id, expires_s=200.0)
        kept = replace(sent, is_complete=True)
        assert await store.upload(sent.upload_id, at_s=199.0) == kept
        assert await store.of_owners(("ann", "bob"), at_s=199.0) == (kept,)
        assert await store.of_owners(("bob",), at_s=199.0) == ()
        assert [await store.chunk(sent.upload_id, number) for number in range(3)] == [
            b"\x00\xff" * 500_000,
            b"rest",
            None,
        ]
        assert await store.upload(sent.upload_id, at_s=200.0) is None
        assert await store.of_owners(("ann",), at_s=200.0) == ()

    over(story)


def test_a_caller_has_no_more_than_the_limits(over: Over) -> None:
    """What is being stored counts, what has expired does not, and others have their own room."""

    async def story(store: SqlUploadStore, database: Database) -> None:
        del database
        most = CallerLimits(2, 100)
        assert await store.begin(upload("a", size_bytes=60), most) is None
        with pytest.raises(TooManySources, match="limit of 100 is reached"):
            await store.begin(upload("b", size_bytes=41), most)
        assert await store.begin(upload("b", size_bytes=40), most) is None
        with pytest.raises(TooManySources, match="limit of 2 is reached"):
            await store.begin(upload("c", size_bytes=0), most)
        assert await store.begin(upload("d", owner="bob", size_bytes=100), most) is None
        assert await store.begin(upload("c", size_bytes=100, at_s=200.0), most) is None

    over(story)


def test_many_at_once_do_not_pass_the_limit_together(over: Over) -> None:
    """A count waits for the previous count."""

    async def story(store: SqlUploadStore, database: Database) -> None:
        del database

        async def begin(number: int) -> bool:
            try:
                return await store.begin(upload(str(number)), CallerLimits(3, 1_000)) is None
            except TooManySources:
                return False

        assert sum(await asyncio.gather(*map(begin, range(12)))) == 3

    over(story)


def test_the_same_id_is_the_upload_that_is_there(over: Over) -> None:
    """Complete or not; one that has expired makes room for a new one."""

    async def story(store: SqlUploadStore, database: Database) -> None:
        del database
        sent = upload()
        assert await store.begin(sent, AMPLE) is None
        again = await store.begin(replace(sent, digest="e"), AMPLE)
        assert again is not None
        assert (again.digest, again.is_complete) == ("d", False)
        await store.add_chunk(sent.upload_id, 0, b"old")
        await store.complete(sent.upload_id, expires_s=200.0)
        await store.expire(sent.upload_id, at_s=150.0)
        await put(store, upload(at_s=160.0), b"new")
        assert await store.chunk(sent.upload_id, 0) == b"new"

    over(story)


def test_expired_uploads_are_removed_in_bounded_batches(over: Over) -> None:
    """The chunks first, sixteen at a time; what has not expired stays whole."""

    async def story(store: SqlUploadStore, database: Database) -> None:
        await put(store, upload("old"), *(b"x" for _ in range(40)))
        await put(store, upload("new", at_s=500.0), b"y")
        removed = []
        while done := await store.remove_expired(at_s=550.0):
            removed.append(done)
        assert removed == [16, 16, 8, 1]
        counted = [select(func.count()).select_from(table) for table in (source_upload, upload_chunk)]
        counts = await database.read(lambda found: [found.execute(query).scalar_one() for query in counted])
        assert counts == [1, 1]
        assert await store.chunk("upload-new", 0) == b"y"

    over(story)


def test_what_was_removed_while_it_was_stored_is_not_completed(over: Over) -> None:
    """Neither its chunks nor its row come back."""

    async def story(store: SqlUploadStore, database: Database) -> None:
        del database
        sent = upload()
        assert await store.begin(sent, AMPLE) is None
        assert await store.remove_expired(at_s=1_000.0) == 1
        with pytest.raises(StoreFailure):
            await store.add_chunk(sent.upload_id, 0, b"x")
        with pytest.raises(StoreFailure):
            await store.complete(sent.upload_id, expires_s=2_000.0)

    over(story)
