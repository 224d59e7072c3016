"""Caches API keys for a short time, so that not every request, nor a flood of them, reads the store."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Coroutine
from typing import Any, TypeVar

from diagnosis_harness.application.callers.api_key import ApiKey, PresentedKey
from diagnosis_harness.application.callers.key_store import KeyStore
from diagnosis_harness.kernel.clock import Clock
from diagnosis_harness.kernel.errors import FailureKind, StoreFailure
from diagnosis_harness.server.rate_limit import RateLimits
from diagnosis_harness.server.time_limit import with_time_limit

T = TypeVar("T")

KEY_CACHED_S = 5.0
"""How long a key stays cached, and so how long a key still works after another process revoked it."""

UNKNOWN_PER_MINUTE = 120
"""Lookups of unknown ids in the store; further ones share one lookup a second."""

READ_LIMIT_S = 1.5

_ALL_CACHED_S = 1.0
_KEYS_CACHED_MAX = 1_000


class KeyCache:
    """Caches keys and unknown ids.

    Unknown ids have a cache of their own, so that they displace no key. If many new ids arrive, as when
    somebody guesses, together they cost one read of all keys a second.
    """

    def __init__(self, keys: KeyStore, clock: Clock) -> None:
        self._keys = keys
        self._clock = clock
        self._cached: OrderedDict[str, tuple[ApiKey, float]] = OrderedDict()
        self._unknown: OrderedDict[str, float] = OrderedDict()
        self._unknown_reads = RateLimits()
        self._all: tuple[dict[str, ApiKey], float] = ({}, 0.0)
        self._reading = asyncio.Lock()

    async def find_valid(self, presented: PresentedKey) -> ApiKey | None:
        """The valid key that was presented, or None.

        Raises:
            StoreFailure: it cannot be looked up.
        """
        key = await self._key(presented.key_id)
        return key if key is not None and key.admits(presented.secret) else None

    def find_cached(self, presented: PresentedKey) -> ApiKey | None:
        """The key as last read, however long ago, if its secret matches."""
        cached = self._cached.get(presented.key_id)
        return cached[0] if cached is not None and cached[0].admits(presented.secret) else None

    def forget(self, key_id: str) -> None:
        """Read the key from the store next time, since this process changed it."""
        self._cached.pop(key_id, None)
        self._unknown.pop(key_id, None)

    async def _key(self, key_id: str) -> ApiKey | None:
        now_s = self._clock.now_s()
        cached = self._cached.get(key_id)
        if cached is not None and now_s < cached[1]:
            return cached[0]
        if now_s < self._unknown.get(key_id, 0.0):
            return None
        is_known = cached is not None
        if is_known or self._unknown_reads.wait_s("", now_s=now_s, per_minute=UNKNOWN_PER_MINUTE) is None:
            key = await self._read(self._keys.key(key_id))
        else:
            key = (await self._all_keys()).get(key_id)
        self._cached.pop(key_id, None)
        self._unknown.pop(key_id, None)
        if key is None:
            _put(self._unknown, key_id, now_s + KEY_CACHED_S)
        else:
            _put(self._cached, key_id, (key, now_s + KEY_CACHED_S))
        return key

    async def _read(self, lookup: Coroutine[Any, Any, T]) -> T:
        """Read the key from the store within a short limit, since a request is waiting for it."""
        try:
            return await with_time_limit(self._clock, READ_LIMIT_S, lookup)
        except TimeoutError:
            raise StoreFailure("the keys cannot be looked up", kind=FailureKind.TIMEOUT) from None

    async def _all_keys(self) -> dict[str, ApiKey]:
        """All keys, read at most once a second, however many requests need them."""
        async with self._reading:
            now_s = self._clock.now_s()
            if now_s >= self._all[1]:
                keys = {key.key_id: key for key in await self._read(self._keys.keys())}
                self._all = (keys, now_s + _ALL_CACHED_S)
            return self._all[0]


def _put(cached: OrderedDict[str, T], key_id: str, entry: T) -> None:
    """Cache an entry, and drop the oldest if there are too many."""
    cached[key_id] = entry
    if len(cached) > _KEYS_CACHED_MAX:
        cached.popitem(last=False)
