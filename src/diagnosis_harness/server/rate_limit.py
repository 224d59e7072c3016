"""Rate limits of API keys: a token bucket for each, as values over the clock's time."""

from __future__ import annotations

import math
from collections import OrderedDict
from dataclasses import dataclass

_KEYS_MAX = 10_000


@dataclass(frozen=True, slots=True)
class Bucket:
    """The remaining requests of a key. It refills evenly, up to what one minute allows."""

    tokens: float
    at_s: float


@dataclass(frozen=True, slots=True)
class TokenResult:
    """The result of taking a token: the bucket afterwards, and how long to wait if it was refused."""

    bucket: Bucket
    wait_s: float | None


def take_token(bucket: Bucket | None, *, now_s: float, per_minute: int) -> TokenResult:
    """Take one token; the bucket of a new key is full."""
    if bucket is None:
        bucket = Bucket(float(per_minute), now_s)
    filled = (now_s - bucket.at_s) * per_minute / 60.0
    tokens = min(bucket.tokens + max(filled, 0.0), float(per_minute))
    at_s = max(now_s, bucket.at_s)
    if tokens >= 1.0:
        return TokenResult(Bucket(tokens - 1.0, at_s), None)
    return TokenResult(Bucket(tokens, at_s), (1.0 - tokens) * 60.0 / per_minute)


class RateLimits:
    """The buckets of one process, by key id. If there are too many, the least recently used is dropped."""

    def __init__(self) -> None:
        self._buckets: OrderedDict[str, Bucket] = OrderedDict()

    def wait_s(self, key_id: str, *, now_s: float, per_minute: int) -> int | None:
        """Count a request; the whole seconds to wait if it exceeds the limit, else None."""
        come_to = take_token(self._buckets.get(key_id), now_s=now_s, per_minute=per_minute)
        self._buckets[key_id] = come_to.bucket
        self._buckets.move_to_end(key_id)
        if len(self._buckets) > _KEYS_MAX:
            self._buckets.popitem(last=False)
        return None if come_to.wait_s is None else max(1, math.ceil(come_to.wait_s))
