"""Whether a run is queued still is decided by the update that ends it, not by what was read before."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager

import pytest
from tests.support.expecting import log_of, row_of
from tests.support.rows import SUBMITTED_S, Kept, a_request, a_success

from diagnosis_harness.adapters.persistence.database import Database
from diagnosis_harness.adapters.persistence.queued_end import cancel_queued
from diagnosis_harness.application.runs.row import CancelRequest
from diagnosis_harness.harness.termination import CancellationReason

CANCEL = CancelRequest(CancellationReason.USER_REQUESTED, SUBMITTED_S + 5)


@pytest.mark.parametrize("place", ["sqlite_url", "postgres_url"])
def test_a_run_that_was_claimed_since_it_was_read_is_not_ended(
    place: str,
    kept_at: Callable[..., AbstractAsyncContextManager[Kept]],
    request: pytest.FixtureRequest,
) -> None:
    """A resolved alert cancelled runs that had started: listed as queued, and claimed in between."""
    url = request.getfixturevalue(place)

    async def story() -> None:
        async with kept_at(url) as kept:
            read = (await kept.archive.submit(a_request("r1"))).row
            ctx = await kept.one.begin_run("r1")
            claimed, log = await row_of(kept), await log_of(kept)
            database = await Database.open(url)
            try:
                assert not await database.write(lambda connection: cancel_queued(connection, read, CANCEL))
                assert (await row_of(kept), await log_of(kept)) == (claimed, log)
                await kept.one.store.finish(ctx, a_success())
                ended = await row_of(kept)
                assert not await database.write(lambda connection: cancel_queued(connection, read, CANCEL))
                assert await row_of(kept) == ended
            finally:
                await database.close()

    asyncio.run(story())
