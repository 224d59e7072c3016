"""Feedback in the database: one verdict of each caller on a run, deleted with the run."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import replace

import pytest
from sqlalchemy import delete
from tests.support.rows import Kept, a_request

from diagnosis_harness.adapters.persistence.database import Database
from diagnosis_harness.adapters.persistence.feedback import SqlFeedbackStore
from diagnosis_harness.adapters.persistence.schema import diagnosis_run
from diagnosis_harness.application.runs.feedback import Feedback, FeedbackVerdict
from diagnosis_harness.kernel.errors import StoreFailure

KeptAt = Callable[..., AbstractAsyncContextManager[Kept]]
WRONG = Feedback(
    run_id="r1", given_by="ann", verdict=FeedbackVerdict.WRONG, cause="支付", note="日志", given_s=2.5
)


@pytest.mark.parametrize("place", ["sqlite_url", "postgres_url"])
def test_a_caller_has_one_verdict_on_a_run(
    place: str, kept_at: KeptAt, request: pytest.FixtureRequest
) -> None:
    """A later one replaces it, those of others stay, and all go with the run."""
    url = request.getfixturevalue(place)
    later = replace(WRONG, verdict=FeedbackVerdict.RIGHT, cause=None, note="", given_s=4.0)
    other = replace(WRONG, given_by="bob", given_s=3.0)

    async def story() -> None:
        async with kept_at(url) as kept:
            await kept.archive.submit(a_request("r1"))
            base = await Database.open(url)
            store = SqlFeedbackStore(base)
            try:
                await store.put(WRONG)
                assert await store.of_run("r1") == (WRONG,)
                await store.put(other)
                await store.put(later)
                assert await store.of_run("r1") == (other, later)
                assert not await store.remove("r1", "vic")
                assert await store.remove("r1", "bob")
                assert await store.of_run("r1") == (later,)
                await base.write(lambda connection: connection.execute(delete(diagnosis_run)))
                assert await store.of_run("r1") == ()
            finally:
                await base.close()

    asyncio.run(story())


def test_a_run_that_is_not_there_gets_no_verdict(sqlite_url: str) -> None:
    """The database refuses it, also where a run was deleted meanwhile."""

    async def story() -> None:
        base = await Database.open(sqlite_url)
        try:
            with pytest.raises(StoreFailure):
                await SqlFeedbackStore(base).put(WRONG)
        finally:
            await base.close()

    asyncio.run(story())
