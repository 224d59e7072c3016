"""API keys: their form, their hash, and how they are kept."""

from __future__ import annotations

import asyncio
import sqlite3
from dataclasses import replace
from pathlib import Path

import pytest

from diagnosis_harness.adapters.persistence.database import Database
from diagnosis_harness.adapters.persistence.keys import SqlKeyStore
from diagnosis_harness.application.callers.api_key import ApiKey, NewKey, new_key, read_key
from diagnosis_harness.application.callers.caller import Caller, CallerRole
from diagnosis_harness.kernel.ids import RandomIds
from diagnosis_harness.testing.ids import CountingIds


def api_key(new: NewKey, name: str = "ops-1") -> ApiKey:
    """The key as it is stored."""
    return ApiKey(
        key_id=new.key_id,
        name=name,
        role=CallerRole.OPERATOR,
        secret_sha256=new.secret_sha256,
        created_at_s=1.0,
        rate_per_minute=60,
        concurrent_runs=2,
    )


def test_a_key_is_read_back_and_admitted_with_its_own_secret_alone() -> None:
    """One wrong digit, another key's secret or a revoked key is not."""
    ids = RandomIds()
    mine, other = new_key(ids), new_key(ids)
    presented, wrong = read_key(mine.shown), read_key(other.shown)
    assert presented is not None
    assert wrong is not None
    assert presented.key_id == mine.key_id
    key = api_key(mine)
    assert key.admits(presented.secret)
    assert not key.admits(wrong.secret)
    assert not key.admits(presented.secret[:-1] + ("0" if presented.secret[-1] != "0" else "1"))
    assert not replace(key, revoked_at_s=2.0).admits(presented.secret)
    assert key.caller == Caller("ops-1", CallerRole.OPERATOR)


def test_two_keys_share_nothing() -> None:
    """Neither id nor secret, and each secret has 256 bits."""
    ids = RandomIds()
    keys = [read_key(new_key(ids).shown) for _ in range(50)]
    assert len({key.secret for key in keys if key}) == len({key.key_id for key in keys if key}) == 50
    assert all(key is not None and len(bytes.fromhex(key.secret)) == 32 for key in keys)


@pytest.mark.parametrize(
    "text",
    ["", "dk_", "dk_0123456789ab_", f"dk_0123456789ab_{'0' * 63}", f"dk_0123456789ab_{'0' * 65}",
     f"dk_0123456789AB_{'0' * 64}", f"dk_0123456789ab_{'0' * 64}\n", f"dk_０123456789a_{'0' * 64}", "\ud800"],
)  # fmt: skip
def test_what_has_not_the_form_of_a_key_is_refused(text: str) -> None:
    """Exactly that form; no error either."""
    assert read_key(text) is None


def test_a_new_key_does_not_show_its_secret_by_accident() -> None:
    """Printed or logged, it names its id."""
    new = new_key(CountingIds())
    assert new.shown not in repr(new)
    assert "0" * 20 not in repr(read_key(new.shown))


@pytest.mark.parametrize("place", ["sqlite_url", "postgres_url"])
def test_keys_are_kept_found_and_revoked(place: str, request: pytest.FixtureRequest) -> None:
    """A name has one valid key; a revoked one stays on the list and frees the name."""
    url = request.getfixturevalue(place)

    async def story() -> None:
        base = await Database.open(url)
        try:
            store, ids = SqlKeyStore(base), RandomIds()
            first, second = api_key(new_key(ids)), replace(api_key(new_key(ids)), created_at_s=2.0)
            assert await store.add(first)
            assert not await store.add(first)
            assert not await store.add(second)
            assert await store.key(first.key_id) == first
            assert await store.key("nobody") is None
            assert await store.revoke(first.key_id, at_s=3.0)
            assert not await store.revoke(first.key_id, at_s=4.0)
            assert await store.add(second)
            assert await store.keys() == (replace(first, revoked_at_s=3.0), second)
        finally:
            await base.close()

    asyncio.run(story())


def test_the_secret_is_nowhere_in_the_database(sqlite_url: str) -> None:
    """Neither the key as shown nor its secret part."""
    new = new_key(RandomIds())

    async def story() -> None:
        base = await Database.open(sqlite_url)
        await SqlKeyStore(base).add(api_key(new))
        await base.close()

    asyncio.run(story())
    file = Path(sqlite_url.removeprefix("sqlite:///"))
    with sqlite3.connect(file) as other:
        other.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    other.close()
    stored = file.read_bytes()
    assert new.key_id.encode() in stored
    assert new.shown.rpartition("_")[2].encode() not in stored
