"""Where API keys are kept, as the application sees it."""

from __future__ import annotations

from typing import Protocol

from diagnosis_harness.application.callers.api_key import ApiKey


class KeyStore(Protocol):
    """Keeps keys, also revoked ones. What does not work raises `StoreFailure`, and nothing else."""

    async def add(self, key: ApiKey) -> bool:
        """Keep a key; False when its id, or its name with a valid key, is taken."""
        ...

    async def key(self, key_id: str) -> ApiKey | None:
        """The key of an id, revoked or not; None where there is none."""
        ...

    async def keys(self) -> tuple[ApiKey, ...]:
        """All keys, in the order in which they were made."""
        ...

    async def revoke(self, key_id: str, *, at_s: float) -> bool:
        """Make a key invalid for good; False when there is no valid key of that id."""
        ...
