"""One row that this version cannot read: left out of lists, named in the log, and no other run is hidden."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager

import pytest
from sqlalchemy import text
from tests.support.rows import SUBMITTED_S, Kept, a_request

from diagnosis_harness.adapters.persistence.database import Database
from diagnosis_harness.application.runs.row import RunStatus
from diagnosis_harness.application.runs.store import RunQuery
from diagnosis_harness.kernel.errors import StoreFailure
from diagnosis_harness.kernel.store_trouble import StoreTrouble

KeptAt = Callable[..., AbstractAsyncContextManager[Kept]]
PLACES = ("sqlite_url", "postgres_url")


async def corrupt(url: str, run_id: str, change: str) -> None:
    """Write into a row what a later version, or a mistake, may have written."""
    database = await Database.open(url)
    statement = text(f"UPDATE diagnosis_run SET {change} WHERE run_id = :run_id")
    await database.write(lambda connection: connection.execute(statement, {"run_id": run_id}).rowcount)
    await database.close()


@pytest.mark.parametrize("change", ["intent = 'OF_A_LATER_VERSION'", "language = 'xx'", "kind = 'PERIODIC'"])
@pytest.mark.parametrize("place", PLACES)
def test_a_row_that_cannot_be_read_is_left_out_of_pages_and_named_once(
    place: str,
    change: str,
    kept_at: KeptAt,
    request: pytest.FixtureRequest,
    caplog: pytest.LogCaptureFixture,
) -> None:
    """Pages continue after it, wherever it is, and no other run is missing or listed twice."""
    url = request.getfixturevalue(place)

    async def story() -> None:
        async with kept_at(url) as kept:
            for number in range(6):
                await kept.archive.submit(a_request(f"r{number}", submitted_s=SUBMITTED_S + number))
            await corrupt(url, "r3", change)
            for size in (1, 2, 3, 10):
                found, mark = [], None
                while True:
                    page = await kept.archive.runs(RunQuery(limit=size, before=mark))
                    found += [row.run_id for row in page.rows]
                    if (mark := page.next) is None:
                        break
                assert found == ["r5", "r4", "r2", "r1", "r0"]
            queued = await kept.archive.runs(RunQuery(status=RunStatus.QUEUED, limit=10))
            assert [row.run_id for row in queued.rows] == ["r5", "r4", "r2", "r1", "r0"]

    with caplog.at_level(logging.ERROR, logger="diagnosis_harness.database"):
        asyncio.run(story())

    assert [record.message for record in caplog.records] == [
        "run r3 is omitted from lists: a value in the database cannot be read (ValueError)"
    ]


@pytest.mark.parametrize("place", PLACES)
def test_a_row_that_cannot_be_read_says_so_where_it_is_asked_for(
    place: str, kept_at: KeptAt, request: pytest.FixtureRequest
) -> None:
    """It is there: that it is unknown would be a lie, and that the database is away as well."""
    url = request.getfixturevalue(place)

    async def story() -> None:
        async with kept_at(url) as kept:
            await kept.archive.submit(a_request("r1"))
            await corrupt(url, "r1", "intent = 'OF_A_LATER_VERSION'")
            with pytest.raises(StoreFailure) as failure:
                await kept.archive.run("r1")
            assert failure.value.trouble is StoreTrouble.ROW_UNREADABLE

    asyncio.run(story())
