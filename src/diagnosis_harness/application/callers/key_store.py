"""The port of the store of API keys."""

from __future__ import annotations

from typing import Protocol

from diagnosis_harness.application.callers.api_key import ApiKey


class KeyStore(Protocol):
    """Stores keys, including revoked ones. A failure is `StoreFailure`."""

    async def add(self, key: ApiKey) -> bool:
        """Store a key; False if its id is taken, or its name by a valid key."""
        ...

    async def key(self, key_id: str) -> ApiKey | None:
        """The key of an id, revoked or not; None if it does not exist."""
        ...

    async def keys(self) -> tuple[ApiKey, ...]:
        """All keys, in the order of their creation."""
        ...

    async def revoke(self, key_id: str, *, at_s: float) -> bool:
        """Revoke a key for good; False if there is no valid key of that id."""
        ...
