"""API keys in the database, with hashes of their secrets only."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sqlalchemy import Connection, select, update

from diagnosis_harness.adapters.persistence.database import Database
from diagnosis_harness.adapters.persistence.failures import readable
from diagnosis_harness.adapters.persistence.insertion import insert_if_absent
from diagnosis_harness.adapters.persistence.schema import api_key
from diagnosis_harness.application.callers.api_key import ApiKey
from diagnosis_harness.application.callers.caller import CallerRole


class SqlKeyStore:
    """`KeyStore`."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def add(self, key: ApiKey) -> bool:
        """Store a key; False if its id is taken, or its name by a valid key."""
        columns = {
            "key_id": key.key_id,
            "name": key.name,
            "role": key.role.value,
            "secret_sha256": key.secret_sha256,
            "created_at_s": key.created_at_s,
            "revoked_at_s": key.revoked_at_s,
            "rate_per_minute": key.rate_per_minute,
            "concurrent_runs": key.concurrent_runs,
        }

        def insert(connection: Connection) -> bool:
            return insert_if_absent(connection, api_key, columns)

        return await self._database.write(insert)

    async def key(self, key_id: str) -> ApiKey | None:
        """The key of an id, revoked or not; None if there is none."""
        query = select(api_key).where(api_key.c.key_id == key_id)
        found = await self._database.read(
            lambda connection: connection.execute(query).mappings().one_or_none()
        )
        return None if found is None else _key(found)

    async def keys(self) -> tuple[ApiKey, ...]:
        """All keys, the oldest first."""
        query = select(api_key).order_by(api_key.c.created_at_s, api_key.c.key_id)
        rows = await self._database.read(lambda connection: connection.execute(query).mappings().all())
        return tuple(_key(row) for row in rows)

    async def revoke(self, key_id: str, *, at_s: float) -> bool:
        """Revoke a key for good; False if there is no valid key of that id."""
        statement = (
            update(api_key)
            .where(api_key.c.key_id == key_id, api_key.c.revoked_at_s.is_(None))
            .values(revoked_at_s=at_s)
        )
        return await self._database.write(lambda connection: connection.execute(statement).rowcount == 1)


def _key(columns: Mapping[Any, Any]) -> ApiKey:
    with readable():
        return ApiKey(**{**columns, "role": CallerRole(columns["role"])})
