"""Two connections to PostgreSQL at the very same row: the second decides by what the first has done."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from typing import TypeVar

import psycopg
from tests.support.rows import SUBMITTED_S, Kept, a_request

from diagnosis_harness.application.runs.row import CancelRequest, RunStatus
from diagnosis_harness.harness.termination import CancellationReason
from diagnosis_harness.release.outcome import ReleaseOutcome
from diagnosis_harness.testing.evidence import projecting_record
from diagnosis_harness.tools.invocation import ErrorCode

KeptAt = Callable[..., AbstractAsyncContextManager[Kept]]
T = TypeVar("T")

CLAIM = "UPDATE diagnosis_run SET status = 'RUNNING', owner = 'one', started_s = 1 WHERE run_id = 'r1'"
FINISH = (
    "UPDATE diagnosis_run SET status = 'SUCCESS', release_outcome = 'SUCCESS', run_state = 'SUCCESS',"
    " termination_at_s = 2, termination_detail = '', safe_answer = '{}', duration_s = 1, agent_steps = 0,"
    " tool_calls = 0, llm_calls = 0, input_tokens = 0, output_tokens = 0, total_tokens = 0,"
    " is_estimated = false WHERE run_id = 'r1'"
)
WAITING = (
    "SELECT count(*) FROM pg_stat_activity"
    " WHERE wait_event_type = 'Lock' AND datname = current_database() AND pid <> pg_backend_pid()"
)
BEGIN_RECORD = "SELECT 1 FROM diagnosis_run WHERE run_id = 'r1' FOR SHARE"


async def _behind(url: str, statement: str, work: Awaitable[T]) -> T:
    """Have the work come to the row while the statement's transaction is open; then that commits."""
    with psycopg.connect(url) as first, psycopg.connect(url, autocommit=True) as look:
        first.execute(statement)
        waiting = asyncio.ensure_future(work)
        for _ in range(400):
            await asyncio.wait([waiting], timeout=0.01)
            found = look.execute(WAITING).fetchone()
            if found is not None and found[0]:
                break
        else:
            raise AssertionError("the work never came to the row, or did not wait for it")
        first.commit()
        return await waiting


def test_a_request_that_races_a_claim_waits_for_the_owner(postgres_url: str, kept_at: KeptAt) -> None:
    """The run is RUNNING by then: it is not cancelled under its owner's hands."""

    async def story() -> None:
        async with kept_at(postgres_url) as kept:
            await kept.archive.submit(a_request("r1"))
            cancel = CancelRequest(CancellationReason.USER_REQUESTED, SUBMITTED_S)
            row = await _behind(postgres_url, CLAIM, kept.archive.request_cancel("r1", cancel))
            assert row is not None
            assert (row.status, row.cancel_request, row.ending) == (RunStatus.RUNNING, cancel, None)

    asyncio.run(story())


def test_a_run_that_ends_while_it_is_abandoned_keeps_its_own_end(postgres_url: str, kept_at: KeptAt) -> None:
    """It is closed, and not ended a second time."""

    async def story() -> None:
        async with kept_at(postgres_url) as kept:
            await kept.one.begin_run("r1")
            assert await _behind(
                postgres_url, FINISH, kept.recovery.abandon("r1", owner="one", at_s=SUBMITTED_S + 30)
            )
            row = await kept.archive.run("r1")
            assert row is not None
            assert row.ending is not None
            assert (row.status, row.ending.outcome, row.is_closed) == (
                RunStatus.SUCCESS,
                ReleaseOutcome.SUCCESS,
                True,
            )

    asyncio.run(story())


def test_a_record_that_begins_while_its_run_is_abandoned_is_abandoned_too(
    postgres_url: str, kept_at: KeptAt
) -> None:
    """Whoever gives up waits for a begin that holds the row, and then sees its record."""

    async def story() -> None:
        async with kept_at(postgres_url) as kept:
            ctx = await kept.one.begin_run("r1")
            await kept.one.evidence.begin(ctx, projecting_record("t1"))
            assert await _behind(
                postgres_url, BEGIN_RECORD, kept.recovery.abandon("r1", owner="one", at_s=SUBMITTED_S + 30)
            )
            assert [one.error_code for one in await kept.archive.records("r1")] == [ErrorCode.ABANDONED]

    asyncio.run(story())
