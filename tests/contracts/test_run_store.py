"""Runs are kept by one contract in SQLite and PostgreSQL, with evidence in the database or in Valkey."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager

import pytest
from tests.support.rows import Kept
from tests.support.run_store_contract import CHECKS, Check

KeptAt = Callable[..., AbstractAsyncContextManager[Kept]]


async def _run_check(check: Check, place: AbstractAsyncContextManager[Kept]) -> None:
    async with place as kept:
        await check(kept)


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
@pytest.mark.parametrize("place", ["sqlite_url", "postgres_url"])
def test_runs_are_kept_by_the_contract(
    place: str, check: Check, kept_at: KeptAt, request: pytest.FixtureRequest
) -> None:
    """One check against one database."""
    asyncio.run(_run_check(check, kept_at(request.getfixturevalue(place))))


@pytest.mark.parametrize(
    "check",
    [check for check in CHECKS if "record" in check.__name__ or "give" in check.__name__],
    ids=lambda check: check.__name__,
)
def test_runs_are_kept_by_the_contract_with_evidence_elsewhere(
    check: Check, kept_at: KeptAt, sqlite_url: str, valkey_url: str
) -> None:
    """One check with the evidence in Valkey."""
    asyncio.run(_run_check(check, kept_at(sqlite_url, redis=valkey_url)))
